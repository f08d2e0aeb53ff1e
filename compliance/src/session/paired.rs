//! The request that a response answers, according to the fold.

use std::collections::VecDeque;

use tapewright_schemas::conversation::{Handle, Pair};
use tapewright_schemas::envelope::{Envelope, for_each_message};
use tapewright_schemas::event::{Direction, Scope};

use super::pending_request::PendingRequest;
use super::{LATEST, Session, pick_mut};
use crate::id::Key;
use crate::message::{Form, Message, key_of};

/// The request that a response answers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer<'a> {
    /// It has no id.
    Nameless,
    /// A request that awaits it.
    Pairs(&'a PendingRequest),
    /// A request that already had its response.
    Again,
    /// A request that may have been forgotten, or missed.
    Forgotten,
    /// Nothing.
    Nobody,
}

/// In a capture a response is next to its request, whatever their ids are.
#[derive(Debug)]
pub(crate) struct CapturePair {
    /// The id of that request, if it is one.
    pub(crate) key: Option<Key>,
    pub(super) request: PairedRequest,
}

/// The request that the next response is next to.
#[derive(Debug)]
pub(super) enum PairedRequest {
    /// None.
    Nowhere,
    /// A request that the fold knows.
    Noted(Handle),
    /// One without an id: that it was answered makes it a request.
    Alone(Box<PendingRequest>),
}

impl Session {
    /// Passes a message to the fold, which sets what it does.
    pub(crate) fn pair(&mut self, scope: Scope, message: &mut Message<'_>) {
        // The response next to a request answers it, whatever its id is.
        if self.beside.is_none() || message.dir == Direction::ToServer {
            let (dir, envelope) = (message.dir, message.envelope);
            message.paired = self.pairs.observe(scope, dir, envelope, message.key);
        }
    }

    /// Passes the messages of a batch to the fold; returns what each of them does.
    pub(crate) fn pair_batch(&mut self, scope: Scope, message: &mut Message<'_>) -> VecDeque<Pair> {
        let dir = message.dir;
        let mut told = VecDeque::new();
        if self.beside.is_some() && dir == Direction::ToClient {
            return told;
        }
        for_each_message(message.text, |text| {
            let envelope = Envelope::of_json(text);
            let key = key_of(&envelope);
            told.push_back(self.pairs.observe(scope, dir, &envelope, key));
        });
        message.paired = told.front().copied().unwrap_or_default();
        told
    }

    /// The request that a response answers.
    pub(crate) fn answer(&self, message: &Message<'_>) -> Answer<'_> {
        let requests = self.requests(message.dir.opposite());
        if let Some(beside) = &self.beside {
            let asked = match &beside.request {
                PairedRequest::Nowhere => None,
                PairedRequest::Noted(handle) => requests.get(*handle),
                PairedRequest::Alone(asked) => Some(&**asked),
            };
            return asked.map_or(Answer::Nobody, Answer::Pairs);
        }
        if message.key == Key::Null {
            return Answer::Nameless;
        }
        let paired = message.paired;
        match paired.handle {
            // For a request that is on two streams, the second one is not recorded.
            Some(handle) => requests.get(handle).map_or(Answer::Again, Answer::Pairs),
            None if paired.again => Answer::Again,
            None if paired.forgotten => Answer::Forgotten,
            None => Answer::Nobody,
        }
    }

    /// The request that a response answers, which awaits it no longer.
    pub(super) fn take_answered(&mut self, message: &Message<'_>) -> Option<PendingRequest> {
        let way = message.dir.opposite();
        let handle = match &mut self.beside {
            None if message.key == Key::Null => return None,
            None => message.paired.handle?,
            Some(beside) => match std::mem::replace(&mut beside.request, PairedRequest::Nowhere) {
                PairedRequest::Nowhere => return None,
                PairedRequest::Noted(handle) => {
                    self.pairs.take(handle);
                    handle
                }
                PairedRequest::Alone(asked) => return Some(*asked),
            },
        };
        self.requests_mut(way).take(handle)
    }

    /// Stores the state of a request while it is in flight.
    pub(super) fn note(&mut self, message: &Message<'_>, asked: PendingRequest) {
        if let Some(evicted) = message.paired.evicted {
            drop(self.requests_mut(Direction::ToServer).take(evicted));
            drop(self.requests_mut(Direction::ToClient).take(evicted));
        }
        // A cancellation that was answered is a separate request, not the request that it names.
        let is_request = message.form == Form::Request;
        let Some(handle) = message.paired.handle.filter(|_| is_request) else {
            if let Some(beside) = &mut self.beside {
                beside.request = PairedRequest::Alone(Box::new(asked));
            }
            return;
        };
        let latest = pick_mut(&mut self.latest, message.dir);
        if latest.len() < LATEST {
            latest.push(handle);
        }
        // A request of the server that is repeated on a second stream is still one request.
        let repeated = message.dir == Direction::ToClient
            && (self.shares_id(message)).is_some_and(|first| first.conduit != message.conduit);
        if (message.key == Key::Null && self.beside.is_none()) || repeated {
            return;
        }
        // The response next to a batch answers none of its members.
        if let Some(beside) = self.beside.as_mut().filter(|one| one.key.is_some()) {
            beside.request = PairedRequest::Noted(handle);
        }
        self.requests_mut(message.dir).insert(handle, asked);
    }

    /// Whether a message without an id was answered, and therefore is a request.
    pub(super) fn is_answered_beside(&self) -> bool {
        let beside = self.beside.as_ref();
        beside.is_some_and(|beside| beside.key == Some(Key::Null))
    }

    /// The request in flight that a request shares its id with.
    pub(crate) fn shares_id(&self, message: &Message<'_>) -> Option<&PendingRequest> {
        self.requests(message.dir).get(message.paired.first?)
    }
}

impl CapturePair {
    /// For the next response.
    pub(crate) fn new(key: Option<Key>) -> Self {
        let request = PairedRequest::Nowhere;
        Self { key, request }
    }
}
