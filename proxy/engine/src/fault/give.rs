//! What becomes of answers to clients that speak HTTP while their server speaks lines.

use bytes::Bytes;
use tapewright_schemas::event::{Direction, What};

use super::act::{Act, Move};
use super::carry::{Scene, repeated};
use crate::policy::{Aside, Given, Message, Step, Verdict};

impl Scene<'_> {
    /// What only HTTP can tell the client, and what the tape says of it; `None` where lines
    /// can.
    pub(super) fn give(&self, act: &Act) -> Option<(Verdict, What)> {
        let asked = self.chosen.key.as_ref().map(|(dir, _)| *dir);
        let is_answer = self.dir == Direction::ToClient && asked == Some(Direction::ToServer);
        if !self.book.serves_http() || !is_answer {
            return None;
        }
        let line = Message::text_of(self.line);
        let (given, what) = match act {
            Act::Precede(noise) => (Given::Behind(noise.clone()), What::Preceded),
            Act::Repeat(times) => (Given::Again(*times), repeated(*times)),
            Act::Status {
                status,
                retry_after,
            } => (
                Given::Status {
                    status: *status,
                    retry_after: *retry_after,
                },
                What::Answered { status: *status },
            ),
            Act::Play { moves, .. } if moves.contains(&Move::Step(Step::Cut)) => {
                let hit = &self.chosen.hit;
                let length = match hit.values().text(hit.kind(), "at") {
                    "head" => Some(0),
                    "mid" => Some(line.len() / 2),
                    "after" => Some(line.len()),
                    _ => None,
                };
                (Given::Cut(length), What::Cut)
            }
            _ => return None,
        };
        let line = Bytes::copy_from_slice(line);
        let step = Step::Aside(Aside::Answer { line, given });
        Some((Verdict::Play(vec![step]), what))
    }
}
