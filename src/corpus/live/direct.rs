//! HTTP requests that are sent directly, to check head, status and messages of the response.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::json;
use tapewright_corpus::judge::Assertion;
use tapewright_corpus::observation::{Answer, HttpHead, Observation, Reply, SideMessage};
use tapewright_corpus::placeholder::{Unresolved, fill_text};
use tapewright_corpus::recorded::answers_raw;
use tapewright_corpus::rule::Applies;
use tapewright_corpus::verdict::Untested;
use tapewright_proxy::http::direct::{Direct, Question, Response, head_of};
use tapewright_schemas::conversation::IdKey;
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::era::Era;
use tapewright_schemas::event::Direction;

use super::many::envelope;
use super::{Asker, convert, opening};
use crate::report;

/// A separate session, and the observation of its opening.
pub(super) struct OwnSession {
    id: Option<HeaderValue>,
    opening: Observation,
}

const SESSION: &str = "mcp-session-id";
const METHOD: &str = ":method";
const PATH: &str = ":path";

/// The method and the path of a request.
pub(super) struct RequestLine {
    pub(super) method: Method,
    pub(super) path: Option<String>,
}

impl Default for RequestLine {
    fn default() -> Self {
        Self {
            method: Method::POST,
            path: None,
        }
    }
}

impl Asker {
    /// Tests an assertion by a separate HTTP request.
    pub(super) fn directly(&mut self, assertion: &Assertion) -> Result<Observation, Untested> {
        self.enter()?;
        let call = assertion.written.call.clone();
        let Some(call) = call else {
            return self
                .session
                .as_ref()
                .map(|session| session.opening.clone())
                .ok_or(Untested::NoHead);
        };
        let filled = self.filled(assertion)?;
        let opens = filled.method == "initialize";
        let mut params = filled.params;
        if opens {
            let mut own = opening::initialize(&self.revision);
            own.extend(params.unwrap_or_default());
            params = Some(own);
        }
        let id = json!(self.fresh_name());
        let meta = if filled.own_meta {
            serde_json::Map::new()
        } else {
            self.meta()
        };
        let body = envelope(&id, &filled.method, params.clone(), &meta);
        let text = convert::text(params.as_ref());
        let mut head = self.head(Some(&filled.method), text.as_deref(), opens);
        let line = self.fields(&call.headers, &mut head)?;
        let key = IdKey::exact_of(id.to_string().as_bytes());
        let question = Question {
            method: line.method,
            path: line.path,
            head,
            body: body.into(),
            timeout: filled.timeout,
            only_head: false,
        };
        let is_it = |message: &[u8]| match Envelope::parse(message).kind {
            Kind::Response { id, .. } => IdKey::exact(&id) == key || !id.pairs(),
            _ => false,
        };
        let mut seen = self.exchange(question, is_it)?;
        seen.sent = convert::sent(&filled.method, params.as_ref());
        seen.chosen = filled.chosen;
        Ok(seen)
    }

    /// Sends bytes unchanged as the body of an HTTP request.
    pub(super) fn raw_http(
        &mut self,
        assertion: &Assertion,
        raw: &str,
        headers: &[(String, String)],
    ) -> Result<Observation, Untested> {
        self.enter()?;
        let bytes = Bytes::copy_from_slice(raw.trim().as_bytes());
        let parsed = Envelope::parse(&bytes);
        let params = match &parsed.kind {
            Kind::Request { params, .. } | Kind::Notification { params, .. } => *params,
            _ => None,
        };
        let params = params.and_then(|params| std::str::from_utf8(params).ok());
        let opens = parsed.method() == Some("initialize");
        let mut head = self.head(parsed.method(), params, opens);
        let line = self.fields(headers, &mut head)?;
        if line.path.is_some() {
            return self.document(line, head, self.patience(assertion));
        }
        let question = Question {
            only_head: line.method != Method::POST,
            method: line.method,
            path: None,
            head,
            body: bytes.clone(),
            timeout: self.patience(assertion),
        };
        self.exchange(question, |message| match Envelope::parse(message).kind {
            Kind::Response { id, .. } => answers_raw(&bytes, &id),
            _ => false,
        })
    }

    /// Opens a separate session, once.
    pub(super) fn enter(&mut self) -> Result<(), Untested> {
        if self.session.is_some() {
            return Ok(());
        }
        self.reach()?;
        let handshake = self.era() == Era::Handshake;
        let params = handshake.then(|| opening::initialize(&self.revision));
        let method = if handshake {
            "initialize"
        } else {
            "server/discover"
        };
        let body = envelope(&json!("tapewright-0"), method, params.clone(), &self.meta());
        let text = convert::text(params.as_ref());
        let head = self.head(Some(method), text.as_deref(), handshake);
        let question = self.post(head, body);
        let mut opening = self.exchange(question, is_response)?;
        opening.sent = convert::sent(method, params.as_ref());
        let answered = opening
            .answers
            .first()
            .and_then(|answer| answer.head.as_ref());
        let id = answered.and_then(|head| HeaderValue::from_str(head.all(SESSION).next()?).ok());
        self.facts.known.shown.sessions = id.is_some();
        self.session = Some(OwnSession { id, opening });
        if handshake {
            let body = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
            let head = self.head(None, None, false);
            let question = self.post(head, body.to_owned());
            self.exchange(question, is_response)?;
        }
        Ok(())
    }

    /// Connects to the server, once.
    pub(super) fn reach(&mut self) -> Result<(), Untested> {
        let Some((origin, fields)) = &self.target.origin else {
            return Err(Untested::Transport(Applies::Http));
        };
        if self.direct.is_none() {
            let direct = Direct::new(std::sync::Arc::clone(origin), fields.clone());
            self.direct = Some(direct.map_err(|error| ended(&error))?);
        }
        Ok(())
    }

    fn post(&self, head: HeaderMap, body: String) -> Question {
        Question {
            method: Method::POST,
            path: None,
            head,
            body: body.into(),
            timeout: self.target.timeout,
            only_head: false,
        }
    }

    /// The head of a client's request.
    pub(super) fn head(
        &self,
        method: Option<&str>,
        params: Option<&str>,
        opens: bool,
    ) -> HeaderMap {
        let id = self
            .session
            .as_ref()
            .and_then(|session| session.id.as_ref());
        let revision = Some(self.revision.as_str()).filter(|_| !opens);
        head_of(
            method,
            params.map(str::as_bytes),
            revision,
            id.filter(|_| !opens),
        )
    }

    /// Puts the fields of an assertion into a head, and returns its request line. A field with an
    /// empty value is not sent.
    fn fields(
        &self,
        headers: &[(String, String)],
        head: &mut HeaderMap,
    ) -> Result<RequestLine, Untested> {
        let mut line = RequestLine::default();
        for (name, value) in headers {
            let value = fill_text(value, &self.facts.known)
                .map_err(|Unresolved(name)| Untested::Placeholder(name))?;
            match name.as_str() {
                METHOD => {
                    line.method = value.parse().unwrap_or(Method::POST);
                    continue;
                }
                PATH => {
                    line.path = Some(value);
                    continue;
                }
                _ => {}
            }
            let pair = (HeaderName::try_from(name), HeaderValue::from_str(&value));
            if let (Ok(name), Ok(value)) = pair {
                head.insert(name, value);
            }
        }
        Ok(line)
    }

    fn exchange(
        &mut self,
        question: Question,
        is_it: impl Fn(&[u8]) -> bool,
    ) -> Result<Observation, Untested> {
        let Some(direct) = &self.direct else {
            return Err(Untested::NoHead);
        };
        let response = direct
            .ask(question, &is_it)
            .map_err(|error| ended(&error))?;
        let mut seen = Observation {
            transport: Some(Applies::Http),
            in_place: head(&response).is_in_place(),
            ..Observation::default()
        };
        let mut reply = Reply::None;
        for message in &response.messages {
            tapewright_schemas::envelope::for_each_message(message, |one| {
                if matches!(reply, Reply::None) && is_it(one) {
                    reply = convert::reply(one);
                } else if let Ok(message) = serde_json::from_slice(one) {
                    let dir = Direction::ToClient;
                    seen.between.push(SideMessage { dir, message });
                }
            });
        }
        seen.answers.push(answered(&response, reply));
        Ok(seen)
    }
}

/// The answer in a response.
pub(super) fn answered(response: &Response, reply: Reply) -> Answer {
    Answer {
        reply,
        took: Some(response.took).filter(|took| *took > Duration::ZERO),
        head: Some(head(response)),
        seq: None,
    }
}

fn is_response(message: &[u8]) -> bool {
    matches!(Envelope::parse(message).kind, Kind::Response { .. })
}

pub(super) fn ended(error: &dyn std::error::Error) -> Untested {
    Untested::Ended(report::causes(error))
}

pub(super) fn head(response: &Response) -> HttpHead {
    let owned = |(name, value): (&HeaderName, &HeaderValue)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    };
    HttpHead {
        status: response.status.as_u16(),
        fields: response.head.iter().map(owned).collect(),
    }
}
