//! Matchers that ask a model. Their shape is checked like that of the others; no model is
//! asked yet, and then an assertion could not be judged.

use serde_json::{Map, Value};

use super::{Judged, Matcher, object_argument, required};
use crate::assertion::kind;
use crate::error::LoadError;
use crate::json::Json;
use crate::world::World;

#[derive(Debug)]
struct Model(&'static str);

pub(super) fn judge(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    let name = "llm-judge";
    let members = object_argument(value, name, &["rubric", "threshold", "model"])?;
    text(members, "rubric", name, true)?;
    graded(members, name)
}

pub(super) fn jury(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    let name = "llm-jury";
    let known = ["rubric", "jurors", "threshold", "quorum"];
    let members = object_argument(value, name, &known)?;
    text(members, "rubric", name, true)?;
    fraction(members, "threshold")?;
    fraction(members, "quorum")?;
    let jurors = required(members, "jurors", name)?;
    let list = jurors.as_array().filter(|list| !list.is_empty());
    let Some(list) = list else {
        return Err(LoadError::here("`jurors` is a list with at least one juror").under("jurors"));
    };
    for (index, juror) in list.iter().enumerate() {
        let check = || {
            let members = object_argument(juror, "a juror", &["model", "threshold"])?;
            text(members, "model", "a juror", true)?;
            fraction(members, "threshold")
        };
        check().map_err(|error| error.under(index.to_string()).under("jurors"))?;
    }
    Ok(Box::new(Model(name)))
}

pub(super) fn similar(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    let name = "similar";
    let members = object_argument(value, name, &["value", "threshold", "model"])?;
    text(members, "value", name, true)?;
    text(members, "model", name, true)?;
    required(members, "threshold", name)?;
    fraction(members, "threshold")?;
    Ok(Box::new(Model(name)))
}

pub(super) fn factuality(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    named(value, "factuality", "reference")
}

pub(super) fn answer_relevance(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    named(value, "answer-relevance", "query")
}

pub(super) fn context_faithfulness(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    named(value, "context-faithfulness", "context")
}

fn named(value: &Value, name: &'static str, subject: &str) -> Result<Box<dyn Matcher>, LoadError> {
    let members = object_argument(value, name, &[subject, "threshold", "model"])?;
    text(members, subject, name, true)?;
    graded(members, name)
}

fn graded(members: &Map<String, Value>, name: &'static str) -> Result<Box<dyn Matcher>, LoadError> {
    fraction(members, "threshold")?;
    text(members, "model", name, false)?;
    Ok(Box::new(Model(name)))
}

/// A member that is a string with something in it.
fn text(
    members: &Map<String, Value>,
    member: &str,
    name: &str,
    needed: bool,
) -> Result<(), LoadError> {
    match members.get(member) {
        None if needed => required(members, member, name).map(|_| ()),
        None => Ok(()),
        Some(Value::String(text)) if !text.is_empty() => Ok(()),
        Some(Value::String(_)) => {
            Err(LoadError::here(format!("`{member}` is empty")).under(member))
        }
        Some(other) => Err(
            LoadError::here(format!("`{member}` is a string, not {}", kind(other))).under(member),
        ),
    }
}

/// A member that, if it is there, is a number from 0 to 1.
fn fraction(members: &Map<String, Value>, member: &str) -> Result<(), LoadError> {
    match members.get(member) {
        None => Ok(()),
        Some(value) => match value.as_f64() {
            Some(number) if (0.0..=1.0).contains(&number) => Ok(()),
            Some(_) => {
                Err(LoadError::here(format!("`{member}` is a number from 0 to 1")).under(member))
            }
            None => Err(
                LoadError::here(format!("`{member}` is a number, not {}", kind(value)))
                    .under(member),
            ),
        },
    }
}

impl Matcher for Model {
    fn judge(&self, _: Option<&Json>, _: &dyn World) -> Judged {
        Judged::unknown(format!(
            "`{}` needs a model, and no provider of models is configured for `run`",
            self.0
        ))
    }

    fn needs(&self) -> Option<&'static str> {
        Some("a model")
    }
}
