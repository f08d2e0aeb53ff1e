//! The exchanges of a recording: each request of the client with its answer.

use std::collections::{BTreeMap, HashMap, VecDeque};

use bytes::Bytes;
use tapewright_schemas::envelope::{Envelope, Kind, RequestId, for_each_message};
use tapewright_schemas::event::{
    ConduitId, Direction, Event, EventBody, Head, Offset, Payload, Scope,
};

/// Follows the requests of clients. Ask it for what is over with [`poll`](Self::poll).
#[derive(Debug, Default)]
pub(super) struct Calls {
    // By number, in the order in which they were asked.
    open: BTreeMap<u64, Exchange>,
    // By scope and id the numbers that wait: the first answer is for the first request.
    waiting: HashMap<(Scope, Vec<u8>), VecDeque<u64>>,
    // The last exchange of a conduit that is over: a fault behind it is about it.
    held: HashMap<ConduitId, Vec<Exchange>>,
    heads: HashMap<ConduitId, Vec<(String, String)>>,
    over: VecDeque<Exchange>,
    asked: u64,
    // The number of the last request of a conduit, for a fault behind it.
    last: HashMap<ConduitId, u64>,
    /// How many messages were not kept whole.
    pub(super) clipped: u64,
}

/// A request and its answer.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) method: String,
    /// Source text.
    pub(super) params: Option<Bytes>,
    pub(super) reply: Reply,
    /// The numbers of its events.
    pub(super) request: u64,
    pub(super) response: Option<u64>,
    pub(super) took_us: Option<u64>,
    pub(super) headers: Option<Vec<(String, String)>>,
    /// Why it decides nothing.
    pub(super) doubt: Option<&'static str>,
    at: Offset,
    key: (Scope, Vec<u8>),
}

/// An answer, as source text.
#[derive(Debug)]
pub(super) enum Reply {
    Error(Bytes),
    None,
    Result(Bytes),
}

/// How many requests are followed at once, and how many HTTP exchanges; beyond that the
/// oldest counts as never answered.
const OPEN: usize = 4_096;
const TAMPERED: &str = "a fault was injected into it";

impl Calls {
    /// Takes the next event.
    pub(super) fn observe(&mut self, event: &Event) {
        if let EventBody::Faulted { .. } = event.body {
            return self.fault(event);
        }
        self.release(event.conduit);
        match &event.body {
            EventBody::Message { payload, .. } => match payload {
                Payload::Clipped { .. } => self.clipped += 1,
                Payload::Whole(bytes) => {
                    for_each_message(bytes, |message| self.message(event, bytes, message));
                }
            },
            EventBody::Head(head) => {
                if let Head::Response(head) = head.as_ref()
                    && self.heads.len() < OPEN
                {
                    self.heads.insert(event.conduit, head.fields.0.clone());
                }
            }
            EventBody::Closed(_) if event.dir == Direction::ToClient => {
                self.heads.remove(&event.conduit);
            }
            _ => {}
        }
    }

    /// The next exchange that is over.
    pub(super) fn poll(&mut self) -> Option<Exchange> {
        self.over.pop_front()
    }

    /// Nothing more will come.
    pub(super) fn finish(&mut self) {
        let mut held: Vec<_> = self.held.drain().flat_map(|(_, all)| all).collect();
        held.sort_by_key(|one| one.request);
        self.over.extend(held);
        self.over
            .extend(std::mem::take(&mut self.open).into_values());
        self.waiting.clear();
        self.heads.clear();
        self.last.clear();
    }

    /// What was tampered with is the message before.
    fn fault(&mut self, event: &Event) {
        if event.dir == Direction::ToServer {
            let number = self.last.get(&event.conduit);
            if let Some(open) = number.and_then(|number| self.open.get_mut(number)) {
                open.doubt = Some(TAMPERED);
            }
        }
        for held in self.held.get_mut(&event.conduit).into_iter().flatten() {
            held.doubt = Some(TAMPERED);
        }
    }

    fn release(&mut self, conduit: ConduitId) {
        if let Some(held) = self.held.remove(&conduit) {
            self.over.extend(held);
        }
    }

    fn message(&mut self, event: &Event, payload: &Bytes, message: &[u8]) {
        let slice = |part: &[u8]| payload.slice_ref(part);
        let key = |id: &RequestId<'_>| {
            let mut key = Vec::new();
            id.write_key(&mut key);
            (event.scope(), key)
        };
        match (event.dir, Envelope::parse(message).kind) {
            (Direction::ToServer, Kind::Request { id, method, params }) => {
                let key = key(&id);
                self.asked += 1;
                self.last.insert(event.conduit, self.asked);
                if self.last.len() > OPEN {
                    self.last.clear();
                }
                self.waiting
                    .entry(key.clone())
                    .or_default()
                    .push_back(self.asked);
                self.open.insert(
                    self.asked,
                    Exchange {
                        method: method.into_owned(),
                        params: params.map(slice),
                        reply: Reply::None,
                        request: event.seq,
                        response: None,
                        took_us: None,
                        headers: None,
                        doubt: None,
                        at: event.at,
                        key,
                    },
                );
                self.evict();
            }
            (Direction::ToClient, Kind::Response { id, result, error }) => {
                let reply = match (result, error) {
                    (_, Some(error)) => Reply::Error(slice(error)),
                    (Some(result), None) => Reply::Result(slice(result)),
                    (None, None) => return,
                };
                self.answer(event, &key(&id), reply);
            }
            _ => {}
        }
    }

    fn answer(&mut self, event: &Event, key: &(Scope, Vec<u8>), reply: Reply) {
        let Some(queue) = self.waiting.get_mut(key) else {
            return;
        };
        let number = queue.pop_front();
        if queue.is_empty() {
            self.waiting.remove(key);
        }
        let Some(mut exchange) = number.and_then(|number| self.open.remove(&number)) else {
            return;
        };
        exchange.reply = reply;
        exchange.response = Some(event.seq);
        exchange.took_us = Some(event.at.since(exchange.at).0);
        exchange.headers = self.heads.get(&event.conduit).cloned();
        self.held.entry(event.conduit).or_default().push(exchange);
    }

    fn evict(&mut self) {
        if self.open.len() <= OPEN {
            return;
        }
        if let Some((number, exchange)) = self.open.pop_first() {
            if let Some(queue) = self.waiting.get_mut(&exchange.key) {
                queue.retain(|one| *one != number);
                if queue.is_empty() {
                    self.waiting.remove(&exchange.key);
                }
            }
            self.over.push_back(exchange);
        }
    }
}
