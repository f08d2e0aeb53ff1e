//! The exchanges of a recording: each request of the client with its answer.

use std::collections::{HashMap, HashSet, VecDeque};

use bytes::Bytes;
use tapewright_schemas::conversation::{Conversation, Does, Handle, OldestFirst, Step};
use tapewright_schemas::envelope::{Kind, is_error_of_ours};
use tapewright_schemas::event::{
    ConduitId, Direction, Event, EventBody, Fields, Head, Offset, Payload, Peer, SessionKey,
};
use tapewright_schemas::order::Order as _;

/// Follows the requests of clients. [`poll`](Self::poll) returns those that are over.
#[derive(Debug)]
pub(super) struct Calls {
    conversation: Conversation<()>,
    followed: Followed,
}

/// The state of requests, collected from the conversation.
#[derive(Debug, Default)]
struct Followed {
    // Those that await their answer.
    open: OldestFirst<ScoredExchange>,
    // The bytes of their parameters.
    open_bytes: usize,
    // The last exchange of a conduit that is over: a following fault is about it.
    held: HashMap<ConduitId, Vec<ScoredExchange>>,
    heads: HashMap<ConduitId, Fields>,
    // Conduits that are processes.
    processes: HashSet<ConduitId>,
    over: VecDeque<ScoredExchange>,
    // The last request of a conduit, for a fault that follows it.
    last: HashMap<ConduitId, Handle>,
    clipped: u64,
}

/// A request and its answer.
#[derive(Debug)]
pub(super) struct ScoredExchange {
    pub(super) method: String,
    /// Source text.
    pub(super) params: Option<Bytes>,
    pub(super) session: SessionKey,
    pub(super) reply: Reply,
    /// The numbers of its events.
    pub(super) request: u64,
    pub(super) response: Option<u64>,
    pub(super) took_us: Option<u64>,
    pub(super) headers: Option<Vec<(String, String)>>,
    /// It was with a process, which has no headers.
    pub(super) is_stdio: bool,
    /// Why it decides nothing.
    pub(super) doubt: Option<&'static str>,
    at: Offset,
}

/// An answer, as source text.
#[derive(Debug)]
pub(super) enum Reply {
    Error(Bytes),
    None,
    Result(Bytes),
}

/// The maximum number of requests that are followed at once, the maximum size of their parameters,
/// and the maximum number of HTTP exchanges; beyond that the oldest is inconclusive.
const OPEN: usize = 4_096;
const OPEN_BYTES: usize = 64 << 20;
const TAMPERED: &str = "a fault was injected into it";
const OURS: &str = "no answer: the HTTP request failed";
const CROWDED: &str = "too many open requests";

impl Default for Calls {
    fn default() -> Self {
        Self {
            conversation: Conversation::of_handles(),
            followed: Followed::default(),
        }
    }
}

impl ScoredExchange {
    /// The length of its parameters, in bytes.
    fn len(&self) -> usize {
        self.params.as_ref().map_or(0, Bytes::len)
    }
}

impl Reply {
    /// The length of its text, in bytes.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Error(text) | Self::Result(text) => text.len(),
            Self::None => 0,
        }
    }
}

impl Calls {
    /// Handles the next event.
    pub(super) fn observe(&mut self, event: &Event) {
        let followed = &mut self.followed;
        followed.beside(event);
        self.conversation
            .observe(event, None, |step| followed.step(event, &step));
    }

    /// Takes the next exchange that is over.
    pub(super) fn poll(&mut self) -> Option<ScoredExchange> {
        self.followed.over.pop_front()
    }

    /// The number of messages that were not recorded whole since the last call.
    pub(super) fn take_clipped(&mut self) -> u64 {
        std::mem::take(&mut self.followed.clipped)
    }

    /// Nothing more will come.
    pub(super) fn finish(&mut self) {
        let followed = &mut self.followed;
        followed.release_all();
        let open = std::mem::take(&mut followed.open);
        followed.over.extend(open.into_values());
        let (over, clipped) = (std::mem::take(&mut followed.over), followed.clipped);
        *self = Self::default();
        (self.followed.over, self.followed.clipped) = (over, clipped);
    }
}

impl Followed {
    /// Handles an event that is not a message.
    fn beside(&mut self, event: &Event) {
        if let EventBody::Faulted(_) = event.body {
            return self.fault(event);
        }
        self.release(event.conduit);
        match &event.body {
            EventBody::Message {
                payload: Payload::Clipped { .. },
                ..
            } => self.clipped += 1,
            EventBody::Head(head) => {
                if let Head::Response(head) = head.as_ref() {
                    // Heads of exchanges whose end was never recorded.
                    if self.heads.len() >= OPEN {
                        self.heads.clear();
                    }
                    self.heads.insert(event.conduit, head.fields.clone());
                }
            }
            EventBody::Opened(Peer::Process { .. }) if self.processes.len() < OPEN => {
                self.processes.insert(event.conduit);
            }
            EventBody::Closed(_) if event.dir == Direction::ToClient => {
                self.heads.remove(&event.conduit);
            }
            _ => {}
        }
    }

    /// A fault changed the message before it.
    fn fault(&mut self, event: &Event) {
        if event.dir == Direction::ToServer {
            let last = self.last.get(&event.conduit);
            if let Some(open) = last.and_then(|last| self.open.get_mut(*last)) {
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

    fn release_all(&mut self) {
        let mut held: Vec<_> = self.held.drain().flat_map(|(_, all)| all).collect();
        held.order_by_key(|one| one.request);
        self.over.extend(held);
    }

    fn step(&mut self, event: &Event, step: &Step<'_, ()>) {
        let EventBody::Message {
            payload: Payload::Whole(payload),
            ..
        } = &event.body
        else {
            return;
        };
        let slice = |part: &[u8]| payload.slice_ref(part);
        match (&step.envelope.kind, event.dir, step.handle) {
            (Kind::Request { method, params, .. }, Direction::ToServer, Some(handle)) => {
                let exchange = ScoredExchange {
                    method: method.as_ref().to_owned(),
                    // A copy: a slice would keep the whole read buffer alive.
                    params: params.map(Bytes::copy_from_slice),
                    session: event.session,
                    reply: Reply::None,
                    request: event.seq,
                    response: None,
                    took_us: None,
                    headers: None,
                    is_stdio: self.processes.contains(&event.conduit),
                    doubt: None,
                    at: event.at,
                };
                self.ask(event, handle, exchange);
            }
            (Kind::Response { result, error, .. }, Direction::ToClient, Some(handle))
                if matches!(step.what, Does::Answers | Does::Late) =>
            {
                if event.is_made_by_us() || error.is_some_and(is_error_of_ours) {
                    return self.answer_of_ours(event, handle);
                }
                let reply = match (result, error) {
                    (_, Some(error)) => Reply::Error(slice(error)),
                    (Some(result), None) => Reply::Result(slice(result)),
                    (None, None) => return,
                };
                self.answer(event, handle, reply);
            }
            _ => {}
        }
    }

    fn ask(&mut self, event: &Event, handle: Handle, exchange: ScoredExchange) {
        self.open_bytes += exchange.len();
        let mut forgotten = self.open.insert(handle, exchange);
        if self.last.len() >= OPEN {
            self.last.clear();
        }
        self.last.insert(event.conduit, handle);
        while let Some(mut exchange) = forgotten.take().or_else(|| self.crowded()) {
            self.open_bytes -= exchange.len();
            exchange.doubt = Some(CROWDED);
            self.over.push_back(exchange);
        }
    }

    /// The oldest request, when there are too many, or their parameters have too many bytes.
    fn crowded(&mut self) -> Option<ScoredExchange> {
        let count = self.open.len();
        let crowded = count > OPEN || self.open_bytes > OPEN_BYTES && count > 1;
        crowded.then(|| self.open.pop_oldest()).flatten()
    }

    /// An answer of the recorder, since the server gave none.
    fn answer_of_ours(&mut self, event: &Event, handle: Handle) {
        if let Some(mut exchange) = self.open.remove(handle) {
            self.open_bytes -= exchange.len();
            exchange.doubt = Some(OURS);
            exchange.response = Some(event.seq);
            self.over.push_back(exchange);
        }
    }

    fn answer(&mut self, event: &Event, handle: Handle, reply: Reply) {
        let Some(mut exchange) = self.open.remove(handle) else {
            return;
        };
        self.open_bytes -= exchange.len();
        exchange.reply = reply;
        exchange.response = Some(event.seq);
        exchange.took_us = Some(event.at.since(exchange.at).0);
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let head = self.heads.get(&event.conduit);
        exchange.headers = head.map(|head| head.iter().map(owned).collect());
        if self.held.len() >= OPEN {
            self.release_all();
        }
        self.held.entry(event.conduit).or_default().push(exchange);
    }
}
