//! What the fold tells of each message, and what that means for the rules.

use tapewright_schemas::conversation::{Does, Handle, Step};
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::{Direction, Event};
use tapewright_schemas::json;

use super::pending_request::PendingRequest;
use super::{LATEST, Session, pick_mut};
use crate::id::Key;
use crate::message::Message;

/// What one message has to do with a request, as the fold tells it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Paired {
    /// The request that it opens, answers or cancels.
    pub(crate) handle: Option<Handle>,
    /// Of a request: the first in flight that has its id.
    pub(crate) first: Option<Handle>,
    /// Its id was used by a request before: by this one, of a request; by one that is over, of
    /// anything else.
    pub(crate) again: bool,
    /// What it is about may be unknown although it was seen.
    pub(crate) forgotten: bool,
    /// The request that had to be forgotten for this one.
    pub(super) evicted: Option<Handle>,
}

/// What a response answers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer<'a> {
    /// It has no id to go by.
    Nameless,
    /// A request that awaits it.
    Pairs(&'a PendingRequest),
    /// A request that had its response before.
    Again,
    /// A request that may have been forgotten, or missed.
    Forgotten,
    /// Nothing.
    Nobody,
}

/// In a capture a response stands beside its request, whatever their ids say.
#[derive(Debug)]
pub(crate) struct CapturePair {
    /// The id of that request, if it is one.
    pub(crate) key: Option<Key>,
    pub(super) request: PairedRequest,
}

/// The request that the next response stands beside.
#[derive(Debug)]
pub(super) enum PairedRequest {
    /// There is none.
    Nowhere,
    /// One that the fold knows.
    Noted(Handle),
    /// One without an id: that it was answered makes it a request.
    Alone(Box<PendingRequest>),
}

impl Paired {
    fn of(event: &Event, step: &Step<'_, ()>) -> Self {
        let mut paired = Self::default();
        match step.what {
            Does::Asks => {
                paired.handle = step.handle;
                paired.first = step.first_of_id();
                paired.again = step.again;
                paired.forgotten = step.has_forgotten(event.dir);
                paired.evicted = step.forgotten;
            }
            Does::Answers | Does::Late | Does::Cancels => paired.handle = step.handle,
            Does::Duplicate => paired.again = true,
            Does::Orphan | Does::TypeChanged => {
                paired.forgotten = step.has_forgotten(event.dir.opposite());
            }
            Does::Nothing => {
                if let Some(id) = cancelled(step.envelope) {
                    paired.again = step.knows(event.dir, id);
                    paired.forgotten = step.has_forgotten(event.dir);
                }
            }
            // The heads of HTTP exchanges are not shown to the fold of a session, and tokens are
            // followed by the session itself.
            Does::Refuses | Does::Progress => {}
        }
        paired
    }
}

/// The id that a cancellation names, as source text.
fn cancelled<'a>(envelope: &Envelope<'a>) -> Option<&'a [u8]> {
    match &envelope.kind {
        Kind::Notification { method, params } if method == "notifications/cancelled" => {
            json::find((*params)?, &["requestId"])
        }
        _ => None,
    }
}

impl Session {
    /// Shows a payload to the fold: [`paired`](Self::paired) tells what its messages do.
    pub(crate) fn pair(&mut self, event: &Event, envelope: &Envelope<'_>) {
        let told = &mut self.told;
        told.clear();
        // What stands beside a request answers it, whatever its id says.
        if self.beside.is_some() && event.dir == Direction::ToClient {
            return;
        }
        self.conversation.observe(event, Some(envelope), |step| {
            told.push(Paired::of(event, &step));
        });
    }

    /// What a message of the payload does, by its place in a batch.
    pub(crate) fn paired(&self, place: usize) -> Paired {
        // What is no message does nothing.
        self.told.get(place).copied().unwrap_or_default()
    }

    /// What a response answers.
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
            // Of a request that is on two streams nothing is noted the second time.
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
                    self.conversation.take(handle);
                    handle
                }
                PairedRequest::Alone(asked) => return Some(*asked),
            },
        };
        self.requests_mut(way).take(handle)
    }

    /// Notes what is known of a request while it is in flight.
    pub(super) fn note(&mut self, message: &Message<'_>, asked: PendingRequest) {
        if let Some(evicted) = message.paired.evicted {
            drop(self.requests_mut(Direction::ToServer).take(evicted));
            drop(self.requests_mut(Direction::ToClient).take(evicted));
        }
        // A cancellation that was answered is a request of its own, and not what it names.
        let is_request = matches!(message.envelope.kind, Kind::Request { .. });
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
        // A request of the server that comes on a second stream is still one request.
        let repeated = message.dir == Direction::ToClient
            && (self.shares_id(message)).is_some_and(|first| first.conduit != message.conduit);
        if (message.key == Key::Null && self.beside.is_none()) || repeated {
            return;
        }
        // What stands beside a batch answers none of its members.
        if let Some(beside) = self.beside.as_mut().filter(|one| one.key.is_some()) {
            beside.request = PairedRequest::Noted(handle);
        }
        self.requests_mut(message.dir).insert(handle, asked);
    }

    /// Whether what comes without an id was answered, and so is a request.
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
    /// Of the next response this is known.
    pub(crate) fn new(key: Option<Key>) -> Self {
        let request = PairedRequest::Nowhere;
        Self { key, request }
    }
}
