//! Placeholders in calls, which are replaced by values of the server.
//!
//! `tapewright_config::corpus` lists them. Live they are filled in; in a recording the value in
//! their place is recognized by the server's lists.

use serde_json::{Map, Value};

use crate::inventory::{ServerInventory, arguments, needs_arguments, prompt_needs_arguments};

/// The name of a tool or prompt that no server has.
pub const UNKNOWN_NAME: &str = "tapewright-no-such-thing";
/// The URI of a resource that no server has.
pub const UNKNOWN_URI: &str = "tapewright-no-such-thing://nowhere/nothing";
/// A cursor that no server has given.
pub const UNKNOWN_CURSOR: &str = "tapewright-no-such-cursor";

/// A placeholder for which the server has nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved(pub String);

/// Whether a value in a recording matches a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlaceholderFit {
    /// It cannot.
    No,
    /// It matches if the server refuses it: it is in no list, and some servers do not list
    /// everything they have.
    IfRefused,
    /// It can.
    Yes,
}

/// Whether a text contains a placeholder.
#[must_use]
pub fn is_in(text: &str) -> bool {
    text.contains("${")
}

/// A text with its placeholders filled in.
pub fn fill_text(text: &str, known: &ServerInventory) -> Result<String, Unresolved> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, from) = rest.split_at(start);
        filled.push_str(before);
        let Some(end) = from.find('}') else {
            rest = from;
            break;
        };
        let (written, after) = from.split_at(end + 1);
        let value = value(written, known).ok_or_else(|| Unresolved(written.to_owned()))?;
        filled.push_str(&value);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// A value with the placeholders filled in, in its texts and in the names of its members.
pub fn fill(value: &Value, known: &ServerInventory) -> Result<Value, Unresolved> {
    Ok(match value {
        Value::String(text) if is_in(text) => Value::String(fill_text(text, known)?),
        Value::Array(items) => {
            let items = items.iter().map(|item| fill(item, known));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(members) => Value::Object(fill_object(members, known)?),
        other => other.clone(),
    })
}

/// Like [`fill`], for an object.
pub fn fill_object(
    members: &Map<String, Value>,
    known: &ServerInventory,
) -> Result<Map<String, Value>, Unresolved> {
    let member =
        |(name, value): (&String, &Value)| Ok((fill_text(name, known)?, fill(value, known)?));
    members.iter().map(member).collect()
}

/// Whether a text selects something of the server's, which the server may have reasons to refuse.
#[must_use]
pub fn chooses(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            is_in(text) && !text.contains(":unknown}") && !text.contains(":bad}")
        }
        Value::Array(items) => items.iter().any(chooses),
        Value::Object(members) => members.values().any(chooses),
        _ => false,
    }
}

fn value(written: &str, known: &ServerInventory) -> Option<String> {
    let of = |thing: Option<&Value>, key: &str| Some(thing?.get(key)?.as_str()?.to_owned());
    let any = |_: &Value| true;
    match written {
        "${tool:first}" => of(known.tool(any), "name"),
        "${tool:structured}" => of(known.tool(is_structured), "name"),
        "${tool:needs-arguments}" => of(known.tool(needs_arguments), "name"),
        "${tool:unknown}" | "${prompt:unknown}" => Some(UNKNOWN_NAME.to_owned()),
        "${resource:first}" => of(known.resources.items.first(), "uri"),
        "${resource:unknown}" => Some(UNKNOWN_URI.to_owned()),
        "${template:first}" => of(known.templates.items.first(), "uriTemplate"),
        "${prompt:first}" => of(known.prompt(|one| !prompt_needs_arguments(one)), "name"),
        "${prompt:with-argument}" => of(with_argument(known), "name"),
        "${prompt:needs-arguments}" => of(known.prompt(prompt_needs_arguments), "name"),
        "${argument:first}" => {
            let prompt = with_argument(known)?;
            of(arguments(prompt).next(), "name")
        }
        "${cursor:bad}" => Some(UNKNOWN_CURSOR.to_owned()),
        "${auth:resource}" => known.shown.resource.clone(),
        "${auth:server}" => known.shown.server.clone(),
        _ => None,
    }
}

fn with_argument(known: &ServerInventory) -> Option<&Value> {
    let has = |prompt: &&Value| arguments(prompt).next().is_some();
    known.prompts.items.iter().find(has)
}

fn is_structured(tool: &Value) -> bool {
    tool.get("outputSchema").is_some()
}

/// Whether a text of a recording matches a text with a placeholder.
#[must_use]
pub fn stands(written: &str, found: &str, known: &ServerInventory) -> PlaceholderFit {
    let tool = |fits: fn(&Value) -> bool| known.tools.get(found).is_some_and(fits);
    let prompt = |fits: fn(&Value) -> bool| known.prompts.get(found).is_some_and(fits);
    let any = |_: &Value| true;
    let is = match written {
        "${tool:first}" => tool(any),
        "${tool:structured}" => tool(is_structured),
        "${tool:needs-arguments}" => tool(needs_arguments),
        "${resource:first}" => known.resources.has(found),
        "${template:first}" => known.templates.has(found),
        "${prompt:first}" => prompt(any),
        "${prompt:with-argument}" => prompt(|prompt| arguments(prompt).next().is_some()),
        "${prompt:needs-arguments}" => prompt(prompt_needs_arguments),
        "${argument:first}" => known
            .prompts
            .items
            .iter()
            .flat_map(arguments)
            .any(|one| one.get("name").and_then(Value::as_str) == Some(found)),
        "${tool:unknown}" => return unknown(found, known.tools.complete, known.tools.has(found)),
        "${prompt:unknown}" => {
            return unknown(found, known.prompts.complete, known.prompts.has(found));
        }
        "${resource:unknown}" => {
            let complete = known.resources.complete;
            return unknown(found, complete, known.resources.has(found));
        }
        "${cursor:bad}" => return unknown(found, true, known.cursors.contains(found)),
        other => fill_text(other, known).is_ok_and(|filled| filled == found),
    };
    if is {
        PlaceholderFit::Yes
    } else {
        PlaceholderFit::No
    }
}

fn unknown(found: &str, complete: bool, listed: bool) -> PlaceholderFit {
    if [UNKNOWN_NAME, UNKNOWN_URI, UNKNOWN_CURSOR].contains(&found) {
        PlaceholderFit::Yes
    } else if complete && !listed {
        PlaceholderFit::IfRefused
    } else {
        PlaceholderFit::No
    }
}
