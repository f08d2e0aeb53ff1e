//! Converts events of the tape to log lines.

use std::collections::{HashMap, HashSet};

use tapewright_schemas::conversation::{Conversation, ExchangeRow, Outcome, Step};
use tapewright_schemas::envelope::Kind;
use tapewright_schemas::event::{
    CloseReason, ConduitId, Direction, Event, EventBody, Exit, Faulted, Finding, FindingStatus,
    Head, InPlace, InPlaceCause, Payload, Peer, ResponseHead, SessionMark, Sink,
};
use tapewright_schemas::http_exchange::{HttpExchange, HttpExchanges};
use tracing::{debug, info, trace, warn};

use super::gaps::Gaps;
use super::place::place;

/// How many HTTP exchanges are followed at once, like elsewhere.
const LIMIT: usize = 65_536;

/// Logs the traffic. It receives events as they are on the tape, numbered and without secrets, and
/// only logs methods, numbers and times, never the contents of messages.
#[derive(Debug)]
pub(super) struct Traffic {
    is_taped: bool,
    conversation: Conversation<()>,
    exchanges: HttpExchanges,
    // The tape positions of request heads whose exchanges are not logged yet.
    heads: HashMap<ConduitId, u64>,
    // The conduits of servers without a process.
    remote: HashSet<ConduitId>,
    gaps: Gaps,
}

impl Sink for Traffic {
    fn record(&mut self, event: &Event) {
        self.beside(event);
        self.exchanges.observe(event);
        let is_taped = self.is_taped;
        self.conversation
            .observe(event, None, |step| message(event, &step, is_taped));
        if let EventBody::Head(head) = &event.body
            && matches!(head.as_ref(), Head::Request(_))
            && self.heads.len() < LIMIT
        {
            self.heads.insert(event.conduit, event.seq);
        }
        // Nothing after its end is logged.
        if event.dir == Direction::ToClient
            && let EventBody::Closed(reason) = event.body
        {
            self.ended(event, reason);
        }
        self.over();
    }
}

impl Traffic {
    /// Begins with no events; `is_taped` says whether there is a tape that places refer to.
    pub(super) fn new(is_taped: bool) -> Self {
        Self {
            is_taped,
            conversation: Conversation::default(),
            exchanges: HttpExchanges::default(),
            heads: HashMap::new(),
            remote: HashSet::new(),
            gaps: Gaps::default(),
        }
    }

    /// Logs the exchanges that are still open at the end.
    pub(super) fn finish(mut self) {
        self.conversation.finish();
        self.exchanges.finish();
        self.over();
    }

    fn seq(&self, seq: u64) -> Option<u64> {
        Some(seq).filter(|seq| self.is_taped && *seq > 0)
    }

    /// Logs events other than messages.
    fn beside(&mut self, event: &Event) {
        let (session, seq) = (event.session.0, self.seq(event.seq));
        match &event.body {
            EventBody::Opened(peer) => {
                let is_remote = matches!(peer, Peer::Server { .. } | Peer::Cassette);
                if is_remote && self.remote.len() < LIMIT {
                    self.remote.insert(event.conduit);
                }
                opened(peer, session, seq);
            }
            // A connection to a server ends like a process, but its status says nothing about it.
            EventBody::Exited(_) if self.remote.contains(&event.conduit) => {}
            EventBody::Exited(one) => exited(one.how, session, seq),
            EventBody::Session(SessionMark::Began(how)) => {
                info!(name: "session_began", target: "tapewright::session", session, seq, how = how.name());
            }
            EventBody::Session(SessionMark::Ended(why)) => {
                info!(name: "session_ended", target: "tapewright::session", session, seq, why = why.name());
            }
            EventBody::Signal(signal) => {
                info!(name: "signal", target: "tapewright::session", session, seq, signal = signal.as_str());
            }
            EventBody::Gap(gap) => self.gaps.log(gap, session, event.seq, seq),
            EventBody::Faulted(faulted) => fault(faulted, session, seq),
            EventBody::Head(head) => {
                if let Head::Response(head) = head.as_ref() {
                    answered(head, event, seq);
                }
            }
            EventBody::Message { .. } if event.is_made_by_us() => {
                let (exchange, to) = (event.conduit.0, event.dir.opposite().sender());
                info!(name: "message_made", target: "tapewright::session", session, exchange, seq, to);
            }
            EventBody::Message {
                payload: Payload::Clipped { len, head },
                ..
            }
            | EventBody::Body {
                payload: Payload::Clipped { len, head },
            } => {
                let (exchange, from, kept) = (event.conduit.0, event.dir.sender(), head.len());
                warn!(name: "clipped", target: "tapewright::record", session, exchange, seq, from, bytes = len, kept);
            }
            _ => {}
        }
    }

    /// Logs the exchanges that have ended.
    fn over(&mut self) {
        while let Some(over) = self.conversation.poll() {
            self.exchange(&ExchangeRow::of(&over));
        }
        while let Some((conduit, exchange)) = self.exchanges.poll_over() {
            if let Some(seq) = self.heads.remove(&conduit) {
                http(conduit, &exchange, self.seq(seq));
            }
        }
    }

    /// Logs an HTTP exchange that ends now.
    fn ended(&mut self, event: &Event, reason: CloseReason) {
        let conduit = event.conduit;
        let exchange = self.exchanges.get(conduit);
        if reason == CloseReason::Aborted {
            broke_off(event, exchange, self.seq(event.seq));
        }
        if let Some(exchange) = exchange
            && let Some(seq) = self.heads.remove(&conduit)
        {
            http(conduit, exchange, self.seq(seq));
        }
    }

    fn exchange(&self, row: &ExchangeRow) {
        debug!(
            name: "exchange",
            target: "tapewright::exchange",
            session = row.session,
            exchange = row.conduit,
            seq = self.seq(row.request_seq),
            answer_seq = row.answer_seq.and_then(|seq| self.seq(seq)),
            from = row.from,
            method = row.method.as_str(),
            outcome = token(row.outcome),
            error_code = row.error_code,
            http_status = row.http_status,
            took_ms = row.waited_ms,
            request_bytes = row.request_bytes,
            answer_bytes = row.answer_bytes,
        );
    }
}

fn opened(peer: &Peer, session: u32, seq: Option<u64>) {
    let (peer, pid) = match peer {
        Peer::Process { pid } => ("process", Some(*pid)),
        Peer::Cassette => ("recording", None),
        Peer::Server { .. } => ("server", None),
        // One per HTTP exchange, and logged with it.
        _ => return,
    };
    info!(name: "server_opened", target: "tapewright::session", session, seq, peer, pid);
}

fn exited(exit: Exit, session: u32, seq: Option<u64>) {
    let (code, signal) = match exit {
        Exit::Code(code) => (Some(code), None),
        Exit::Signal(signal) => (None, Some(signal)),
    };
    info!(name: "server_exited", target: "tapewright::session", session, seq, code, signal);
}

/// Logs an answer in the server's place: a refused client, or a failure of the server.
fn answered(head: &ResponseHead, event: &Event, seq: Option<u64>) {
    let Some(why) = head.ours.map(InPlace::name) else {
        return;
    };
    let cause = head.ours_cause.map(InPlaceCause::name);
    let about = head.ours_about.as_deref();
    let (session, exchange, status) = (event.session.0, event.conduit.0, head.status);
    match status {
        // Made by a fault, which is logged as one.
        ..400 if cause.is_none() => {}
        500 | 502 | 504 => {
            warn!(name: "server_failed", target: "tapewright::http", session, exchange, seq, status, why, cause, about);
        }
        _ => {
            info!(name: "refused", target: "tapewright::http", session, exchange, seq, status, why, cause, about);
        }
    }
}

/// Logs that a server broke off in the middle of its answer, whose head is only known if exchanges
/// are logged.
fn broke_off(event: &Event, exchange: Option<&HttpExchange>, seq: Option<u64>) {
    let status = exchange
        .map(HttpExchange::status)
        .filter(|status| *status > 0);
    let (session, exchange, why) = (event.session.0, event.conduit.0, InPlace::Broken.name());
    warn!(name: "server_failed", target: "tapewright::http", session, exchange, seq, status, why);
}

/// Logs a finding, once it is on the tape.
pub(super) fn finding(found: &Finding, session: u32, seq: Option<u64>) {
    let (code, side) = (found.code.as_str(), found.side.name());
    let status = found.status.name();
    if found.status == FindingStatus::Closed {
        info!(name: "hang_over", target: "tapewright::check", session, seq, code, status, side);
    } else {
        warn!(name: "finding", target: "tapewright::check", session, seq, code, status, side);
    }
}

fn fault(faulted: &Faulted, session: u32, seq: Option<u64>) {
    let fault = faulted.effect.fault.as_ref();
    info!(
        name: "fault",
        target: "tapewright::fault",
        session,
        seq,
        fault = fault.map(|fault| fault.name.as_str()),
        did = faulted.effect.what.name(),
    );
}

fn message(event: &Event, step: &Step<'_, ()>, is_taped: bool) {
    let kind = match &step.envelope.kind {
        Kind::Request { .. } => "request",
        Kind::Response { .. } => "response",
        Kind::Notification { .. } => "notification",
        _ => "other",
    };
    trace!(
        name: "message",
        target: "tapewright::exchange",
        session = event.session.0,
        exchange = event.conduit.0,
        seq = Some(event.seq).filter(|seq| is_taped && *seq > 0),
        from = event.dir.sender(),
        kind,
        bytes = step.text.len(),
    );
}

fn http(conduit: ConduitId, exchange: &HttpExchange, seq: Option<u64>) {
    if exchange.request.method.is_empty() {
        // Its head was not seen.
        return;
    }
    let ended = exchange.ended.map(|(at, _)| at);
    let ours = exchange
        .response
        .as_ref()
        .and_then(|(_, head)| head.ours.as_ref());
    debug!(
        name: "http_exchange",
        target: "tapewright::http",
        session = exchange.session.0,
        exchange = conduit.0,
        seq,
        connection = exchange.connection,
        method = exchange.request.method.as_ref(),
        url = place(&exchange.request.target),
        status = Some(exchange.status()).filter(|status| *status > 0),
        answered_by_us = ours.is_some(),
        ended = exchange.ended.map(|(_, reason)| reason.name()),
        took_ms = ended.map(|at| at.since(exchange.at).millis()),
        messages = exchange.notes,
    );
}

/// The token for an outcome.
fn token(outcome: Outcome) -> String {
    let value = serde_json::to_value(outcome).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}
