//! Assigns each message: to an exchange, to the stream of one, or outside all exchanges.

use std::borrow::Cow;
use std::io::{self, Read, Seek, Write};

use super::course::Counted;
use super::http::push_note;
use super::lines::{in_lines, is_listing};
use super::note::{self, Content, Remark};
use super::open::{ID_TYPE_CHANGED, Marks, Open};
use super::places::RESPONSE;
use super::project::Entries;
use super::record::Rest;
use super::text::{push_millis, push_string};
use crate::conversation::{Does, Handle, Step};
use crate::envelope::{Envelope, Kind, Malformed, for_each_message};
use crate::era::Era;
use crate::event::Direction::{ToClient, ToServer};
use crate::event::{Event, EventBody, Payload};
use crate::json::push_number;

impl<S: Read + Write + Seek> Entries<S> {
    /// Handles the next message.
    pub(super) fn message(&mut self, event: &Event, step: &Step<'_, ()>) -> io::Result<()> {
        let envelope = step.envelope;
        let text = step.text.trim_ascii();
        if let (Kind::Batch { members: 0 }, false) = (&envelope.kind, step.is_member) {
            let why = Remark::mark("empty batch");
            return self.beside(event, Content::Json(text), why);
        }
        let era = self.era(event, envelope);
        match (&envelope.kind, event.dir) {
            (Kind::Request { id, method, .. }, ToServer) => {
                self.beyond_probes += u64::from(method != "server/discover");
                let ordinal = self.exchange_order.open(event.session.0, text)?;
                self.tell_request(event, ordinal, text, envelope);
                let mut open = Open::new(ordinal, event, era);
                open.lists = is_listing(method);
                open.asked = self.counted.as_mut().map(Counted::ask);
                if step.is_member {
                    open.marks.add(Marks::BATCH);
                }
                if !id.pairs() {
                    open.marks.add(Marks::NULL_ID);
                }
                self.ask(event, step, open)
            }
            (Kind::Response { .. }, ToClient) => self.answer(event, step, envelope, text),
            (Kind::Request { .. }, ToClient) => {
                let home = self.current(step);
                if let Some(handle) = step.handle {
                    self.replies.insert(handle, home);
                }
                self.place(event, home, text, plain(step.is_member))
            }
            (Kind::Response { .. }, ToServer) => self.reply(event, step, text),
            (Kind::Notification { method, .. }, _) => {
                let (home, remark) = self.home(event, step, method);
                let remark = if remark.mark.is_some() {
                    remark
                } else {
                    plain(step.is_member)
                };
                self.place(event, home, text, remark)
            }
            (Kind::Malformed(why), _) => self.noise(event, text, *why),
            // A batch inside a batch is not an envelope.
            (Kind::Batch { .. }, _) => self.noise(event, text, Malformed::NotAnObject),
        }
    }

    /// A message that is sent again, after `Last-Event-ID`.
    pub(super) fn sent_again(
        &mut self,
        event: &Event,
        bytes: &[u8],
        message: Option<&Envelope<'_>>,
    ) -> io::Result<()> {
        let mut outcome = Ok(());
        let is_batch = message.is_none_or(|one| matches!(one.kind, Kind::Batch { .. }));
        let mut each = |one: &[u8]| {
            if outcome.is_ok() {
                let text = Content::Json(one.trim_ascii());
                outcome = self.beside(event, text, Remark::mark("replayed"));
            }
        };
        if is_batch {
            for_each_message(bytes, each);
        } else {
            each(bytes);
        }
        outcome
    }

    /// Handles a request of the client.
    fn ask(&mut self, event: &Event, step: &Step<'_, ()>, mut open: Open) -> io::Result<()> {
        let Some(handle) = step.handle else {
            return Ok(());
        };
        self.fresh.asked(event.conduit, open.ordinal);
        if let Some(before) = step.reuses {
            open.marks.add(Marks::ID_REUSED);
            if let Some(before) = self.open.get_mut(before) {
                before.marks.add(Marks::ID_REUSED);
            }
        }
        if let Some(exchange) = self.exchanges.get_mut(event.conduit) {
            exchange.requests.push(handle);
        }
        let forgotten = self.open.insert(handle, open);
        forgotten.map_or(Ok(()), |open| self.abandon(&open))
    }

    /// The request to which a notification belongs.
    fn home(
        &mut self,
        event: &Event,
        step: &Step<'_, ()>,
        method: &str,
    ) -> (Option<Handle>, Remark<'static>) {
        let about = |does: Does| step.handle.filter(|_| step.what == does);
        match (method, event.dir) {
            ("notifications/progress", ToClient) => {
                match about(Does::Progress).filter(|home| self.open.get(*home).is_some()) {
                    Some(home) => (Some(home), Remark::default()),
                    None => (None, Remark::mark("progress of nobody")),
                }
            }
            ("notifications/cancelled", ToServer) => {
                let home = about(Does::Cancels);
                if let Some(open) = home.and_then(|home| self.open.get_mut(home)) {
                    open.marks.add(Marks::CANCELLED);
                    (home, Remark::default())
                } else if event.scope().is_sessionless() {
                    // Without a session it is unknown which request it refers to.
                    (None, Remark::default())
                } else {
                    (None, Remark::mark("cancels nobody"))
                }
            }
            (_, ToClient) => (self.current(step), Remark::default()),
            (_, ToServer) => (None, Remark::default()),
        }
    }

    /// The request for a message of the server that names none: over HTTP the one whose answer
    /// contains it, otherwise the latest in flight.
    fn current(&self, step: &Step<'_, ()>) -> Option<Handle> {
        let Some(origin) = self.context.origin else {
            return step.latest(ToServer);
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
            return step.latest(ToServer);
        }
        None
    }

    fn answer(
        &mut self,
        event: &Event,
        step: &Step<'_, ()>,
        envelope: &Envelope<'_>,
        text: &[u8],
    ) -> io::Result<()> {
        let mark = match (step.what, step.handle) {
            (Does::Answers | Does::Late | Does::Refuses, Some(request)) => {
                if let Some(mut open) = self.open.remove(request) {
                    if step.what == Does::Refuses {
                        open.marks.add(Marks::HTTP_ERROR);
                    }
                    if step.is_member {
                        open.marks.add(Marks::BATCH);
                    }
                    return self.settle(event, request, open, envelope, text);
                }
                "duplicate response"
            }
            (Does::TypeChanged, Some(request)) => {
                if let Some(open) = self.open.get_mut(request) {
                    open.marks.add(Marks::ID_TYPE_CHANGED);
                }
                ID_TYPE_CHANGED
            }
            _ if self.context.failed => "http error",
            (Does::Duplicate, _) => "duplicate response",
            _ => "response to nobody",
        };
        self.beside(event, Content::Json(text), Remark::mark(mark))
    }

    /// Puts a response to its request.
    fn settle(
        &mut self,
        event: &Event,
        request: Handle,
        mut open: Open,
        envelope: &Envelope<'_>,
        text: &[u8],
    ) -> io::Result<()> {
        self.tail.clear();
        self.push_timing(event, &mut open);
        self.push_via(event, &open);
        let head = self.heads.remove(&event.conduit);
        let has_head = head.is_some();
        if let Some(head) = head {
            self.tail.extend_from_slice(b",\n      \"head\": ");
            serde_json::to_writer(&mut self.tail, &head)?;
        }
        let text = if open.lists {
            in_lines(text)
        } else {
            Cow::Borrowed(text)
        };
        let tail: [&[u8]; 3] = [RESPONSE, &text, &self.tail];
        self.exchange_order.tail(open.ordinal, &tail)?;
        if !has_head {
            self.tell_answer(event, &open, &text, envelope);
        }
        if self.exchanges.get(open.conduit).is_some() {
            // How its exchange ends is not yet known.
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

    /// Records on which stream a response came, if that is not implied.
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

    fn reply(&mut self, event: &Event, step: &Step<'_, ()>, text: &[u8]) -> io::Result<()> {
        let home = match (step.what, step.handle) {
            (Does::Answers | Does::Late, Some(handle)) => self.replies.remove(handle),
            _ => None,
        };
        let mark = match (home, step.what) {
            (Some(home), _) => return self.place(event, home, text, plain(step.is_member)),
            (None, Does::Answers | Does::Late | Does::Duplicate) => "duplicate response",
            // Without a session it is unknown which request it answers.
            _ if event.scope().is_sessionless() => {
                return self.beside(event, Content::Json(text), plain(step.is_member));
            }
            _ => "response to nobody",
        };
        self.beside(event, Content::Json(text), Remark::mark(mark))
    }

    fn noise(&mut self, event: &Event, text: &[u8], why: Malformed) -> io::Result<()> {
        // The text was trimmed to parse its envelope; noise is recorded unchanged.
        let whole = match &event.body {
            EventBody::Message {
                payload: Payload::Whole(bytes),
                ..
            } if bytes.trim_ascii() == text => bytes,
            _ => text,
        };
        let remark = Remark {
            why: Some(why.name()),
            ..Remark::mark("noise")
        };
        self.beside(event, note::noise(whole, why), remark)
    }

    /// A request to whose stream entries can still be added.
    pub(super) fn alive(&self, request: Handle) -> Option<&Open> {
        let open = self.open.get(request);
        open.or_else(|| self.deferred.get(&request))
    }

    /// Adds a message to the stream of an exchange, or outside all exchanges.
    fn place(
        &mut self,
        event: &Event,
        home: Option<Handle>,
        text: &[u8],
        remark: Remark<'_>,
    ) -> io::Result<()> {
        let found = home.and_then(|home| Some((home, self.alive(home)?)));
        let Some((home, open)) = found else {
            return self.beside(event, Content::Json(text), remark);
        };
        let (there, ordinal) = (open.conduit, open.ordinal);
        let when = self.when(event, home);
        let remark = Remark {
            conduit: Some(event.conduit).filter(|here| there != *here),
            sse: self.context.note.as_ref(),
            when,
            ..remark
        };
        self.entry.clear();
        self.entry.extend_from_slice(b",\n        {");
        note::push_members(event, Content::Json(text), remark, &mut self.entry);
        self.entry.push(b'}');
        self.exchange_order.stream(ordinal, &self.entry)
    }

    /// Adds a message outside the exchanges.
    pub(super) fn beside(
        &mut self,
        event: &Event,
        content: Content<'_>,
        remark: Remark<'_>,
    ) -> io::Result<()> {
        let over = self.fresh.is_http(event.conduit);
        let http = over || self.exchanges.get(event.conduit).is_some();
        let when = self.when_beside(event);
        let remark = Remark {
            conduit: Some(event.conduit).filter(|_| http),
            sse: self.context.note.as_ref(),
            when,
            ..remark
        };
        self.entry.clear();
        self.entry.extend_from_slice(b", ");
        note::push_members(event, content, remark, &mut self.entry);
        self.exchange_order.message(&self.entry)
    }

    pub(super) fn abandon(&mut self, open: &Open) -> io::Result<()> {
        let why = self.ends.why(open);
        self.tail.clear();
        if self.counted.is_none() {
            self.tail.extend_from_slice(b",\n      \"sent_ms\": ");
            push_millis(open.at, &mut self.tail);
        }
        self.tail.extend_from_slice(b",\n      \"why\": ");
        push_string(why.name(), &mut self.tail);
        self.end.clear();
        push_end(open, &mut self.end);
        let rest = Rest {
            tail: [&self.tail, b"", b""],
            end: &self.end,
        };
        self.exchange_order.abandon(open.ordinal, rest)
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

/// Appends the text after the stream of a request.
pub(super) fn push_end(open: &Open, out: &mut Vec<u8>) {
    if let Some(era) = open.era {
        out.extend_from_slice(b",\n      \"era\": ");
        push_string(era.name(), out);
    }
    if open.scope.session.0 != 0 {
        out.extend_from_slice(b",\n      \"session\": ");
        push_number(open.scope.session.0.into(), out);
    }
    if open.scope.is_sessionless() {
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
