//! The schema of a form, as an elicitation asks for one: flat, of primitive values.

use super::Wrong;
use crate::revision::Revisions;
use crate::value::{Value, quoted};

/// What is wrong with a `requestedSchema`.
pub(crate) fn check(schema: Value<'_>, possible: Revisions) -> Result<(), Wrong> {
    if !schema.get("type").is_some_and(|kind| kind.is("object")) {
        return Err(Wrong::here("is not of `type` \"object\"".to_owned()));
    }
    let properties = schema.get("properties").filter(|one| one.is_object());
    let Some(properties) = properties else {
        return Err(Wrong::here("has no object `properties`".to_owned()));
    };
    let mut first = Ok(());
    properties.members(|name, property| {
        if first.is_ok() {
            let name = || String::from_utf8_lossy(name).into_owned();
            first =
                field(property, possible).map_err(|wrong| wrong.under(&name()).under("properties"));
        }
    });
    first
}

/// One field of the form. From 2025-11-25 on it may also be a choice of several from a list.
fn field(property: Value<'_>, possible: Revisions) -> Result<(), Wrong> {
    let wrong = |what: String| Err(Wrong::here(what));
    let Some(kind) = property.get("type").and_then(Value::string) else {
        return wrong("has no string `type`".to_owned());
    };
    match &*kind {
        "boolean" | "integer" | "number" | "string" => Ok(()),
        "array" if Revisions::FROM_R4.meets(possible) => {
            let items = property.get("items");
            let listed = ["enum", "anyOf"]
                .iter()
                .any(|name| items.is_some_and(|items| items.get(name).is_some()));
            if listed {
                return Ok(());
            }
            wrong("is an array of other things than listed choices".to_owned())
        }
        _ => wrong(format!(
            "is of type {}, which is not primitive",
            quoted(&kind)
        )),
    }
}
