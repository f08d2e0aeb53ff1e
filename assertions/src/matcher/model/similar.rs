//! `similar`: how near two texts are by their embeddings.

use serde_json::Value;

use super::{NEEDS, consult, fraction, text};
use crate::error::LoadError;
use crate::json::Json;
use crate::judging::Question;
use crate::matcher::{Judged, Matcher, object_argument, required};
use crate::world::World;

#[derive(Debug)]
struct Similar {
    value: String,
    model: String,
    threshold: f64,
}

pub(in crate::matcher) fn similar(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    let name = "similar";
    let members = object_argument(value, name, &["value", "threshold", "model"])?;
    required(members, "threshold", name)?;
    Ok(Box::new(Similar {
        value: text(members, "value", name)?,
        model: text(members, "model", name)?,
        threshold: fraction(members, "threshold")?.unwrap_or_default(),
    }))
}

impl Matcher for Similar {
    fn judge(&self, value: Option<&Json>, world: &dyn World) -> Judged {
        let question = Question::Similar {
            value: &self.value,
            model: &self.model,
            threshold: self.threshold,
        };
        consult(value, world, &question)
    }

    fn needs(&self) -> Option<&'static str> {
        Some(NEEDS)
    }
}
