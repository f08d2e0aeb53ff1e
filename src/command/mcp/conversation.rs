//! The protocol: reads the lines of a client and answers in its revision.
//!
//! Up to 2025-11-25 a client begins with `initialize`. From 2026-07-28 on there is no handshake:
//! each request has the revision and the client's capabilities in its `_meta`. The first request
//! decides which of the two it is.

use serde_json::{Map, Value, json};
use tapewright_proxy::client::{FIRST_STATELESS, LATEST_HANDSHAKE};
use tapewright_schemas::envelope::{Envelope, Kind, Malformed, RequestId};
use tapewright_schemas::era::{Era, PROTOCOL_VERSION_KEY};
use tapewright_schemas::json::find;

use super::refusal::{Refusal, short};
use super::server::{self, Reply, Server};

/// The revisions with `initialize`, oldest first.
const WITH_INITIALIZE: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// What a line requires.
pub(super) enum Heard {
    /// No answer.
    Nothing,
    /// This line as its answer.
    Answer(String),
    /// An answer that takes some time. The id is source text.
    Work { id: String, work: AnswerWork },
    /// The cancellation of the requests with this id, as source text.
    Cancelled { id: String },
}

/// Returns the line that answers a request.
pub(super) type AnswerWork = Box<dyn FnOnce() -> String + Send>;

/// A conversation with a client.
pub(super) struct Conversation {
    server: Server,
    /// The revision that `initialize` negotiated.
    agreed: Option<&'static str>,
    /// The client began without `initialize`.
    is_stateless: bool,
}

/// A request of the client.
struct Request {
    method: String,
    params: Map<String, Value>,
    meta: Map<String, Value>,
}

/// The members that a revision adds to a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// None: up to 2025-11-25.
    Plain,
    /// `resultType`.
    Typed,
    /// `resultType`, and how long the result can be cached.
    Cached,
}

impl Conversation {
    /// A conversation before its first request.
    pub(super) fn new(server: Server) -> Self {
        Self {
            server,
            agreed: None,
            is_stateless: false,
        }
    }

    /// Reads a line.
    pub(super) fn hear(&mut self, line: &[u8]) -> Heard {
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        let envelope = Envelope::parse(line);
        let is_sound = envelope.version == Some(b"\"2.0\"") && !envelope.repeated_member;
        match envelope.kind {
            // No answer to invalid JSON: two peers could answer each other forever.
            Kind::Malformed(Malformed::Blank | Malformed::NotJson | Malformed::NotUtf8) => {
                Heard::Nothing
            }
            Kind::Notification { method, params } if is_sound => cancelled(&method, params),
            // The server has sent no request.
            Kind::Response { result, error, .. }
                if is_sound && result.is_some() != error.is_some() =>
            {
                Heard::Nothing
            }
            Kind::Request { id, method, params } if !envelope.repeated_member && is_id(&id) => {
                let id = String::from_utf8_lossy(id.source_in(line)).into_owned();
                match Request::of(method.into_owned(), params).filter(|_| is_sound) {
                    Some(request) => self.asked(id, request),
                    None => Heard::Answer(Refusal::invalid_request().line(Some(&id))),
                }
            }
            _ => Heard::Answer(Refusal::invalid_request().line(None)),
        }
    }

    fn asked(&mut self, id: String, request: Request) -> Heard {
        let revision = request.revision().map(str::to_owned);
        let revision = revision.as_deref().or(self.agreed);
        let shape = Shape::of(&request.method, is_stateless(revision));
        match self.reply(request) {
            Ok(Reply::Now(result)) => Heard::Answer(shape.line(&id, Ok(result))),
            Ok(Reply::Later(work)) => Heard::Work {
                id: id.clone(),
                work: Box::new(move || shape.line(&id, work())),
            },
            Err(refusal) => Heard::Answer(shape.line(&id, Err(refusal))),
        }
    }

    fn reply(&mut self, request: Request) -> Result<Reply, Refusal> {
        let method = request.method.as_str();
        if method == "initialize" {
            let is_removed = self.is_stateless || is_stateless(request.revision());
            return match self.initialize(&request.params) {
                Ok(result) => Ok(Reply::Now(result)),
                // A client that checks for the removed method need not send its parameters.
                Err(_) if is_removed => Err(Refusal::no_method(method)),
                Err(refusal) => Err(refusal),
            };
        }
        let has_begun = self.is_stateless || self.agreed.is_some();
        if method == "ping" && !has_begun {
            return Ok(Reply::Now(json!({})));
        }
        let revision = request.revision();
        if let Some(revision) = revision.filter(|it| !is_supported(it)) {
            let requested = short(revision);
            let data = json!({ "requested": requested, "supported": revisions() });
            return Err(Refusal::revision(data));
        }
        let is_discovery = method == "server/discover";
        let stands_alone =
            !has_begun || self.is_stateless || is_discovery || is_stateless(revision);
        if stands_alone {
            request.needs_meta()?;
            // After `server/discover` the client can still use `initialize`.
            self.is_stateless |= !has_begun && !is_discovery;
        }
        match method {
            "ping" if !stands_alone => Ok(Reply::Now(json!({}))),
            "server/discover" => Ok(Reply::Now(discovered())),
            _ => self.server.reply(&request.method, request.params),
        }
    }

    /// Negotiates the revision.
    fn initialize(&mut self, params: &Map<String, Value>) -> Result<Value, Refusal> {
        let text = |value: Option<&Value>| value.is_some_and(Value::is_string);
        let wanted = params.get("protocolVersion").and_then(Value::as_str);
        let client = params.get("clientInfo").and_then(Value::as_object);
        let client = client.is_some_and(|it| text(it.get("name")) && text(it.get("version")));
        let (Some(wanted), true) = (
            wanted,
            client && are_capabilities(params.get("capabilities")),
        ) else {
            let why = "`initialize` needs `protocolVersion`, `capabilities`, and `clientInfo` with \
                `name` and `version`";
            return Err(Refusal::invalid_params(why));
        };
        let known = WITH_INITIALIZE.into_iter().find(|it| *it == wanted);
        let agreed = known.unwrap_or(LATEST_HANDSHAKE);
        self.agreed = Some(agreed);
        Ok(json!({
            "protocolVersion": agreed,
            "capabilities": server::capabilities(),
            "serverInfo": server::name(),
            "instructions": server::INSTRUCTIONS,
        }))
    }
}

/// Is ignored before JSON.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Request {
    /// `None` if `params` or its `_meta` is not an object.
    fn of(method: String, params: Option<&[u8]>) -> Option<Self> {
        let members = |value: Value| match value {
            Value::Null => Some(Map::new()),
            Value::Object(members) => Some(members),
            _ => None,
        };
        let params = params.map_or(Ok(Value::Null), serde_json::from_slice);
        let mut params = members(params.ok()?)?;
        let meta = members(params.shift_remove("_meta").unwrap_or_default())?;
        Some(Self {
            method,
            params,
            meta,
        })
    }

    /// The revision in `_meta`.
    fn revision(&self) -> Option<&str> {
        self.meta.get(PROTOCOL_VERSION_KEY).and_then(Value::as_str)
    }

    /// Checks for the `_meta` that is required without `initialize`.
    fn needs_meta(&self) -> Result<(), Refusal> {
        let revision = self.revision().is_none().then_some(PROTOCOL_VERSION_KEY);
        let capabilities = !are_capabilities(self.meta.get(CAPABILITIES));
        let capabilities = capabilities.then_some(CAPABILITIES);
        let missing: Vec<&str> = revision.into_iter().chain(capabilities).collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(Refusal::invalid_params(format!(
            "request _meta is missing or has malformed required fields: {}",
            missing.join(", ")
        )))
    }
}

impl Shape {
    fn of(method: &str, is_modern: bool) -> Self {
        match method {
            "initialize" | "ping" => Self::Plain,
            "server/discover" => Self::Cached,
            _ if !is_modern => Self::Plain,
            "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read" => Self::Cached,
            _ => Self::Typed,
        }
    }

    /// The line that answers a request.
    fn line(self, id: &str, answer: Result<Value, Refusal>) -> String {
        match answer {
            Ok(result) => {
                let result = self.extended(result);
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
            }
            Err(mut refusal) => {
                if self != Self::Plain && refusal.code == Refusal::NO_RESOURCE {
                    refusal.code = Refusal::INVALID_PARAMS;
                }
                refusal.line(Some(id))
            }
        }
    }

    fn extended(self, result: Value) -> Value {
        let mut extended = match self {
            Self::Plain => return result,
            Self::Typed => json!({ "resultType": "complete" }),
            // A recording can grow at any time.
            Self::Cached => {
                json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private" })
            }
        };
        if let (Value::Object(members), Value::Object(result)) = (&mut extended, result) {
            members.extend(result);
        }
        extended
    }
}

/// Whether it is valid as the id of a request.
fn is_id(id: &RequestId<'_>) -> bool {
    matches!(id, RequestId::Number(_) | RequestId::Text(_))
}

/// What a notification requires.
fn cancelled(method: &str, params: Option<&[u8]>) -> Heard {
    let id = params.and_then(|params| find(params, &["requestId"]));
    match id {
        Some(id) if method == "notifications/cancelled" => Heard::Cancelled {
            id: String::from_utf8_lossy(id).into_owned(),
        },
        _ => Heard::Nothing,
    }
}

/// The result of `server/discover`.
fn discovered() -> Value {
    json!({
        "supportedVersions": revisions(),
        "capabilities": server::capabilities(),
        "instructions": server::INSTRUCTIONS,
        "_meta": { SERVER: server::name() },
    })
}

/// Whether a revision has no handshake.
fn is_stateless(revision: Option<&str>) -> bool {
    Era::of_revision(revision) == Era::Stateless
}

/// The supported revisions, oldest first.
fn revisions() -> Vec<&'static str> {
    WITH_INITIALIZE
        .into_iter()
        .chain([FIRST_STATELESS])
        .collect()
}

fn is_supported(revision: &str) -> bool {
    revision == FIRST_STATELESS || WITH_INITIALIZE.contains(&revision)
}

/// Whether it is an object with valid capabilities of a client.
fn are_capabilities(value: Option<&Value>) -> bool {
    let known = [
        "experimental",
        "extensions",
        "roots",
        "sampling",
        "elicitation",
        "tasks",
    ];
    let Some(Value::Object(members)) = value else {
        return false;
    };
    let is_sound = |value: &Value| value.is_object() || value.is_null();
    let mut found = known.iter().filter_map(|name| members.get(*name));
    found.all(is_sound)
}
