//! Faults that act on answers to clients that use HTTP while their server uses lines.

use tapewright_schemas::event::{Direction, What};

use super::act::{Act, CutAt, Move};
use super::carry::{FaultMatch, cut, repeated};
use crate::policy::{Delivery, Message, SideAction, Step, Verdict};

impl FaultMatch<'_> {
    /// The verdict for an act that needs HTTP, and its effect on the tape; `None` if lines can
    /// express it.
    pub(super) fn give(&self, act: &Act) -> Option<(Verdict, What)> {
        let asked = self.chosen.key.as_ref().map(|(dir, _)| *dir);
        let is_answer = self.dir == Direction::ToClient && asked == Some(Direction::ToServer);
        if !self.fault_set.serves_http() || !is_answer {
            return None;
        }
        let line = self.carried.text();
        let (given, what) = match act {
            Act::Precede(noise) => (Delivery::Behind(noise.clone()), What::Preceded),
            Act::Repeat(times) => (Delivery::Again(*times), repeated(*times)),
            Act::Status {
                status,
                retry_after,
            } => (
                Delivery::Status {
                    status: *status,
                    retry_after: *retry_after,
                },
                What::Answered { status: *status },
            ),
            Act::Cut(at) => {
                let length = match at {
                    CutAt::Before => None,
                    CutAt::Head => Some(0),
                    CutAt::Mid => Some(line.len() / 2),
                    CutAt::After => Some(line.len()),
                };
                (Delivery::Cut(length), cut(*at))
            }
            Act::Play { moves, what } if what.keeps_back() => {
                let [Move::Step(Step::Send(text))] = moves.as_slice() else {
                    return None;
                };
                let length = Message::text_of(text).len();
                (Delivery::Instead(text.slice(..length)), what.clone())
            }
            _ => return None,
        };
        let line = line.clone();
        let step = Step::Side(SideAction::Answer { line, given });
        Some((Verdict::Play(vec![step]), what))
    }
}
