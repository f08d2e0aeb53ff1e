//! Where a message belongs: to an exchange, into the stream of one, or beside all.

use std::io::{self, Read, Seek, Write};

use super::Projector;
use super::http::push_note;
use super::note::{self, Content, Remark};
use super::pairing::{Answer, Marks, Open, Reply};
use super::record::Rest;
use super::text::{push_millis, push_string};
use crate::envelope::{Envelope, Kind, Malformed, RequestId, for_each_message};
use crate::era::Era;
use crate::event::{Direction, Event, EventBody, Payload};
use crate::json;
use crate::json::push_number;

impl<S: Read + Write + Seek> Projector<S> {
    pub(super) fn payload(&mut self, event: &Event, bytes: &[u8]) -> io::Result<()> {
        let envelope = Envelope::parse(bytes);
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
            _ => self.message(event, &envelope, bytes.trim_ascii(), false),
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
            (Kind::Request { id, method, params }, Direction::ToServer) => {
                self.beyond_probes += u64::from(method != "server/discover");
                let ordinal = self.ledger.open(event.session.0, text)?;
                self.fresh.asked(event.conduit, ordinal);
                if let Some(exchange) = self.exchanges.get_mut(event.conduit) {
                    exchange.requests.push(ordinal);
                }
                let mut open = Open::new(event.at, event.scope(), event.conduit, era);
                if batch {
                    open.marks.add(Marks::BATCH);
                }
                self.pairing
                    .ask(ordinal, open, id, params.and_then(progress_token));
                match self.pairing.pop_excess() {
                    Some((oldest, open)) => self.abandon(oldest, &open),
                    None => Ok(()),
                }
            }
            (Kind::Response { id, .. }, Direction::ToClient) => self.answer(event, id, text, batch),
            (Kind::Request { id, .. }, Direction::ToClient) => {
                let home = self.current(event);
                self.replies.ask(event.scope(), id, home);
                self.place(event, home, text, plain(batch))
            }
            (Kind::Response { id, .. }, Direction::ToServer) => self.reply(event, id, text, batch),
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

    /// The request to which a notification belongs.
    fn home(
        &mut self,
        event: &Event,
        method: &str,
        params: Option<&[u8]>,
    ) -> (Option<u64>, Remark<'static>) {
        let scope = event.scope();
        let named = |name: &str| params.and_then(|params| json::find(params, &[name]));
        match (method, event.dir) {
            ("notifications/progress", Direction::ToClient) => {
                let token = named("progressToken");
                match token.and_then(|token| self.pairing.by_token(scope, token)) {
                    Some(home) => (Some(home), Remark::default()),
                    None => (None, Remark::mark("progress of nobody")),
                }
            }
            ("notifications/cancelled", Direction::ToServer) => {
                let id = named("requestId");
                match id.and_then(|id| self.pairing.cancel(scope, id)) {
                    Some(home) => (Some(home), Remark::default()),
                    // In the lane nobody can tell whom it means.
                    None if scope.is_lane() => (None, Remark::default()),
                    None => (None, Remark::mark("cancels nobody")),
                }
            }
            (_, Direction::ToClient) => (self.current(event), Remark::default()),
            (_, Direction::ToServer) => (None, Remark::default()),
        }
    }

    /// The request to which a message of the server belongs that names none: over HTTP
    /// the one of whose answer it is a part, and else the latest in flight.
    fn current(&self, event: &Event) -> Option<u64> {
        let Some(origin) = self.context.origin else {
            return self.pairing.latest(event.scope());
        };
        if let Some(exchange) = self.exchanges.get(origin) {
            let mut carried = exchange.requests.iter().rev().copied();
            if let Some(one) = carried.find(|one| self.is_alive(*one)) {
                return Some(one);
            }
        }
        if let Some(left) = self.left.get(&origin) {
            return Some(*left);
        }
        if self.context.announced {
            return self.pairing.latest(event.scope());
        }
        None
    }

    fn answer(
        &mut self,
        event: &Event,
        id: &RequestId<'_>,
        text: &[u8],
        batch: bool,
    ) -> io::Result<()> {
        if self.context.failed {
            return self.error_body(event, id, text, batch);
        }
        let mark = match self.pairing.answer(event.scope(), id) {
            Answer::Pairs(ordinal, mut open) => {
                if batch {
                    open.marks.add(Marks::BATCH);
                }
                return self.settle(event, ordinal, open, text);
            }
            Answer::Duplicate => "duplicate response",
            Answer::TypeChanged => "id type changed",
            Answer::Nobody => "response to nobody",
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
        let named = self.pairing.find(event.scope(), id);
        let mut carried = self
            .exchanges
            .get(event.conduit)
            .map(|exchange| exchange.requests.as_slice())
            .unwrap_or_default()
            .iter()
            .copied()
            .filter(|one| self.pairing.is_open(*one));
        let first = carried.clone().next();
        let named = named.filter(|named| carried.any(|one| one == *named));
        let Some(ordinal) = named.or(first) else {
            return self.beside(event, Content::Json(text), Remark::mark("http error"));
        };
        let Some(mut open) = self.pairing.take(ordinal) else {
            return Ok(());
        };
        if named.is_none() {
            open.marks.add(Marks::HTTP_ERROR);
        }
        if batch {
            open.marks.add(Marks::BATCH);
        }
        self.settle(event, ordinal, open, text)
    }

    /// Puts a response to its request.
    fn settle(&mut self, event: &Event, ordinal: u64, open: Open, text: &[u8]) -> io::Result<()> {
        self.tail.clear();
        self.tail
            .extend_from_slice(b",\n      \"timing\": {\"sent_ms\": ");
        push_millis(open.at, &mut self.tail);
        self.tail.extend_from_slice(b", \"took_ms\": ");
        push_millis(event.at.since(open.at), &mut self.tail);
        self.tail.push(b'}');
        self.push_via(event, &open);
        let tail: [&[u8]; 3] = [b",\n      \"response\": ", text, &self.tail];
        self.ledger.tail(ordinal, &tail)?;
        if self.exchanges.get(open.conduit).is_some() {
            // How its exchange ends is not known yet.
            self.deferred.insert(ordinal, open);
            return Ok(());
        }
        if self.left.get(&open.conduit) == Some(&ordinal) {
            self.left.remove(&open.conduit);
        }
        self.end.clear();
        push_end(&open, &mut self.end);
        let http = open.conduit != event.conduit;
        let end = std::mem::take(&mut self.end);
        self.fresh.answered(event.conduit, ordinal, http, end);
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
        let mark = match self.replies.answer(event.scope(), id) {
            Reply::Pairs(home) => return self.place(event, home, text, plain(batch)),
            Reply::Duplicate => "duplicate response",
            // In the lane nobody can tell whom it answers.
            Reply::Nobody if event.scope().is_lane() => {
                return self.beside(event, Content::Json(text), plain(batch));
            }
            Reply::Nobody => "response to nobody",
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

    /// Whether entries can still be added to the stream of a request.
    pub(super) fn is_alive(&self, ordinal: u64) -> bool {
        self.pairing.is_open(ordinal) || self.deferred.contains_key(&ordinal)
    }

    /// Puts a message into the stream of an exchange, or beside all of them.
    fn place(
        &mut self,
        event: &Event,
        home: Option<u64>,
        text: &[u8],
        remark: Remark<'_>,
    ) -> io::Result<()> {
        let Some(home) = home.filter(|home| self.is_alive(*home)) else {
            return self.beside(event, Content::Json(text), remark);
        };
        let open = self.pairing.get(home).or_else(|| self.deferred.get(&home));
        let there = open.map(|open| open.conduit);
        let remark = Remark {
            conduit: Some(event.conduit).filter(|here| there != Some(*here)),
            sse: self.context.note.as_ref(),
            ..remark
        };
        self.entry.clear();
        self.entry.extend_from_slice(b",\n        {");
        note::push_members(event, Content::Json(text), remark, &mut self.entry);
        self.entry.push(b'}');
        self.ledger.stream(home, &self.entry)
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

    pub(super) fn abandon(&mut self, ordinal: u64, open: &Open) -> io::Result<()> {
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
        self.ledger.abandon(ordinal, rest)
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

/// Source text of the token under which a request asks for progress.
fn progress_token(params: &[u8]) -> Option<&[u8]> {
    // Spares most requests a second scan.
    memchr::memmem::find(params, b"progressToken")?;
    json::find(params, &["_meta", "progressToken"])
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
