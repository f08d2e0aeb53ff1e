//! `is-json`: a string that is JSON, perhaps of some schema.

use serde_json::Value;

use super::schema::Schema;
use super::{Judged, Matcher, no_string, nothing_there, object_argument, required};
use crate::error::LoadError;
use crate::failure::Failure;
use crate::json::{Json, ReadError};
use crate::world::World;

#[derive(Debug)]
struct IsJson(Option<Schema>);

pub(super) fn compile(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    Ok(Box::new(IsJson(optional_schema(value, "is-json")?)))
}

/// Nothing, or an object with a schema.
pub(super) fn optional_schema(value: &Value, name: &str) -> Result<Option<Schema>, LoadError> {
    if value.is_null() {
        return Ok(None);
    }
    let members = object_argument(value, name, &["schema"])
        .map_err(|error| error.help(format!("write `{name}: ~`, or `{name}: {{ schema: … }}`")))?;
    let schema = required(members, "schema", name)?;
    Schema::compile(schema)
        .map(Some)
        .map_err(|error| error.under("schema"))
}

impl Matcher for IsJson {
    fn judge(&self, value: Option<&Json>, _: &dyn World) -> Judged {
        let text = match value {
            None => return nothing_there(None),
            Some(Json::String(text)) => text,
            Some(other) => return no_string("is-json", other),
        };
        match (Json::read(text.as_bytes()), &self.0) {
            // It may be JSON, which is unknown.
            (Err(error @ ReadError::TooDeep), _) => {
                Judged::unknown(format!("the text cannot be judged: {error}"))
            }
            (Err(error), _) => Judged::fails(Failure::note(
                "is-json",
                format!("the text is not JSON: {error}"),
            )),
            (Ok(_), None) => Judged::Holds,
            (Ok(value), Some(schema)) => schema.judge(Some(&value)),
        }
    }
}
