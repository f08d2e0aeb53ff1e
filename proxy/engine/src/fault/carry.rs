//! From what a kind does to what a lane does.

use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::event::{self, Direction, Offset, Release, Unable, What};

use super::act::{Act, Move, Until};
use super::book::{Book, NoTicket};
use super::conversation::{Chosen, Conversation};
use crate::outbox::after;
use crate::policy::{Hold, Step, Ticket, Verdict};

/// What becomes of what is held when its time has come.
const DUE: Hold = Hold::Over(Release::Due);
/// How many tickets are kept before those that are over are forgotten.
const MOST_TICKETS: usize = 1_024;

/// The message that a fault acts on, and where.
pub(super) struct Scene<'a> {
    pub(super) book: &'a Book,
    pub(super) now: Offset,
    pub(super) dir: Direction,
    pub(super) line: &'a Bytes,
    pub(super) chosen: &'a Chosen,
}

impl Scene<'_> {
    /// The verdict of an act, and what the tape says of it.
    pub(super) fn carry_out(&self, talk: &mut Conversation, act: Act) -> (Verdict, What) {
        if let Some(given) = self.give(&act) {
            return given;
        }
        match act {
            Act::Delay { time, in_order } => self.delay(talk, time, in_order),
            Act::Drop => (Verdict::Drop, What::Dropped { too_many: false }),
            Act::Hold(until) => self.hold(talk, until),
            Act::HoldAll { cut_after } => {
                let then = cut_after.map_or(DUE, |_| Hold::Cut);
                let due = cut_after.map(|time| after(self.now, time));
                let what = What::HeldAll {
                    cut_after: cut_after.map(|time| after(Offset(0), time)),
                };
                match self.ticket(talk, due, Hold::Lasting, then) {
                    Ok(ticket) => (self.behind(Step::Hold(ticket)), what),
                    Err(why) => passed(why),
                }
            }
            Act::Play { moves, what } => {
                let waits = self.waits(talk, &moves);
                let step = |one| match one {
                    Move::Step(Step::Wait { time, .. }) => Some(Step::Wait {
                        time,
                        ticket: waits,
                    }),
                    Move::Step(step) => Some(step),
                    Move::Hold => {
                        let ticket = self.ticket(talk, None, Hold::Lasting, DUE);
                        ticket.ok().map(Step::Hold)
                    }
                };
                let steps = moves.into_iter().filter_map(step).collect();
                (Verdict::Play(steps), what)
            }
            Act::Precede(line) => {
                let ours = Bytes::from([&line[..], b"\n"].concat());
                let steps = vec![Step::Send(ours), Step::Send(self.line.clone())];
                (Verdict::Play(steps), What::Preceded)
            }
            Act::Repeat(times) => (Verdict::Repeat(times), repeated(times)),
            Act::Stall(time) => {
                let due = time.map(|time| after(self.now, time));
                let what = What::Stalled {
                    time: time.map(|time| after(Offset(0), time)),
                };
                match self.ticket(talk, due, Hold::Passing, DUE) {
                    Ok(ticket) => (self.behind(Step::Stall(ticket)), what),
                    Err(why) => passed(why),
                }
            }
            // Refused by the book where HTTP is not spoken.
            Act::Status { .. } => {
                let why = Unable::NoHttp;
                (Verdict::Pass, What::NotDone { why })
            }
        }
    }

    fn delay(&self, talk: &mut Conversation, time: Duration, in_order: bool) -> (Verdict, What) {
        let mut due = after(self.now, time);
        if in_order && let Some(last) = talk.last_due.get_mut(self.dir as usize) {
            due = due.max(*last);
            *last = due;
        }
        // A delay ends with its fault, or by itself.
        match self.ticket(talk, Some(due), Hold::Passing, DUE) {
            Ok(ticket) => {
                let by = due.since(self.now);
                let due = Some(due);
                (Verdict::Hold { ticket, due }, What::Delayed { by })
            }
            Err(why) => passed(why),
        }
    }

    fn hold(&self, talk: &mut Conversation, until: Until) -> (Verdict, What) {
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
        let ticket = match self.ticket(talk, due, before, DUE) {
            Ok(ticket) => ticket,
            // Nobody would wait for it in vain any longer than for one that is held.
            Err(NoTicket::TooMany) if before == Hold::Lasting => {
                return (Verdict::Drop, What::Dropped { too_many: true });
            }
            Err(why) => return passed(why),
        };
        match (until, &self.chosen.key) {
            (Until::Next(_), _) => {
                if let Some(next) = talk.until_next.get_mut(self.dir as usize) {
                    next.push(ticket);
                }
            }
            (Until::Cancelled(wait), Some(key)) if !cancelled => {
                // What was let go otherwise is of no use any more.
                if talk.until_cancelled.len() >= MOST_TICKETS.max(talk.live_cancelled * 2) {
                    let known = |(ticket, _): &(Ticket, Duration)| self.book.knows(*ticket);
                    talk.until_cancelled.retain(|_, held| known(held));
                    talk.live_cancelled = talk.until_cancelled.len();
                }
                talk.until_cancelled.insert(*key, (ticket, wait));
            }
            (Until::Cancelled(_), _) => {
                if let Some(due) = due {
                    self.book.due(ticket, due, Release::Cancelled);
                }
            }
            _ => {}
        }
        (Verdict::Hold { ticket, due }, What::Held { until: told })
    }

    /// Under which the waits among these moves stand: they end with their fault.
    fn waits(&self, talk: &mut Conversation, moves: &[Move]) -> Option<Ticket> {
        let wait = |one: &Move| match one {
            Move::Step(Step::Wait { time, .. }) => Some(*time),
            _ => None,
        };
        let all = moves
            .iter()
            .filter_map(wait)
            .reduce(Duration::saturating_add)?;
        let due = Some(after(self.now, all));
        self.ticket(talk, due, Hold::Passing, DUE).ok()
    }

    /// The message, behind a step that makes it and all that follows wait.
    fn behind(&self, step: Step) -> Verdict {
        Verdict::Play(vec![step, Step::Send(self.line.clone())])
    }

    fn ticket(
        &self,
        talk: &mut Conversation,
        due: Option<Offset>,
        before: Hold,
        then: Hold,
    ) -> Result<Ticket, NoTicket> {
        let ticket = self.book.ticket(&self.chosen.hit, due, before, then);
        // Most tickets are over soon; the list must not grow with the session.
        if talk.tickets.len() >= MOST_TICKETS.max(talk.live_tickets * 2) {
            talk.tickets.retain(|ticket| self.book.knows(*ticket));
            talk.live_tickets = talk.tickets.len();
        }
        talk.tickets.extend(ticket.ok());
        ticket
    }
}

/// What is done when nothing can be held.
fn passed(why: NoTicket) -> (Verdict, What) {
    let why = match why {
        NoTicket::Removed => Unable::Removed,
        NoTicket::TooMany => Unable::TooMany,
    };
    (Verdict::Pass, What::NotDone { why })
}

pub(super) fn repeated(times: u8) -> What {
    What::Repeated {
        times: u64::from(times),
    }
}
