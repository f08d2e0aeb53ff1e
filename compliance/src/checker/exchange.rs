//! Handling HTTP events other than messages.

use tapewright_schemas::envelope::Kind;
use tapewright_schemas::event::{
    CloseReason, ConduitId, Direction, Event, EventBody, Head, SseNote,
};

use super::dispatch::{Dispatch, Entry, HttpCheck};
use super::{Checker, Out};
use crate::facts::Transport;
use crate::finding::Doubt;
use crate::http::HttpCase;
use crate::http::conduit::Conduit;
use crate::http::session::{SESSION_ID, VERSION};
use crate::message::Message;
use crate::method::Method;
use crate::revision::{R1, R5, Revisions};
use crate::session::{Moment, Session, SessionKind};

/// The maximum number of exchanges that are followed at once.
const CONDUITS: usize = 65_536;

/// The point at which rules examine an exchange.
#[derive(Clone, Copy)]
pub(super) enum Phase<'a> {
    Request(Option<&'a Message<'a>>),
    Response,
    Stream(&'a SseNote),
    End,
}

impl Phase<'_> {
    /// The rules for this phase.
    fn entries(self, dispatch: &Dispatch) -> &[Entry<HttpCheck>] {
        match self {
            Self::Request(_) => &dispatch.http_request,
            Self::Response => &dispatch.http_response,
            Self::Stream(_) => &dispatch.sse,
            Self::End => &dispatch.http_end,
        }
    }
}

impl Checker {
    /// A client's exchange begins.
    pub(super) fn open(&mut self, conduit: ConduitId, connection: u64) {
        if self.conduits.len() >= CONDUITS {
            // The oldest has the smallest number; it is no longer awaited.
            if let Some(oldest) = self.conduits.keys().min().copied() {
                self.conduits.remove(&oldest);
            }
        }
        let fresh = Conduit {
            number: conduit.0,
            connection,
            ..Conduit::default()
        };
        self.conduits.insert(conduit, fresh);
    }

    /// Whether an event belongs to an exchange between a bridge and its server: its messages are
    /// judged as lines, and its heads are tapewright's.
    pub(super) fn is_bridged(&mut self, event: &Event) -> bool {
        let opens =
            matches!(&event.body, EventBody::Head(head) if matches!(**head, Head::Request(_)));
        let stdio = self.facts.transport == Transport::Stdio;
        if opens && stdio && self.bridged.len() < CONDUITS {
            self.bridged.insert(event.conduit);
        }
        let is_gap = matches!(event.body, EventBody::Gap(_));
        if is_gap || self.bridged.is_empty() || !self.bridged.contains(&event.conduit) {
            return false;
        }
        let ends = matches!(event.body, EventBody::Closed(_));
        if ends && event.dir == Direction::ToClient {
            self.bridged.remove(&event.conduit);
        }
        true
    }

    /// A head passed.
    pub(super) fn head(&mut self, event: &Event, head: &Head) {
        let moment = moment(event);
        let session = self.session(event);
        if let Head::Request(head) = head
            && session.http.revisions.is_none()
        {
            session.http.revisions = head.fields.get(VERSION).and_then(Revisions::named);
        }
        let legacy = session.http.legacy;
        let Some(conduit) = self.conduits.get_mut(&event.conduit) else {
            return;
        };
        conduit.legacy |= legacy;
        match head {
            Head::Interim(_) => {}
            Head::Request(head) => {
                conduit.request = Some((moment, head.clone()));
                if !conduit.is_post() {
                    self.judge_exchange(event, Phase::Request(None));
                }
            }
            Head::Response(head) => {
                conduit.response = Some((moment, head.clone()));
                self.judge_exchange(event, Phase::Response);
                self.enter_response_head(event, moment);
            }
        }
    }

    fn enter_response_head(&mut self, event: &Event, moment: Moment) {
        let (Some(session), Some(conduit)) =
            (self.sessions.last_mut(), self.conduits.get(&event.conduit))
        else {
            return;
        };
        let status = conduit.status().unwrap_or_default();
        let success = (200..300).contains(&status);
        if let Some(id) = conduit.answered_field(SESSION_ID)
            && conduit.carries(Method::Initialize)
        {
            self.world.entry(id).minted = true;
        }
        if conduit.is_ours() {
            return;
        }
        if let Some(id) = conduit.answered_field(SESSION_ID)
            && success
            && conduit.carries(Method::Initialize)
        {
            let key = crate::id::hash(id.as_bytes());
            session.http.id.get_or_insert((key, moment.seq));
            self.world.entry(id);
            self.world.uses(conduit.connection, id);
        }
        if let Some(id) = conduit.asked_field(SESSION_ID) {
            // A server that has no stream for a GET may also respond with 404.
            if status == 404 && conduit.is_post() {
                self.world.entry(id).refused.get_or_insert(moment);
            }
            if success && conduit.verb() == "DELETE" {
                self.world.entry(id).deleted.get_or_insert(moment);
            }
            if success || status == 404 {
                self.world.uses(conduit.connection, id);
            }
        }
    }

    /// Handles an event of a stream.
    pub(super) fn note(&mut self, event: &Event, note: &SseNote) {
        self.session(event);
        self.judge_exchange(event, Phase::Stream(note));
        let (Some(session), Some(conduit)) = (
            self.sessions.last_mut(),
            self.conduits.get_mut(&event.conduit),
        ) else {
            return;
        };
        let events = &mut session.http.events;
        let own = conduit.number;
        let resumed = conduit
            .asked_field("last-event-id")
            .and_then(|id| events.find(id))
            .map(|event| event.stream);
        let stream = *conduit.stream.get_or_insert(resumed.unwrap_or(own));
        if let Some(id) = note.id.as_deref().filter(|id| !id.is_empty()) {
            match events.find(id) {
                Some(before) if before.stream == stream => conduit.replayed = Some(before.number),
                Some(_) => {}
                None => events.enter(id, stream, event.seq),
            }
        }
        if let Some(retry) = note.retry_ms
            && let Some(stream) = events.stream_mut(stream)
        {
            stream.retry_ms = Some((retry, event.seq));
        }
    }

    /// Handles content that is not a message.
    pub(super) fn body(&mut self, event: &Event, bytes: u64) {
        if event.dir == Direction::ToClient
            && let Some(conduit) = self.conduits.get_mut(&event.conduit)
        {
            conduit.other_bytes += bytes;
        }
    }

    /// A message passed.
    pub(super) fn exchange_message(&mut self, event: &Event, message: &Message<'_>) {
        let Some(conduit) = self.conduits.get_mut(&event.conduit) else {
            return;
        };
        if event.dir == Direction::ToClient {
            conduit.receive(message);
            return;
        }
        conduit.send(message);
        // A message that is posted to a stream that is over belongs to no known session.
        if let EventBody::Message { origin, .. } = &event.body {
            conduit.legacy |= origin.carrier.is_legacy();
        }
        if conduit.sent_count > 1 {
            return;
        }
        let asks = matches!(message.envelope.kind, Kind::Request { .. });
        conduit.stateless = asks && message.revisions == R5;
        if conduit.stateless
            && let Some(session) = self.sessions.last_mut()
            && let crate::rules::http_modern::Mirror::Differs(_) =
                crate::rules::http_modern::mismatch(conduit, message, session)
        {
            conduit.mismatch = Some(message.seq);
        }
        self.judge_exchange(event, Phase::Request(Some(message)));
    }

    /// Handles the end of a direction of an exchange.
    pub(super) fn exchange_closed(&mut self, event: &Event, reason: CloseReason) {
        if event.dir == Direction::ToServer || !self.conduits.contains_key(&event.conduit) {
            return;
        }
        let moment = moment(event);
        if let Some(conduit) = self.conduits.get_mut(&event.conduit) {
            conduit.closed = Some((moment, reason));
        }
        self.judge_exchange(event, Phase::End);
        let conduit = self.conduits.remove(&event.conduit);
        let stream = conduit.and_then(|conduit| conduit.stream);
        if let (Some(stream), Some(session)) = (stream, self.sessions.last_mut())
            && let Some(stream) = session.http.events.stream_mut(stream)
        {
            stream.closed = Some(moment);
        }
        if event.session.0 == 0
            && let Some(session) = self.sessions.remove((event.session, event.conduit))
        {
            self.close_session(&session, true);
        }
    }

    /// Passes an exchange to the rules for this phase. The session of the event must be current.
    fn judge_exchange(&mut self, event: &Event, phase: Phase<'_>) {
        let (Some(session), Some(conduit), Some(results)) = (
            self.sessions.last_mut(),
            self.conduits.get(&event.conduit),
            self.results.get_mut(&event.session),
        ) else {
            return;
        };
        let answered = matches!(phase, Phase::Response | Phase::End | Phase::Stream(_));
        if answered && (conduit.is_ours() || self.facts.fronted) {
            return;
        }
        let (message, note) = match phase {
            Phase::Request(message) => (message, None),
            Phase::Stream(note) => (None, Some(note)),
            Phase::Response | Phase::End => (None, None),
        };
        let session: &Session = session;
        let case = HttpCase {
            moment: message.map_or_else(|| moment(event), Message::moment),
            conduit,
            session,
            world: &self.world,
            message,
            note,
            revisions: revisions(session, conduit),
        };
        let entries = phase.entries(&self.dispatch);
        let carriers = conduit.carriers();
        for entry in entries {
            let applies = entry.revisions.covers(case.revisions);
            if !applies || !entry.carriers.meets(carriers) {
                continue;
            }
            if entry.in_session && session.sort == SessionKind::Exchange {
                results.doubt(entry.index, Doubt::NoSession);
                continue;
            }
            // The missing events may be a part of this exchange.
            if conduit.gap || session.is_adrift() {
                results.doubt(entry.index, Doubt::Gap);
                continue;
            }
            let mut out = Out {
                index: entry.index,
                rule: entry.rule,
                session,
                revisions: case.revisions,
                mildest: self.selection.severity(),
                at: event.at,
                tampered: false,
                cut: false,
                results,
                found: &mut self.found,
            };
            (entry.check)(&case, &mut out);
        }
    }

    /// A session over the transport of 2024-11-05 began.
    pub(super) fn legacy(&mut self, event: &Event) {
        let http = &mut self.session(event).http;
        http.revisions = Some(R1);
        http.legacy = true;
    }
}

/// The possible revisions of an exchange: those in its request's body take precedence over the
/// head, which may differ.
fn revisions(session: &Session, conduit: &Conduit) -> Revisions {
    if conduit.stateless {
        return R5;
    }
    let agreed = session.negotiated;
    if let Some(version) = conduit.asked_field(VERSION) {
        return match Revisions::named(version) {
            Some(one) => one,
            None if agreed == Revisions::HANDSHAKE => Revisions::FROM_R3,
            None => agreed,
        };
    }
    if agreed != Revisions::HANDSHAKE {
        return agreed;
    }
    if session.stateless {
        return R5;
    }
    session
        .http
        .revisions
        .unwrap_or(Revisions::HANDSHAKE_FROM_R2)
}

fn moment(event: &Event) -> Moment {
    Moment {
        seq: event.seq,
        at: event.at,
    }
}
