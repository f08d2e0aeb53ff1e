//! `not`: negates a matcher. A matcher that could not be judged is not negated.

use serde_json::Value;

use super::compose::checked;
use super::{Judged, Matcher, nested};
use crate::error::LoadError;
use crate::failure::Failure;
use crate::json::Json;
use crate::world::World;

#[derive(Debug)]
struct Not {
    name: &'static str,
    inner: Box<dyn Matcher>,
    argument: Json,
}

pub(super) fn compile(value: &Value, depth: usize) -> Result<Box<dyn Matcher>, LoadError> {
    let (name, inner) = nested(value, depth + 1)?;
    let argument = Json::from(value);
    Ok(Box::new(Not {
        name,
        inner,
        argument,
    }))
}

impl Matcher for Not {
    fn judge(&self, value: Option<&Json>, world: &dyn World) -> Judged {
        match checked("not", self.name, self.inner.as_ref(), value, world) {
            Judged::Holds => Judged::fails(Failure {
                expected: Some(Json::object([("not", self.argument.clone())])),
                note: Some("expected NOT to match, but the inner matcher passed".to_owned()),
                ..Failure::default()
            }),
            Judged::Fails(_) => Judged::Holds,
            other => other,
        }
    }

    fn negates(&self) -> bool {
        true
    }
}
