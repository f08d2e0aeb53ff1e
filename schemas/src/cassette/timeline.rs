//! From a cassette to events in the order of their times.

use std::collections::HashSet;

use bytes::Bytes;

use super::course::Step;
use super::ends::NoAnswer;
use super::exchange::{Http, Via};
use super::finisher::Finisher;
use super::read::{
    BareHttpExchange, Cassette, Entry, RecordedExchange, RecordedSession, Unanswered,
};
use super::untimed::{Until, Untimed};
use crate::era::Era;
use crate::event::{
    CloseReason, ConduitId, Direction, Event, EventBody, Head, LineEnd, Offset, Origin, Payload,
    Peer, SessionKey, SessionMark, SseNote,
};

/// The conduit, session and era of an event.
#[derive(Clone, Copy)]
pub(super) struct Where {
    pub(super) conduit: ConduitId,
    pub(super) session: SessionKey,
    pub(super) era: Option<Era>,
    // Its position, in a cassette that has no times.
    pub(super) course: Option<Offset>,
}

impl Where {
    /// On the conduit of a process.
    fn of_process(session: SessionKey, course: Option<Offset>) -> Self {
        Self {
            conduit: ConduitId(0),
            session,
            era: None,
            course,
        }
    }
}

/// Events with their times, before they are put in order.
pub(super) struct Timeline {
    pub(super) events: Vec<Event>,
    // The latest time so far.
    now: Offset,
    // Conduits that were opened.
    opened: HashSet<ConduitId>,
    // The number for the next exchange without one.
    next: u32,
    http: bool,
    // Set for a cassette without times.
    pub(super) untimed: Option<Untimed>,
}

impl Timeline {
    /// Creates a timeline for a cassette with times, or without.
    pub(super) fn new(cassette: &Cassette, timed: bool) -> Self {
        let exchanges = cassette.exchanges.iter().map(|one| one.http.as_deref());
        let unanswered = cassette
            .unanswered
            .iter()
            .map(|(_, one)| one.http.as_deref());
        let asides = cassette.http.iter().map(|(_, one)| Some(&one.http));
        let numbers = exchanges.chain(unanswered).chain(asides).flatten();
        let last = numbers
            .filter_map(|http| http.conduit)
            .max()
            .unwrap_or_default();
        Self {
            events: Vec::new(),
            now: Offset::default(),
            opened: HashSet::new(),
            next: last.0.saturating_add(1),
            http: false,
            untimed: (!timed).then(|| Untimed::new(cassette)),
        }
    }

    /// Adds everything in a cassette with this many exchanges; `exchange` adds the one at an index.
    pub(super) fn play(
        &mut self,
        cassette: &Cassette,
        count: usize,
        mut exchange: impl FnMut(&mut Self, usize),
    ) {
        let mut messages = cassette.messages.iter().peekable();
        let mut unanswered = cassette.unanswered.iter().peekable();
        let mut asides = cassette.http.iter().peekable();
        let mut passed = 0;
        cassette.sessions.iter().for_each(|one| self.session(one));
        for place in 0..=count {
            let last = place == count;
            while let Some((_, one)) = asides.next_if(|(after, _)| last || *after <= place) {
                self.aside(one);
            }
            let is_due = |after: &usize| last || *after <= place;
            loop {
                // Entries that are marked as earlier than the next request without a response.
                let first = messages.next_if(|(after, one)| {
                    let before = one.unanswered_before;
                    is_due(after) && before.is_some_and(|before| before <= passed)
                });
                if let Some((_, one)) = first {
                    self.beside(one);
                } else if let Some((_, one)) = unanswered.next_if(|(after, _)| is_due(after)) {
                    passed += 1;
                    self.unanswered(one);
                } else {
                    break;
                }
            }
            while let Some((_, one)) = messages.next_if(|(after, _)| is_due(after)) {
                self.beside(one);
            }
            if !last {
                exchange(self, place);
            }
        }
        let gone = |one: &Unanswered| one.why == NoAnswer::PeerGone && one.http.is_none();
        if cassette.unanswered.iter().any(|(_, one)| gone(one)) {
            let closed = EventBody::Closed(CloseReason::EndOfInput);
            let first = Where::of_process(SessionKey(0), None);
            self.push(Direction::ToClient, None, first, closed);
        }
        self.push_ends();
    }

    /// The number of events so far.
    pub(super) fn events(&self) -> usize {
        self.events.len()
    }

    /// The latest time so far, if there are any.
    pub(super) fn ended(&self) -> Offset {
        if self.untimed.is_some() {
            return Offset::default();
        }
        self.now
    }

    /// Whether anything so far used HTTP.
    pub(super) fn is_http(&self) -> bool {
        self.http
    }

    /// The events, in the order in which they were added.
    pub(super) fn into_list(self) -> Vec<Event> {
        self.events
    }

    fn aside(&mut self, one: &BareHttpExchange) {
        let there = Where {
            conduit: self.conduit(Some(&one.http), false),
            session: one.session,
            era: None,
            course: self.course_beside(Direction::ToClient, None),
        };
        self.open(there, &one.http);
        self.close_request(there, one.http.at, &one.http);
        self.head(there, &one.http);
        one.stream.iter().for_each(|entry| self.entry(entry, there));
        self.close(there, &one.http);
    }

    /// An entry outside the exchanges.
    fn beside(&mut self, one: &Entry) {
        let early = self.untimed.as_mut().and_then(|untimed| {
            let is_early = untimed.early.next().unwrap_or_default();
            is_early.then(|| Offset(untimed.course.early(one.seen)))
        });
        let course = early.or_else(|| self.course_beside(one.dir, one.seen));
        self.entry(one, Where::of_process(one.session, course));
    }

    /// The conduit of an exchange: its own, a new one if it needs one, or that of the process.
    fn conduit(&mut self, http: Option<&Http>, sessionless: bool) -> ConduitId {
        self.http |= http.is_some() || sessionless;
        if let Some(conduit) = http.and_then(|http| http.conduit) {
            return conduit;
        }
        if http.is_none() && !sessionless {
            return ConduitId(0);
        }
        let conduit = ConduitId(self.next);
        self.next = self.next.saturating_add(1);
        conduit
    }

    pub(super) fn exchange(&mut self, one: &RecordedExchange) {
        let http = one.http.as_deref();
        let conduit = self.conduit(http, one.sessionless);
        let mut asked = self.ask();
        let mut place = Where {
            conduit,
            session: one.session,
            era: one.era,
            course: asked.map(|(at, _)| at),
        };
        let sent = self.request(place, http, &one.request, one.sent);
        self.stream(place, &mut asked, &one.stream, false);
        let at = one.took.map(|took| Offset(sent.0.saturating_add(took.0)));
        if let Some((_, step)) = &mut asked {
            place.course = Some(Offset(step.heard(one.seen)));
        }
        let Via {
            conduit: via, sse, ..
        } = one.via.as_deref().cloned().unwrap_or_default();
        let there = Where {
            conduit: via.unwrap_or(conduit),
            ..place
        };
        if let Some(note) = sse {
            self.note(Direction::ToClient, at, there, note);
        }
        if let Some(head) = &one.head {
            let head = Head::Response(head.as_ref().clone());
            let body = EventBody::Head(Box::new(head));
            self.push(Direction::ToClient, at, there, body);
        }
        self.message(Direction::ToClient, at, there, &one.response);
        self.stream(place, &mut asked, &one.stream, true);
        if let Some(http) = http {
            self.close(place, http);
        }
    }

    fn unanswered(&mut self, one: &Unanswered) {
        let http = one.http.as_deref();
        let conduit = self.conduit(http, one.sessionless);
        let mut asked = self.ask();
        let place = Where {
            conduit,
            session: one.session,
            era: one.era,
            course: asked.map(|(at, _)| at),
        };
        self.request(place, http, &one.request, one.sent);
        self.stream(place, &mut asked, &one.stream, false);
        if let Some(http) = http {
            self.close(place, http);
        }
    }

    /// Adds the entries of a stream: all of them, or without times only those before the response,
    /// or after it.
    fn stream(
        &mut self,
        place: Where,
        asked: &mut Option<(Offset, Step)>,
        stream: &[Entry],
        late: bool,
    ) {
        for entry in stream {
            let course = match (&mut self.untimed, &mut *asked) {
                (Some(untimed), Some((_, step))) if entry.late == late => {
                    let at = untimed.course.entry(step, entry.dir, entry.seen);
                    Some(Offset(at))
                }
                (None, _) if !late => None,
                _ => continue,
            };
            self.entry(entry, Where { course, ..place });
        }
    }

    /// Adds a request; when it was sent.
    fn request(
        &mut self,
        place: Where,
        http: Option<&Http>,
        text: &Bytes,
        sent: Option<Offset>,
    ) -> Offset {
        if let Some(http) = http {
            self.open(place, http);
        }
        let sent = sent.unwrap_or(self.now);
        self.message(Direction::ToServer, Some(sent), place, text);
        if let Some(http) = http {
            self.close_request(place, Some(sent), http);
            self.head(place, http);
        }
        sent
    }

    /// Adds the beginning of an HTTP exchange, once.
    fn open(&mut self, place: Where, http: &Http) {
        if !self.opened.insert(place.conduit) {
            return;
        }
        let dir = Direction::ToServer;
        if let Some(connection) = http.connection {
            let address = String::new();
            let peer = Peer::Client {
                address,
                connection,
            };
            self.push(dir, http.at, place, EventBody::Opened(peer));
        }
        let head = Head::Request(http.request.clone());
        self.push(dir, http.at, place, EventBody::Head(Box::new(head)));
    }

    fn close_request(&mut self, place: Where, at: Option<Offset>, http: &Http) {
        let [trailers, _] = &http.trailers;
        let dir = Direction::ToServer;
        if let Some(fields) = trailers {
            let body = EventBody::Trailers(Box::new(fields.clone()));
            self.push(dir, at, place, body);
        }
        let reason = http.request_ended.unwrap_or(CloseReason::EndOfInput);
        self.push(dir, at, place, EventBody::Closed(reason));
    }

    /// Adds the head of the response.
    fn head(&mut self, place: Where, http: &Http) {
        let dir = Direction::ToClient;
        // It came when the client's message there was read.
        let posted = |untimed: &Untimed| untimed.posted.contains(&place.conduit);
        let waits = self.untimed.as_ref().is_some_and(posted);
        if let Some(response) = &http.response {
            let head = Head::Response(response.clone());
            let body = EventBody::Head(Box::new(head));
            if waits {
                self.wait(dir, place, body, Until::Said);
            } else {
                self.push(dir, http.response_at, place, body);
            }
        }
        for edit in &http.edits {
            let body = EventBody::Edited(Box::new(edit.clone()));
            self.push(dir, http.response_at, place, body);
        }
    }

    /// Adds the end of an HTTP exchange.
    fn close(&mut self, place: Where, http: &Http) {
        let dir = Direction::ToClient;
        let [_, trailers] = &http.trailers;
        let trailers = trailers.clone().map(Box::new).map(EventBody::Trailers);
        let ended = http.ended.map(EventBody::Closed);
        let added = http.added.map(EventBody::Added);
        for body in [trailers, ended, added].into_iter().flatten() {
            if self.untimed.is_some() {
                self.wait(dir, place, body, Until::Over);
            } else {
                self.push(dir, http.ended_at, place, body);
            }
        }
    }

    fn session(&mut self, session: &RecordedSession) {
        let place = Where::of_process(session.session, None);
        let began = session.began.map(|(at, how)| (at, SessionMark::Began(how)));
        let ended = session.ended.map(|(at, why)| (at, SessionMark::Ended(why)));
        if self.untimed.is_some() {
            let marks = [(Until::Began, began), (Until::Ended, ended)];
            for (until, mark) in marks {
                if let Some((_, mark)) = mark {
                    let body = EventBody::Session(mark);
                    self.wait(Direction::ToClient, place, body, until);
                }
            }
            return;
        }
        for (at, mark) in began.into_iter().chain(ended) {
            self.push(Direction::ToClient, at, place, EventBody::Session(mark));
        }
        // They precede everything that happened meanwhile.
        self.now = Offset::default();
    }

    fn entry(&mut self, entry: &Entry, place: Where) {
        let conduit = entry.conduit.unwrap_or(place.conduit);
        // On one pipe, what crossed meanwhile may not belong to the exchange, nor to its era.
        let place = Where {
            conduit,
            session: entry.session,
            era: place.era.filter(|_| conduit.0 != 0),
            ..place
        };
        if let Some(note) = &entry.sse {
            self.note(entry.dir, entry.at, place, note.clone());
        }
        if let Some(body) = &entry.body {
            self.push(entry.dir, entry.at, place, body.clone());
        }
    }

    fn note(&mut self, dir: Direction, at: Option<Offset>, place: Where, note: SseNote) {
        self.push(dir, at, place, EventBody::Sse(Box::new(note)));
    }

    fn message(&mut self, dir: Direction, at: Option<Offset>, place: Where, text: &Bytes) {
        let payload = Payload::Whole(text.clone());
        self.push(
            dir,
            at,
            place,
            EventBody::Message {
                payload,
                end: LineEnd::Lf,
                origin: Origin::default(),
            },
        );
    }

    /// When the request and the answer of a plain exchange came, as far as known.
    pub(super) fn plain(
        &mut self,
        session: SessionKey,
        [sent, took]: [Option<Offset>; 2],
        seen: Option<u64>,
    ) -> [Offset; 2] {
        if let Some((asked, mut step)) = self.ask() {
            let answered = Offset(step.heard(seen));
            return [asked, answered].map(|at| {
                self.note_session(session, at);
                self.pass(Some(at))
            });
        }
        let asked = self.pass(sent);
        let answered = took.map(|took| Offset(asked.0.saturating_add(took.0)));
        [asked, self.pass(answered)]
    }

    /// The time of an event: one without a time happens at the latest one so far.
    fn pass(&mut self, at: Option<Offset>) -> Offset {
        let at = at.unwrap_or(self.now);
        self.now = self.now.max(at);
        at
    }

    fn push(&mut self, dir: Direction, at: Option<Offset>, place: Where, body: EventBody) {
        let at = self.pass(place.course.or(at));
        self.note_session(place.session, at);
        self.note_conduit(place.conduit, dir, at);
        self.events.push(event(dir, at, place, body));
    }

    /// Whether the cassette records the order of events instead of times.
    pub(super) fn is_untimed(&self) -> bool {
        self.untimed.is_some()
    }

    pub(super) fn into_events(mut self, foreign: bool) -> Vec<Event> {
        // Stable: events with the same time keep the order of the file.
        self.events.sort_by_key(|event| event.at);
        let mut finisher = Finisher::new(foreign, self.is_untimed());
        for (seq, event) in (1..).zip(&mut self.events) {
            finisher.finish(event, seq);
        }
        self.events
    }
}

pub(super) fn event(dir: Direction, at: Offset, place: Where, body: EventBody) -> Event {
    Event {
        conduit: place.conduit,
        seq: 0,
        at,
        session: place.session,
        dir,
        era: place.era,
        body,
    }
}
