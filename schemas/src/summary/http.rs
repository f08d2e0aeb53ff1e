//! The contents of an HTTP recording other than its messages: exchanges, their ends, streams.

use std::collections::BTreeMap;

use serde::Serialize;

use super::latency::Latencies;
use super::streams::{StreamEvents, Streams, is_stream};
use crate::event::{CloseReason, Event, EventBody, InPlace, InPlaceCause};
use crate::http_exchange::{HttpExchange, HttpExchanges};

/// The HTTP exchanges of a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Http {
    /// The number of exchanges.
    pub exchanges: u64,
    /// By method and status, in order.
    pub by_status: Vec<HttpCount>,
    /// How they ended: `complete`, `server broke off`, `client left`, `failed`, `fault`, or `not
    /// over` if the recording ended first.
    pub ends: BTreeMap<&'static str, u64>,
    /// The number of exchanges with a status of 400 or more, or that ended without a response.
    pub errors_count: u64,
    /// The first of them, in the order in which they ended.
    pub errors: Vec<HttpError>,
    /// Event streams.
    pub streams: Streams,
    /// The edits, by their target.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub edits: BTreeMap<String, u64>,
    /// How long the recorder held exchanges; `None` if the recording does not contain it.
    pub added: Option<AddedTimes>,
}

/// Exchanges of one method and status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HttpCount {
    /// `POST`, `GET`, …
    pub method: String,
    /// The status; `None` for no response.
    pub status: Option<u16>,
    /// The number of exchanges.
    pub count: u64,
}

/// An exchange that failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HttpError {
    /// `POST`, `GET`, …
    pub method: String,
    /// Path and query.
    pub target: String,
    /// The status; `None` for no response.
    pub status: Option<u16>,
    /// Its session; 0 for none.
    pub session: u32,
    /// When its request came; `None` if the file has no times.
    pub at_ms: Option<f64>,
    /// How it ended, as in [`Http::ends`].
    pub ended: &'static str,
    /// Why we answered in the server's place, when we did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ours: Option<InPlace>,
    /// The precise reason, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ours_cause: Option<InPlaceCause>,
    /// The subject of the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ours_about: Option<String>,
}

/// How long the recorder held exchanges, both directions together, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AddedTimes {
    /// The median.
    pub p50_us: u64,
    /// The 99th percentile.
    pub p99_us: u64,
    /// The longest.
    pub max_us: u64,
}

/// Folds events into [`Http`].
#[derive(Debug, Default)]
pub(super) struct HttpFold {
    exchanges: HttpExchanges,
    count: u64,
    by_status: BTreeMap<(String, Option<u16>), u64>,
    ends: BTreeMap<&'static str, u64>,
    errors_count: u64,
    errors: Vec<HttpError>,
    streams: Streams,
    events: StreamEvents,
    edits: BTreeMap<String, u64>,
    added: Latencies,
}

/// The maximum number of methods and statuses, and of kinds of edits, that are distinguished.
const KINDS_LIMIT: usize = 256;
const OTHERS: &str = "(others)";
/// The maximum number of failed exchanges that are listed.
const ERRORS_LIMIT: usize = 1_000;

impl HttpFold {
    /// Handles the next event.
    pub(super) fn observe(&mut self, event: &Event) {
        self.exchanges.observe(event);
        self.events.observe(event, &mut self.streams);
        if let EventBody::Edited(edit) = &event.body {
            let what = edit.what.name().to_owned();
            count(&mut self.edits, what, OTHERS.to_owned());
        }
        while let Some((_, exchange)) = self.exchanges.poll_over() {
            self.over(&exchange);
        }
    }

    /// The summary; `None` if there was no exchange. Without times if the file has none.
    pub(super) fn finish(mut self, timed: bool) -> Option<Http> {
        self.exchanges.finish();
        while let Some((_, exchange)) = self.exchanges.poll_over() {
            self.over(&exchange);
        }
        if self.count == 0 {
            return None;
        }
        let mut errors = self.errors;
        if !timed {
            for error in &mut errors {
                error.at_ms = None;
            }
        }
        let added = || {
            Some(AddedTimes {
                p50_us: self.added.percentile(50)?,
                p99_us: self.added.percentile(99)?,
                max_us: self.added.longest()?,
            })
        };
        Some(Http {
            exchanges: self.count,
            added: added(),
            by_status: self
                .by_status
                .into_iter()
                .map(|((method, status), count)| HttpCount {
                    method,
                    status,
                    count,
                })
                .collect(),
            ends: self.ends,
            errors_count: self.errors_count,
            errors,
            streams: self.streams,
            edits: self.edits,
        })
    }

    fn over(&mut self, exchange: &HttpExchange) {
        self.count += 1;
        let status = exchange
            .response
            .as_ref()
            .map(|(_, response)| response.status);
        let request = &exchange.request;
        let kind = (request.method.clone().into_owned(), status);
        count(&mut self.by_status, kind, (OTHERS.to_owned(), None));
        let ended = ended(exchange);
        *self.ends.entry(ended).or_default() += 1;
        if let Some(added) = exchange.added {
            self.added
                .add(added.request_us.saturating_add(added.response_us));
        }
        let type_ = exchange
            .response
            .as_ref()
            .and_then(|(_, response)| response.fields.get("content-type"));
        if type_.is_some_and(is_stream) || exchange.notes > 0 {
            self.streams.count += 1;
            let resumes = request.fields.get("last-event-id").is_some();
            self.streams.resumed += u64::from(resumes);
        }
        if status.is_some_and(|status| status < 400) || status.is_none() && ended == NOT_OVER {
            return;
        }
        self.errors_count += 1;
        if self.errors.len() < ERRORS_LIMIT {
            let response = exchange.response.as_ref();
            self.errors.push(HttpError {
                method: request.method.clone().into_owned(),
                target: request.target.clone(),
                status,
                session: exchange.session.0,
                at_ms: Some(exchange.at.millis()),
                ended,
                ours: response.and_then(|(_, response)| response.ours),
                ours_cause: response.and_then(|(_, response)| response.ours_cause),
                ours_about: response.and_then(|(_, response)| response.ours_about.clone()),
            });
        }
    }
}

const NOT_OVER: &str = "not over";

/// How an exchange ended, from its peers' point of view.
fn ended(exchange: &HttpExchange) -> &'static str {
    match exchange.ended.map(|(_, reason)| reason) {
        Some(CloseReason::EndOfInput) => "complete",
        Some(CloseReason::Aborted) => "server broke off",
        Some(CloseReason::ReceiverGone) => "client left",
        Some(CloseReason::Failed) => "failed",
        Some(CloseReason::Policy) => "fault",
        Some(CloseReason::Stopped) => "recorder ended",
        // The request itself never ended.
        None => match exchange.request_ended {
            Some(CloseReason::Aborted) => "client left",
            Some(CloseReason::Failed) => "failed",
            Some(CloseReason::Stopped) => "recorder ended",
            _ => NOT_OVER,
        },
    }
}

/// Counts one of a kind, or of `others` if there are too many kinds.
fn count<K: Ord>(counts: &mut BTreeMap<K, u64>, kind: K, others: K) {
    let full = counts.len() >= KINDS_LIMIT && !counts.contains_key(&kind);
    *counts.entry(if full { others } else { kind }).or_default() += 1;
}
