//! A client of model providers: one request, one answer or one vector, over HTTP.
//!
//! Answers are limited in length and time. Requests that fail temporarily (429, 529, 5xx) are
//! retried as the provider asks, within the time that the caller has. A key is only used in one
//! header field and in no error.

mod error;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request as HttpRequest, Uri, header};
use http_body_util::{BodyExt as _, Limited};
use tapewright_models::conversation::{ApiError, Request, Response};
use tapewright_models::embeddings::{EmbedRequest, EmbedWire, Embedding};
use tapewright_models::{ReadError, Wire, read_error};
use tokio::runtime::Runtime;

pub use self::error::{Cause, ProviderError};
use crate::clock::{self, Clock};
use crate::http::body::Outbound;
use crate::http::origin::{Origin, OriginSettings, OriginUrl};

/// The maximum length of an answer, in bytes.
const LONGEST: usize = 16 << 20;
/// The maximum number of attempts.
const ATTEMPTS: u32 = 4;
/// The wait before the first retry, unless the provider specifies it; doubled for each further one.
const PAUSE: Duration = Duration::from_millis(500);
/// The timeout for one answer.
const PATIENCE: Duration = Duration::from_secs(300);
/// The interval between checks for an interruption.
const LOOK: Duration = Duration::from_millis(50);

/// The address of a provider, and its settings. Contains a key.
#[derive(Clone)]
pub struct Endpoint {
    /// Its name in errors.
    pub name: String,
    /// Its wire.
    pub wire: Wire,
    /// Its URL; the path of the wire is appended to its path.
    pub base_url: String,
    /// The value of the header field with the key. A secret.
    pub key: String,
    /// Header fields in addition to those of the wire.
    pub fields: Vec<(&'static str, String)>,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field("name", &self.name)
            .field("wire", &self.wire)
            .finish_non_exhaustive()
    }
}

/// A client of a provider. Its methods block.
#[derive(Debug)]
pub struct Provider {
    endpoint: Endpoint,
    origin: Arc<Origin>,
    // The URL without its query.
    base: OriginUrl,
    runtime: Runtime,
    stop: Arc<AtomicBool>,
}

/// An answer, and the number of attempts.
#[derive(Debug)]
pub struct Answered {
    /// The answer.
    pub response: Response,
    /// The number of attempts.
    pub attempts: u32,
}

/// One request in the format of its wire.
struct Question<'a> {
    wire: Wire,
    model: &'a str,
    path: String,
    body: String,
}

impl Provider {
    /// A client without connections. `stop` ends all waits.
    pub fn new(
        endpoint: Endpoint,
        settings: OriginSettings,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, Cause> {
        let base = OriginUrl::parse(&endpoint.base_url).map_err(Cause::Url)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Cause::Runtime)?;
        Ok(Self {
            origin: Origin::new(base.clone(), settings),
            base,
            endpoint,
            runtime,
            stop,
        })
    }

    /// Requests one answer, with an optional timeout.
    pub fn ask(
        &self,
        request: &Request,
        limit: Option<Duration>,
    ) -> Result<Answered, ProviderError> {
        let wire = self.endpoint.wire;
        let question = Question {
            wire,
            model: &request.model,
            path: wire.path(request),
            body: wire.write_request(request).to_string(),
        };
        let read = |body: &[u8]| wire.read_response(body);
        let (response, attempts) = self.answered(&question, read, limit)?;
        Ok(Answered { response, attempts })
    }

    /// Requests the vector of a text, with an optional timeout.
    pub fn embed(
        &self,
        request: &EmbedRequest,
        limit: Option<Duration>,
    ) -> Result<Embedding, ProviderError> {
        let Some(wire) = EmbedWire::of(self.endpoint.wire) else {
            return Err(self.failed(&request.model, Cause::NoEmbeddings, 0));
        };
        let question = Question {
            wire: wire.wire(),
            model: &request.model,
            path: wire.path(request),
            body: wire.write_request(request).to_string(),
        };
        let read = |body: &[u8]| wire.read_response(body);
        self.answered(&question, read, limit).map(|(one, _)| one)
    }

    /// Sends a request until it is answered or a retry is pointless; returns the number of attempts
    /// as well.
    fn answered<T>(
        &self,
        question: &Question<'_>,
        read: impl Fn(&[u8]) -> Result<T, ReadError>,
        limit: Option<Duration>,
    ) -> Result<(T, u32), ProviderError> {
        let clock = Clock::start();
        let mut attempts = 0;
        loop {
            let left = limit.map(|limit| limit.saturating_sub(clock.elapsed()));
            attempts += 1;
            let cause = match self.once(question, &read, left) {
                Ok(answer) => return Ok((answer, attempts)),
                Err(cause) => cause,
            };
            let pause = again(&cause, attempts);
            let left = limit.map(|limit| limit.saturating_sub(clock.elapsed()));
            let fits = |pause: &Duration| left.is_none_or(|left| *pause < left);
            match pause.filter(fits) {
                Some(pause) if attempts < ATTEMPTS && self.waits(pause) => {}
                _ => return Err(self.failed(question.model, cause, attempts)),
            }
        }
    }

    fn failed(&self, model: &str, cause: Cause, attempts: u32) -> ProviderError {
        ProviderError {
            provider: self.endpoint.name.clone(),
            model: model.to_owned(),
            attempts,
            cause: cause.without(&self.endpoint.key),
        }
    }

    /// Waits; returns false if interrupted.
    fn waits(&self, pause: Duration) -> bool {
        let clock = Clock::start();
        while clock.elapsed() < pause {
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            std::thread::sleep(LOOK.min(pause.saturating_sub(clock.elapsed())));
        }
        true
    }

    fn once<T>(
        &self,
        question: &Question<'_>,
        read: impl Fn(&[u8]) -> Result<T, ReadError>,
        limit: Option<Duration>,
    ) -> Result<T, Cause> {
        let patience = limit.map_or(PATIENCE, |limit| limit.min(PATIENCE));
        let is_ours = limit.is_none_or(|limit| limit > PATIENCE);
        let exchange = async {
            tokio::select! {
                answer = self.exchange(question) => answer,
                () = tokio::time::sleep(patience) => Err(if is_ours {
                    Cause::TimedOut(patience)
                } else {
                    Cause::OutOfTime
                }),
                () = stopped(&self.stop) => Err(Cause::Interrupted),
            }
        };
        let body = self.runtime.block_on(exchange)?;
        read(&body).map_err(Cause::Read)
    }

    /// The body of a successful answer.
    async fn exchange(&self, question: &Question<'_>) -> Result<Bytes, Cause> {
        let answer = self
            .origin
            .send(self.written(question)?)
            .await
            .map_err(Cause::Send)?;
        let status = answer.response.status().as_u16();
        let (head, body) = answer.response.into_parts();
        let read = Limited::new(body, LONGEST).collect().await;
        let body = read.map_err(|_| Cause::Body(LONGEST))?.to_bytes();
        answer.lease.complete();
        if !(200..300).contains(&status) {
            let field = |name: &str| head.headers.get(name)?.to_str().ok();
            let mut error = read_error(question.wire, status, field, &body);
            error.retry_after_ms = error.retry_after_ms.or_else(|| date_ms(field));
            return Err(Cause::Api(Box::new(error)));
        }
        Ok(body)
    }

    fn written(&self, question: &Question<'_>) -> Result<HttpRequest<Outbound>, Cause> {
        let body = Bytes::from(question.body.clone());
        let mut message = HttpRequest::new(Outbound::whole(body));
        *message.method_mut() = Method::POST;
        *message.uri_mut() = uri(&self.base.path, &question.path)?;
        let head = message.headers_mut();
        if let Ok(host) = HeaderValue::try_from(self.base.authority()) {
            head.insert(header::HOST, host);
        }
        let agent = HeaderValue::from_static(concat!("tapewright/", env!("CARGO_PKG_VERSION")));
        head.insert(header::USER_AGENT, agent);
        head.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        let fields = question.wire.headers(&self.endpoint.key);
        for (name, value) in fields
            .into_iter()
            .chain(self.endpoint.fields.iter().cloned())
        {
            let mut value = HeaderValue::try_from(value).map_err(|_| Cause::Field(name))?;
            value.set_sensitive(true);
            head.insert(HeaderName::from_static(name), value);
        }
        Ok(message)
    }
}

/// The path of a request below that of the provider; the URL's query is preserved.
fn uri(base: &str, path: &str) -> Result<Uri, Cause> {
    let (base, query) = base.split_once('?').unwrap_or((base, ""));
    let base = base.trim_end_matches('/');
    let (path, own) = path.split_once('?').unwrap_or((path, ""));
    let queries = [query, own].into_iter().filter(|one| !one.is_empty());
    let query = queries.collect::<Vec<_>>().join("&");
    let mark = if query.is_empty() { "" } else { "?" };
    let text = format!("{base}{path}{mark}{query}");
    text.parse().map_err(|_| Cause::Path)
}

/// The time until the date in `Retry-After`, by the provider's own clock if it sends it (RFC 9110
/// §10.2.3); zero if it has passed.
pub(crate) fn date_ms<'h>(head: impl Fn(&str) -> Option<&'h str>) -> Option<u64> {
    let date = |name: &str| httpdate::parse_http_date(head(name)?.trim()).ok();
    let later = date("retry-after")?;
    let now = date("date").unwrap_or_else(clock::wall);
    let wait = later.duration_since(now).unwrap_or_default();
    u64::try_from(wait.as_millis()).ok()
}

/// How long to wait before a retry; `None` if a retry is pointless.
fn again(cause: &Cause, attempts: u32) -> Option<Duration> {
    let Cause::Api(error) = cause else {
        return None;
    };
    if !error.kind.is_retryable() && !is_later(error) {
        return None;
    }
    let told = error.retry_after_ms.map(Duration::from_millis);
    Some(told.unwrap_or(PAUSE.saturating_mul(1 << (attempts - 1).min(8))))
}

/// Whether the status implies that a retry may succeed, regardless of the body.
fn is_later(error: &ApiError) -> bool {
    use tapewright_models::conversation::ErrorKind::Quota;
    error.kind != Quota && matches!(error.status, Some(429 | 500..=599))
}

async fn stopped(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewright_models::conversation::ErrorKind;

    #[test]
    fn the_path_of_the_wire_stands_behind_that_of_the_provider() {
        for (base, path, both) in [
            ("/", "/v1/messages", "/v1/messages"),
            ("/v1/", "/chat/completions", "/v1/chat/completions"),
            (
                "/openai/d?api-version=1",
                "/chat/completions",
                "/openai/d/chat/completions?api-version=1",
            ),
            ("/g?k=1", "/m:g?alt=sse", "/g/m:g?k=1&alt=sse"),
        ] {
            assert_eq!(uri(base, path).unwrap().to_string(), both);
        }
    }

    #[test]
    fn a_date_is_waited_for_by_the_clock_of_the_provider() {
        let wait = |later: &'static str, now: Option<&'static str>| {
            date_ms(move |name: &str| match name {
                "retry-after" => Some(later),
                "date" => now,
                _ => None,
            })
        };
        let date = "Wed, 21 Oct 2015 07:28:00 GMT";
        for (now, ms) in [
            ("Wed, 21 Oct 2015 07:27:50 GMT", 10_000),
            ("Wednesday, 21-Oct-15 07:27:59 GMT", 1_000),
            (date, 0),
            ("Wed, 21 Oct 2015 07:28:30 GMT", 0),
        ] {
            assert_eq!(wait(date, Some(now)), Some(ms), "{now}");
        }
        assert_eq!(wait(date, None), Some(0), "it is past by ours");
        assert_eq!(
            wait("Fri, 31 Dec 9999 23:59:59 GMT", Some(date)),
            Some(251_956_888_319_000)
        );
        for odd in ["", "12", "tomorrow", "2015-10-21T07:28:00Z"] {
            assert_eq!(wait(odd, Some(date)), None, "{odd}");
        }
    }

    fn failed(status: u16, kind: ErrorKind, after: Option<u64>) -> Cause {
        Cause::Api(Box::new(ApiError {
            wire: Wire::Anthropic,
            status: Some(status),
            kind,
            word: None,
            message: "no".to_owned(),
            retry_after_ms: after,
        }))
    }

    #[test]
    fn only_what_may_succeed_later_is_asked_again() {
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(again(&failed(429, ErrorKind::RateLimit, Some(7)), 1), ms(7));
        assert_eq!(again(&failed(529, ErrorKind::Overloaded, None), 1), ms(500));
        assert_eq!(again(&failed(503, ErrorKind::Server, None), 3), ms(2_000));
        assert_eq!(again(&failed(500, ErrorKind::Other, None), 1), ms(500));
        assert_eq!(again(&failed(429, ErrorKind::Quota, Some(1)), 1), None);
        assert_eq!(again(&failed(400, ErrorKind::Invalid, None), 1), None);
        assert_eq!(again(&Cause::OutOfTime, 1), None);
    }
}
