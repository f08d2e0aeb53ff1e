//! Where a message belongs: to an exchange, into the stream of one, or beside all.

use std::io::{self, Read, Seek, Write};

use super::Projector;
use super::http::push_note;
use super::note::{self, Content, Remark};
use super::open::{Marks, Open};
use super::record::Rest;
use super::text::{push_millis, push_string};
use crate::conversation::{Answer, Handle, IdKey, is_about_noise, progress_token};
use crate::envelope::{Envelope, Kind, Malformed, RequestId, for_each_message};
use crate::era::Era;
use crate::event::Direction::{ToClient, ToServer};
use crate::event::{Event, EventBody, Payload};
use crate::json;
use crate::json::push_number;

impl<S: Read + Write + Seek> Projector<S> {
    pub(super) fn payload(
        &mut self,
        event: &Event,
        bytes: &[u8],
        message: Option<&Envelope<'_>>,
    ) -> io::Result<()> {
        let parsed;
        let envelope = if let Some(envelope) = message {
            envelope
        } else {
            parsed = Envelope::parse(bytes);
            &parsed
        };
        match envelope.kind {
            Kind::Batch { members: 0 } => self.beside(
                event,
                Content::Json(bytes.trim_ascii()),
                Remark::mark("empty batch"),
            ),
            Kind::Batch { .. } => {
                let mut outcome = Ok(());
                for_each_message(bytes, |one| {
                    if outcome.is_ok() {
                        outcome = self.message(event, &Envelope::parse(one), one, true);
                    }
                });
                outcome
            }
            _ => self.message(event, envelope, bytes.trim_ascii(), false),
        }
    }

    fn message(
        &mut self,
        event: &Event,
        envelope: &Envelope<'_>,
        text: &[u8],
        batch: bool,
    ) -> io::Result<()> {
        let era = self.era(event, envelope);
        if self.context.replayed {
            return self.beside(event, Content::Json(text), Remark::mark("replayed"));
        }
        match (&envelope.kind, event.dir) {
            (Kind::Request { id, method, params }, ToServer) => {
                self.beyond_probes += u64::from(method != "server/discover");
                let ordinal = self.ledger.open(event.session.0, text)?;
                let mut open = Open::new(ordinal, event, era);
                if batch {
                    open.marks.add(Marks::BATCH);
                }
                self.ask(event, id, params.and_then(progress_token), open)
            }
            (Kind::Response { id, error, .. }, ToClient) => {
                self.answer(event, id, *error, text, batch)
            }
            (Kind::Request { id, .. }, ToClient) => {
                let home = self.current(event);
                drop(self.replies.ask(event.scope(), ToClient, id, home));
                self.place(event, home, text, plain(batch))
            }
            (Kind::Response { id, .. }, ToServer) => self.reply(event, id, text, batch),
            (Kind::Notification { method, params }, _) => {
                let (home, remark) = self.home(event, method, *params);
                let remark = if remark.mark.is_some() {
                    remark
                } else {
                    plain(batch)
                };
                self.place(event, home, text, remark)
            }
            (Kind::Malformed(why), _) => self.noise(event, text, *why),
            // A batch inside a batch is no envelope.
            (Kind::Batch { .. }, _) => self.noise(event, text, Malformed::NotAnObject),
        }
    }

    /// Follows a request of the client.
    fn ask(
        &mut self,
        event: &Event,
        id: &RequestId<'_>,
        token: Option<&[u8]>,
        mut open: Open,
    ) -> io::Result<()> {
        self.fresh.asked(event.conduit, open.ordinal);
        if !id.pairs() {
            open.marks.add(Marks::NULL_ID);
        }
        let asked = self.pairing.ask(event.scope(), ToServer, id, open);
        let reused = asked.reuses.filter(|_| id.pairs());
        for one in reused.into_iter().flat_map(|before| [before, asked.handle]) {
            if let Some(open) = self.pairing.get_mut(one) {
                open.marks.add(Marks::ID_REUSED);
            }
        }
        if let Some(token) = token {
            self.pairing.set_token(asked.handle, IdKey::exact_of(token));
        }
        if let Some(exchange) = self.exchanges.get_mut(event.conduit) {
            exchange.requests.push(asked.handle);
        }
        asked.forgotten.map_or(Ok(()), |open| self.abandon(&open))
    }

    /// The request to which a notification belongs.
    fn home(
        &mut self,
        event: &Event,
        method: &str,
        params: Option<&[u8]>,
    ) -> (Option<Handle>, Remark<'static>) {
        let scope = event.scope();
        let named = |name: &str| params.and_then(|params| json::find(params, &[name]));
        match (method, event.dir) {
            ("notifications/progress", ToClient) => {
                let token = named("progressToken");
                let token = token.map(IdKey::exact_of);
                match token.and_then(|token| self.pairing.by_token(scope, ToServer, token)) {
                    Some(home) => (Some(home), Remark::default()),
                    None => (None, Remark::mark("progress of nobody")),
                }
            }
            ("notifications/cancelled", ToServer) => {
                let id = named("requestId");
                let id = id.map(IdKey::exact_of);
                match id.and_then(|id| self.pairing.cancel(scope, ToServer, id)) {
                    Some(home) => {
                        if let Some(open) = self.pairing.get_mut(home) {
                            open.marks.add(Marks::CANCELLED);
                        }
                        (Some(home), Remark::default())
                    }
                    // In the lane nobody can tell whom it means.
                    None if scope.is_lane() => (None, Remark::default()),
                    None => (None, Remark::mark("cancels nobody")),
                }
            }
            (_, ToClient) => (self.current(event), Remark::default()),
            (_, ToServer) => (None, Remark::default()),
        }
    }

    /// The request to which a message of the server belongs that names none: over HTTP
    /// the one of whose answer it is a part, and else the latest in flight.
    fn current(&self, event: &Event) -> Option<Handle> {
        let Some(origin) = self.context.origin else {
            return self.pairing.latest(event.scope(), ToServer);
        };
        if let Some(exchange) = self.exchanges.get(origin) {
            let mut carried = exchange.requests.iter().rev().copied();
            if let Some(one) = carried.find(|one| self.alive(*one).is_some()) {
                return Some(one);
            }
        }
        if let Some(left) = self.left.get(&origin) {
            return Some(*left);
        }
        if self.context.announced {
            return self.pairing.latest(event.scope(), ToServer);
        }
        None
    }

    fn answer(
        &mut self,
        event: &Event,
        id: &RequestId<'_>,
        error: Option<&[u8]>,
        text: &[u8],
        batch: bool,
    ) -> io::Result<()> {
        if self.context.failed {
            return self.error_body(event, id, text, batch);
        }
        let answer = if is_about_noise(id, error) {
            Answer::Orphan
        } else {
            self.pairing.answer(event.scope(), event.dir, id)
        };
        let mark = match answer {
            Answer::Pairs(request, mut open) => {
                if batch {
                    open.marks.add(Marks::BATCH);
                }
                return self.settle(event, request, open, text);
            }
            Answer::Duplicate => "duplicate response",
            Answer::TypeChanged(request) => {
                if let Some(open) = self.pairing.get_mut(request) {
                    open.marks.add(Marks::ID_TYPE_CHANGED);
                }
                "id type changed"
            }
            Answer::Forgotten | Answer::Orphan => "response to nobody",
        };
        self.beside(event, Content::Json(text), Remark::mark(mark))
    }

    /// The body of a response whose status says that it failed. Whatever its id, which is
    /// `null` or missing or `"server-error"`, it answers the request of its own exchange.
    fn error_body(
        &mut self,
        event: &Event,
        id: &RequestId<'_>,
        text: &[u8],
        batch: bool,
    ) -> io::Result<()> {
        let named = Some(id).filter(|id| id.pairs());
        let named = named.and_then(|id| self.pairing.find(event.scope(), ToServer, id));
        let mut carried = self
            .exchanges
            .get(event.conduit)
            .map(|exchange| exchange.requests.as_slice())
            .unwrap_or_default()
            .iter()
            .copied()
            .filter(|one| self.pairing.get(*one).is_some());
        let first = carried.clone().next();
        let named = named.filter(|named| carried.any(|one| one == *named));
        let Some(request) = named.or(first) else {
            return self.beside(event, Content::Json(text), Remark::mark("http error"));
        };
        let Some(mut open) = self.pairing.remove(request) else {
            return Ok(());
        };
        if named.is_none() {
            open.marks.add(Marks::HTTP_ERROR);
        }
        if batch {
            open.marks.add(Marks::BATCH);
        }
        self.settle(event, request, open, text)
    }

    /// Puts a response to its request.
    fn settle(
        &mut self,
        event: &Event,
        request: Handle,
        open: Open,
        text: &[u8],
    ) -> io::Result<()> {
        self.tail.clear();
        self.tail
            .extend_from_slice(b",\n      \"timing\": {\"sent_ms\": ");
        push_millis(open.at, &mut self.tail);
        self.tail.extend_from_slice(b", \"took_ms\": ");
        push_millis(event.at.since(open.at), &mut self.tail);
        self.tail.push(b'}');
        self.push_via(event, &open);
        if let Some(head) = self.heads.remove(&event.conduit) {
            self.tail.extend_from_slice(b",\n      \"head\": ");
            serde_json::to_writer(&mut self.tail, &head)?;
        }
        let tail: [&[u8]; 3] = [b",\n      \"response\": ", text, &self.tail];
        self.ledger.tail(open.ordinal, &tail)?;
        if self.exchanges.get(open.conduit).is_some() {
            // How its exchange ends is not known yet.
            self.deferred.insert(request, open);
            return Ok(());
        }
        if self.left.get(&open.conduit) == Some(&request) {
            self.left.remove(&open.conduit);
        }
        self.end.clear();
        push_end(&open, &mut self.end);
        let http = open.conduit != event.conduit;
        let end = std::mem::take(&mut self.end);
        self.fresh.answered(event.conduit, open.ordinal, http, end);
        Ok(())
    }

    /// Says on which stream a response came, where that is not clear.
    fn push_via(&mut self, event: &Event, open: &Open) {
        let elsewhere = event.conduit != open.conduit;
        if !elsewhere && self.context.note.is_none() {
            return;
        }
        self.tail.extend_from_slice(b",\n      \"via\": {");
        if elsewhere {
            self.tail.extend_from_slice(b"\"conduit\": ");
            push_number(event.conduit.0.into(), &mut self.tail);
        }
        if let Some(note) = &self.context.note {
            self.tail.extend_from_slice(if elsewhere {
                b", \"sse\": "
            } else {
                b"\"sse\": "
            });
            push_note(note, &mut self.tail);
        }
        self.tail.push(b'}');
    }

    fn reply(
        &mut self,
        event: &Event,
        id: &RequestId<'_>,
        text: &[u8],
        batch: bool,
    ) -> io::Result<()> {
        let mark = match self.replies.answer(event.scope(), event.dir, id) {
            Answer::Pairs(_, home) => return self.place(event, home, text, plain(batch)),
            Answer::Duplicate => "duplicate response",
            // In the lane nobody can tell whom it answers.
            _ if event.scope().is_lane() => {
                return self.beside(event, Content::Json(text), plain(batch));
            }
            _ => "response to nobody",
        };
        self.beside(event, Content::Json(text), Remark::mark(mark))
    }

    fn noise(&mut self, event: &Event, text: &[u8], why: Malformed) -> io::Result<()> {
        // A text that was trimmed for its envelope is whole here: noise is kept as it came.
        let whole = match &event.body {
            EventBody::Message {
                payload: Payload::Whole(bytes),
                ..
            } if bytes.trim_ascii() == text => bytes,
            _ => text,
        };
        let why_text = why.to_string();
        let remark = Remark {
            why: Some(&why_text),
            ..Remark::mark("noise")
        };
        self.beside(event, note::noise(whole, why), remark)
    }

    /// A request to whose stream entries can still be added.
    pub(super) fn alive(&self, request: Handle) -> Option<&Open> {
        let open = self.pairing.get(request);
        open.or_else(|| self.deferred.get(&request))
    }

    /// Puts a message into the stream of an exchange, or beside all of them.
    fn place(
        &mut self,
        event: &Event,
        home: Option<Handle>,
        text: &[u8],
        remark: Remark<'_>,
    ) -> io::Result<()> {
        let Some(open) = home.and_then(|home| self.alive(home)) else {
            return self.beside(event, Content::Json(text), remark);
        };
        let (there, ordinal) = (open.conduit, open.ordinal);
        let remark = Remark {
            conduit: Some(event.conduit).filter(|here| there != *here),
            sse: self.context.note.as_ref(),
            ..remark
        };
        self.entry.clear();
        self.entry.extend_from_slice(b",\n        {");
        note::push_members(event, Content::Json(text), remark, &mut self.entry);
        self.entry.push(b'}');
        self.ledger.stream(ordinal, &self.entry)
    }

    /// Puts a message beside the exchanges.
    pub(super) fn beside(
        &mut self,
        event: &Event,
        content: Content<'_>,
        remark: Remark<'_>,
    ) -> io::Result<()> {
        let over = self.fresh.is_http(event.conduit);
        let http = over || self.exchanges.get(event.conduit).is_some();
        let remark = Remark {
            conduit: Some(event.conduit).filter(|_| http),
            sse: self.context.note.as_ref(),
            ..remark
        };
        self.entry.clear();
        self.entry.extend_from_slice(b", ");
        note::push_members(event, content, remark, &mut self.entry);
        self.ledger.message(&self.entry)
    }

    pub(super) fn abandon(&mut self, open: &Open) -> io::Result<()> {
        let why = self.ends.why(open);
        self.tail.clear();
        self.tail.extend_from_slice(b",\n      \"sent_ms\": ");
        push_millis(open.at, &mut self.tail);
        self.tail.extend_from_slice(b",\n      \"why\": ");
        push_string(why, &mut self.tail);
        self.end.clear();
        push_end(open, &mut self.end);
        let rest = Rest {
            tail: [&self.tail, b"", b""],
            end: &self.end,
        };
        self.ledger.abandon(open.ordinal, rest)
    }

    fn era(&mut self, event: &Event, envelope: &Envelope<'_>) -> Option<Era> {
        event.era.or_else(|| {
            self.eras
                .entry(event.scope())
                .or_default()
                .observe(event.dir, envelope)
        })
    }
}

fn plain(batch: bool) -> Remark<'static> {
    Remark {
        mark: batch.then_some("batch"),
        ..Remark::default()
    }
}

/// Appends what stands behind the stream of a request.
pub(super) fn push_end(open: &Open, out: &mut Vec<u8>) {
    if let Some(era) = open.era {
        out.extend_from_slice(b",\n      \"era\": ");
        push_string(era.name(), out);
    }
    if open.scope.session.0 != 0 {
        out.extend_from_slice(b",\n      \"session\": ");
        push_number(open.scope.session.0.into(), out);
    }
    if open.scope.is_lane() {
        out.extend_from_slice(b",\n      \"sessionless\": true");
    }
    for (place, word) in open.marks.words().enumerate() {
        out.extend_from_slice(if place == 0 {
            b",\n      \"marks\": ["
        } else {
            b", "
        });
        push_string(word, out);
    }
    if open.marks != Marks::default() {
        out.push(b']');
    }
}
