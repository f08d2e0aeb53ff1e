//! Taking events.

use std::collections::VecDeque;

use tapewright_schemas::conversation::Pair;
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::era::Era;
use tapewright_schemas::event::{
    ConduitId, Direction, Event, EventBody, Payload, Peer, Seen, SessionEnd, SessionKey,
    SessionMark, SessionStart, Sink,
};
use tapewright_schemas::tape::Ending;

use super::results::{Judged, Results};
use super::routine::Routine;
use super::turn::{Turn, silent};
use super::{Checker, Closing, Out};
use crate::facts::Transport;
use crate::finding::Doubt;
use crate::http::conduit::Conduit;
use crate::message::{Form, Message};
use crate::plain::Plain;
use crate::session::{Moment, Session, SessionKind};

impl Sink for Checker {
    fn record(&mut self, event: &Event) {
        self.count(event.seq);
        if let EventBody::Message {
            payload: Payload::Whole(bytes),
            ..
        } = &event.body
        {
            let envelope = Envelope::parse(bytes);
            self.message(&numbered(event, &envelope), bytes);
        } else {
            self.event(event);
        }
    }
}

impl Checker {
    /// Handles the next event, whose message is already parsed.
    pub fn observe(&mut self, event: &Event, envelope: Option<&Envelope<'_>>) {
        match (&event.body, envelope) {
            (
                EventBody::Message {
                    payload: Payload::Whole(bytes),
                    ..
                },
                Some(envelope),
            ) => {
                self.count(event.seq);
                self.message(&numbered(event, envelope), bytes);
            }
            _ => self.record(event),
        }
    }

    /// Handles the next message, whose event has no number yet.
    #[inline]
    pub(crate) fn see(&mut self, seen: &Seen<'_>) {
        match &seen.event.body {
            EventBody::Message {
                payload: Payload::Whole(bytes),
                ..
            } => self.message(seen, bytes),
            _ => self.record(&seen.to_event()),
        }
    }

    /// Records the number of an event, and what is missing before it.
    fn count(&mut self, seq: u64) {
        if !self.facts.numbered {
            return;
        }
        let whole = self.last_seq == 0 && self.facts.continues;
        let missing = seq.saturating_sub(self.last_seq.saturating_add(1));
        if missing > 0 && !whole {
            self.missing = self.missing.saturating_add(missing);
            self.gap();
        }
        self.last_seq = self.last_seq.max(seq);
    }

    /// Events are missing here.
    fn gap(&mut self) {
        self.routine = None;
        self.doubts.add(Doubt::Gap);
        self.sessions.each(|session| session.gap = true);
        for conduit in self.conduits.values_mut() {
            conduit.gap = true;
        }
    }

    /// Ends the recording: the verdicts on each session, in order.
    #[must_use]
    pub fn finish(mut self, ending: Option<&Ending>) -> Vec<Judged> {
        self.end(ending);
        let doubts = self.doubts;
        let (selection, briefs) = (self.selection, self.briefs);
        let judged = |(session, mut results): (SessionKey, Results)| {
            results.settle(&briefs);
            Judged {
                session,
                outcomes: results.outcomes(&selection, doubts),
            }
        };
        self.results.into_iter().map(judged).collect()
    }

    /// Ends every session; [`poll`](Self::poll) returns what that shows.
    pub fn end(&mut self, ending: Option<&Ending>) {
        let whole = !matches!(ending, Some(Ending::CutShort { .. }));
        if self.results.is_empty() {
            self.results.insert(SessionKey(0), Results::empty());
        }
        if let Some(Ending::Footer(footer)) = ending
            && !footer.gaps.is_empty()
        {
            self.doubts.add(Doubt::Gap);
        }
        for session in self.sessions.drain() {
            self.close_session(&session, whole);
        }
    }

    fn event(&mut self, event: &Event) {
        let dir = event.dir;
        let moment = Moment {
            seq: event.seq,
            at: event.at,
        };
        // What a server logs changes no session.
        if !matches!(event.body, EventBody::Stderr { .. }) {
            self.routine = None;
        }
        match &event.body {
            EventBody::Opened(Peer::Client { connection, .. }) => {
                self.open(event.conduit, *connection);
            }
            EventBody::Opened(Peer::Process { .. }) => {
                self.session(event).process = Some(event.conduit);
            }
            EventBody::Opened(_) => self.session(event).remote = true,
            EventBody::Message { .. } => {
                let session = self.session(event);
                session.unread = true;
                session.begin_payload(dir);
            }
            // A held message is released after some other message, and is already marked.
            EventBody::Faulted(faulted) if faulted.effect.what.release().is_some() => {}
            EventBody::Faulted(_) => self.session(event).fault(dir),
            _ if self.is_bridged(event) => {}
            EventBody::Closed(reason) => {
                let reason = *reason;
                let session = self.session(event);
                if session.is_pipe(event.conduit) || session.sort == SessionKind::Document {
                    session.close(dir, moment, reason);
                }
                self.exchange_closed(event, reason);
            }
            EventBody::Exited(exited) => {
                // When it would have ended if the recorder had not held it.
                let at = moment.at.since(exited.ours);
                let (moment, how) = (Moment { at, ..moment }, exited.how);
                self.session(event).exited = Some((moment, how));
            }
            EventBody::Signal(name)
                if self.facts.transport == Transport::Stdio
                    && ENDING_SIGNALS.contains(&name.as_str()) =>
            {
                self.session(event).signalled.get_or_insert(moment);
            }
            EventBody::Gap(_) => self.gap(),
            EventBody::Session(mark) => self.mark(event, *mark),
            EventBody::Head(head) => self.head(event, head),
            EventBody::Sse(note) => self.note(event, note),
            EventBody::Body { payload } => self.body(event, payload.wire_len()),
            _ => {}
        }
    }

    fn mark(&mut self, event: &Event, mark: SessionMark) {
        match mark {
            SessionMark::Began(how) => {
                let begins = how != SessionStart::SessionId;
                let session = self.session(event);
                session.start_unknown &= !begins;
                if how == SessionStart::EventStream {
                    self.legacy(event);
                }
            }
            SessionMark::Ended(how) => {
                let key = (event.session, ConduitId(0));
                if let Some(mut session) = self.sessions.remove(key) {
                    let moment = Moment {
                        seq: event.seq,
                        at: event.at,
                    };
                    session.ended = Some((moment, how));
                    if how == SessionEnd::NoSessionId {
                        // Later messages belong to it, and cannot be distinguished from the rest.
                        session.sort = SessionKind::Exchange;
                    }
                    self.close_session(&session, true);
                    self.forget(session.key);
                }
            }
        }
    }

    /// The session of an event.
    pub(super) fn session(&mut self, event: &Event) -> &mut Session {
        // Nearly always it is the one before.
        let plain = self.facts.transport == Transport::Stdio && !self.sessionless;
        if !(plain && self.conduits.is_empty() && self.sessions.is_last(event.session)) {
            self.turn_to(event);
        }
        let last = self.sessions.last_mut();
        last.expect("it was turned to")
    }

    /// Looks for the session of an event, and begins it where there is none: it is the last then.
    fn turn_to(&mut self, event: &Event) {
        if self.sessions.is_full() {
            self.make_room();
        }
        let http = self.facts.transport == Transport::Http
            || self.sessionless
            || !self.conduits.is_empty() && self.conduits.contains_key(&event.conduit);
        let sort = match (http, event.session) {
            (true, SessionKey(0)) => SessionKind::Exchange,
            (true, _) => SessionKind::Http,
            (false, _) if self.facts.transport == Transport::Stdio => SessionKind::Process,
            (false, _) => SessionKind::Document,
        };
        let conduit = match sort {
            SessionKind::Exchange => event.conduit,
            _ => ConduitId(0),
        };
        let (key, gap) = (event.session, !self.doubts.is_empty());
        let (facts, follows) = (self.facts, self.follows);
        let resumed = sort == SessionKind::Exchange && Some(conduit) <= self.sessions.forgotten;
        let results = &mut self.results;
        self.sessions.get((key, conduit), || {
            results.entry(key).or_insert_with(Results::empty);
            let mut session = Session::new(key, sort, facts, follows);
            session.gap = gap;
            session.start_unknown = sort == SessionKind::Http || resumed || facts.continues;
            session
        });
    }

    /// Forgets the sessions that have been silent for longest. If they continue later, their
    /// beginning is unknown.
    fn make_room(&mut self) {
        for session in self.sessions.evict() {
            self.close_session(&session, false);
            self.forget(session.key);
        }
    }

    /// Drops the verdicts on a session if they will not be read.
    fn forget(&mut self, key: SessionKey) {
        if self.forgetting && key != SessionKey(0) {
            self.results.remove(&key);
            self.offers.remove(&key);
        }
    }

    /// Whether it is the body of an HTTP error and not a JSON-RPC message, such as an OAuth
    /// server's error, which an old recorder mistook for one.
    fn is_mere_refusal(&self, event: &Event, envelope: &Envelope<'_>) -> bool {
        let conduit = self.conduits.get(&event.conduit);
        let refused = conduit.is_some_and(Conduit::is_refused);
        let response = matches!(envelope.kind, Kind::Response { .. });
        refused && response && event.dir == Direction::ToClient && envelope.version.is_none()
    }

    #[inline]
    fn message(&mut self, seen: &Seen<'_>, bytes: &[u8]) {
        if !self.enter_routine(seen) {
            self.judge_message(seen, bytes);
        }
    }

    /// Pairs a message, and determines whether any rule must see it.
    fn judge_message(&mut self, seen: &Seen<'_>, bytes: &[u8]) {
        #[cfg(test)]
        {
            self.judged_one_by_one += 1;
        }
        let before = self.routine.take();
        let (event, envelope) = (seen.event, seen.message);
        let EventBody::Message { origin, .. } = &event.body else {
            return;
        };
        let carrier = origin.carrier;
        if !self.conduits.is_empty() && self.is_mere_refusal(event, envelope) {
            return self.body(event, bytes.len() as u64);
        }
        let mut message = Message::new(seen, bytes, envelope);
        let has_routine = self.has_routine();
        let session = self.session(event);
        session.begin_message(event);
        let era = session.era(seen.era, &message);
        if event.is_made_by_us() {
            return session.answered_by_us(event, &message);
        }
        let is_batch = message.form == Form::Batch;
        let told = if is_batch {
            Some(session.pair_batch(event.scope(), &mut message))
        } else {
            session.pair(event.scope(), &mut message);
            None
        };
        message.revisions = session.possible(era, &message);
        if !self.conduits.is_empty() {
            self.exchange_message(event, &message);
        }
        let Some(session) = self.sessions.last_mut() else {
            return;
        };
        let conduit = self.conduits.get(&event.conduit);
        let refused = conduit.is_some_and(Conduit::is_refused);
        let wanted = self.dispatch.spared;
        message.plain = Plain::of(&mut message, event, session, refused, wanted);
        let briefs = &mut self.briefs;
        if let Some(number) = silent(&self.dispatch, briefs, session, conduit, carrier, &message) {
            session.silent.count(number);
            if has_routine {
                self.routine = Routine::after(before, session, seen, &message, number);
            }
            return session.enter(&message);
        }
        self.show(seen, bytes, &message, told, era);
    }

    /// Shows a message, whose session was used last, to the rules, and enters it; `told` is what each message of a batch
    /// does.
    fn show(
        &mut self,
        seen: &Seen<'_>,
        bytes: &[u8],
        message: &Message<'_>,
        told: Option<VecDeque<Pair>>,
        era: Option<Era>,
    ) {
        let event = seen.event;
        let (EventBody::Message { origin, .. }, Some(session), Some(results)) = (
            &event.body,
            self.sessions.last_mut(),
            self.results.get_mut(&event.session),
        ) else {
            return;
        };
        let mut turn = Turn {
            offers: &mut self.offers,
            carrier: origin.carrier,
            event,
            dispatch: &self.dispatch,
            briefs: &mut self.briefs,
            conduit: self.conduits.get(&event.conduit),
            results,
            found: &mut self.found,
            mildest: self.selection.severity(),
        };
        turn.payload(session, message);
        match told {
            None => turn.member(session, message),
            Some(told) => turn.members(session, seen, bytes, told, era),
        }
    }

    pub(super) fn close_session(&mut self, session: &Session, whole: bool) {
        let Some(results) = self.results.get_mut(&session.key) else {
            return;
        };
        let closing = Closing { session, whole };
        let over = session.exited.is_some() || session.ended.is_some();
        results.add(&session.silent);
        results.settle(&self.briefs);
        results.lack(&self.selection, session);
        for entry in &self.dispatch.end {
            if !entry.carriers.meets(session.carriers()) {
                continue;
            }
            let revisions = session.closing_revisions();
            if !entry.revisions.meets(revisions) {
                continue;
            }
            if entry.in_session && session.sort == SessionKind::Exchange {
                continue;
            }
            let mut out = Out {
                index: entry.index,
                rule: entry.rule,
                session,
                revisions,
                mildest: self.selection.severity(),
                at: session.last,
                tampered: false,
                cut: !whole && !over,
                results,
                found: &mut self.found,
            };
            (entry.check)(&closing, &mut out);
        }
    }
}

/// The signals whose purpose is to end a process.
const ENDING_SIGNALS: [&str; 4] = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"];

/// A message whose event has its number already.
fn numbered<'a>(event: &'a Event, message: &'a Envelope<'a>) -> Seen<'a> {
    Seen {
        event,
        seq: event.seq,
        era: event.era,
        message,
    }
}
