//! `is-valid-tools-call`: an object with a `name` and `arguments`.

use serde_json::Value;

use super::is_json::optional_schema;
use super::schema::Schema;
use super::{Judged, Matcher, nothing_there};
use crate::error::LoadError;
use crate::failure::Failure;
use crate::json::Json;
use crate::world::World;

#[derive(Debug)]
struct IsToolsCall(Option<Schema>);

pub(super) fn compile(value: &Value, _: usize) -> Result<Box<dyn Matcher>, LoadError> {
    let schema = optional_schema(value, "is-valid-tools-call")?;
    Ok(Box::new(IsToolsCall(schema)))
}

impl Matcher for IsToolsCall {
    fn judge(&self, value: Option<&Json>, _: &dyn World) -> Judged {
        let Some(value) = value else {
            return nothing_there(None);
        };
        let fails =
            |note: &str| Judged::fails(Failure::note("is-valid-tools-call", note.to_owned()));
        let Some(members) = value.as_object() else {
            return fails("a tool call is an object");
        };
        if members.get("name").and_then(Json::as_str).is_none() {
            return fails("a tool call has a `name`, which is a string");
        }
        let arguments = members.get("arguments");
        if arguments.and_then(Json::as_object).is_none() {
            return fails("a tool call has `arguments`, which are an object");
        }
        match &self.0 {
            None => Judged::Holds,
            Some(schema) => schema.judge(arguments),
        }
    }
}
