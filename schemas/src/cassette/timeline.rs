//! From a cassette to events in the order of their times.

use std::collections::HashSet;

use bytes::Bytes;

use super::ends::PEER_GONE;
use super::exchange::{Http, Via};
use super::read::{Cassette, Entry, RecordedExchange, RecordedSession, Unanswered};
use crate::era::Era;
use crate::event::{
    Carrier, CloseReason, ConduitId, Direction, Event, EventBody, Head, LineEnd, Offset, Origin,
    Payload, Peer, SessionKey, SessionMark, SseNote,
};
use crate::made_in::MadeIn;
use crate::recording::Recording;
use crate::tape::old::Translator;
use crate::tape::{Ending, Footer, Header, TapeFailure, VERSION};

impl Cassette {
    /// What the cassette tells, as events in the order of their times; what has no time
    /// stands behind what comes before it in the file.
    #[must_use]
    pub fn recording(&self) -> Recording {
        let mut timeline = Timeline::new(self);
        let mut messages = self.messages.iter().peekable();
        let mut unanswered = self.unanswered.iter().peekable();
        let mut asides = self.http.iter().peekable();
        self.sessions.iter().for_each(|one| timeline.session(one));
        for place in 0..=self.exchanges.len() {
            let last = place == self.exchanges.len();
            while let Some((_, one)) = asides.next_if(|(after, _)| last || *after <= place) {
                let conduit = timeline.conduit(Some(&one.http), false);
                let there = Where {
                    conduit,
                    session: one.session,
                    era: None,
                };
                timeline.open(there, &one.http);
                timeline.close_request(there, one.http.at, &one.http);
                timeline.head(there, &one.http);
                one.stream
                    .iter()
                    .for_each(|entry| timeline.entry(entry, there));
                timeline.close(there, &one.http);
            }
            while let Some((_, one)) = unanswered.next_if(|(after, _)| last || *after <= place) {
                timeline.unanswered(one);
            }
            while let Some((_, one)) = messages.next_if(|(after, _)| last || *after <= place) {
                timeline.entry(one, Where::of_process(one.session));
            }
            if let Some(one) = self.exchanges.get(place) {
                timeline.exchange(one);
            }
        }
        let gone = |one: &Unanswered| one.why == PEER_GONE && one.http.is_none();
        if self.unanswered.iter().any(|(_, one)| gone(one)) {
            let closed = EventBody::Closed(CloseReason::EndOfInput);
            let first = Where::of_process(SessionKey(0));
            timeline.push(Direction::ToClient, None, first, closed);
        }
        let at_us = timeline.now.0;
        let http = timeline.http;
        // What other tools wrote says nothing of its transport.
        let foreign = !http && self.meta("tapewright_version").is_none();
        let events = timeline.into_events(foreign);
        let header = self.header(http);
        Recording {
            header,
            ending: Ending::Footer(Footer {
                at_us,
                events: events.len() as u64,
                complete: self.incomplete.is_none(),
                why: self.incomplete.as_ref().map(|_| TapeFailure::Unknown),
                detail: self.incomplete.clone(),
                ..Footer::default()
            }),
            events,
            timed: self.exchanges.iter().any(|one| one.sent.is_some()),
        }
    }

    /// What a tape of this would begin with.
    fn header(&self, http: bool) -> Header {
        let meta = |name| self.meta(name).unwrap_or_default().to_owned();
        Header {
            tape: VERSION.to_owned(),
            created: meta("recorded_at"),
            by: meta("tapewright_version"),
            label: meta("label"),
            made_in: MadeIn::recorded(&meta("made_in_folder"), &meta("made_in_home")),
            upstream: meta("source_url"),
            transport: if http { "http" } else { "" }.to_owned(),
            redacted: true,
            ..Header::default()
        }
    }
}

/// On which conduit, in which session, and of which era.
#[derive(Clone, Copy)]
struct Where {
    conduit: ConduitId,
    session: SessionKey,
    era: Option<Era>,
}

impl Where {
    /// On the conduit that a process has.
    fn of_process(session: SessionKey) -> Self {
        Self {
            conduit: ConduitId(0),
            session,
            era: None,
        }
    }
}

/// Events with their times, before they are put in order.
struct Timeline {
    events: Vec<Event>,
    // The latest time so far.
    now: Offset,
    // Conduits that were opened.
    opened: HashSet<ConduitId>,
    // The number for the next exchange that has none.
    next: u32,
    http: bool,
}

impl Timeline {
    fn new(cassette: &Cassette) -> Self {
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
        }
    }

    /// The conduit of an exchange: its own, a new one for what must have one, or the one
    /// that a process has.
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

    fn exchange(&mut self, one: &RecordedExchange) {
        let http = one.http.as_deref();
        let conduit = self.conduit(http, one.sessionless);
        let place = Where {
            conduit,
            session: one.session,
            era: one.era,
        };
        let sent = self.request(place, http, &one.request, one.sent, &one.stream);
        let at = one.took.map(|took| Offset(sent.0.saturating_add(took.0)));
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
        if let Some(http) = http {
            self.close(place, http);
        }
    }

    fn unanswered(&mut self, one: &Unanswered) {
        let http = one.http.as_deref();
        let place = Where {
            conduit: self.conduit(http, one.sessionless),
            session: one.session,
            era: one.era,
        };
        self.request(place, http, &one.request, one.sent, &one.stream);
        if let Some(http) = http {
            self.close(place, http);
        }
    }

    /// Adds a request with its stream; when it was sent.
    fn request(
        &mut self,
        place: Where,
        http: Option<&Http>,
        text: &Bytes,
        sent: Option<Offset>,
        stream: &[Entry],
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
        for entry in stream {
            self.entry(entry, place);
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
        if let Some(response) = &http.response {
            let head = Head::Response(response.clone());
            let body = EventBody::Head(Box::new(head));
            self.push(dir, http.response_at, place, body);
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
        if let Some(fields) = trailers {
            let body = EventBody::Trailers(Box::new(fields.clone()));
            self.push(dir, http.ended_at, place, body);
        }
        if let Some(reason) = http.ended {
            self.push(dir, http.ended_at, place, EventBody::Closed(reason));
        }
        if let Some(added) = http.added {
            self.push(dir, http.ended_at, place, EventBody::Added(added));
        }
    }

    fn session(&mut self, session: &RecordedSession) {
        let place = Where::of_process(session.session);
        let began = session.began.map(|(at, how)| (at, SessionMark::Began(how)));
        let ended = session.ended.map(|(at, why)| (at, SessionMark::Ended(why)));
        for (at, mark) in began.into_iter().chain(ended) {
            self.push(Direction::ToClient, at, place, EventBody::Session(mark));
        }
        // They stand before everything that happened meanwhile.
        self.now = Offset::default();
    }

    fn entry(&mut self, entry: &Entry, place: Where) {
        let conduit = entry.conduit.unwrap_or(place.conduit);
        // On one pipe what crossed meanwhile need not belong to the exchange, nor to its era.
        let place = Where {
            conduit,
            session: entry.session,
            era: place.era.filter(|_| conduit.0 != 0),
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

    fn push(&mut self, dir: Direction, at: Option<Offset>, place: Where, body: EventBody) {
        let Where {
            conduit,
            session,
            era,
        } = place;
        let at = at.unwrap_or(self.now);
        self.now = self.now.max(at);
        self.events.push(Event {
            conduit,
            seq: 0,
            at,
            session,
            dir,
            era,
            body,
        });
    }

    fn into_events(mut self, foreign: bool) -> Vec<Event> {
        // Stable: what shares a time keeps the order of the file.
        self.events.sort_by_key(|event| event.at);
        let mut translator = Translator::default();
        for (seq, event) in (1..).zip(&mut self.events) {
            event.seq = seq;
            translator.event(event);
            if let EventBody::Message { origin, .. } = &mut event.body
                && foreign
            {
                origin.carrier = Carrier::Document;
            }
        }
        self.events
    }
}
