//! From what a kind does to what a lane does.

use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::event::{Direction, Offset};

use super::act::{Act, Move, Until};
use super::book::{Book, NoTicket};
use super::conversation::{Chosen, Conversation};
use crate::outbox::after;
use crate::policy::{Hold, Step, Ticket, Verdict};

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
    pub(super) fn carry_out(&self, talk: &mut Conversation, act: Act) -> (Verdict, String) {
        if let Some(given) = self.give(&act) {
            return given;
        }
        match act {
            Act::Delay { time, in_order } => self.delay(talk, time, in_order),
            Act::Drop => (Verdict::Drop, "dropped".to_owned()),
            Act::Hold(until) => self.hold(talk, until),
            Act::HoldAll { cut_after } => {
                let then = cut_after.map_or(Hold::Over, |_| Hold::Cut);
                let due = cut_after.map(|time| after(self.now, time));
                let what = match cut_after {
                    None => "held, with all that follows".to_owned(),
                    Some(time) => format!(
                        "held, with all that follows, and cut after {} ms",
                        time.as_millis()
                    ),
                };
                match self.ticket(talk, due, Hold::Lasting, then) {
                    Ok(ticket) => (self.behind(Step::Hold(ticket)), what),
                    Err(why) => passed(why),
                }
            }
            Act::Play(moves) => {
                let what = told(&moves, self.chosen.hit.kind().name);
                let waits = self.waits(talk, &moves);
                let step = |one| match one {
                    Move::Step(Step::Wait { time, .. }) => Some(Step::Wait {
                        time,
                        ticket: waits,
                    }),
                    Move::Step(step) => Some(step),
                    Move::Hold => {
                        let ticket = self.ticket(talk, None, Hold::Lasting, Hold::Over);
                        ticket.ok().map(Step::Hold)
                    }
                };
                let steps = moves.into_iter().filter_map(step).collect();
                (Verdict::Play(steps), what)
            }
            Act::Precede(line) => {
                let ours = Bytes::from([&line[..], b"\n"].concat());
                let steps = vec![Step::Send(ours), Step::Send(self.line.clone())];
                (Verdict::Play(steps), "a line of ours before it".to_owned())
            }
            Act::Repeat(times) => (Verdict::Repeat(times), format!("repeated {times} times")),
            Act::Stall(time) => {
                let due = time.map(|time| after(self.now, time));
                let what = "held, and nothing more is read from the sender".to_owned();
                match self.ticket(talk, due, Hold::Passing, Hold::Over) {
                    Ok(ticket) => (self.behind(Step::Stall(ticket)), what),
                    Err(why) => passed(why),
                }
            }
            // Refused by the book where HTTP is not spoken.
            Act::Status { status, .. } => (Verdict::Pass, format!("no HTTP, no status {status}")),
        }
    }

    fn delay(&self, talk: &mut Conversation, time: Duration, in_order: bool) -> (Verdict, String) {
        let mut due = after(self.now, time);
        if in_order && let Some(last) = talk.last_due.get_mut(self.dir as usize) {
            due = due.max(*last);
            *last = due;
        }
        // A delay ends with its fault, or by itself.
        match self.ticket(talk, Some(due), Hold::Passing, Hold::Over) {
            Ok(ticket) => {
                let what = format!("delayed {} ms", due.since(self.now).millis());
                let due = Some(due);
                (Verdict::Hold { ticket, due }, what)
            }
            Err(why) => passed(why),
        }
    }

    fn hold(&self, talk: &mut Conversation, until: Until) -> (Verdict, String) {
        let cancelled = self.chosen.cancelled;
        let (due, before, what) = match until {
            Until::Removed => (None, Hold::Lasting, "held"),
            Until::Next(within) => {
                let due = after(self.now, within);
                let what = "held until the next message has passed";
                (Some(due), Hold::Passing, what)
            }
            Until::Cancelled(wait) => {
                let due = cancelled.then(|| after(self.now, wait));
                (due, Hold::Passing, "held until it is cancelled")
            }
        };
        let ticket = match self.ticket(talk, due, before, Hold::Over) {
            Ok(ticket) => ticket,
            // Nobody would wait for it in vain any longer than for one that is held.
            Err(NoTicket::TooMany) if before == Hold::Lasting => {
                let what = "dropped: faults hold as many messages as they may";
                return (Verdict::Drop, what.to_owned());
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
                talk.until_cancelled.insert(key.clone(), (ticket, wait));
            }
            _ => {}
        }
        (Verdict::Hold { ticket, due }, what.to_owned())
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
        self.ticket(talk, due, Hold::Passing, Hold::Over).ok()
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
fn passed(why: NoTicket) -> (Verdict, String) {
    let what = match why {
        NoTicket::Removed => "passed on: the fault was removed",
        NoTicket::TooMany => "passed on: faults hold as many messages as they may",
    };
    (Verdict::Pass, what.to_owned())
}

/// What steps amount to, in words.
fn told(moves: &[Move], kind: &str) -> String {
    let sends = |one: &&Move| matches!(one, Move::Step(Step::Send(_)));
    let count = moves.iter().filter(sends).count();
    let cut = moves.iter().any(|one| *one == Move::Step(Step::Cut));
    if cut {
        return "the connection is cut".to_owned();
    }
    if moves.contains(&Move::Hold) {
        return "passed on in part, then held with all that follows".to_owned();
    }
    match kind {
        "exit" => "the server's process is ended in its place".to_owned(),
        "list-change" => "a notification of ours after it".to_owned(),
        "slicer" | "slow-trickle" => format!("passed on in {count} pieces"),
        "stderr-flood" => "lines of ours on standard error before it".to_owned(),
        _ => "another message in its place".to_owned(),
    }
}
