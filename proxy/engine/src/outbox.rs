//! What one direction holds back, and the order in which it leaves: the one place that carries
//! out what is done to messages, whatever carries them.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tapewright_schemas::event::{Effect, FaultRef, Faulted, MessageNumber, Offset, Release, What};

use crate::policy::{Decision, Hold, Holds, SideAction, Step, Ticket, Verdict};

/// How much one direction holds back before it stops reading, in bytes.
const HELD_LIMIT_BYTES: usize = 64 << 20;

/// Up to how much of what is due at one time leaves in one write, in bytes.
const JOINED_BYTES: usize = 64 << 10;

/// How often a ticket is looked at: a control that takes a fault away is felt this soon.
const LOOK: Duration = Duration::from_millis(5);

/// What one direction holds back, in two ways: until a ticket is over, and behind steps that
/// are carried out one after the other.
///
/// The driver reports what comes ([`take`](Self::take)), lets time pass
/// ([`turn`](Self::turn)), and then hands out what is to be told ([`told`](Self::told)) and
/// what leaves ([`front`](Self::front)).
#[derive(Debug, Default)]
pub struct Outbox {
    // Bytes that may leave now.
    ready: VecDeque<Bytes>,
    // What is held under a ticket: by the time at which that is due and by their order, and
    // by their order alone where no time is known.
    timed: BTreeMap<(Offset, u64), HeldMessage>,
    lasting: BTreeMap<u64, HeldMessage>,
    order: u64,
    // The policy's count of changes when they were last looked at.
    seen: u64,
    // What the tape is told when something is let go.
    notes: HashMap<Ticket, Note>,
    told: VecDeque<Box<Faulted>>,
    steps: VecDeque<Step>,
    // When the wait at the front of the steps is over, and when the last one was: waits
    // that follow each other must not add up what each was late.
    waits_until: Option<Offset>,
    waited_until: Option<Offset>,
    // Bytes that are held back, in whatever way.
    weight: usize,
    asides: VecDeque<SideAction>,
}

/// What is held, and since when.
#[derive(Clone, Debug)]
struct Note {
    fault: Option<FaultRef>,
    message: Option<MessageNumber>,
    // With it waits all that follows.
    all: bool,
    since: Offset,
    // The tape knows when it is passed on; only another time is told.
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
    /// A message comes; this is its fate, and these are the bytes of it that are still to
    /// leave. What the tape is to be told of it can be had at once from [`told`](Self::told).
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
            self.told.push_back(Effect::plain(behind).about(number));
        }
        if let Some(effect) = effect {
            // The tape is told when this is let go, unless it knows the time already.
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

    /// All that comes from now on waits for this ticket, which is held elsewhere, and of
    /// which one share is given back when it is over.
    pub fn wait_for(&mut self, now: Offset, ticket: Ticket) {
        let note = Note {
            fault: None,
            message: None,
            all: true,
            since: now,
            is_foreseen: false,
        };
        self.notes.insert(ticket, note);
        self.steps.push_back(Step::Hold(ticket));
    }

    /// Whether what comes now waits for this ticket.
    #[must_use]
    pub fn waits_for(&self, ticket: Ticket) -> bool {
        self.steps
            .iter()
            .filter_map(Step::ticket)
            .any(|one| one == ticket)
    }

    /// Lets go what has waited long enough; true when the direction is to end.
    pub fn turn<H: Holds>(&mut self, now: Offset, holds: &H) -> bool {
        self.release(now, holds);
        self.advance(now, holds)
    }

    /// Whether nothing is held back and nothing is to leave.
    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.holds_nothing()
    }

    /// Whether nothing is held back.
    #[must_use]
    pub fn holds_nothing(&self) -> bool {
        self.timed.is_empty() && self.lasting.is_empty() && self.steps.is_empty()
    }

    /// Whether steps are under way, so that nothing else may leave.
    pub(crate) fn is_playing(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Whether the sender is not to be read from.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
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

    fn hold(&mut self, ticket: Ticket, due: Option<Offset>, bytes: Bytes) {
        self.weight += bytes.len() + OVERHEAD;
        self.order += 1;
        self.keep(self.order, due, HeldMessage { ticket, bytes });
    }

    /// The next thing that the tape is to be told.
    pub fn told(&mut self) -> Option<Box<Faulted>> {
        self.told.pop_front()
    }

    /// What comes now waits for a message, if it does: for which one. Its end is told from
    /// now on, since the end of this wait is the same.
    fn behind(&mut self) -> Option<What> {
        let ticket = self.steps.iter().find_map(Step::ticket)?;
        let note = self.notes.get_mut(&ticket)?;
        note.is_foreseen = false;
        let holder = note.message;
        Some(What::Behind { holder })
    }

    /// These steps take the place of a message.
    fn play(&mut self, steps: Vec<Step>) {
        self.weight += steps.iter().map(weight).sum::<usize>();
        self.steps.extend(steps);
    }

    /// The next bytes that leave; empty where the head of a response leaves without any.
    #[must_use]
    pub fn front(&self) -> Option<&Bytes> {
        self.ready.front()
    }

    /// The bytes at the front have left.
    pub fn pop(&mut self) -> Option<Bytes> {
        self.ready.pop_front()
    }

    pub(crate) fn aside(&mut self) -> Option<SideAction> {
        self.asides.pop_front()
    }

    /// Carries out the steps whose time has come; true when the direction is to end.
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

    /// Lets go what has waited long enough.
    pub(crate) fn release<H: Holds>(&mut self, now: Offset, policy: &H) {
        let mut due = Vec::new();
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

    /// All that is held under tickets, in the order in which it came.
    fn take_held(&mut self) -> BTreeMap<u64, HeldMessage> {
        let mut all = std::mem::take(&mut self.lasting);
        let timed = std::mem::take(&mut self.timed).into_iter();
        all.extend(timed.map(|((_, order), one)| (order, one)));
        all
    }

    /// Lets go, at the end of the stream, all that is not to be held for good; how many
    /// messages stay behind.
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

    /// Nobody takes any more what is held: the tickets are given back, and the tape is told
    /// what became of each message, given how long it was held.
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

    /// Gives everything up: it has no reader.
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

    /// When this wants to be looked at again.
    pub(crate) fn timeout(&self, now: Offset) -> Option<Offset> {
        let waits = self.steps.front().and_then(Step::ticket).is_some();
        let holds = waits || !self.lasting.is_empty() || !self.timed.is_empty();
        let look = holds.then(|| after(now, LOOK));
        self.due().into_iter().chain(look).min()
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

    /// A ticket is over: it is given back, and the tape is told.
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

/// Why something that is not held for good is passed on at the end of the stream.
fn at_the_end(hold: Hold) -> Release {
    match hold {
        Hold::Over(why) => why,
        Hold::Cut | Hold::Lasting | Hold::Passing => Release::End,
    }
}

/// What something held costs beside its bytes, in bytes.
const OVERHEAD: usize = 128;

fn weight(step: &Step) -> usize {
    match step {
        Step::Send(bytes) | Step::Side(SideAction::Answer { line: bytes, .. }) => {
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
