//! Scrubbing the parts of HTTP other than messages.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::splice::{decoded, encoded, meaning, quoted};
use crate::event::{Edit, Fields, RequestHead, ResponseHead, SseNote};
use crate::json;
use crate::redact::Redactor;
use crate::tape::{redacted_edit, redacted_note, redacted_request, redacted_response};

/// The new value of a member; the inner `None` if it is unchanged, the outer `None` if this is not
/// a member of HTTP.
pub(super) fn member(redactor: &mut Redactor, name: &[u8], value: &[u8]) -> Option<Change> {
    Some(match name {
        b"request" => value_of(value, |head: &RequestHead| redacted_request(redactor, head)),
        b"response" => value_of(value, |head: &ResponseHead| {
            redacted_response(redactor, head)
        }),
        b"sse" => value_of(value, |note: &SseNote| redacted_note(redactor, note)),
        b"edited" => value_of(value, |edit: &Edit| redacted_edit(redactor, edit)),
        b"trailers" => value_of(value, |fields: &Fields| redactor.fields(fields)),
        b"began" | b"ended" => value_of(value, |text: &String| redactor.url(text)),
        b"added" | b"cassette" | b"aborted" | b"stopped" => None,
        _ => return None,
    })
}

/// The new text of a value, if it changes.
pub(super) type Change = Option<Vec<u8>>;

/// The new values of a body's members: each with its source text.
pub(super) fn body<'t>(
    redactor: &mut Redactor,
    body: &'t [u8],
    endpoint: bool,
) -> Vec<(&'t [u8], Vec<u8>)> {
    let mut changes = Vec::new();
    json::members(body, |name, value| {
        let value = value.trim_ascii();
        let change = match name {
            b"json" => changed(value, &redactor.body(value), <[u8]>::to_vec),
            b"text" => meaning(value).and_then(|text| {
                let new = if endpoint {
                    redactor.endpoint(&text).into_bytes()
                } else {
                    redactor.body(&text).into_owned()
                };
                changed(&text, &new, quoted)
            }),
            b"base64" => decoded(value).and_then(|bytes| {
                let new = redactor.body(&bytes).into_owned();
                changed(&bytes, &new, encoded)
            }),
            b"clipped" => {
                let head = json::find(value, &["head"]);
                let change = head.and_then(meaning).and_then(|text| {
                    let new = redactor.body_head(&text);
                    changed(&text, &new, quoted)
                });
                if let (Some(head), Some(new)) = (head, change) {
                    changes.push((head, new));
                }
                None
            }
            _ => None,
        };
        changes.extend(change.map(|new| (value, new)));
    });
    changes
}

fn changed(old: &[u8], new: &[u8], write: fn(&[u8]) -> Vec<u8>) -> Change {
    (new != old).then(|| write(new))
}

/// Redacts a value that serde reads and writes.
fn value_of<T: DeserializeOwned + Serialize + PartialEq>(
    value: &[u8],
    redact: impl FnOnce(&T) -> T,
) -> Change {
    let old: T = serde_json::from_slice(value).ok()?;
    let new = redact(&old);
    if new == old {
        return None;
    }
    serde_json::to_vec(&new).ok()
}
