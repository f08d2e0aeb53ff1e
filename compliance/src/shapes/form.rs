//! The schema of a form in an elicitation: flat, with primitive values.

use super::types::TEXTS;
use super::{Kind, Member, ShapeError, may};
use crate::revision::{R4, Revisions};
use crate::value::{Value, quoted};

/// Checks a `requestedSchema`.
pub(crate) fn check(schema: Value<'_>, possible: Revisions) -> Result<(), ShapeError> {
    if !schema.get("type").is_some_and(|kind| kind.is("object")) {
        return Err(ShapeError::here("is not of `type` \"object\"".to_owned()));
    }
    let properties = schema.get("properties").filter(|one| one.is_object());
    let Some(properties) = properties else {
        return Err(ShapeError::here("has no object `properties`".to_owned()));
    };
    super::check(schema, SCHEMA, possible)?;
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

/// The members other than the fields.
const SCHEMA: &[Member] = &[
    may("$schema", Kind::Text).only(Revisions::FROM_R4),
    may("required", TEXTS),
];

const TITLE: Member = may("title", Kind::Text);
const DESCRIPTION: Member = may("description", Kind::Text);

const BOOLEAN: &[Member] = &[TITLE, DESCRIPTION, may("default", Kind::Boolean)];

const NUMBER: &[Member] = &[
    TITLE,
    DESCRIPTION,
    may("minimum", Kind::Number),
    may("maximum", Kind::Number),
    may("default", Kind::Number).only(R4),
];

const STRING: &[Member] = &[
    TITLE,
    DESCRIPTION,
    may("format", Kind::Word(&["date", "date-time", "email", "uri"])),
    may("minLength", Kind::Number),
    may("maxLength", Kind::Number),
    may("enum", TEXTS),
    may("default", Kind::Text).only(Revisions::FROM_R4),
];

/// One field of the form. From 2025-11-25 on it may also be a multiple choice from a list.
fn field(property: Value<'_>, possible: Revisions) -> Result<(), ShapeError> {
    let wrong = |what: String| Err(ShapeError::here(what));
    let Some(kind) = property.get("type").and_then(Value::string) else {
        return wrong("has no string `type`".to_owned());
    };
    match &*kind {
        "boolean" => super::check(property, BOOLEAN, possible),
        "integer" | "number" => super::check(property, NUMBER, possible),
        "string" => super::check(property, STRING, possible),
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
