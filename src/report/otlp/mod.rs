//! A conversation as a trace of OpenTelemetry.
//!
//! Names are those of the conventions for MCP and for generative AI, whose status is *Development*:
//! <https://github.com/open-telemetry/semantic-conventions-genai>, `docs/gen-ai/mcp.md` as of
//! August 2026. Names beyond them begin with `tapewright.`.
//!
//! We only observe, and put no context into messages. A request that carries a `traceparent`
//! already has spans in its client and its server: ours is between them, as a child of the first,
//! of kind INTERNAL, linked to the session. Any other request is a span of kind CLIENT below the
//! span of its session, and a session is a trace. Over HTTP, a request without a session is a
//! separate trace.

mod content;
mod context;
mod event;
mod exchange;
mod ids;
mod model;
mod network;
mod sessions;
mod span;

use tapewright_proxy::traces::Figures;
use tapewright_schemas::event::{SessionMark, SessionStart};
use tapewright_schemas::listing::{Entry, Note};
use tapewright_schemas::tape::Header;

use self::context::Context;
use self::event::event;
use self::ids::Ids;
use self::network::Network;
use self::sessions::{Session, Sessions};
use self::span::{Event, Link, Status};

pub(crate) use self::span::{Attributes, Span};

/// Makes spans from lines.
#[derive(Debug)]
pub(crate) struct Spans {
    ids: Ids,
    label: String,
    // Wall time of offset zero, in nanoseconds since 1970.
    began: u64,
    network: Network,
    // Whether arguments and results of tools are included.
    content: bool,
    sessions: Sessions,
    // Sessions that were exported early to make room for others.
    given_up: Vec<Span>,
}

impl Spans {
    /// Spans of a tape that began at `began`, in nanoseconds since 1970.
    pub(crate) fn new(header: &Header, began: u64) -> Self {
        Self {
            ids: Ids::new(header),
            label: header.label.clone(),
            began,
            network: Network::of(header),
            content: false,
            sessions: Sessions::default(),
            given_up: Vec::new(),
        }
    }

    /// Includes arguments and results of tools.
    #[must_use]
    pub(crate) fn with_content(mut self, content: bool) -> Self {
        self.content = content;
        self
    }

    /// Marks the beginning or end of a session, at a time of the tape.
    pub(crate) fn mark(&mut self, session: u32, mark: SessionMark, at_ms: f64) {
        if session == 0 {
            return;
        }
        let has_id = matches!(
            mark,
            SessionMark::Began(SessionStart::SessionId | SessionStart::EventStream)
        );
        self.seen(session, at_ms, at_ms).has_id |= has_id;
    }

    /// The span of a session that is over, unless it was exported before.
    pub(crate) fn ended(&mut self, session: u32) -> Option<Span> {
        let known = self.sessions.tell(session)?;
        Some(self.session(session, known))
    }

    /// The spans of sessions that were removed to make room for others.
    pub(crate) fn given_up(&mut self) -> Vec<Span> {
        std::mem::take(&mut self.given_up)
    }

    /// The span of a line; `None` if it is part of its session's span, or has no time.
    pub(crate) fn entry(&mut self, entry: &Entry) -> Option<Span> {
        match entry {
            Entry::Exchange {
                row,
                request,
                answer,
            } => self.exchange(row, request, answer),
            Entry::Model { row, request, .. } => self.model(row, request),
            Entry::Beside(note) => {
                self.beside(note);
                None
            }
        }
    }

    /// The remaining spans of sessions, at the end.
    pub(crate) fn finish(&mut self) -> Vec<Span> {
        let sessions = self.sessions.finish();
        sessions
            .map(|(number, session)| self.session(number, session))
            .collect()
    }

    fn beside(&mut self, note: &Note) {
        let Some(at) = note.at_ms else {
            return;
        };
        let Some((name, mut attributes)) = event(&note.told) else {
            return;
        };
        attributes.number("tapewright.seq", Some(note.seq));
        let event = Event {
            time_unix_nano: self.nanos(at),
            name,
            attributes,
        };
        self.seen(note.session, at, at).add(event);
    }

    /// The session, extended to include these two times.
    fn seen(&mut self, number: u32, from: f64, to: f64) -> &mut Session {
        for (number, quiet) in self.sessions.make_room(number) {
            let span = self.session(number, quiet);
            self.given_up.push(span);
        }
        self.sessions.seen(number, from, to)
    }

    /// Whether exchanges of this session are separate traces: over HTTP, exchanges without a
    /// session may come from any client.
    fn is_apart(&self, session: u32) -> bool {
        session == 0 && self.network.is_http() && !self.ids.is_of_whole()
    }

    fn session(&self, number: u32, session: Session) -> Span {
        let mut attributes = Attributes::default();
        attributes.text_of("mcp.protocol.version", session.revision.as_deref());
        if session.has_id {
            attributes.text("mcp.session.id", &self.ids.session(number).hex());
        }
        self.network.tell(&mut attributes);
        attributes.number("tapewright.session", Some(number.into()));
        Span {
            trace_id: self.ids.trace(number),
            span_id: self.ids.session(number),
            parent_span_id: None,
            trace_state: String::new(),
            name: format!("session {}", self.label).trim_end().to_owned(),
            kind: Span::INTERNAL,
            start_time_unix_nano: self.nanos(session.from_ms),
            end_time_unix_nano: self.nanos(session.to_ms),
            attributes,
            events: session.events,
            dropped_events_count: session.dropped,
            links: Vec::new(),
            status: Status::default(),
        }
    }

    /// A span below a session, or in the trace that a request names.
    fn span(
        &self,
        session: u32,
        seq: u64,
        id: &str,
        [from, to]: [f64; 2],
        context: Option<Context>,
    ) -> Span {
        let span_id = self.ids.request(session, seq, id);
        let own = (!self.is_apart(session)).then(|| Link {
            trace_id: self.ids.trace(session),
            span_id: self.ids.session(session),
        });
        let parent = own.as_ref().map(|own| own.span_id);
        let (trace_id, parent, kind) = if let Some(context) = &context {
            (context.trace, Some(context.parent), Span::INTERNAL)
        } else {
            let trace = own.as_ref().map(|own| own.trace_id);
            let apart = || self.ids.apart(seq, id);
            (trace.unwrap_or_else(apart), parent, Span::CLIENT)
        };
        Span {
            trace_id,
            span_id,
            parent_span_id: parent,
            links: own.filter(|_| context.is_some()).into_iter().collect(),
            trace_state: context.map(|context| context.state).unwrap_or_default(),
            name: String::new(),
            kind,
            start_time_unix_nano: self.nanos(from),
            end_time_unix_nano: self.nanos(to),
            attributes: Attributes::default(),
            events: Vec::new(),
            dropped_events_count: 0,
            status: Status::default(),
        }
    }

    /// Converts a time on the tape to nanoseconds since 1970.
    fn nanos(&self, ms: f64) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "times on a tape are positive, and rounded on purpose"
        )]
        let since = (ms * 1e6).round() as u64;
        self.began.saturating_add(since)
    }
}

const AGAIN: &str = "`tapewright export --as otlp` writes them again";

/// The summary of the spans that were sent while recording.
pub(crate) fn sent(figures: &Figures, place: &str) -> String {
    let (sent, lost) = (figures.sent(), figures.all_lost());
    let missing = match (lost, figures.unread_bytes()) {
        (0, 0) => String::new(),
        (lost, 0) => format!("; {lost} did not arrive; {AGAIN}"),
        (lost, unread) => format!(
            "; {lost} did not arrive, and {unread} bytes of the tape were not read in time; {AGAIN}"
        ),
    };
    format!("sent {sent} spans to {}{missing}", super::safe(place))
}

/// The summary of the durations that were sent.
pub(crate) fn sent_points(figures: &Figures, place: &str) -> String {
    let (sent, place) = (figures.sent(), super::safe(place));
    match figures.all_lost() {
        0 => format!("sent {sent} data points to {place}"),
        lost => format!("sent {sent} data points to {place}; {lost} did not arrive"),
    }
}

/// Appends one request with spans, as JSON without a line end.
pub(crate) fn write(resource: &Attributes, spans: &[Span], out: &mut Vec<u8>) {
    let (before, after) = around(resource);
    out.extend_from_slice(b"{\"resourceSpans\":[");
    out.extend_from_slice(&before);
    for (at, span) in spans.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        span.write(out);
    }
    out.extend_from_slice(&after);
    out.extend_from_slice(b"]}");
}

/// The text in front of the first and behind the last span of a resource, within the list of
/// resources of a request.
pub(crate) fn around(resource: &Attributes) -> (Vec<u8>, Vec<u8>) {
    about(resource, "scopeSpans", "spans")
}

/// Like `around`, for metrics.
pub(crate) fn around_metrics(resource: &Attributes) -> (Vec<u8>, Vec<u8>) {
    about(resource, "scopeMetrics", "metrics")
}

fn about(resource: &Attributes, scoped: &str, list: &str) -> (Vec<u8>, Vec<u8>) {
    let mut before = b"{\"resource\":{\"attributes\":".to_vec();
    resource.write(&mut before);
    let scope = format!("}},\"{scoped}\":[{{\"scope\":{SCOPE},\"{list}\":[");
    before.extend_from_slice(scope.as_bytes());
    (before, AFTER.to_vec())
}

const SCOPE: &str = concat!(
    "{\"name\":\"",
    "tapewright",
    "\",\"version\":\"",
    env!("CARGO_PKG_VERSION"),
    "\"}"
);
const AFTER: &[u8] = b"]}]}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_around_spans_and_they_make_a_request() {
        let mut resource = Attributes::default();
        resource.text("service.name", "a \"]}]}\" b");
        let mut whole = Vec::new();
        write(&resource, &[], &mut whole);
        let (before, after) = around(&resource);
        assert!(before.ends_with(b"\"spans\":["));
        assert_eq!(after, AFTER);
        let parts = [b"{\"resourceSpans\":[".as_slice(), &before, &after, b"]}"];
        assert_eq!(parts.concat(), whole);
    }
}
