//! Rewriting suites and cassettes for 2026-07-28: only the code of a missing resource.
//!
//! The text is never rewritten as a whole. Bytes are replaced, so that order, comments, spaces and
//! the last line end are preserved.

use tapewright_config::migrate::dependent;
use tapewright_config::source::Span;
use tapewright_schemas::envelope::RequestId;
use tapewright_schemas::json;
use tapewright_schemas::order::Order as _;
use tapewright_schemas::slices::Part as _;

use crate::missing_resource::{CODE, LEGACY_CODE};

/// The changes to a text, and notes about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The positions of old codes, in order.
    edits: Vec<(usize, usize)>,
    /// What needs manual attention: where, and what.
    pub notes: Vec<Note>,
}

/// Something that needs manual attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The first byte of the text that it refers to.
    pub at: usize,
    /// The note.
    pub what: String,
}

/// Methods that 2026-07-28 has removed or deprecated, and their replacements.
const GOING: &[(&str, &str)] = &[
    (
        "initialize",
        "the handshake is gone; `server/discover` reports revisions and capabilities",
    ),
    ("ping", "it is removed"),
    (
        "logging/setLevel",
        "it is removed; a request names its level in `_meta`",
    ),
    ("notifications/message", "logging is deprecated"),
    (
        "resources/subscribe",
        "it is removed; use `subscriptions/listen`",
    ),
    (
        "resources/unsubscribe",
        "it is removed; use `subscriptions/listen`",
    ),
    ("roots/list", "roots are deprecated"),
    ("sampling/createMessage", "sampling is deprecated"),
    ("tasks/list", "it is removed; keep the ids of tasks"),
    (
        "tasks/result",
        "it is removed; `tasks/get` carries the result",
    ),
];

impl Plan {
    /// The changes to a suite; `None` if it is not a single YAML document.
    #[must_use]
    pub fn of_suite(text: &str) -> Option<Self> {
        let methods: Vec<&'static str> = GOING.iter().map(|(method, _)| *method).collect();
        let found = dependent(text, LEGACY_CODE, &methods)?;
        let place = |span: &Span| (span.start as usize, span.end as usize);
        let shared = found.shared.iter().map(|span| Note {
            at: span.start as usize,
            what: format!(
                "{LEGACY_CODE} is expected of a missing resource and, by an anchor, of something else; write it out, and change the one"
            ),
        });
        let going = found.methods.iter().map(|(span, method)| {
            let instead = GOING.iter().find(|(known, _)| known == method);
            let instead = instead.map_or("", |(_, instead)| instead);
            Note {
                at: span.start as usize,
                what: format!("`{method}`: {instead}"),
            }
        });
        let mut notes: Vec<Note> = shared.chain(going).collect();
        notes.order_by_key(|note| note.at);
        Some(Self {
            edits: found.codes.iter().map(place).collect(),
            notes,
        })
    }

    /// The changes to a cassette, by tapewright or another tool; `None` if it is not one.
    #[must_use]
    pub fn of_cassette(text: &[u8]) -> Option<Self> {
        if !json::is_valid(text) {
            return None;
        }
        json::find(text, &["version"])?;
        let exchanges =
            json::find(text, &["exchanges"]).filter(|list| list.first() == Some(&b'['))?;
        let mut edits = Vec::new();
        json::valid_elements(exchanges, |span| {
            if let Some(code) = legacy_code(span.of(exchanges)) {
                // It is a slice of the text, so its address is its offset.
                let start = (code.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
                edits.push((start, start + code.len()));
            }
        });
        Some(Self {
            edits,
            notes: Vec::new(),
        })
    }

    /// Whether nothing would change.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The position of each old code, in order: its first byte, and the byte after its last.
    #[must_use]
    pub fn edits(&self) -> &[(usize, usize)] {
        &self.edits
    }

    /// The replacement for an old code.
    #[must_use]
    pub fn replacement() -> String {
        CODE.to_string()
    }

    /// The text with its changes.
    #[must_use]
    pub fn apply(&self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        let mut at = 0;
        for (start, end) in &self.edits {
            out.extend_from_slice(text.part(at..*start));
            out.extend_from_slice(Self::replacement().as_bytes());
            at = *end;
        }
        out.extend_from_slice(text.part(at..));
        out
    }
}

/// The code -32002 of a recorded answer to `resources/read`, as source text.
fn legacy_code(exchange: &[u8]) -> Option<&[u8]> {
    let method = json::find(exchange, &["request", "method"])?;
    if RequestId::of_source(method) != RequestId::Text("resources/read".into()) {
        return None;
    }
    let code = json::find(exchange, &["response", "error", "code"])?;
    (code == LEGACY_CODE.to_string().as_bytes()).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASSETTE: &str = r#"{ "version":"1",
  "exchanges": [
    {"response":{"id":1,"error":{"message":"no","code": -32002 }},"request":{"id":1,"method":"resources/read","params":{"uri":"a"}}},
    {"request":{"id":2,"method":"tools/call"},"response":{"id":2,"error":{"code":-32002,"message":"x"}}},
    {"request":{"id":3,"method":"resources\/read"},"response":{"id":3,"error":{"code":-32002,"message":"y"}}},
    {"request":{"id":4,"method":"resources/read"},"response":{"id":4,"result":{"contents":[],"error":{"code":-32002}}}}
  ], "meta":{"z":"1","a":"2"} }

"#;

    #[test]
    fn a_cassette_keeps_every_byte_but_the_codes_of_missing_resources() {
        let plan = Plan::of_cassette(CASSETTE.as_bytes()).unwrap();
        assert_eq!(plan.edits().len(), 2);
        let new = String::from_utf8(plan.apply(CASSETTE.as_bytes())).unwrap();
        let expected = CASSETTE
            .replace(
                r#""code": -32002 }},"request""#,
                r#""code": -32602 }},"request""#,
            )
            .replace(r#"-32002,"message":"y""#, r#"-32602,"message":"y""#);
        assert_eq!(new, expected);
        // Once is enough.
        assert!(Plan::of_cassette(new.as_bytes()).unwrap().is_empty());
    }

    #[test]
    fn other_json_is_no_cassette() {
        for text in [
            "{}",
            "[]",
            r#"{"version":"1"}"#,
            r#"{"version":"1","exchanges":{}}"#,
            "{",
        ] {
            assert_eq!(Plan::of_cassette(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_suite_keeps_comments_and_its_last_line_end() {
        let suite = "# first\nresources:\n  - name: a\n    uri: a://b # where\n    expect: [{target: error.code, matcher: {exact: -32002}}] # why";
        let plan = Plan::of_suite(suite).unwrap();
        let new = String::from_utf8(plan.apply(suite.as_bytes())).unwrap();
        assert_eq!(new, suite.replace("-32002", "-32602"));
        assert!(plan.notes.is_empty());
    }

    #[test]
    fn methods_that_go_are_notes() {
        let plan = Plan::of_suite("compliance:\n  - check: logging/setLevel\n").unwrap();
        assert!(plan.is_empty());
        assert_eq!(plan.notes[0].at, 23);
        assert!(
            plan.notes[0].what.contains("logging/setLevel"),
            "{:?}",
            plan.notes
        );
    }
}
