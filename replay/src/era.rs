//! A client of one era at a recording of the other.
//!
//! Nothing maps from one era to the other exactly: an opening that was never recorded would
//! have to be made up, results of the stateless era have members that those of the
//! handshake era lack, and what a server asked of its client came as requests in one and
//! inside of results in the other. So the client is refused, in the words in which a server
//! of the recorded era alone refuses it, which is what a client that speaks both falls back
//! on. Within the handshake era every revision is served with what was recorded.

use serde_json::{Value, json};
use tapewright_schemas::era::own_version;
use tapewright_schemas::json as text;

use crate::index::is_by_method;
use crate::script::{Response, Script, Take};

/// What a client of the other era gets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    pub(crate) why: String,
    pub(crate) data: Option<Value>,
    /// It is how a client finds out which era a server speaks.
    pub(crate) is_probe: bool,
}

/// No such method (JSON-RPC 2.0 §5.1).
const UNKNOWN_METHOD: i64 = -32_601;

/// A revision that is not spoken (2026-07-28, basic/versioning).
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

/// What a request gets because of its era; `None` when its era is on the recording, or when
/// the recording does not tell of any.
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

/// What a recording tells of the eras that it holds.
#[derive(Debug, Default)]
pub(crate) struct Eras {
    /// The revision that was agreed on in a handshake; empty when the answer names none.
    handshake: Option<String>,
    /// It holds requests that describe themselves.
    stateless: bool,
    /// The revisions that these name.
    versions: Vec<String>,
}

impl Eras {
    /// Whether requests of both eras are on the recording.
    pub(crate) fn are_both(&self) -> bool {
        self.stateless && self.handshake.is_some()
    }

    /// Looks through the requests, once for each recording.
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

/// Whether a client only asked for an era here, and the server did not speak it: its answer
/// is an error, or never came. What followed tells the era of the recording.
fn is_refused_probe(script: &Script, take: &Take) -> bool {
    let probe = is_by_method(script.method_name(take.method));
    let has_result = |response: Response| {
        let text = script.source(response.span);
        text::find(&text, &["result"]).is_some()
    };
    probe && !take.response.is_some_and(has_result)
}

/// The revision that the answer to a handshake names.
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
