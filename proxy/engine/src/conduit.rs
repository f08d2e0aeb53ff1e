//! Both directions of one conversation.

use tapewright_schemas::event::Direction;

use crate::lane::{Lane, Settings};
use crate::policy::Policy;

/// Both directions of one conversation.
///
/// A driver with one thread uses it as a whole; one with a thread per direction takes it apart with
/// [`split`](Self::split).
#[derive(Debug)]
pub struct Conduit<P: Policy> {
    to_server: Lane<P>,
    to_client: Lane<P>,
}

impl<P: Policy + Clone> Conduit<P> {
    /// A conduit without traffic so far. Each lane gets a clone of the policy for this
    /// conversation; policies with shared rules lock them internally.
    pub fn new(settings: Settings, policy: &P) -> Self {
        let policy = policy.for_conduit(settings.conduit, settings.session);
        Self {
            to_server: Lane::new(Direction::ToServer, settings, policy.clone()),
            to_client: Lane::new(Direction::ToClient, settings, policy),
        }
    }

    /// The lane of one direction.
    pub fn lane(&mut self, dir: Direction) -> &mut Lane<P> {
        match dir {
            Direction::ToServer => &mut self.to_server,
            Direction::ToClient => &mut self.to_client,
        }
    }

    /// The lane to the server and the lane to the client.
    pub fn split(self) -> (Lane<P>, Lane<P>) {
        (self.to_server, self.to_client)
    }
}
