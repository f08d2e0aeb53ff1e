//! A line of the page as JSON.

use serde_json::Value;
use tapewright_schemas::filter::LineKind;
use tapewright_schemas::listing::{Body, Entry, NoteContent};

/// A line as JSON, with its available contents; `part` names its tape, if there are several.
pub(crate) fn of(entry: &Entry, part: Option<&str>) -> serde_json::Result<String> {
    let (mut text, said) = match entry {
        Entry::Exchange {
            row,
            request,
            answer,
        } => {
            let said = vec![("request", said(request)), ("answer", said(answer))];
            let text = serde_json::to_string(row)?;
            (format!("{{\"kind\":\"exchange\",{}", rest(&text)), said)
        }
        Entry::Model {
            row,
            request,
            answer,
        } => {
            let said = vec![("request", said(request)), ("answer", said(answer))];
            (serde_json::to_string(row)?, said)
        }
        Entry::Beside(note) => {
            let said = match &note.told {
                NoteContent::Message(body) => vec![("message", said(body))],
                _ => Vec::new(),
            };
            (serde_json::to_string(&note.beside())?, said)
        }
    };
    // Removes the closing brace.
    text.pop();
    if let Some(part) = part {
        text.extend([",\"part\":", &serde_json::to_string(part)?]);
    }
    for (name, value) in said {
        if let Some(value) = value {
            text.extend([",\"", name, "\":", &serde_json::to_string(&value)?]);
        }
    }
    text.push('}');
    Ok(text)
}

/// Like `of`, without the text of peers: no standard error, no fields of a head, no noise.
pub(crate) fn without_words(entry: &Entry, part: Option<&str>) -> serde_json::Result<String> {
    let text = of(entry, part)?;
    let Entry::Beside(note) = entry else {
        return Ok(text);
    };
    if !matches!(
        note.kind,
        LineKind::Http | LineKind::Noise | LineKind::Stderr
    ) {
        return Ok(text);
    }
    let mut row: Value = serde_json::from_str(&text)?;
    for name in ["text", "message"] {
        row.as_object_mut().map(|members| members.remove(name));
    }
    let head = row.get_mut("head").and_then(Value::as_object_mut);
    for head in head.into_iter().flat_map(|head| head.values_mut()) {
        head.as_object_mut().map(|members| members.remove("fields"));
    }
    serde_json::to_string(&row)
}

/// The members of an object, and its end.
fn rest(object: &str) -> &str {
    object.strip_prefix('{').unwrap_or(object)
}

/// Contents as text, with numbers and white space unchanged from the recording.
fn said(body: &Body) -> Option<String> {
    match body {
        Body::Unwanted => None,
        Body::NoRoom => Some("not kept: too many open bodies".to_owned()),
        Body::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use tapewright_schemas::event::{Direction, Head, RequestHead};
    use tapewright_schemas::listing::Note;

    use super::*;

    fn note(kind: LineKind, told: NoteContent) -> Entry {
        Entry::Beside(Box::new(Note {
            kind,
            seq: 1,
            session: 0,
            dir: Direction::ToServer,
            at_ms: None,
            method: None,
            id: None,
            about: None,
            is_ours: false,
            told,
        }))
    }

    #[test]
    fn without_words_nothing_is_told_that_a_peer_said() {
        let secret = || bytes::Bytes::from_static(b"secret");
        let head = RequestHead {
            method: "POST".into(),
            target: "/mcp".to_owned(),
            fields: [("x-secret", "secret")].into_iter().collect(),
            ..RequestHead::default()
        };
        for entry in [
            note(LineKind::Stderr, NoteContent::Stderr(secret())),
            note(LineKind::Noise, NoteContent::Message(Body::Text(secret()))),
            note(
                LineKind::Http,
                NoteContent::Head(Box::new(Head::Request(head))),
            ),
        ] {
            assert!(of(&entry, Some("a")).unwrap().contains("secret"));
            let told = without_words(&entry, Some("a")).unwrap();
            assert!(!told.contains("secret"), "{told}");
            assert!(told.contains("\"part\":\"a\""));
        }
    }
}
