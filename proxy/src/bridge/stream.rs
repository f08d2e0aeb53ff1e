//! Follows an event stream of the server, and resumes it.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tapewright_engine::{SseEvent, SseFramer, SseItem};
use tapewright_schemas::event::{CloseReason, Payload};
use tokio::time::sleep;

use super::client::ExchangeId;
use super::line_queue::Gone;
use super::notes::Noted;
use super::send::{Ask, is_stream};
use super::shared::{RETRY, RETRY_MOST, Shared};
use crate::http::origin::{Answer, Lease};

/// The event after which a stream resumes.
pub(crate) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// The maximum number of resumptions without a single event, after which the request counts as
/// lost.
const ATTEMPTS: u32 = 5;

/// The position in a stream.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    /// The id of its last event.
    pub(crate) last: Option<HeaderValue>,
    /// How long the server asks its client to wait before it reconnects.
    pub(crate) retry: Option<Duration>,
    /// Whether anything was received since it was opened.
    pub(crate) moved: bool,
    /// A message exceeded the limit.
    pub(crate) clipped: bool,
}

impl Cursor {
    /// How long to wait before the attempt of this number, from 0.
    pub(crate) fn wait(&self, attempt: u32) -> Duration {
        self.retry.unwrap_or_else(|| {
            let factor = 1.5_f64.powi(attempt.min(20).try_into().unwrap_or(i32::MAX));
            RETRY.mul_f64(factor).min(RETRY_MOST)
        })
    }

    fn note(&mut self, event: &SseEvent) {
        self.moved = true;
        if let Some(id) = &event.id {
            let id = HeaderValue::from_bytes(id).ok();
            self.last = id.filter(|id| !id.is_empty());
        }
        if let Some(retry) = event.retry_ms {
            self.retry = Some(Duration::from_millis(retry).min(RETRY_LIMIT));
        }
    }
}

/// The maximum wait that a server may ask for.
const RETRY_LIMIT: Duration = Duration::from_secs(3_600);

impl Shared {
    /// Sends every message of a stream to the client, until the stream ends.
    pub(crate) async fn follow(
        &self,
        events: &mut Events,
        cursor: &mut Cursor,
    ) -> Result<(), Gone> {
        cursor.moved = false;
        while let Some(event) = events.next().await {
            cursor.note(&event);
            if event.is_message() {
                match event.data {
                    Some(Payload::Whole(message)) => self.deliver(&message).await?,
                    _ => cursor.clipped = true,
                }
            }
        }
        Ok(())
    }

    /// Resumes the stream of an exchange, repeatedly, while it has unanswered requests and the
    /// server lets it be resumed (2025-11-25, basic/transports, "Resumability").
    pub(crate) async fn resume(
        &self,
        exchange: ExchangeId,
        cursor: &mut Cursor,
    ) -> Result<(), Gone> {
        let mut attempt = 0;
        while attempt < ATTEMPTS && self.client().owes(exchange) {
            if cursor.last.is_none() {
                return Ok(());
            }
            sleep(cursor.wait(attempt)).await;
            attempt += 1;
            let Some(answer) = self.open_stream(cursor).await else {
                continue;
            };
            if !is_stream(&answer) {
                return Ok(());
            }
            self.follow(&mut Events::new(answer, self.limit_bytes), cursor)
                .await?;
            if cursor.moved {
                attempt = 0;
            }
        }
        Ok(())
    }

    /// Opens a stream of the session, from the position of `cursor`; `None` if there was no answer.
    pub(crate) async fn open_stream(&self, cursor: &Cursor) -> Option<Answer> {
        let mut head = self.client().session_head().unwrap_or_default();
        if let Some(last) = &cursor.last {
            head.insert(LAST_EVENT, last.clone());
        }
        let answer = self.ask(Ask {
            method: Method::GET,
            url: self.url(),
            head,
            body: None,
            behind: false,
            written: None,
        });
        answer.await.ok()
    }

    /// Ends the session at the server.
    pub(crate) async fn end_session(&self) {
        let head: Option<HeaderMap> = {
            let client = self.client();
            client
                .has_session()
                .then(|| client.session_head())
                .flatten()
        };
        let Some(head) = head else { return };
        let ask = Ask {
            method: Method::DELETE,
            url: self.url(),
            head,
            body: None,
            behind: false,
            written: None,
        };
        // The server's answer does not matter.
        drop(self.ask(ask).await);
    }
}

/// The events of one answer.
pub(crate) struct Events {
    body: Incoming,
    lease: Option<Lease>,
    framer: SseFramer,
    noted: Option<Noted>,
}

impl Events {
    pub(crate) fn new(answer: Answer, limit_bytes: usize) -> Self {
        let Answer {
            mut response,
            lease,
            ..
        } = answer;
        Self {
            noted: response.extensions_mut().remove(),
            body: response.into_body(),
            lease: Some(lease),
            framer: SseFramer::new(limit_bytes),
        }
    }

    /// Records how the stream ended, and the unfinished event, if any.
    fn end(&mut self, reason: CloseReason) {
        let Some(noted) = self.noted.take() else {
            return;
        };
        if let Some(event) = self.framer.finish() {
            noted.event(&event, true);
        }
        noted.closed(reason);
    }

    /// The next event; `None` if the stream ended or broke, which are equivalent for a client: it
    /// resumes the stream.
    pub(crate) async fn next(&mut self) -> Option<SseEvent> {
        loop {
            match self.framer.poll() {
                Some(SseItem::Event(event)) => {
                    if let Some(noted) = &self.noted {
                        noted.event(&event, false);
                    }
                    return Some(event);
                }
                Some(SseItem::Comment(text)) => {
                    if let Some(noted) = &self.noted {
                        noted.comment(&text);
                    }
                    continue;
                }
                None => {}
            }
            if let Some(noted) = &self.noted {
                noted.keep_pace().await;
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.framer.feed(&data);
                    }
                }
                Some(Err(_)) => {
                    self.end(CloseReason::Aborted);
                    return None;
                }
                None => {
                    if let Some(lease) = self.lease.take() {
                        lease.complete();
                    }
                    self.end(CloseReason::EndOfInput);
                    return None;
                }
            }
        }
    }
}
