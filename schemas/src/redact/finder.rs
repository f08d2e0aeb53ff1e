//! The state of a search for secrets that is kept between payloads, so that it need not allocate.

use super::body::Frame;
use super::cache::NameCache;
use super::edits::Edits;
use super::forms::Within;
use super::learned::Learned;
use super::outline::Outline;

/// The searching half of a [`Redactor`](super::Redactor).
///
/// Its methods are in [`super::body`] (JSON), [`super::text`] (everything else) and
/// [`super::named`] (values under a secret name). All of them append to `edits`.
#[derive(Debug, Default)]
pub(super) struct Finder {
    pub(super) edits: Edits,
    pub(super) names: NameCache,
    /// The open containers of the current walks, the inner walks above the outer ones.
    pub(super) frames: Vec<Frame>,
    /// For the last text that was walked.
    pub(super) outline: Outline,
    /// How the secret values of the environment apply to the current text.
    pub(super) place: Within,
    /// The secrets that are recognized by their value, since their name identified them before.
    pub(super) learned: Learned,
    /// Decoded strings, one per level of JSON in JSON.
    scratch: [Vec<u8>; MAX_NESTING + 1],
}

impl Finder {
    /// Begins with another text.
    pub(super) fn begin(&mut self) {
        self.edits.clear();
        self.learned.begin();
    }

    /// Borrows the buffer for decoded strings at `depth`; it is given back by
    /// [`Finder::give_back`].
    pub(super) fn buffer(&mut self, depth: usize) -> Vec<u8> {
        let mut buffer = self
            .scratch
            .get_mut(depth)
            .map(std::mem::take)
            .unwrap_or_default();
        buffer.clear();
        buffer
    }

    pub(super) fn give_back(&mut self, depth: usize, buffer: Vec<u8>) {
        // One huge string must not keep its memory for the rest of the tape.
        if buffer.capacity() <= LARGEST_KEPT
            && let Some(place) = self.scratch.get_mut(depth)
        {
            *place = buffer;
        }
    }
}

/// The depth to which JSON in strings is followed.
pub(super) const MAX_NESTING: usize = 4;

const LARGEST_KEPT: usize = 1 << 20;
