//! Recordings as resources: what is on one, and what one exchange said.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::cursor::{Question, RowPosition};
use super::refusal::Refusal;
use super::tools::{exchange, inspect};
use super::{Sources, answer::Answer};
use crate::report::{self, figures, safe};

/// The prefix of a recording's URI.
const PREFIX: &str = "tapewright://recording/";
const EXCHANGE: &str = "/exchange/";
/// How many resources are listed at once.
const AT_ONCE: usize = 100;
const JSON: &str = "application/json";

/// The URI of a recording.
pub(super) fn uri(name: &str) -> String {
    let mut uri = PREFIX.to_owned();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _never_fails = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

/// Decodes the name after the prefix.
fn name(encoded: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(16 * high + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The recordings, the newest first.
pub(super) fn list(sources: &Sources, cursor: Option<&str>) -> Result<Value, Refusal> {
    let question = Question::of("resources/list");
    let start = match cursor {
        Some(cursor) => {
            let place = question.place(cursor);
            let invalid = |why: report::Mistake| Refusal::invalid_params(why.to_string());
            place.map_err(invalid)?.0
        }
        None => 0,
    };
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    let all = sources.recordings.found();
    let all = all.map_err(|why| Refusal::internal(why.to_string()))?;
    let listed = all.iter().skip(start).take(AT_ONCE);
    let resources: Vec<Value> = listed
        .map(|found| {
            let (at, size) = (found.changed_at(), figures::size(found.bytes));
            json!({
                "uri": uri(&found.name),
                "name": safe(&found.name),
                "description": format!("A recording of {size}, last written to at {at}"),
                "mimeType": JSON,
            })
        })
        .collect();
    let end = start.saturating_add(resources.len());
    let mut result = json!({ "resources": resources });
    if end < all.len()
        && let Value::Object(members) = &mut result
    {
        let next = question.cursor(RowPosition(end as u64, 0));
        members.insert("nextCursor".to_owned(), next.into());
    }
    Ok(result)
}

/// How the rest is named.
pub(super) fn templates() -> Value {
    json!([
        {
            "uriTemplate": format!("{PREFIX}{{recording}}"),
            "name": "recording",
            "title": "A recording",
            "description": "What is on a recording, in the format of `inspect_recording`",
            "mimeType": JSON,
        },
        {
            "uriTemplate": format!("{PREFIX}{{recording}}{EXCHANGE}{{seq}}"),
            "name": "exchange",
            "title": "An exchange",
            "description": "What was asked and answered, in the format of `show_exchange`",
            "mimeType": JSON,
        },
    ])
}

/// One of them.
pub(super) fn read(sources: &Sources, uri: &str) -> Result<Value, Refusal> {
    let missing = |why: &str| {
        let data = json!({ "uri": uri.chars().take(URI_CHARS).collect::<String>() });
        Refusal::no_resource(safe(why), data)
    };
    let rest = uri.strip_prefix(PREFIX);
    let rest = rest.ok_or_else(|| missing("expected `tapewright://recording/NAME`"))?;
    let (encoded, seq) = match rest.split_once(EXCHANGE) {
        Some((encoded, seq)) => (encoded, Some(seq.parse::<u64>())),
        None => (rest, None),
    };
    let name = name(encoded).ok_or_else(|| missing("the name of the recording cannot be read"))?;
    let answer: anyhow::Result<Answer> = match seq {
        None => inspect::of(sources, &name),
        Some(Ok(seq)) => exchange::of(sources, &name, seq),
        Some(Err(_)) => return Err(missing("the place of an exchange is a number")),
    };
    let answer = answer.map_err(|why| {
        let hint = report::hint(&why).map(|hint| format!("; {hint}"));
        missing(&format!("{why:#}{}", hint.unwrap_or_default()))
    })?;
    let (value, _): (Value, String) = answer.finish(&sources.rules);
    let text = report::safe_json(&value.to_string()).into_owned();
    Ok(json!({ "contents": [{ "uri": uri, "mimeType": JSON, "text": text }] }))
}

const URI_CHARS: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_comes_back() {
        for plain in ["fs.tape.jsonl", "run/fs.json", "ä b%2F?#.json"] {
            let uri = uri(plain);
            let encoded = uri.strip_prefix(PREFIX).unwrap();
            assert!(!encoded.contains('/'), "{uri}");
            assert_eq!(name(encoded).as_deref(), Some(plain));
        }
        for bad in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(name(bad), None, "{bad}");
        }
    }
}
