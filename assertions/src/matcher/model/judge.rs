//! `llm-judge`, and the matchers that use it with a built-in rubric.

use serde_json::{Map, Value};

use super::{NEEDS, THRESHOLD, consult, fraction, optional_text, text};
use crate::error::LoadError;
use crate::json::Json;
use crate::judging::{By, Question};
use crate::matcher::{Judged, Matcher, object_argument};
use crate::world::World;

/// One model judges.
#[derive(Debug)]
struct Judge {
    by: By,
    text: String,
    model: Option<String>,
    threshold: f64,
    samples: u64,
}

pub(in crate::matcher) fn judge(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    named(value, "llm-judge", "rubric", By::Rubric)
}

pub(in crate::matcher) fn factuality(
    value: &Value,
    _: usize,
) -> Result<Box<dyn Matcher>, LoadError> {
    named(value, "factuality", "reference", By::Reference)
}

pub(in crate::matcher) fn answer_relevance(
    value: &Value,
    _: usize,
) -> Result<Box<dyn Matcher>, LoadError> {
    named(value, "answer-relevance", "query", By::Query)
}

pub(in crate::matcher) fn context_faithfulness(
    value: &Value,
    _: usize,
) -> Result<Box<dyn Matcher>, LoadError> {
    named(value, "context-faithfulness", "context", By::Context)
}

fn named(
    value: &Value,
    name: &'static str,
    subject: &str,
    by: By,
) -> Result<Box<dyn Matcher>, LoadError> {
    let members = object_argument(value, name, &[subject, "threshold", "model", "samples"])?;
    Ok(Box::new(Judge {
        by,
        text: text(members, subject, name)?,
        model: optional_text(members, "model")?,
        threshold: fraction(members, "threshold")?.unwrap_or(THRESHOLD),
        samples: samples(members)?,
    }))
}

/// The number of opinions that decide a failure.
fn samples(members: &Map<String, Value>) -> Result<u64, LoadError> {
    let Some(value) = members.get("samples") else {
        return Ok(1);
    };
    let odd = value.as_u64().filter(|count| count % 2 == 1 && *count <= 9);
    odd.ok_or_else(|| {
        LoadError::here("`samples` is an odd number from 1 to 9")
            .help("an odd number of opinions has a majority")
            .under("samples")
    })
}

impl Matcher for Judge {
    fn judge(&self, value: Option<&Json>, world: &dyn World) -> Judged {
        let question = Question::Judge {
            by: self.by,
            text: &self.text,
            model: self.model.as_deref(),
            threshold: self.threshold,
            samples: self.samples,
        };
        consult(value, world, &question)
    }

    fn needs(&self) -> Option<&'static str> {
        Some(NEEDS)
    }
}
