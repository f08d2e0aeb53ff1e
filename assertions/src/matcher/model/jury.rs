//! `llm-jury`: several models judge, each alone.

use serde_json::Value;

use super::{NEEDS, THRESHOLD, consult, fraction, text};
use crate::error::LoadError;
use crate::json::Json;
use crate::judging::{Juror, Question};
use crate::matcher::{Judged, Matcher, object_argument, required};
use crate::world::World;

#[derive(Debug)]
struct Jury {
    rubric: String,
    jurors: Vec<Juror>,
    threshold: f64,
    quorum: f64,
}

/// The default share that must pass it.
const QUORUM: f64 = 0.5;

pub(in crate::matcher) fn jury(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    let name = "llm-jury";
    let known = ["rubric", "jurors", "threshold", "quorum"];
    let members = object_argument(value, name, &known)?;
    let rubric = text(members, "rubric", name)?;
    let threshold = fraction(members, "threshold")?.unwrap_or(THRESHOLD);
    let quorum = fraction(members, "quorum")?.unwrap_or(QUORUM);
    let list = required(members, "jurors", name)?.as_array();
    let Some(list) = list.filter(|list| !list.is_empty()) else {
        return Err(LoadError::here("`jurors` is a list with at least one juror").under("jurors"));
    };
    let jurors = list.iter().enumerate().map(|(index, one)| {
        juror(one).map_err(|error| error.under(index.to_string()).under("jurors"))
    });
    Ok(Box::new(Jury {
        rubric,
        jurors: jurors.collect::<Result<_, _>>()?,
        threshold,
        quorum,
    }))
}

fn juror(value: &Value) -> Result<Juror, LoadError> {
    let members = object_argument(value, "a juror", &["model", "threshold"])?;
    Ok(Juror {
        model: text(members, "model", "a juror")?,
        threshold: fraction(members, "threshold")?,
    })
}

impl Matcher for Jury {
    fn judge(&self, value: Option<&Json>, world: &dyn World) -> Judged {
        let question = Question::Jury {
            rubric: &self.rubric,
            jurors: &self.jurors,
            threshold: self.threshold,
            quorum: self.quorum,
        };
        consult(value, world, &question)
    }

    fn needs(&self) -> Option<&'static str> {
        Some(NEEDS)
    }
}
