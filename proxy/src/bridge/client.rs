//! The state and decisions of a client of streamable HTTP, without IO or a clock.
//!
//! The bridge acts as an MCP client on HTTP for a client that only supports stdio: it tracks the
//! session, the revision, and which requests are in progress on which exchange, and determines the
//! header fields of each message. The era is decided per message.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use tapewright_schemas::conversation::{IdKey, Outstanding};
use tapewright_schemas::envelope::{Envelope, Kind, RequestId, for_each_message};
use tapewright_schemas::era::Era;
use tapewright_schemas::json;

use super::line::{id_source, text_of};
use super::tools::Tools;
use super::{mirror, ours};

/// The session id that a server assigned. A credential: never stored, never shown.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The maximum number of pending requests; further ones are refused.
const UNDER_WAY: usize = 4_096;

/// Identifies one POST.
pub(crate) type ExchangeId = u64;

/// What to do with a line of the client.
#[derive(Debug)]
pub(crate) enum Step {
    /// Ignore a blank line.
    Skip,
    /// Send it.
    Post(Post),
    /// Abort this exchange: over HTTP the stateless era cancels in this way (2026-07-28,
    /// basic/patterns/cancellation).
    Abort(ExchangeId),
    /// Send these lines to the client instead.
    Refuse(Vec<Bytes>),
}

/// One message on its way to the server.
#[derive(Debug)]
pub(crate) struct Post {
    pub(crate) exchange: ExchangeId,
    pub(crate) kind: PostKind,
    pub(crate) era: Era,
    pub(crate) headers: HeaderMap,
    pub(crate) line: Bytes,
    /// The exchanges of requests that it cancels: it must not reach the server before them.
    pub(crate) cancels: Vec<ExchangeId>,
}

/// The kind of message, as far as the order of messages depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PostKind {
    /// The first request of a session: nothing may follow before its answer.
    Initialize,
    /// `notifications/initialized`: nothing may follow before the server accepted it.
    Initialized,
    /// A request, or a batch with one.
    Request,
    /// Another notification: nothing may follow before the server accepted it.
    Notification,
    /// A response to the server.
    Response,
    /// Not a valid message.
    Malformed,
}

/// A pending request.
#[derive(Debug)]
struct Waiting {
    // Source text of its id.
    id: Vec<u8>,
    exchange: ExchangeId,
    lists_tools: bool,
    era: Era,
}

/// The notification that cancels a request.
const CANCELLED: &str = "notifications/cancelled";

/// The state of a client.
pub(crate) struct Client {
    next: ExchangeId,
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
    // The revision in stateless requests, for messages that have no place for it.
    stateless: Option<HeaderValue>,
    waiting: Outstanding<Waiting>,
    initialize: Option<IdKey>,
    tools: Tools,
}

impl Default for Client {
    fn default() -> Self {
        Self {
            next: ExchangeId::default(),
            session: None,
            version: None,
            stateless: None,
            waiting: Outstanding::new(UNDER_WAY),
            initialize: None,
            tools: Tools::default(),
        }
    }
}

impl Client {
    /// Decides about the next line of the client.
    pub(crate) fn line(&mut self, line: &Bytes) -> Step {
        if line.trim_ascii().is_empty() {
            return Step::Skip;
        }
        let envelope = Envelope::parse(line);
        match &envelope.kind {
            Kind::Request { id, method, params } => {
                let (kind, era, headers) = self.request_head(method, *params);
                if let Some(refused) = self.refuse(&[id_source(id)]) {
                    return refused;
                }
                let exchange = self.next();
                self.wait(id, method, era, exchange);
                Step::Post(Post {
                    exchange,
                    kind,
                    era,
                    headers,
                    line: line.clone(),
                    cancels: Vec::new(),
                })
            }
            Kind::Notification { method, params } => {
                let era = self.era_of(method, *params);
                let mut cancels = Vec::new();
                let kind = match method.as_ref() {
                    "notifications/initialized" => PostKind::Initialized,
                    CANCELLED => {
                        if let Some(request) = self.cancelled(*params) {
                            if request.era == Era::Stateless {
                                return Step::Abort(request.exchange);
                            }
                            cancels.push(request.exchange);
                        }
                        PostKind::Notification
                    }
                    _ => PostKind::Notification,
                };
                let mut headers = self.head(era, *params);
                if era == Era::Stateless {
                    headers.extend(mirror::encode(method).map(|value| (mirror::METHOD, value)));
                }
                self.post(kind, era, headers, line, cancels)
            }
            Kind::Batch { .. } => self.batch(line),
            other => {
                let kind = match other {
                    Kind::Response { .. } => PostKind::Response,
                    _ => PostKind::Malformed,
                };
                let headers = self.head(Era::Handshake, None);
                self.post(kind, Era::Handshake, headers, line, Vec::new())
            }
        }
    }

    /// Handles a message from the server to the client, on any stream.
    pub(crate) fn passes(&mut self, line: &[u8]) {
        for_each_message(line, |message| {
            if let Kind::Response { id, result, .. } = Envelope::parse(message).kind {
                self.answered(&id, result);
            }
        });
    }

    /// Handles the head of the answer to `initialize`.
    pub(crate) fn begins(&mut self, headers: &HeaderMap) {
        self.session = headers.get(SESSION).cloned();
        if let Some(session) = &mut self.session {
            session.set_sensitive(true);
        }
    }

    /// Ends an exchange; returns the ids of its unanswered requests as source text.
    pub(crate) fn ended(&mut self, exchange: ExchangeId) -> Vec<Vec<u8>> {
        let mut lost = Vec::new();
        self.waiting.retain(|waiting| {
            let over = waiting.exchange == exchange;
            if over {
                lost.push(std::mem::take(&mut waiting.id));
            }
            !over
        });
        lost
    }

    /// Ends the conversation; returns the ids of all unanswered requests.
    pub(crate) fn all_ended(&mut self) -> Vec<Vec<u8>> {
        self.waiting.take_all().map(|waiting| waiting.id).collect()
    }

    /// Whether an exchange has pending requests.
    pub(crate) fn owes(&self, exchange: ExchangeId) -> bool {
        let mut waiting = self.waiting.values();
        waiting.any(|waiting| waiting.exchange == exchange)
    }

    /// Whether there are no pending requests.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The header fields of a request without a message; `None` if there is no session of the
    /// handshake era.
    pub(crate) fn session_head(&self) -> Option<HeaderMap> {
        (self.session.is_some() || self.version.is_some()).then(|| self.head(Era::Handshake, None))
    }

    /// Whether the server assigned a session.
    pub(crate) fn has_session(&self) -> bool {
        self.session.is_some()
    }

    fn refuse(&self, ids: &[Vec<u8>]) -> Option<Step> {
        let full = !self.waiting.has_room_for(ids.len());
        full.then(|| {
            let why = "too many pending requests";
            Step::Refuse(ids.iter().map(|id| ours::error(id, why, None)).collect())
        })
    }

    fn request_head(&mut self, method: &str, params: Option<&[u8]>) -> (PostKind, Era, HeaderMap) {
        if method == "initialize" {
            // A new session starts; its first request must not carry the old session.
            self.session = None;
            self.version = None;
            return (PostKind::Initialize, Era::Handshake, HeaderMap::new());
        }
        let era = self.era_of(method, params);
        let mut headers = self.head(era, params);
        if era == Era::Stateless {
            headers.extend(mirror::encode(method).map(|value| (mirror::METHOD, value)));
            if let Some(name) = mirror::name(method, params) {
                headers.extend(mirror::encode(&name).map(|value| (mirror::NAME, value)));
                if method == "tools/call" {
                    headers.extend(self.tools.headers(&name, params));
                }
            }
        }
        (PostKind::Request, era, headers)
    }

    /// The fields for the session and the revision, for an era.
    fn head(&self, era: Era, params: Option<&[u8]>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let version = match era {
            Era::Stateless => mirror::version(params)
                .and_then(|version| mirror::encode(&version))
                .or_else(|| self.stateless.clone()),
            Era::Handshake => {
                headers.extend(self.session.clone().map(|session| (SESSION, session)));
                self.version.clone()
            }
        };
        headers.extend(version.map(|version| (mirror::VERSION, version)));
        headers
    }

    fn era_of(&mut self, method: &str, params: Option<&[u8]>) -> Era {
        if let Some(version) = mirror::version(params) {
            self.stateless = mirror::encode(&version);
            return Era::Stateless;
        }
        let no_handshake = self.session.is_none() && self.version.is_none();
        let stateless = method == "server/discover" || (no_handshake && self.stateless.is_some());
        if stateless && !method.starts_with("notifications/initialized") {
            Era::Stateless
        } else {
            Era::Handshake
        }
    }

    fn batch(&mut self, line: &Bytes) -> Step {
        let mut ids = Vec::new();
        for_each_message(line, |message| {
            if let Kind::Request { id, .. } = Envelope::parse(message).kind {
                ids.push(id_source(&id));
            }
        });
        if let Some(refused) = self.refuse(&ids) {
            return refused;
        }
        let headers = self.head(Era::Handshake, None);
        let exchange = self.next();
        let mut has_request = false;
        let mut cancels = Vec::new();
        for_each_message(line, |message| match Envelope::parse(message).kind {
            Kind::Request { id, method, .. } => {
                has_request = true;
                self.wait(&id, &method, Era::Handshake, exchange);
            }
            // It may also cancel a request in this batch, which then gets no answer.
            Kind::Notification { method, params } if method == CANCELLED => {
                cancels.extend(self.cancelled(params).map(|request| request.exchange));
            }
            _ => {}
        });
        cancels.retain(|one| *one != exchange);
        let kind = if has_request {
            PostKind::Request
        } else {
            PostKind::Notification
        };
        Step::Post(Post {
            exchange,
            kind,
            era: Era::Handshake,
            headers,
            line: line.clone(),
            cancels,
        })
    }

    fn post(
        &mut self,
        kind: PostKind,
        era: Era,
        headers: HeaderMap,
        line: &Bytes,
        cancels: Vec<ExchangeId>,
    ) -> Step {
        Step::Post(Post {
            exchange: self.next(),
            kind,
            era,
            headers,
            line: line.clone(),
            cancels,
        })
    }

    fn next(&mut self) -> ExchangeId {
        self.next += 1;
        self.next
    }

    fn wait(&mut self, id: &RequestId<'_>, method: &str, era: Era, exchange: ExchangeId) {
        let key = IdKey::exact(id);
        if method == "initialize" {
            self.initialize = Some(key);
        }
        let waiting = Waiting {
            id: id_source(id),
            exchange,
            lists_tools: method == "tools/list",
            era,
        };
        self.waiting.enter(key, waiting);
    }

    fn answered(&mut self, id: &RequestId<'_>, result: Option<&[u8]>) {
        let key = IdKey::exact(id);
        let Some(waiting) = self.waiting.take(key) else {
            return;
        };
        let Some(result) = result else { return };
        if self.initialize == Some(key) {
            self.initialize = None;
            let version = json::find(result, &["protocolVersion"]).and_then(text_of);
            self.version = version.and_then(|version| mirror::encode(&version));
        }
        if waiting.lists_tools {
            self.tools.learn(result);
        }
    }

    /// The pending request that a cancellation refers to. It no longer gets an answer.
    fn cancelled(&mut self, params: Option<&[u8]>) -> Option<Waiting> {
        let source = json::find(params?, &["requestId"])?;
        self.waiting.take(IdKey::exact_of(source))
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
