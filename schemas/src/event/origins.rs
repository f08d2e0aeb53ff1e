//! Where messages come from, for recordings that do not say it themselves.

use std::collections::{HashMap, VecDeque};

use super::{ConduitId, Direction, Event, EventBody, MessageCount, MessageNumber};

/// Gives messages their numbers, and faults the message before them, where a recording
/// says neither: a tape of format 1, a cassette, a script.
#[derive(Debug, Default)]
pub struct Origins {
    counts: HashMap<(ConduitId, Direction), MessageCount>,
    // Conduits on which nothing more comes, but perhaps a word about what came.
    closing: VecDeque<ConduitId>,
}

/// How many directions are followed at once; messages of others have no number.
const LIMIT: usize = 65_536;
/// How many conduits are remembered after their end.
const CLOSING: usize = 256;

impl Origins {
    /// Completes the next event.
    pub fn complete(&mut self, event: &mut Event) {
        let place = (event.conduit, event.dir);
        match &mut event.body {
            EventBody::Message { origin, .. } if origin.number.is_none() => {
                let fits = self.counts.len() < LIMIT || self.counts.contains_key(&place);
                if fits {
                    origin.number = self.counts.entry(place).or_default().next();
                }
            }
            EventBody::Faulted(faulted) => {
                let what = &faulted.effect.what;
                if faulted.message.is_none() && !what.is_sequel() && what.is_about_a_message() {
                    faulted.message = self.last(place.0, place.1);
                }
            }
            EventBody::Closed(_) if event.dir == Direction::ToClient => self.close(event.conduit),
            _ => {}
        }
    }

    /// The number of the last message of a direction.
    #[must_use]
    pub fn last(&self, conduit: ConduitId, dir: Direction) -> Option<MessageNumber> {
        self.counts.get(&(conduit, dir))?.last()
    }

    fn close(&mut self, conduit: ConduitId) {
        self.closing.push_back(conduit);
        if self.closing.len() > CLOSING
            && let Some(oldest) = self.closing.pop_front()
        {
            for dir in [Direction::ToServer, Direction::ToClient] {
                self.counts.remove(&(oldest, dir));
            }
        }
    }
}
