//! Holds back the messages of one direction, and determines the order in which they leave. Carries
//! out all decisions about messages, for all carriers.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tapewright_schemas::event::{Effect, FaultRef, Faulted, MessageNumber, Offset, Release, What};

use crate::policy::{Decision, Hold, Holds, SideAction, Step, Ticket, Verdict};

/// The maximum that one direction holds back before it stops reading, in bytes.
const HELD_LIMIT_BYTES: usize = 64 << 20;

/// The maximum size of one write that joins messages due at the same time, in bytes.
const JOINED_BYTES: usize = 64 << 10;

/// How often tickets are checked: the removal of a fault takes effect within this time.
const LOOK: Duration = Duration::from_millis(5);

/// Holds back the messages of one direction in two ways: until a ticket is over, and after steps
/// that are carried out one after the other.
///
/// The driver adds messages ([`take`](Self::take)), advances the time ([`turn`](Self::turn)), and
/// then takes the effects to record ([`told`](Self::told)) and the bytes to send
/// ([`front`](Self::front)).
#[derive(Debug, Default)]
pub struct Outbox {
    // Bytes that may leave now.
    ready: VecDeque<Bytes>,
    // Messages held under a ticket: by due time and order, or by order alone if there is no due
    // time.
    timed: BTreeMap<(Offset, u64), HeldMessage>,
    lasting: BTreeMap<u64, HeldMessage>,
    order: u64,
    // The policy's count of changes at the last check.
    seen: u64,
    // What to record when something is released.
    notes: HashMap<Ticket, Note>,
    told: VecDeque<Box<Faulted>>,
    steps: VecDeque<Step>,
    // The end of the wait at the front of the steps, and of the last one: the delays of consecutive
    // waits must not accumulate.
    waits_until: Option<Offset>,
    waited_until: Option<Offset>,
    // All held bytes.
    weight: usize,
    asides: VecDeque<SideAction>,
}

/// A held message, and since when.
#[derive(Clone, Debug)]
struct Note {
    fault: Option<FaultRef>,
    message: Option<MessageNumber>,
    // Everything after it waits as well.
    all: bool,
    since: Offset,
    // The tape already has the time of the release; only a deviation is recorded.
    is_foreseen: bool,
}

impl Note {
    fn ended(self, what: What) -> Faulted {
        let fault = self.fault;
        Faulted {
            message: self.message,
            effect: Effect { fault, what },
        }
    }
}

/// A message that is held under a ticket.
#[derive(Debug)]
struct HeldMessage {
    ticket: Ticket,
    bytes: Bytes,
}

impl Outbox {
    /// Adds a message with its decision and the bytes of it that are still to be sent. The effects
    /// to record are immediately available from [`told`](Self::told).
    pub fn take(
        &mut self,
        now: Offset,
        number: Option<MessageNumber>,
        decision: Decision,
        message: Bytes,
    ) {
        let ticket = decision.ticket();
        let Decision {
            verdict, effect, ..
        } = decision;
        if verdict != Verdict::Drop
            && let Some(behind) = self.behind()
        {
            self.told.push_back(behind.about(number));
        }
        if let Some(effect) = effect {
            // The release is recorded, unless its time is already recorded.
            let note = Note {
                fault: effect.fault.clone(),
                message: number,
                all: matches!(verdict, Verdict::Play(_)),
                since: now,
                is_foreseen: !effect.what.keeps_back(),
            };
            self.notes.extend(ticket.map(|ticket| (ticket, note)));
            self.told.push_back(effect.about(number));
        }
        match verdict {
            Verdict::Drop => {}
            Verdict::Hold { ticket, due } => self.hold(ticket, due, message),
            Verdict::Pass => self.send(message),
            Verdict::Play(steps) => self.play(steps),
        }
    }

    /// Makes everything from now on wait for this ticket of a fault, which is held elsewhere; one
    /// share of it is returned when it is over.
    pub fn wait_for(&mut self, now: Offset, ticket: Ticket, fault: Option<FaultRef>) {
        let note = Note {
            fault,
            message: None,
            all: true,
            since: now,
            is_foreseen: false,
        };
        self.notes.insert(ticket, note);
        self.steps.push_back(Step::Hold(ticket));
    }

    /// Whether new messages wait for this ticket.
    #[must_use]
    pub fn waits_for(&self, ticket: Ticket) -> bool {
        self.steps
            .iter()
            .filter_map(Step::ticket)
            .any(|one| one == ticket)
    }

    /// Releases what has waited long enough; returns true if the direction is to end.
    pub fn turn<H: Holds>(&mut self, now: Offset, holds: &H) -> bool {
        self.release(now, holds);
        self.advance(now, holds)
    }

    /// Whether nothing is held and nothing is to be sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.holds_nothing()
    }

    /// Whether nothing is held.
    #[must_use]
    pub fn holds_nothing(&self) -> bool {
        self.timed.is_empty() && self.lasting.is_empty() && self.steps.is_empty()
    }

    /// Whether steps are in progress, so that nothing else may leave.
    pub(crate) fn is_playing(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Whether reading from the sender is suspended.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        matches!(self.steps.front(), Some(Step::Stall(_))) || self.weight > HELD_LIMIT_BYTES
    }

    /// Sends bytes after those already queued.
    pub(crate) fn send(&mut self, bytes: Bytes) {
        if bytes.is_empty() {
            return;
        }
        if self.steps.is_empty() {
            self.ready.push_back(bytes);
        } else {
            let step = Step::Send(bytes);
            self.weight += weight(&step);
            self.steps.push_back(step);
        }
    }

    /// Sends bytes before everything held, because their beginning was already sent.
    pub(crate) fn send_first(&mut self, bytes: Bytes) {
        if !bytes.is_empty() {
            self.ready.push_back(bytes);
        }
    }

    fn hold(&mut self, ticket: Ticket, due: Option<Offset>, bytes: Bytes) {
        self.weight += bytes.len() + OVERHEAD;
        self.order += 1;
        self.keep(self.order, due, HeldMessage { ticket, bytes });
    }

    /// The next effect to record.
    pub fn told(&mut self) -> Option<Box<Faulted>> {
        self.told.pop_front()
    }

    /// The effect for new messages that wait for another one, if they do. From now on the end of
    /// that wait is recorded, since it ends theirs as well.
    fn behind(&mut self) -> Option<Effect> {
        let ticket = self.steps.iter().find_map(Step::ticket)?;
        let note = self.notes.get_mut(&ticket)?;
        note.is_foreseen = false;
        let (fault, holder) = (note.fault.clone(), note.message);
        let what = What::Behind { holder };
        Some(Effect { fault, what })
    }

    /// Replaces a message by these steps.
    fn play(&mut self, steps: Vec<Step>) {
        self.weight += steps.iter().map(weight).sum::<usize>();
        self.steps.extend(steps);
    }

    /// The next bytes to send; empty if only the head of a response is to be sent.
    #[must_use]
    pub fn front(&self) -> Option<&Bytes> {
        self.ready.front()
    }

    /// Removes the bytes at the front after they were sent.
    pub fn pop(&mut self) -> Option<Bytes> {
        self.ready.pop_front()
    }

    pub(crate) fn aside(&mut self) -> Option<SideAction> {
        self.asides.pop_front()
    }

    /// Carries out the steps that are due; returns true if the direction is to end.
    pub(crate) fn advance<H: Holds>(&mut self, now: Offset, policy: &H) -> bool {
        while let Some(step) = self.steps.front().cloned() {
            match &step {
                Step::Wait { time, ticket } => {
                    let since = self.waited_until.unwrap_or(now);
                    let until = *self.waits_until.get_or_insert(after(since, *time));
                    let hold = ticket.map(|ticket| policy.hold(now, ticket));
                    let why = match hold {
                        _ if until <= now => Release::Due,
                        Some(Hold::Over(why)) => why,
                        _ => return false,
                    };
                    self.waits_until = None;
                    self.waited_until = Some(until.min(now));
                    let is_last = |ticket| {
                        let mut later = self.steps.iter().skip(1).filter_map(Step::ticket);
                        !later.any(|one| one == ticket)
                    };
                    if let Some(ticket) = ticket.filter(|ticket| is_last(*ticket)) {
                        self.over(now, policy, ticket, why);
                    }
                }
                Step::Hold(ticket) | Step::Stall(ticket) => match policy.hold(now, *ticket) {
                    Hold::Over(why) => self.over(now, policy, *ticket, why),
                    Hold::Cut => return true,
                    Hold::Lasting | Hold::Passing => return false,
                },
                Step::Side(_) | Step::Cut | Step::Send(_) => {}
            }
            let Some(step) = self.steps.pop_front() else {
                break;
            };
            self.weight -= weight(&step);
            match step {
                Step::Send(bytes) => self.ready.push_back(bytes),
                Step::Side(aside) => self.asides.push_back(aside),
                Step::Cut => return true,
                Step::Hold(_) | Step::Stall(_) | Step::Wait { .. } => {}
            }
        }
        self.waited_until = None;
        false
    }

    /// Releases what has waited long enough.
    pub(crate) fn release<H: Holds>(&mut self, now: Offset, policy: &H) {
        let mut due = Vec::new();
        let changes = policy.changes();
        if std::mem::replace(&mut self.seen, changes) != changes {
            // Any ticket may be over, or have another time.
            for (order, one) in self.take_held() {
                due.extend(self.look(now, policy, order, one));
            }
        }
        while let Some(first) = self.timed.first_entry()
            && first.key().0 <= now
        {
            let ((_, order), one) = first.remove_entry();
            due.extend(self.look(now, policy, order, one));
        }
        self.let_go(due);
    }

    /// The bytes of a held message if it may leave; otherwise it stays.
    fn look<H: Holds>(
        &mut self,
        now: Offset,
        policy: &H,
        order: u64,
        one: HeldMessage,
    ) -> Option<Bytes> {
        if let Hold::Over(why) = policy.hold(now, one.ticket) {
            self.over(now, policy, one.ticket, why);
            return Some(one.bytes);
        }
        let due = policy.due(one.ticket).filter(|due| *due > now);
        self.keep(order, due, one);
        None
    }

    fn keep(&mut self, order: u64, due: Option<Offset>, one: HeldMessage) {
        match due {
            Some(due) => drop(self.timed.insert((due, order), one)),
            None => drop(self.lasting.insert(order, one)),
        }
    }

    /// Takes everything held under tickets, in the order of arrival.
    fn take_held(&mut self) -> BTreeMap<u64, HeldMessage> {
        let mut all = std::mem::take(&mut self.lasting);
        let timed = std::mem::take(&mut self.timed).into_iter();
        all.extend(timed.map(|((_, order), one)| (order, one)));
        all
    }

    /// At the end of the stream, releases everything that need not be held forever; returns the
    /// number of messages that are not sent.
    pub(crate) fn finish<H: Holds>(&mut self, now: Offset, policy: &H) -> usize {
        let mut lost = 0;
        let steps = std::mem::take(&mut self.steps);
        for HeldMessage { ticket, bytes } in self.take_held().into_values() {
            match policy.hold(now, ticket) {
                Hold::Lasting => {
                    lost += 1;
                    policy.give_back(ticket);
                }
                over => {
                    self.over(now, policy, ticket, at_the_end(over));
                    self.ready.push_back(bytes);
                }
            }
        }
        let mut open = true;
        for step in steps {
            match step {
                Step::Send(bytes) if open => self.ready.push_back(bytes),
                Step::Send(_) => lost += 1,
                Step::Hold(ticket) => {
                    let hold = policy.hold(now, ticket);
                    if matches!(hold, Hold::Lasting | Hold::Cut) {
                        open = false;
                        policy.give_back(ticket);
                    } else {
                        self.over(now, policy, ticket, at_the_end(hold));
                    }
                }
                Step::Cut => open = false,
                Step::Side(aside) => self.asides.push_back(aside),
                Step::Stall(ticket) => policy.give_back(ticket),
                Step::Wait { ticket, .. } => {
                    if let Some(ticket) = ticket {
                        policy.give_back(ticket);
                    }
                }
            }
        }
        self.weight = 0;
        self.notes.clear();
        lost
    }

    /// Gives up everything that is held, since there is no receiver: returns the tickets, and
    /// records what happened to each message, by how long it was held.
    pub fn abandon<H: Holds>(&mut self, now: Offset, holds: &H, what: impl Fn(Offset) -> What) {
        let held = self.take_held();
        let tickets = held.values().map(|held| held.ticket);
        let mut tickets: Vec<Ticket> = tickets
            .chain(self.steps.iter().filter_map(Step::ticket))
            .collect();
        tickets.sort_unstable();
        tickets.dedup();
        for ticket in tickets {
            holds.give_back(ticket);
            if let Some(note) = self.notes.remove(&ticket) {
                let held = now.since(note.since);
                self.told.push_back(Box::new(note.ended(what(held))));
            }
        }
        self.steps.clear();
        self.weight = 0;
    }

    /// Drops everything, since there is no receiver.
    pub(crate) fn clear<H: Holds>(&mut self, holds: &H) {
        for held in self.timed.values().chain(self.lasting.values()) {
            holds.give_back(held.ticket);
        }
        let mut tickets: Vec<Ticket> = self.steps.iter().filter_map(Step::ticket).collect();
        tickets.dedup();
        for ticket in tickets {
            holds.give_back(ticket);
        }
        *self = Self::default();
    }

    /// When something is due, as far as is known.
    #[must_use]
    pub fn due(&self) -> Option<Offset> {
        let step = match self.steps.front() {
            Some(Step::Wait { .. }) => self.waits_until,
            _ => None,
        };
        let due = self.timed.keys().next().map(|(due, _)| *due);
        step.into_iter().chain(due).min()
    }

    /// When to check again.
    pub(crate) fn timeout(&self, now: Offset) -> Option<Offset> {
        let waits = self.steps.front().and_then(Step::ticket).is_some();
        let holds = waits || !self.lasting.is_empty() || !self.timed.is_empty();
        let look = holds.then(|| after(now, LOOK));
        self.due().into_iter().chain(look).min()
    }

    /// Joins what is due at the same time into one write: separate writes would delay the last of
    /// many.
    fn let_go(&mut self, due: Vec<Bytes>) {
        let mut joined = BytesMut::new();
        for bytes in due {
            self.weight -= bytes.len() + OVERHEAD;
            if joined.len() + bytes.len() > JOINED_BYTES {
                self.send(std::mem::take(&mut joined).freeze());
            }
            if bytes.len() > JOINED_BYTES {
                self.send(bytes);
            } else {
                joined.extend_from_slice(&bytes);
            }
        }
        self.send(joined.freeze());
    }

    /// Returns a ticket that is over, and records the release.
    fn over<H: Holds>(&mut self, now: Offset, policy: &H, ticket: Ticket, why: Release) {
        policy.give_back(ticket);
        let note = self.notes.remove(&ticket);
        let in_time = |note: &Note| note.is_foreseen && why == Release::Due;
        if let Some(note) = note.filter(|note| !in_time(note)) {
            let what = What::Released {
                after: now.since(note.since),
                why,
                all: note.all,
            };
            self.told.push_back(Box::new(note.ended(what)));
        }
    }
}

/// Why a message that need not be held forever is forwarded at the end of the stream.
fn at_the_end(hold: Hold) -> Release {
    match hold {
        Hold::Over(why) => why,
        Hold::Cut | Hold::Lasting | Hold::Passing => Release::End,
    }
}

/// The overhead of a held message, in bytes.
const OVERHEAD: usize = 128;

fn weight(step: &Step) -> usize {
    match step {
        Step::Send(bytes) | Step::Side(SideAction::Answer { line: bytes, .. }) => {
            bytes.len() + OVERHEAD
        }
        _ => 0,
    }
}

/// The offset with a duration added.
#[must_use]
pub fn after(at: Offset, time: Duration) -> Offset {
    Offset(at.0.saturating_add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX)))
}
