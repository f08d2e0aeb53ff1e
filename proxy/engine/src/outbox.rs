//! What one direction holds back, and the order in which it leaves.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tapewright_schemas::event::{Effect, FaultRef, Faulted, MessageNumber, Offset, Release, What};

use crate::policy::{Aside, Hold, Policy, Step, Ticket};

/// How much one direction holds back before it stops reading, in bytes.
const HELD_LIMIT_BYTES: usize = 64 << 20;

/// Up to how much of what is due at one time leaves in one write, in bytes.
const JOINED_BYTES: usize = 64 << 10;

/// How often a ticket is looked at: a control that takes a fault away is felt this soon.
const LOOK: Duration = Duration::from_millis(5);

/// What is held back, in three ways: until a time, until a ticket is over, and behind
/// steps that are carried out one after the other.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    // Bytes that may leave now.
    ready: VecDeque<Bytes>,
    // By the time at which it is due and by its order.
    delayed: BTreeMap<(Offset, u64), Bytes>,
    // What is held under a ticket: by the time at which that is due and by their order, and
    // by their order alone where no time is known.
    timed: BTreeMap<(Offset, u64), Held>,
    lasting: BTreeMap<u64, Held>,
    order: u64,
    // The policy's count of changes when they were last looked at.
    seen: u64,
    // What the tape is told when something is let go that had no time of its own.
    notes: HashMap<Ticket, Note>,
    told: VecDeque<Box<Faulted>>,
    steps: VecDeque<Step>,
    // The message whose steps are under way.
    holder: Option<MessageNumber>,
    // When the wait at the front of the steps is over, and when the last one was: waits
    // that follow each other must not add up what each was late.
    waits_until: Option<Offset>,
    waited_until: Option<Offset>,
    // Bytes that are held back, in whatever way.
    weight: usize,
    asides: VecDeque<Aside>,
}

/// What is held until its fault is taken away, and since when.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    /// The fault.
    pub(crate) fault: Option<FaultRef>,
    /// The message.
    pub(crate) message: Option<MessageNumber>,
    /// With it waits all that follows.
    pub(crate) all: bool,
    /// Since when.
    pub(crate) since: Offset,
}

impl Note {
    fn released(self, now: Offset, why: Release) -> Box<Faulted> {
        let what = What::Released {
            after: now.since(self.since),
            why,
            all: self.all,
        };
        let fault = self.fault;
        Effect { fault, what }.about(self.message)
    }
}

/// A message that is held under a ticket.
#[derive(Debug)]
struct Held {
    ticket: Ticket,
    bytes: Bytes,
}

impl Outbox {
    /// Whether nothing is held back and nothing is to leave.
    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.holds_nothing()
    }

    /// Whether nothing is held back.
    pub(crate) fn holds_nothing(&self) -> bool {
        self.delayed.is_empty()
            && self.timed.is_empty()
            && self.lasting.is_empty()
            && self.steps.is_empty()
    }

    /// Whether steps are under way, so that nothing else may leave.
    pub(crate) fn is_playing(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Whether the sender is not to be read from.
    pub(crate) fn is_stalled(&self) -> bool {
        matches!(self.steps.front(), Some(Step::Stall(_))) || self.weight > HELD_LIMIT_BYTES
    }

    /// Bytes leave as soon as those before them have.
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

    /// Bytes leave before whatever is held back, because their beginning has left.
    pub(crate) fn send_first(&mut self, bytes: Bytes) {
        if !bytes.is_empty() {
            self.ready.push_back(bytes);
        }
    }

    pub(crate) fn delay(&mut self, until: Offset, bytes: Bytes) {
        self.weight += bytes.len() + OVERHEAD;
        self.order += 1;
        self.delayed.insert((until, self.order), bytes);
    }

    pub(crate) fn hold(&mut self, ticket: Ticket, due: Option<Offset>, bytes: Bytes) {
        self.weight += bytes.len() + OVERHEAD;
        self.order += 1;
        self.keep(self.order, due, Held { ticket, bytes });
    }

    /// The tape is to be told when a ticket is over.
    pub(crate) fn note(&mut self, ticket: Ticket, note: Note) {
        self.notes.insert(ticket, note);
    }

    /// What the tape is to be told.
    pub(crate) fn told(&mut self) -> Option<Box<Faulted>> {
        self.told.pop_front()
    }

    /// The message whose steps are under way.
    pub(crate) fn holder(&self) -> Option<MessageNumber> {
        self.holder.filter(|_| self.is_playing())
    }

    /// These steps take the place of a message.
    pub(crate) fn play(&mut self, message: Option<MessageNumber>, steps: Vec<Step>) {
        if !self.is_playing() {
            self.holder = message;
        }
        self.weight += steps.iter().map(weight).sum::<usize>();
        self.steps.extend(steps);
    }

    pub(crate) fn front(&self) -> Option<&Bytes> {
        self.ready.front()
    }

    pub(crate) fn pop(&mut self) -> Option<Bytes> {
        self.ready.pop_front()
    }

    pub(crate) fn aside(&mut self) -> Option<Aside> {
        self.asides.pop_front()
    }

    /// Carries out the steps whose time has come; true when the direction is to end.
    pub(crate) fn advance<P: Policy>(&mut self, now: Offset, policy: &P) -> bool {
        while let Some(step) = self.steps.front() {
            match step {
                Step::Wait { time, ticket } => {
                    let since = self.waited_until.unwrap_or(now);
                    let until = *self.waits_until.get_or_insert(after(since, *time));
                    let over = |ticket| policy.hold(now, ticket) == Hold::Over;
                    if until > now && !ticket.is_some_and(over) {
                        return false;
                    }
                    self.waits_until = None;
                    self.waited_until = Some(until.min(now));
                }
                Step::Hold(ticket) | Step::Stall(ticket) => match policy.hold(now, *ticket) {
                    Hold::Over => {}
                    Hold::Cut => return true,
                    Hold::Lasting | Hold::Passing => return false,
                },
                Step::Aside(_) | Step::Cut | Step::Send(_) => {}
            }
            let Some(step) = self.steps.pop_front() else {
                break;
            };
            if let Step::Hold(ticket) = &step {
                self.tell(now, *ticket, Release::Removed);
            }
            self.weight -= weight(&step);
            match step {
                Step::Send(bytes) => self.ready.push_back(bytes),
                Step::Aside(aside) => self.asides.push_back(aside),
                Step::Cut => return true,
                Step::Hold(_) | Step::Stall(_) | Step::Wait { .. } => {}
            }
        }
        self.waited_until = None;
        false
    }

    /// Lets go what has waited long enough.
    pub(crate) fn release<P: Policy>(&mut self, now: Offset, policy: &P) {
        let mut due = Vec::new();
        while let Some(first) = self.delayed.first_entry()
            && first.key().0 <= now
        {
            due.push(first.remove());
        }
        let changes = policy.changes();
        if std::mem::replace(&mut self.seen, changes) != changes {
            // Anything may be over, or have another time.
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

    /// Something that was held and may go; else it is kept.
    fn look<P: Policy>(&mut self, now: Offset, policy: &P, order: u64, one: Held) -> Option<Bytes> {
        // What has a time by now, and had none when it was held, was cancelled since.
        let due = self.notes.contains_key(&one.ticket) && policy.due(one.ticket).is_some();
        if policy.hold(now, one.ticket) == Hold::Over {
            let why = if due {
                Release::Cancelled
            } else {
                Release::Removed
            };
            self.tell(now, one.ticket, why);
            return Some(one.bytes);
        }
        let due = policy.due(one.ticket).filter(|due| *due > now);
        self.keep(order, due, one);
        None
    }

    fn keep(&mut self, order: u64, due: Option<Offset>, one: Held) {
        match due {
            Some(due) => drop(self.timed.insert((due, order), one)),
            None => drop(self.lasting.insert(order, one)),
        }
    }

    /// All that is held under tickets, in the order in which it came.
    fn take_held(&mut self) -> BTreeMap<u64, Held> {
        let mut all = std::mem::take(&mut self.lasting);
        let timed = std::mem::take(&mut self.timed).into_iter();
        all.extend(timed.map(|((_, order), one)| (order, one)));
        all
    }

    /// Lets go, at the end of the stream, all that is not to be held for good; how many
    /// messages stay behind.
    pub(crate) fn finish<P: Policy>(&mut self, now: Offset, policy: &P) -> usize {
        let mut lost = 0;
        let steps = std::mem::take(&mut self.steps);
        let delayed = std::mem::take(&mut self.delayed);
        self.ready.extend(delayed.into_values());
        for Held { ticket, bytes } in self.take_held().into_values() {
            if policy.hold(now, ticket) == Hold::Lasting {
                lost += 1;
            } else {
                self.ready.push_back(bytes);
            }
        }
        let mut open = true;
        for step in steps {
            match step {
                Step::Send(bytes) if open => self.ready.push_back(bytes),
                Step::Send(_) => lost += 1,
                Step::Hold(ticket) => {
                    let hold = policy.hold(now, ticket);
                    open &= !matches!(hold, Hold::Lasting | Hold::Cut);
                }
                Step::Cut => open = false,
                Step::Aside(aside) => self.asides.push_back(aside),
                Step::Stall(_) | Step::Wait { .. } => {}
            }
        }
        self.weight = 0;
        self.notes.clear();
        lost
    }

    /// Gives everything up: there is nobody to read it.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// When this wants to be looked at again.
    pub(crate) fn timeout(&self, now: Offset) -> Option<Offset> {
        let delayed = self.delayed.keys().next().map(|(at, _)| *at);
        let step = match self.steps.front() {
            Some(Step::Wait { ticket, .. }) => {
                let look = ticket.map(|_| after(now, LOOK));
                self.waits_until.into_iter().chain(look).min()
            }
            Some(Step::Hold(_) | Step::Stall(_)) => Some(after(now, LOOK)),
            _ => None,
        };
        let holds = !self.lasting.is_empty() || !self.timed.is_empty();
        let held = holds.then(|| after(now, LOOK));
        let due = self.timed.keys().next().map(|(due, _)| *due);
        delayed.into_iter().chain(step).chain(held).chain(due).min()
    }

    /// What is due at one time leaves in one write: a write for each would make the last
    /// of many late.
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

    fn tell(&mut self, now: Offset, ticket: Ticket, why: Release) {
        if let Some(note) = self.notes.remove(&ticket) {
            self.told.push_back(note.released(now, why));
        }
    }
}

/// What something held costs beside its bytes, in bytes.
const OVERHEAD: usize = 128;

fn weight(step: &Step) -> usize {
    match step {
        Step::Send(bytes) | Step::Aside(Aside::Answer { line: bytes, .. }) => {
            bytes.len() + OVERHEAD
        }
        _ => 0,
    }
}

/// A moment this long after another.
#[must_use]
pub fn after(at: Offset, time: Duration) -> Offset {
    Offset(at.0.saturating_add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX)))
}
