//! The state of each conduit: its type, and the heads that passed on it.

use std::collections::HashMap;
use std::rc::Rc;

use bytes::Bytes;
use foldhash::quality::RandomState;
use tapewright_schemas::conversation::Handle;
use tapewright_schemas::event::{
    Carrier, ConduitId, Event, EventBody, Head, Peer, RequestHead, ResponseHead,
};
use tapewright_schemas::order::Order as _;

use super::exchange::{Finished, Sent};
use crate::observation::IN_PLACE;
use crate::rule::Applies;

/// A process, or one HTTP exchange.
#[derive(Debug, Default)]
pub(super) struct Conduit {
    pub(super) transport: Option<Applies>,
    pub(super) request: Option<RequestHead>,
    pub(super) response: Option<Rc<ResponseHead>>,
    /// The response is tapewright's, not the server's.
    pub(super) in_place: bool,
    /// Its last request that is answered by repeating the request, for a fault that follows.
    pub(super) round: Option<String>,
    /// The last request on it, for a fault that follows.
    pub(super) last: Option<Handle>,
    /// Finished exchanges that a fault may still refer to.
    pub(super) held: Vec<Finished>,
    /// The last line of the client, if needed.
    pub(super) line: Option<Bytes>,
    /// Something was sent on it that clients never send: the server's reaction is not its fault.
    pub(super) strange: bool,
    /// Bytes that are not a request, and wait for an answer.
    pub(super) raw: Option<Sent>,
}

/// All that are open.
#[derive(Debug)]
pub(super) struct Conduits {
    known: HashMap<ConduitId, Conduit, RandomState>,
    default: Option<Applies>,
}

/// The maximum number that are followed at once.
const MOST: usize = 65_536;

impl Conduits {
    pub(super) fn new(default: Option<Applies>) -> Self {
        Self {
            known: HashMap::default(),
            default,
        }
    }

    /// The conduit of an event, created if missing.
    pub(super) fn enter(&mut self, event: &Event) -> &mut Conduit {
        if self.known.len() >= MOST && !self.known.contains_key(&event.conduit) {
            self.known.clear();
        }
        let default = self.default;
        let conduit = self.known.entry(event.conduit).or_insert_with(|| Conduit {
            transport: default,
            ..Conduit::default()
        });
        match &event.body {
            EventBody::Opened(Peer::Process { .. }) => conduit.transport = Some(Applies::Stdio),
            EventBody::Opened(Peer::Client { .. } | Peer::Server { .. }) => {
                conduit.transport = Some(Applies::Http);
            }
            // A cassette does not tell how its process was opened.
            EventBody::Message { origin, .. }
                if conduit.transport.is_none() && origin.carrier == Carrier::Line =>
            {
                conduit.transport = Some(Applies::Stdio);
            }
            EventBody::Head(head) => match head.as_ref() {
                // The final one follows.
                Head::Interim(_) => {}
                Head::Request(head) => {
                    conduit.request = Some(head.clone());
                    conduit.response = None;
                    conduit.in_place = false;
                }
                Head::Response(head) => {
                    conduit.in_place = head.ours.is_some() || head.fields.get(IN_PLACE).is_some();
                    conduit.response = Some(Rc::new(head.clone()));
                }
            },
            _ => {}
        }
        conduit
    }

    /// Remembers a request on a conduit that will be repeated.
    pub(super) fn remember(&mut self, id: ConduitId, round: String) {
        if let Some(conduit) = self.known.get_mut(&id) {
            conduit.round = Some(round);
        }
    }

    /// Begins another recording; `default` is the transport if its events do not show it.
    pub(super) fn next(&mut self, default: Option<Applies>) {
        self.default = default;
    }

    /// Removes an HTTP exchange that has ended.
    pub(super) fn leave(&mut self, id: ConduitId) -> Option<Conduit> {
        self.known.remove(&id)
    }

    /// Everything, at the end.
    pub(super) fn drain(&mut self) -> Vec<Conduit> {
        let mut all: Vec<_> = self.known.drain().collect();
        all.order_by_key(|(id, _)| *id);
        all.into_iter().map(|(_, conduit)| conduit).collect()
    }
}
