//! Turns what a kind does into a decision about a message, for any transport.

use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::event::{self, Direction, Offset, Release, Unable, What};

use super::act::{Act, Call, CutAt, Move, Until};
use super::carried::Carried;
use super::fault_set::{FaultSet, Hit, NoTicket};
use super::memory::{Key, Memory};
use crate::outbox::after;
use crate::policy::{Decision, Hold, Step, Ticket, Verdict};

/// What happens to a held message when its time has come.
const DUE: Hold = Hold::Over(Release::Due);

/// A fault, and the message that it acts on.
#[derive(Clone, Copy, Debug)]
pub struct FaultMatch<'a> {
    /// The active faults.
    pub fault_set: &'a FaultSet,
    /// When the message arrived.
    pub now: Offset,
    /// Its direction.
    pub dir: Direction,
    /// The message.
    pub carried: &'a Carried,
    /// The fault.
    pub chosen: &'a Chosen,
}

/// A fault, and the id of the request that it acts on.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub(super) hit: Hit,
    pub(super) key: Option<Key>,
    pub(super) id: Option<Vec<u8>>,
    pub(super) cancelled: bool,
}

impl Chosen {
    /// A fault, and the source text of the id of the request that it acts on.
    #[must_use]
    pub fn new(hit: Hit, id: Option<Vec<u8>>) -> Self {
        Self {
            hit,
            key: None,
            id,
            cancelled: false,
        }
    }
}

impl FaultMatch<'_> {
    /// The decision about the message.
    pub fn decide(&self, memory: &mut Memory) -> Decision {
        self.carry_out(memory, self.act())
    }

    /// What the fault does.
    #[must_use]
    pub fn act(&self) -> Act {
        let hit = &self.chosen.hit;
        (hit.kind().act)(&Call {
            kind: hit.kind(),
            values: hit.values(),
            random: hit.random,
            text: self.carried.text(),
            end: self.carried.end(),
            id: self.chosen.id.as_deref(),
        })
    }

    /// The decision that carries out an act.
    pub fn carry_out(&self, memory: &mut Memory, act: Act) -> Decision {
        let done = match self.give(&act) {
            Some(given) => Ok(given),
            None => self.verdict(memory, act),
        };
        let (verdict, what) = done.unwrap_or_else(|why| {
            let why = match why {
                NoTicket::Removed => Unable::Removed,
                NoTicket::TooMany => Unable::TooMany,
            };
            (Verdict::Pass, What::NotDone { why })
        });
        Decision {
            releases: false,
            effect: Some(self.chosen.hit.effect(what)),
            verdict,
        }
    }

    fn verdict(&self, memory: &mut Memory, act: Act) -> Result<(Verdict, What), NoTicket> {
        Ok(match act {
            Act::Cut(at) => (self.cut(at), cut(at)),
            Act::Delay { time, in_order } => self.delay(memory, time, in_order)?,
            Act::Drop => (Verdict::Drop, What::Dropped { too_many: false }),
            Act::Hold(until) => self.hold(memory, until)?,
            Act::HoldAll { cut_after } => {
                let then = cut_after.map_or(DUE, |_| Hold::Cut);
                let due = cut_after.map(|time| after(self.now, time));
                let ticket = self.ticket(due, Hold::Lasting, then)?;
                let cut_after = cut_after.map(|time| after(Offset(0), time));
                (self.behind(Step::Hold(ticket)), What::HeldAll { cut_after })
            }
            Act::Play { moves, what } => (self.play(moves), what),
            Act::Precede(line) => (sends(self.carried.behind_line(&line)), What::Preceded),
            Act::Repeat(times) => (sends(self.carried.again(times)), repeated(times)),
            Act::Stall(time) => {
                let due = time.map(|time| after(self.now, time));
                let ticket = self.ticket(due, Hold::Passing, DUE)?;
                let time = time.map(|time| after(Offset(0), time));
                (self.behind(Step::Stall(ticket)), What::Stalled { time })
            }
            // It replaces a response, not a message.
            Act::Status { .. } => {
                let why = Unable::NoHttp;
                (Verdict::Pass, What::NotDone { why })
            }
        })
    }

    fn delay(
        &self,
        memory: &mut Memory,
        time: Duration,
        in_order: bool,
    ) -> Result<(Verdict, What), NoTicket> {
        let mut due = after(self.now, time);
        if in_order {
            due = memory.in_order(self.dir, due);
        }
        // A delay ends with its fault, or on its own.
        let ticket = self.ticket(Some(due), Hold::Passing, DUE)?;
        let by = due.since(self.now);
        let due = Some(due);
        Ok((Verdict::Hold { ticket, due }, What::Delayed { by }))
    }

    fn hold(&self, memory: &mut Memory, until: Until) -> Result<(Verdict, What), NoTicket> {
        let cancelled = self.chosen.cancelled;
        let (due, before, told) = match until {
            Until::Removed => (None, Hold::Lasting, event::Until::Removed),
            Until::Next(within) => {
                let due = after(self.now, within);
                (Some(due), Hold::Passing, event::Until::Next)
            }
            Until::Cancelled(wait) => {
                let due = cancelled.then(|| after(self.now, wait));
                (due, Hold::Passing, event::Until::Cancelled)
            }
        };
        let ticket = match self.ticket(due, before, DUE) {
            // To its client, a dropped request is like a held one.
            Err(NoTicket::TooMany) if before == Hold::Lasting => {
                return Ok((Verdict::Drop, What::Dropped { too_many: true }));
            }
            other => other?,
        };
        match (until, self.chosen.key) {
            (Until::Next(_), _) => memory.until_next(self.dir, ticket),
            (Until::Cancelled(wait), Some(key)) if !cancelled => {
                memory.until_cancelled(self.fault_set, key, ticket, wait);
            }
            (Until::Cancelled(_), _) => {
                if let Some(due) = due {
                    self.fault_set.due(ticket, due, Release::Cancelled);
                }
            }
            (Until::Removed, _) => {}
        }
        Ok((Verdict::Hold { ticket, due }, What::Held { until: told }))
    }

    /// Moves that replace the message, within its frame.
    fn play(&self, moves: Vec<Move>) -> Verdict {
        let waits = self.waits(&moves);
        let step = |one| match one {
            Move::Step(Step::Wait { time, .. }) => Some(Step::Wait {
                time,
                ticket: waits,
            }),
            Move::Step(step) => Some(step),
            Move::Hold => {
                let ticket = self.ticket(None, Hold::Lasting, DUE);
                ticket.ok().map(Step::Hold)
            }
        };
        let before = self.carried.before().map(Step::Send);
        let behind = self.carried.behind().map(Step::Send);
        let moves = moves.into_iter().filter_map(step);
        Verdict::Play(before.into_iter().chain(moves).chain(behind).collect())
    }

    fn cut(&self, at: CutAt) -> Verdict {
        let carried = self.carried;
        let sent = match at {
            CutAt::Before => vec![],
            CutAt::Head => carried.before().into_iter().collect(),
            CutAt::Mid => {
                let half = carried.text().slice(..carried.text().len() / 2);
                carried.before().into_iter().chain([half]).collect()
            }
            CutAt::After => vec![carried.whole().clone()],
        };
        let steps = sent.into_iter().map(Step::Send);
        Verdict::Play(steps.chain([Step::Cut]).collect())
    }

    /// The ticket for the waits among these moves, which end with their fault.
    fn waits(&self, moves: &[Move]) -> Option<Ticket> {
        let wait = |one: &Move| match one {
            Move::Step(Step::Wait { time, .. }) => Some(*time),
            _ => None,
        };
        let all = moves
            .iter()
            .filter_map(wait)
            .reduce(Duration::saturating_add)?;
        let due = Some(after(self.now, all));
        self.ticket(due, Hold::Passing, DUE).ok()
    }

    /// The message, after a step that delays it and everything after it.
    fn behind(&self, step: Step) -> Verdict {
        Verdict::Play(vec![step, Step::Send(self.carried.whole().clone())])
    }

    fn ticket(&self, due: Option<Offset>, before: Hold, then: Hold) -> Result<Ticket, NoTicket> {
        self.fault_set.ticket(&self.chosen.hit, due, before, then)
    }
}

fn sends(pieces: Vec<Bytes>) -> Verdict {
    Verdict::Play(pieces.into_iter().map(Step::Send).collect())
}

pub(super) fn cut(at: CutAt) -> What {
    What::Cut {
        all: at == CutAt::After,
    }
}

pub(super) fn repeated(times: u8) -> What {
    What::Repeated {
        times: u64::from(times),
    }
}
