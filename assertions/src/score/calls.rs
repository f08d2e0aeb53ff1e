//! The exchanges of a recording: each request of the client with its answer.

use std::collections::{HashMap, HashSet, VecDeque};

use bytes::Bytes;
use tapewright_schemas::conversation::{Answer, Handle, Pairing, is_about_noise};
use tapewright_schemas::envelope::{Envelope, Kind, RequestId, for_each_message, is_error_of_ours};
use tapewright_schemas::event::{
    ConduitId, Direction, Event, EventBody, Fields, Head, Offset, Payload, Peer, SessionKey,
};

/// Follows the requests of clients. Ask it for what is over with [`poll`](Self::poll).
#[derive(Debug)]
pub(super) struct Calls {
    open: Pairing<ScoredExchange>,
    // The bytes of their parameters.
    open_bytes: usize,
    // The last exchange of a conduit that is over: a fault behind it is about it.
    held: HashMap<ConduitId, Vec<ScoredExchange>>,
    heads: HashMap<ConduitId, Fields>,
    // Conduits that are processes.
    processes: HashSet<ConduitId>,
    over: VecDeque<ScoredExchange>,
    // The last request of a conduit, for a fault behind it.
    last: HashMap<ConduitId, Handle>,
    /// How many messages were not kept whole.
    pub(super) clipped: u64,
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

/// How many requests are followed at once, with how many bytes of parameters, and how many
/// HTTP exchanges; beyond that the oldest decides nothing.
const OPEN: usize = 4_096;
const OPEN_BYTES: usize = 64 << 20;
const TAMPERED: &str = "a fault was injected into it";
const OURS: &str = "the server gave no answer to it: over HTTP it failed or could not be reached";
const CROWDED: &str = "more requests were open at once than are followed";

impl Default for Calls {
    fn default() -> Self {
        Self {
            open: Pairing::without_memory().with_limit(OPEN),
            open_bytes: 0,
            held: HashMap::new(),
            heads: HashMap::new(),
            processes: HashSet::new(),
            over: VecDeque::new(),
            last: HashMap::new(),
            clipped: 0,
        }
    }
}

impl ScoredExchange {
    /// How many bytes its parameters have.
    fn len(&self) -> usize {
        self.params.as_ref().map_or(0, Bytes::len)
    }
}

impl Reply {
    /// How long its text is, in bytes.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Error(text) | Self::Result(text) => text.len(),
            Self::None => 0,
        }
    }
}

impl Calls {
    /// Takes the next event.
    pub(super) fn observe(&mut self, event: &Event) {
        if let EventBody::Faulted(_) = event.body {
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
                if let Head::Response(head) = head.as_ref() {
                    // Those of exchanges whose end was never told.
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

    /// The next exchange that is over.
    pub(super) fn poll(&mut self) -> Option<ScoredExchange> {
        self.over.pop_front()
    }

    /// Nothing more will come.
    pub(super) fn finish(&mut self) {
        self.release_all();
        while let Some(exchange) = self.open.pop_oldest() {
            self.over.push_back(exchange);
        }
        self.open_bytes = 0;
        self.heads.clear();
        self.last.clear();
        self.processes.clear();
    }

    /// What was tampered with is the message before.
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
        held.sort_by_key(|one| one.request);
        self.over.extend(held);
    }

    fn message(&mut self, event: &Event, payload: &Bytes, message: &[u8]) {
        let slice = |part: &[u8]| payload.slice_ref(part);
        match (event.dir, Envelope::parse(message).kind) {
            (Direction::ToServer, Kind::Request { id, method, params }) => {
                // A copy: a slice would keep all that was read at once.
                let params = params.map(Bytes::copy_from_slice);
                let exchange = ScoredExchange {
                    method: method.into_owned(),
                    params,
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
                self.ask(event, &id, exchange);
            }
            (Direction::ToClient, Kind::Response { id, result, error })
                if !is_about_noise(&id, error) =>
            {
                if event.is_made_by_us() || error.is_some_and(is_error_of_ours) {
                    return self.answer_of_ours(event, &id);
                }
                let reply = match (result, error) {
                    (_, Some(error)) => Reply::Error(slice(error)),
                    (Some(result), None) => Reply::Result(slice(result)),
                    (None, None) => return,
                };
                self.answer(event, &id, reply);
            }
            _ => {}
        }
    }

    fn ask(&mut self, event: &Event, id: &RequestId<'_>, exchange: ScoredExchange) {
        self.open_bytes += exchange.len();
        let asked = self.open.ask(event.scope(), event.dir, id, exchange);
        if self.last.len() >= OPEN {
            self.last.clear();
        }
        self.last.insert(event.conduit, asked.handle);
        let mut forgotten = asked.forgotten;
        while let Some(mut exchange) = forgotten.take().or_else(|| self.crowded()) {
            self.open_bytes -= exchange.len();
            exchange.doubt = Some(CROWDED);
            self.over.push_back(exchange);
        }
    }

    /// The oldest request, when the parameters of all have too many bytes.
    fn crowded(&mut self) -> Option<ScoredExchange> {
        let crowded = self.open_bytes > OPEN_BYTES && self.open.len() > 1;
        crowded.then(|| self.open.forget_oldest()).flatten()
    }

    /// An answer that we made, since the server gave none.
    fn answer_of_ours(&mut self, event: &Event, id: &RequestId<'_>) {
        if let Answer::Pairs(_, mut exchange) = self.open.answer(event.scope(), event.dir, id) {
            self.open_bytes -= exchange.len();
            exchange.doubt = Some(OURS);
            exchange.response = Some(event.seq);
            self.over.push_back(exchange);
        }
    }

    fn answer(&mut self, event: &Event, id: &RequestId<'_>, reply: Reply) {
        let Answer::Pairs(_, mut exchange) = self.open.answer(event.scope(), event.dir, id) else {
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
