//! What a fault makes of an answer: of a whole body, or of one event of a stream.

use std::sync::Arc;
use std::time::Duration;

use tapewright_engine::fault::{Act, Call, Move, Until, after};
use tapewright_engine::policy::{Hold, Step, Ticket};
use tapewright_schemas::event::{self, Effect, Offset, Unable, What};

use super::carried::Carried;
use super::hold::{DUE, Held, wait};
use super::leaving::Leaving;
use super::{Aimed, Scene};

/// What the client gets in place of an answer, or later.
pub(super) enum Outcome {
    /// The connection ends.
    Cut,
    /// Nothing.
    Nothing,
    /// The answer, now.
    Pass,
    /// These moves.
    Play(Vec<Move>),
}

/// Something that is held, and what the tape is told when that ends.
pub(super) struct Kept {
    held: Held,
    leaving: Leaving,
    // The tape knows when it is due.
    is_foreseen: bool,
}

impl Kept {
    pub(super) fn ticket(&self) -> Ticket {
        self.held.ticket()
    }

    /// It is passed on; the tape is told where it could not know when.
    pub(super) fn passed(self, over: Hold) {
        if self.is_foreseen && over == DUE {
            self.leaving.in_time();
        } else {
            self.leaving.over(over);
        }
    }
}

impl Aimed {
    /// What the fault does to this text.
    pub(super) fn act(&self, text: &[u8]) -> Act {
        let hit = &self.hit;
        (hit.kind().act)(&Call {
            kind: hit.kind(),
            values: hit.values(),
            dice: hit.dice,
            text,
            end: b"",
            id: Some(&self.id),
        })
    }
}

impl Scene {
    /// Acts on an answer, for as long as that takes.
    pub(super) async fn act(&self, aimed: &Aimed, answer: &Carried) -> Outcome {
        if !self.book().is_in_force(&aimed.hit) {
            return Outcome::Pass;
        }
        match aimed.act(answer.text()) {
            Act::Delay { time, .. } => {
                self.delay(aimed, time).await;
                Outcome::Pass
            }
            Act::Hold(Until::Removed) => {
                if let Some(held) = self.held(aimed) {
                    self.hold(held).await;
                }
                Outcome::Pass
            }
            Act::HoldAll { cut_after } => {
                if self.hold_all(aimed, cut_after).await {
                    Outcome::Pass
                } else {
                    Outcome::Cut
                }
            }
            Act::Drop => {
                self.tell(aimed, What::Dropped { too_many: false });
                Outcome::Nothing
            }
            Act::Repeat(times) => {
                let more = u64::from(times);
                self.tell(aimed, What::Repeated { times: more });
                Outcome::Play(vec![Move::send(answer.again(times))])
            }
            Act::Precede(line) => {
                self.tell(aimed, What::Preceded);
                Outcome::Play(vec![Move::send(answer.behind_line(&line))])
            }
            Act::Play { moves, what } => {
                self.tell(aimed, what);
                let hit = &aimed.hit;
                let at = hit.values().text(hit.kind(), "at");
                if at == "before" {
                    return Outcome::Cut;
                }
                let cut = moves.iter().position(|one| *one == Move::Step(Step::Cut));
                let mut all = moves;
                match cut {
                    None => all.push(Move::send(answer.behind())),
                    // An event is over with the blank line behind it.
                    Some(cut) if at == "after" => all.insert(cut, Move::send(answer.behind())),
                    Some(_) => {}
                }
                all.insert(0, Move::send(answer.before()));
                Outcome::Play(all)
            }
            Act::Status { .. } => {
                self.not_done(aimed, Unable::HasBegun);
                Outcome::Pass
            }
            // Refused by the book.
            Act::Hold(_) | Act::Stall(_) => Outcome::Pass,
        }
    }

    /// Waits for a time, or until the fault is taken away.
    pub(super) async fn delay(&self, aimed: &Aimed, time: Duration) {
        let due = after(self.now(), time);
        if let Some(held) = self.delayed(aimed, time, due) {
            let over = wait(&self.gateway, held.ticket(), Some(due)).await;
            held.passed(over);
        }
    }

    /// What is held for a time.
    pub(super) fn delayed(&self, aimed: &Aimed, time: Duration, due: Offset) -> Option<Kept> {
        let by = after(Offset(0), time);
        self.tell(aimed, What::Delayed { by });
        let (book, hit) = (self.book(), &aimed.hit);
        let held = Held::new(book, hit, Some(due), Hold::Passing, DUE)?;
        Some(Kept {
            held,
            leaving: self.leaving(aimed),
            is_foreseen: true,
        })
    }

    /// What is held until the fault is taken away.
    pub(super) fn held(&self, aimed: &Aimed) -> Option<Kept> {
        let held = Held::new(self.book(), &aimed.hit, None, Hold::Lasting, DUE)?;
        let until = event::Until::Removed;
        self.tell(aimed, What::Held { until });
        Some(Kept {
            held,
            leaving: self.leaving(aimed),
            is_foreseen: false,
        })
    }

    /// Waits until the fault is taken away.
    pub(super) async fn hold(&self, kept: Kept) {
        let over = wait(&self.gateway, kept.ticket(), None).await;
        kept.passed(over);
    }

    /// Waits, and lets all that follows in the session wait; whether the response passes.
    async fn hold_all(&self, aimed: &Aimed, cut_after: Option<Duration>) -> bool {
        let due = cut_after.map(|time| after(self.now(), time));
        let then = due.map_or(DUE, |_| Hold::Cut);
        let Some(held) = Held::new(self.book(), &aimed.hit, due, Hold::Lasting, then) else {
            return true;
        };
        let cut_after = cut_after.map(|time| after(Offset(0), time));
        self.tell(aimed, What::HeldAll { cut_after });
        let held = Arc::new(held);
        if !self.gateway.wedges.add(self.talk.clone(), &held) {
            let why = Unable::TooManyWedged;
            self.note(Effect::plain(What::NotDone { why }), None);
        }
        let leaving = self.leaving(aimed);
        let over = wait(&self.gateway, held.ticket(), due).await;
        if over != Hold::Cut {
            leaving.over(over);
            return true;
        }
        // Those that wait behind it hold it themselves until they have seen the cut.
        self.gateway.wedges.remove(&self.talk, &held);
        leaving.cut();
        false
    }
}
