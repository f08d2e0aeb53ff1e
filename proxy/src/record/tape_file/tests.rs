//! What the tests of `follow` do with a writer.

#![cfg(target_os = "linux")] // See `follow::tests`.

use super::*;

impl TapeWriter {
    /// Follows the tape from another length.
    pub(in crate::record) fn followed_from(mut self, bytes: u64) -> Self {
        self.follow_from = bytes;
        self
    }

    /// Makes the writer itself follow the tape from here on.
    pub(in crate::record) fn followed_alone(mut self) -> Self {
        self.follow_from = u64::MAX;
        self.follower = Follower::alone(&self.path, &self.target, &self.progress);
        self.encoder.tell_facts();
        self
    }

    /// Takes the follower.
    pub(in crate::record) fn take_follower(&mut self) -> Option<Follower> {
        self.follower.take()
    }

    pub(in crate::record) fn is_followed(&self) -> bool {
        self.follower.is_some()
    }
}
