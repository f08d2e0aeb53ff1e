//! Blocks of content: text, images and other content that tools, prompts and models exchange.

use tapewright_schemas::slices::Part as _;

use super::types::{ANNOTATIONS, ICONS, OBJECT, TITLE};
use super::{Kind, Member, ShapeError, check, may, need};
use crate::revision::{R4, Revisions};
use crate::value::{Value, quoted};

/// The types of blocks, since when each is there, and its members.
const BLOCKS: [(&str, Revisions, &[Member]); 7] = [
    (
        "text",
        Revisions::ALL,
        &[need("text", Kind::Text), ANNOTATIONS],
    ),
    ("image", Revisions::ALL, MEDIA),
    ("audio", Revisions::FROM_R2, MEDIA),
    (
        "resource",
        Revisions::ALL,
        &[need("resource", Kind::Resource), ANNOTATIONS],
    ),
    (
        "resource_link",
        Revisions::FROM_R3,
        &[
            need("uri", Kind::Text),
            need("name", Kind::Text),
            TITLE,
            may("description", Kind::Text),
            may("mimeType", Kind::Text),
            may("size", Kind::Number),
            ANNOTATIONS,
            ICONS,
        ],
    ),
    (
        "tool_use",
        Revisions::FROM_R4,
        &[
            need("id", Kind::Text),
            need("name", Kind::Text),
            need("input", OBJECT),
        ],
    ),
    (
        "tool_result",
        Revisions::FROM_R4,
        &[
            need("toolUseId", Kind::Text),
            need("content", Kind::List(&Kind::Block)),
            may("isError", Kind::Boolean),
            may("structuredContent", OBJECT).only(R4),
        ],
    ),
];

const MEDIA: &[Member] = &[
    need("data", Kind::Text),
    need("mimeType", Kind::Text),
    ANNOTATIONS,
];

/// Checks a block.
pub(crate) fn block(value: Value<'_>, possible: Revisions) -> Result<(), ShapeError> {
    if !value.is_object() {
        let what = format!("is {}, not an object", value.kind());
        return Err(ShapeError::here(what));
    }
    let Some(kind) = value.get("type") else {
        return Err(ShapeError::here("has no string `type`".to_owned()));
    };
    let known = BLOCKS.iter().find(|(name, _, _)| kind.is(name));
    let Some((name, since, members)) = known else {
        let found = match kind.string() {
            Some(name) => quoted(&name),
            None => kind.kind().to_owned(),
        };
        let what = format!("is {found}, which no revision has");
        return Err(ShapeError::here(what).under("type"));
    };
    if !since.meets(possible) {
        let what = format!("is `{name}`, which belongs to {}", since.words());
        return Err(ShapeError::here(what).under("type"));
    }
    check(value, members, possible)
}

/// Checks blocks: an array of them, or a single one if allowed.
pub(crate) fn blocks(value: Value<'_>, possible: Revisions) -> Result<(), ShapeError> {
    if !value.is_array() {
        return block(value, possible);
    }
    let (mut number, mut first) = (0_usize, Ok(()));
    value.elements(|element| {
        if first.is_ok() {
            first = block(element, possible).map_err(|wrong| wrong.under(&number.to_string()));
        }
        number += 1;
    });
    first
}

/// Whether these are the members of a `tools/call` result with one block of plain text, as most
/// are, if a quick check shows it. False if that takes a closer look.
pub(crate) fn is_one_text(result: Value<'_>) -> bool {
    let Some(text) = result.0.strip_prefix(ONE_TEXT) else {
        return false;
    };
    // The first quote without a backslash before it ends the string.
    let ends = memchr::memchr_iter(b'"', text)
        .find(|at| at.checked_sub(1).and_then(|at| text.get(at)) != Some(&b'\\'));
    let rest = ends.map_or(&b""[..], |at| text.part(at..));
    rest.starts_with(b"\"}]") && memchr::memmem::find(rest, b"\"content\"").is_none()
}

/// Whether it is one block of plain text and optionally a valid `isError`, as most are. False if
/// that takes a closer look.
pub(crate) fn is_one_text_alone(result: Value<'_>) -> bool {
    let text = result.0.strip_prefix(ONE_TEXT);
    matches!(
        text.map(behind_string),
        Some(b"\"}]}" | b"\"}],\"isError\":false}" | b"\"}],\"isError\":true}")
    )
}

/// The text after the content of a string, from its quote on.
fn behind_string(text: &[u8]) -> &[u8] {
    let is_end = |at: &usize| {
        let before = text.part(..*at).iter().rev();
        before.take_while(|byte| **byte == b'\\').count() % 2 == 0
    };
    let end = memchr::memchr_iter(b'"', text).find(is_end);
    end.map_or(&b""[..], |at| text.part(at..))
}

/// How most results of tools begin.
const ONE_TEXT: &[u8] = b"{\"content\":[{\"type\":\"text\",\"text\":\"";

const RESOURCE: &[Member] = &[need("uri", Kind::Text), may("mimeType", Kind::Text)];

/// Checks the contents of a resource.
pub(super) fn resource(value: Value<'_>, possible: Revisions) -> Result<(), ShapeError> {
    check(value, RESOURCE, possible)?;
    let (text, blob) = (value.get("text"), value.get("blob"));
    match (text, blob) {
        (Some(one), _) | (None, Some(one)) if one.is_string() => Ok(()),
        (Some(one), _) => {
            Err(ShapeError::here(format!("is {}, not a string", one.kind())).under("text"))
        }
        (None, Some(one)) => {
            Err(ShapeError::here(format!("is {}, not a string", one.kind())).under("blob"))
        }
        (None, None) => Err(ShapeError::here("has neither `text` nor `blob`".to_owned())),
    }
}
