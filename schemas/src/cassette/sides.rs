//! The parts of HTTP exchanges other than messages.

use std::io::{self, Read, Seek, Write};

use super::http::push_http;
use super::messages::push_end;
use super::note::{self, Content, Remark, When};
use super::project::Entries;
use super::record::{NO_CHAIN, SideRecord, Tag};
use super::text::{push_millis, push_string};
use crate::event::{
    CloseReason, ConduitId, Event, EventBody, Head, Offset, Scope, SessionEnd, SessionKey,
    SessionMark, SessionStart, SseNote,
};
use crate::http_exchange::{About, HttpExchange};
use crate::json::push_number;

/// Facts about the current event, separate from where they were found.
#[derive(Debug, Default)]
pub(super) struct Context {
    pub(super) note: Option<SseNote>,
    pub(super) failed: bool,
    pub(super) replayed: bool,
    pub(super) origin: Option<ConduitId>,
    pub(super) announced: bool,
}

impl Context {
    pub(super) fn of(about: About<'_>) -> Self {
        Self {
            note: about.note.cloned(),
            failed: about.failed,
            replayed: about.replayed,
            origin: about.origin,
            announced: about.announced,
        }
    }
}

/// The collected data of an exchange that has not carried a request so far.
#[derive(Debug)]
pub(super) struct Side {
    /// The number of requests before it.
    after: u64,
    stream: Vec<u8>,
    chain: u64,
}

/// Start and end of a session, as recorded.
#[derive(Debug, Default)]
pub(super) struct SessionLife {
    began: Option<(Offset, SessionStart)>,
    ended: Option<(Offset, SessionEnd)>,
}

/// The maximum number of heads that wait for their answer.
const HEADS: usize = 1_024;

/// How much of one stream is held in memory.
const STREAM_LIMIT_BYTES: usize = 16 << 10;
/// The maximum number of sessions that are described.
const SESSIONS: usize = 65_536;

impl<S: Read + Write + Seek> Entries<S> {
    /// Handles an event that is not a message.
    pub(super) fn beside_messages(&mut self, event: &Event) -> io::Result<()> {
        match &event.body {
            EventBody::Head(head) if self.exchanges.get(event.conduit).is_none() => {
                if let Head::Response(head) = head.as_ref()
                    && self.heads.len() < HEADS
                {
                    self.heads.insert(event.conduit, head.clone());
                }
                Ok(())
            }
            EventBody::Head(_) | EventBody::Opened(_) => {
                if self.exchanges.get(event.conduit).is_some() {
                    let after = self.exchange_order.count();
                    self.sides.entry(event.conduit).or_insert_with(|| Side {
                        after,
                        stream: Vec::new(),
                        chain: NO_CHAIN,
                    });
                }
                Ok(())
            }
            EventBody::Body { payload } => self.side(event, Content::Body(payload), None),
            EventBody::Sse(note) if !note.message => self.side(event, Content::Nothing, Some(note)),
            EventBody::Session(mark) => {
                if self.sessions.len() < SESSIONS || self.sessions.contains_key(&event.session) {
                    let told = self.sessions.entry(event.session).or_default();
                    match mark {
                        SessionMark::Began(how) => told.began = Some((event.at, *how)),
                        SessionMark::Ended(why) => told.ended = Some((event.at, *why)),
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Deals with the exchanges that are over.
    pub(super) fn settle_exchanges(&mut self) -> io::Result<()> {
        while let Some((conduit, exchange)) = self.exchanges.poll_over() {
            self.over(conduit, &exchange)?;
        }
        Ok(())
    }

    /// Adds content other than a message to the stream of its exchange.
    fn side(
        &mut self,
        event: &Event,
        content: Content<'_>,
        sse: Option<&SseNote>,
    ) -> io::Result<()> {
        let Some(exchange) = self.exchanges.get(event.conduit) else {
            return match content {
                Content::Nothing => Ok(()),
                content => self.beside(event, content, Remark::default()),
            };
        };
        let mut carried = exchange.requests.iter().rev().copied();
        let home = carried.find_map(|one| Some((one, self.alive(one)?.ordinal)));
        let when = match (home, &self.counted) {
            (Some((home, _)), _) => self.when(event, home),
            // Its exchange is an entry by itself, with its position recorded.
            (None, Some(_)) => When::Seen {
                seen: None,
                late: false,
            },
            (None, None) => When::Time,
        };
        let remark = Remark {
            mark: self.context.replayed.then_some("replayed"),
            sse,
            when,
            ..Remark::default()
        };
        self.entry.clear();
        self.entry.extend_from_slice(b",\n        {");
        note::push_members(event, content, remark, &mut self.entry);
        self.entry.push(b'}');
        if let Some((_, home)) = home {
            return self.exchange_order.stream(home, &self.entry);
        }
        let Some(side) = self.sides.get_mut(&event.conduit) else {
            return Ok(());
        };
        side.stream.extend_from_slice(&self.entry);
        if side.stream.len() > STREAM_LIMIT_BYTES {
            let text = std::mem::take(&mut side.stream);
            self.exchange_order
                .note(&mut side.chain, Tag::Stream, &text)?;
        }
        Ok(())
    }

    /// An exchange has ended: its requests get its outcome, and without requests it becomes an
    /// entry by itself.
    fn over(&mut self, conduit: ConduitId, exchange: &HttpExchange) -> io::Result<()> {
        let mut text = std::mem::take(&mut self.http_text);
        text.clear();
        let times = self.counted.is_none();
        push_http(conduit, exchange, times, &mut self.field_texts, &mut text);
        let told = self.over_as(conduit, exchange, &text);
        self.http_text = text;
        told
    }

    /// Like [`over`](Self::over), with its description.
    fn over_as(
        &mut self,
        conduit: ConduitId,
        exchange: &HttpExchange,
        text: &[u8],
    ) -> io::Result<()> {
        let side = self.sides.remove(&conduit);
        let scope = scope(conduit, exchange);
        if scope.is_sessionless() {
            self.eras.remove(&scope);
        }
        if exchange.requests.is_empty() {
            return side.map_or(Ok(()), |side| self.enter_aside(side, scope, exchange, text));
        }
        let reason = exchange.ended.map(|(_, reason)| reason);
        for request in exchange.requests.iter().copied() {
            if let Some(open) = self.deferred.remove(&request) {
                self.exchange_order.extra(open.ordinal, text)?;
                self.end.clear();
                push_end(&open, &mut self.end);
                let end = std::mem::take(&mut self.end);
                self.fresh.over(conduit, open.ordinal, open.faulted, end);
                continue;
            }
            let Some(open) = self.open.get_mut(request) else {
                continue;
            };
            open.over = reason.map(|reason| (reason, exchange.status()));
            self.exchange_order.extra(open.ordinal, text)?;
            // In a session the answer may still come on another stream.
            let lost = scope.is_sessionless()
                || exchange.status() >= 400
                || reason == Some(CloseReason::Failed);
            if !lost {
                self.left.insert(conduit, request);
            } else if let Some(open) = self.open.remove(request) {
                self.abandon(&open)?;
            }
        }
        Ok(())
    }

    fn enter_aside(
        &mut self,
        mut side: Side,
        scope: Scope,
        exchange: &HttpExchange,
        http: &[u8],
    ) -> io::Result<()> {
        let mut head = Vec::new();
        if scope.session != SessionKey(0) {
            head.extend_from_slice(b",\n      \"session\": ");
            push_number(scope.session.0.into(), &mut head);
        }
        if scope.is_sessionless() {
            head.extend_from_slice(b",\n      \"sessionless\": true");
        }
        head.extend_from_slice(http);
        self.exchange_order
            .note(&mut side.chain, Tag::Head, &head)?;
        if !side.stream.is_empty() {
            self.exchange_order
                .note(&mut side.chain, Tag::Stream, &side.stream)?;
        }
        self.exchange_order.aside(SideRecord {
            order: exchange.order,
            after: side.after,
            chain: side.chain,
        });
        Ok(())
    }

    /// Appends the elements of `sessions`.
    pub(super) fn push_sessions(&self, out: &mut Vec<u8>) {
        for (place, (key, told)) in self.sessions.iter().enumerate() {
            let comma: &[u8] = if place == 0 { b"" } else { b"," };
            out.extend_from_slice(comma);
            out.extend_from_slice(b"\n    {\"session\": ");
            push_number(key.0.into(), out);
            let began = told.began.map(|(at, how)| (at, how.name()));
            let ended = told.ended.map(|(at, why)| (at, why.name()));
            for (name, told) in [("began", began), ("ended", ended)] {
                if let Some((at, text)) = told {
                    for part in [", \"", name, "\": "] {
                        out.extend_from_slice(part.as_bytes());
                    }
                    push_string(text, out);
                    if self.counted.is_some() {
                        continue;
                    }
                    for part in [", \"", name, "_ms\": "] {
                        out.extend_from_slice(part.as_bytes());
                    }
                    push_millis(at, out);
                }
            }
            out.push(b'}');
        }
    }
}

fn scope(conduit: ConduitId, exchange: &HttpExchange) -> Scope {
    let alone = if exchange.session == SessionKey(0) {
        conduit
    } else {
        ConduitId(0)
    };
    Scope {
        session: exchange.session,
        exchange: alone,
    }
}
