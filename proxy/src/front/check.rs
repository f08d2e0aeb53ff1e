//! Checks the header fields that each revision requires.

use http::{HeaderMap, HeaderName, StatusCode, header};
use tapewright_schemas::event::InPlaceCause;

use crate::bridge::mirror;

/// A request that is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// The JSON-RPC code.
    pub(crate) code: i32,
    /// The cause, as a token.
    pub(crate) cause: InPlaceCause,
    /// Details of the cause.
    pub(crate) about: Option<String>,
    /// The message for the client, without secrets.
    pub(crate) why: String,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, cause: InPlaceCause, why: impl Into<String>) -> Self {
        Self {
            status,
            code: -32_000,
            cause,
            about: None,
            why: why.into(),
        }
    }

    pub(crate) fn bad(cause: InPlaceCause, why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, cause, why)
    }

    /// Replaces the default JSON-RPC code for server errors.
    pub(crate) fn coded(self, code: i32) -> Self {
        Self { code, ..self }
    }

    /// Adds details of the cause.
    pub(crate) fn about(self, what: &dyn ToString) -> Self {
        let about = Some(what.to_string());
        Self { about, ..self }
    }
}

/// The content types that a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accepts {
    pub(crate) json: bool,
    pub(crate) events: bool,
}

/// Parses `Accept`. A client must list both types; one that lists only one, or none, gets what it
/// accepts.
pub(crate) fn accepts(head: &HeaderMap) -> Result<Accepts, Refusal> {
    let mut named = head.get_all(header::ACCEPT).iter().peekable();
    if named.peek().is_none() {
        return Ok(Accepts {
            json: true,
            events: true,
        });
    }
    let mut accepts = Accepts {
        json: false,
        events: false,
    };
    let types = named.filter_map(|value| value.to_str().ok());
    for one in types.flat_map(|value| value.split(',')) {
        let mut parts = one.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        if parts.any(is_zero_weight) {
            continue;
        }
        accepts.json |= matches!(kind.as_str(), "application/json" | "application/*" | "*/*");
        accepts.events |= matches!(kind.as_str(), "text/event-stream" | "text/*" | "*/*");
    }
    if accepts.json || accepts.events {
        return Ok(accepts);
    }
    let why = "Accept must list application/json and text/event-stream";
    Err(Refusal::new(
        StatusCode::NOT_ACCEPTABLE,
        InPlaceCause::AcceptField,
        why,
    ))
}

fn is_zero_weight(parameter: &str) -> bool {
    let Some((name, weight)) = parameter.split_once('=') else {
        return false;
    };
    name.trim().eq_ignore_ascii_case("q") && weight.trim().parse() == Ok(0.0_f32)
}

/// Checks that a client accepts an event stream, the only answer to a GET.
pub(crate) fn takes_events(head: &HeaderMap) -> Result<(), Refusal> {
    if accepts(head)?.events {
        return Ok(());
    }
    let why = "Accept must list text/event-stream";
    Err(Refusal::new(
        StatusCode::NOT_ACCEPTABLE,
        InPlaceCause::AcceptField,
        why,
    ))
}

/// Checks that a POST declares a JSON body.
pub(crate) fn brings_json(head: &HeaderMap) -> Result<(), Refusal> {
    let kind = head.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let why = "Content-Type must be application/json";
    Err(Refusal::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        InPlaceCause::ContentType,
        why,
    ))
}

/// The only value of a field; a repeated field is refused as ambiguous.
pub(crate) fn single<'a>(
    head: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, Refusal> {
    let mut values = head.get_all(name).iter();
    let value = values.next();
    let text = value.map(|value| value.to_str().map(str::trim)).transpose();
    if let (Ok(text), None) = (text, values.next()) {
        return Ok(text);
    }
    let why = format!("cannot read the header {name}");
    Err(Refusal::bad(InPlaceCause::FieldUnreadable, why).about(name))
}

/// The revisions with a handshake.
const HANDSHAKE: [&str; 5] = [
    "2024-10-07",
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
];

/// The first revision without a handshake.
const STATELESS_FROM: &str = "2026-07-28";

/// Whether a revision is of the stateless era, judging by its name.
pub(crate) fn is_stateless(version: &str) -> bool {
    is_date(version) && version >= STATELESS_FROM
}

fn is_date(version: &str) -> bool {
    version.len() == 10
        && version.bytes().enumerate().all(|(at, byte)| {
            if matches!(at, 4 | 7) {
                byte == b'-'
            } else {
                byte.is_ascii_digit()
            }
        })
}

/// Checks the revision of a request in a session: a known one, or the negotiated one; without the
/// field it counts as 2025-03-26 (2025-11-25, basic/transports, "Protocol Version Header").
pub(crate) fn version(head: &HeaderMap, negotiated: Option<&str>) -> Result<(), Refusal> {
    let Some(version) = single(head, &mirror::VERSION)? else {
        return Ok(());
    };
    if HANDSHAKE.contains(&version) || negotiated == Some(version) {
        return Ok(());
    }
    let known = HANDSHAKE.join(", ");
    let why = format!("unknown revision in MCP-Protocol-Version; expected one of {known}");
    Err(Refusal::bad(InPlaceCause::RevisionUnknown, why).about(&version))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut head = HeaderMap::new();
        for (name, value) in fields {
            head.append(*name, value.parse().unwrap());
        }
        head
    }

    #[test]
    fn a_client_gets_what_it_takes() {
        for (value, json, events) in [
            ("application/json, text/event-stream", true, true),
            ("*/*", true, true),
            ("application/json", true, false),
            ("text/event-stream;q=0.5", false, true),
            ("application/json;q=0, TEXT/event-stream", false, true),
            ("application/*", true, false),
        ] {
            let accepts = accepts(&head(&[("accept", value)])).unwrap();
            assert_eq!((accepts.json, accepts.events), (json, events), "{value}");
        }
        let refused = accepts(&head(&[("accept", "text/html")])).unwrap_err();
        assert_eq!(refused.status, StatusCode::NOT_ACCEPTABLE);
        assert!(takes_events(&head(&[("accept", "application/json")])).is_err());
        assert!(takes_events(&head(&[])).is_ok());
    }

    #[test]
    fn a_body_must_be_announced_as_json() {
        assert!(
            brings_json(&head(&[(
                "content-type",
                "Application/JSON; charset=utf-8"
            )]))
            .is_ok()
        );
        for other in [&[("content-type", "text/plain")][..], &[]] {
            let refused = brings_json(&head(other)).unwrap_err();
            assert_eq!(refused.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
    }

    #[test]
    fn unknown_revisions_are_refused() {
        let with = |value| {
            version(
                &head(&[("mcp-protocol-version", value)]),
                Some("2099-01-01"),
            )
        };
        assert!(version(&head(&[]), None).is_ok());
        for known in ["2025-03-26", "2025-11-25", "2099-01-01"] {
            assert!(with(known).is_ok(), "{known}");
        }
        for unknown in ["1999-01-01", "", "bogus", "2026-07-28"] {
            assert_eq!(with(unknown).unwrap_err().status, StatusCode::BAD_REQUEST);
        }
        let twice = [
            ("mcp-protocol-version", "2025-03-26"),
            ("mcp-protocol-version", "2025-03-26"),
        ];
        assert!(version(&head(&twice), None).is_err());
    }

    #[test]
    fn eras_are_told_by_date() {
        assert!(is_stateless("2026-07-28") && is_stateless("2027-01-01"));
        for other in ["2025-11-25", "zzzz", "9999", "", "2026-07-2x"] {
            assert!(!is_stateless(other), "{other}");
        }
    }
}
