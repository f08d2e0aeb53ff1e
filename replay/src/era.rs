//! Refuses a client of one era at a recording of the other.
//!
//! The eras do not map to each other exactly: an opening that was never recorded would have to be
//! invented, results of the stateless era have members that those of the handshake era lack, and
//! what a server asked its client was a request in one era and part of a result in the other. So
//! the client gets the error with which a server that only supports the recorded era would refuse
//! it, and a client that supports both eras falls back. Within the handshake era, every revision is
//! served from the recording.

use serde_json::{Value, json};
use tapewright_schemas::era::own_version;
use tapewright_schemas::json as text;

use crate::index::is_by_method;
use crate::script::{Response, Script, Take};

/// The error for a client of the other era.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    pub(crate) why: String,
    pub(crate) data: Option<Value>,
    /// Set for a request that only probes which era a server speaks.
    pub(crate) is_probe: bool,
}

/// Method not found (JSON-RPC 2.0 §5.1).
const UNKNOWN_METHOD: i64 = -32_601;

/// Unsupported protocol version (2026-07-28, basic/versioning).
const UNSUPPORTED: i64 = -32_022;

/// Whether a request is of revision 2026-07-28 or later.
pub(crate) fn is_stateless(method: &str, params: Option<&[u8]>) -> bool {
    method == "server/discover" || params.is_some_and(|params| own_version(params).is_some())
}

impl Refusal {
    /// The error that answers the request, without an id.
    pub(crate) fn error(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.why});
        if let (Some(data), Some(members)) = (&self.data, error.as_object_mut()) {
            members.insert("data".to_owned(), data.clone());
        }
        error
    }
}

/// The error for a request of an era that is not recorded; `None` if its era is recorded, or if the
/// recording does not show any.
pub(crate) fn refusal(eras: &Eras, method: &str, params: Option<&[u8]>) -> Option<Refusal> {
    if !eras.stateless
        && let Some(version) = &eras.handshake
        && is_stateless(method, params)
    {
        let spoken = match version.as_str() {
            "" => "a revision with a handshake",
            version => version,
        };
        if method == "server/discover" {
            return Some(Refusal {
                code: UNKNOWN_METHOD,
                why: format!(
                    "the recording is of {spoken}, which has no server/discover: begin with initialize"
                ),
                data: None,
                is_probe: true,
            });
        }
        let requested = params.and_then(own_version).map(value);
        let supported: Vec<&str> = Some(version.as_str())
            .filter(|one| !one.is_empty())
            .into_iter()
            .collect();
        return Some(Refusal {
            code: UNSUPPORTED,
            why: format!("the recording is of {spoken}: begin with initialize"),
            data: Some(json!({"supported": supported, "requested": requested})),
            is_probe: false,
        });
    }
    if method == "initialize" && eras.stateless && eras.handshake.is_none() {
        let requested = params.and_then(|params| text::find(params, &["protocolVersion"]));
        return Some(Refusal {
            code: UNSUPPORTED,
            why: format!(
                "the recording is of {}, which has no initialize: each request describes itself",
                eras.versions.join(", ")
            ),
            data: Some(json!({"supported": eras.versions, "requested": requested.map(value)})),
            is_probe: false,
        });
    }
    None
}

/// The eras in a recording.
#[derive(Debug, Default)]
pub(crate) struct Eras {
    /// The revision that a handshake agreed on; empty if the answer has none.
    handshake: Option<String>,
    /// Whether the recording has requests that carry their own revision.
    stateless: bool,
    /// The revisions of those requests.
    versions: Vec<String>,
}

impl Eras {
    /// Whether the recording has requests of both eras.
    pub(crate) fn are_both(&self) -> bool {
        self.stateless && self.handshake.is_some()
    }

    /// Scans the requests, once for each recording.
    pub(crate) fn of(script: &Script) -> Self {
        let mut eras = Self::default();
        let mut reader = script.text.reader();
        for take in script.takes.iter() {
            if is_refused_probe(script, &take) {
                continue;
            }
            let params = take.params.map(|span| reader.read(span));
            if let Some(version) = params.and_then(own_version) {
                eras.stateless = true;
                if let Value::String(version) = value(version)
                    && !eras.versions.contains(&version)
                {
                    eras.versions.push(version);
                }
            }
            if eras.handshake.is_none() && script.method_name(take.method) == b"initialize" {
                eras.handshake = Some(agreed(script, &take));
            }
        }
        eras
    }
}

/// Whether a request only probed for an era that the server did not support: the answer is an error
/// or missing. What followed shows the era of the recording.
fn is_refused_probe(script: &Script, take: &Take) -> bool {
    let probe = is_by_method(script.method_name(take.method));
    let has_result = |response: Response| {
        let text = script.source(response.span);
        text::find(&text, &["result"]).is_some()
    };
    probe && !take.response.is_some_and(has_result)
}

/// The revision in the answer to a handshake.
fn agreed(script: &Script, take: &Take) -> String {
    const PATH: [&str; 2] = ["result", "protocolVersion"];
    let response = take.response.map(|response| script.source(response.span));
    match response
        .as_deref()
        .and_then(|text| text::find(text, &PATH))
        .map(value)
    {
        Some(Value::String(version)) => version,
        _ => String::new(),
    }
}

fn value(source: &[u8]) -> Value {
    serde_json::from_slice(source).unwrap_or(Value::Null)
}
