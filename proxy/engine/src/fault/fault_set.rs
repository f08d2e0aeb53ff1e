//! The active faults, their counts, and what they hold.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tapewright_schemas::event::{Effect, FaultKind, FaultRef, Offset, Release, What};
use tapewright_schemas::near::did_you_mean;

use super::change_listener::ChangeListener;
use super::kinds::{FaultTarget, Kind, TransportSupport};
use super::methods::ExpectedMessage;
use super::random::Random;
use super::rejected::Rejected;
use super::selector::Subject;
use super::spec::Fault;
use super::values::Values;
use crate::policy::{Hold, Ticket};

/// The maximum number of active faults.
pub(super) const MOST: usize = 256;
/// The maximum number of messages that all faults together may hold.
const MOST_HELD: usize = 65_536;

/// The active faults of one recording. Shared by all its conversations and the code that changes
/// them; changes take effect immediately, while messages flow.
#[derive(Debug)]
pub struct FaultSet {
    // Whether any fault is active; the only check while there is none.
    in_force: AtomicBool,
    // Whether any of them may act on what clients send over HTTP.
    meets_posts: AtomicBool,
    // Whether faults are active, or may become active while messages flow.
    open: AtomicBool,
    // Increases whenever a held message may be released early.
    changes: AtomicU64,
    seed: u64,
    server: String,
    reach: TransportSupport,
    state: Mutex<State>,
    hears: ChangeListener,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<Line>,
    tickets: HashMap<Ticket, Holding>,
    last_ticket: u64,
    last_number: u64,
}

#[derive(Debug)]
struct Line {
    name: String,
    fault: Arc<Fault>,
    // The kinds of matching messages that it can act on.
    acts_on: Vec<ExpectedMessage>,
    // Distinguishes a fault from an earlier one with the same name.
    number: u64,
    met: u64,
    fired: u64,
    beyond: u64,
}

/// The state of a ticket.
#[derive(Debug)]
struct Holding {
    fault: u64,
    due: Option<Offset>,
    then: Hold,
    before: Hold,
    // The number of holders, each of which returns the ticket.
    holders: u32,
    // Set if the fault was removed or changed.
    let_go: Option<Release>,
}

/// An active fault, and its counts.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The fault.
    pub fault: Arc<Fault>,
    /// How many messages matched its selector.
    pub met: u64,
    /// How many of them it acted on.
    pub fired: u64,
    /// How many messages it holds.
    pub holds: usize,
    /// How many more it would have held without the limit.
    pub beyond: u64,
}

/// Why a message cannot be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTicket {
    /// The fault was removed.
    Removed,
    /// Faults hold the maximum number of messages.
    TooMany,
}

/// A fault that was chosen for a message.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The name of the fault.
    pub name: String,
    /// The fault.
    pub fault: Arc<Fault>,
    /// The source of randomness for this message.
    pub random: Random,
    pub(crate) number: u64,
}

impl Hit {
    /// The kind of the fault.
    #[must_use]
    pub fn kind(&self) -> &'static Kind {
        self.fault.kind
    }

    /// Its parameters.
    #[must_use]
    pub fn values(&self) -> &Values {
        &self.fault.values
    }

    /// The fault, as on the tape.
    #[must_use]
    pub fn named(&self) -> FaultRef {
        FaultRef {
            name: self.name.clone(),
            kind: FaultKind::known(self.kind().name),
        }
    }

    /// The effect of the fault.
    #[must_use]
    pub fn effect(&self, what: What) -> Effect {
        let fault = Some(self.named());
        Effect { fault, what }
    }

    /// The message of a request that it acts on.
    #[must_use]
    pub fn on(&self) -> FaultTarget {
        self.fault.on
    }
}

impl FaultSet {
    /// An empty fault set for a server with this label and transport: [`TransportSupport::Any`] if
    /// clients use HTTP and their server uses lines.
    #[must_use]
    pub fn new(seed: u64, server: &str, reach: TransportSupport) -> Self {
        Self {
            in_force: AtomicBool::new(false),
            meets_posts: AtomicBool::new(false),
            open: AtomicBool::new(false),
            changes: AtomicU64::new(0),
            seed,
            server: server.to_owned(),
            reach,
            state: Mutex::default(),
            hears: ChangeListener::default(),
        }
    }

    /// Sets a callback for faults that are added, changed or removed, but not for messages that
    /// faults match; a fault book calls it once.
    pub fn tell_of_changes(&self, tell: impl Fn() + Send + Sync + 'static) {
        self.hears.set(tell);
    }

    /// The seed of the random numbers.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether no fault is active.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        !self.in_force.load(Ordering::Relaxed)
    }

    /// Whether clients use HTTP and their server uses lines.
    pub(super) fn serves_http(&self) -> bool {
        self.reach == TransportSupport::Any
    }

    /// Whether an active fault may act on what clients send over HTTP, and not only on what they
    /// receive.
    #[must_use]
    pub fn meets_posts(&self) -> bool {
        self.meets_posts.load(Ordering::Relaxed)
    }

    /// Whether a fault may be active at some time: there is or was one, or `open` was called.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// Notes that faults may be added while messages flow.
    pub fn open(&self) {
        self.open.store(true, Ordering::Relaxed);
    }

    /// Adds a fault, and returns its name.
    pub fn add(&self, fault: Fault) -> Result<String, Rejected> {
        self.check(&fault)?;
        let mut state = self.lock();
        if state.lines.len() >= MOST {
            return Err(Rejected::TooMany);
        }
        let number = state.last_number + 1;
        let name = match &fault.name {
            Some(name) => name.clone(),
            None => state.free_name(fault.kind.name),
        };
        if state.lines.iter().any(|line| line.name == name) {
            return Err(Rejected::NameTaken(name));
        }
        state.last_number = number;
        state.lines.push(Line {
            acts_on: self.acts_on(&fault),
            name: name.clone(),
            fault: Arc::new(fault),
            number,
            met: 0,
            fired: 0,
            beyond: 0,
        });
        self.take_stock(&state);
        self.open();
        drop(state);
        self.hears.tell();
        Ok(name)
    }

    /// Replaces a fault: messages held by the old one are released, and the counts of the new one
    /// start at zero.
    pub fn change(&self, name: &str, fault: Fault) -> Result<(), Rejected> {
        self.check(&fault)?;
        let mut state = self.lock();
        let number = state.last_number + 1;
        let line = state.find(name)?;
        let old = std::mem::replace(&mut line.number, number);
        line.acts_on = self.acts_on(&fault);
        line.fault = Arc::new(fault);
        (line.met, line.fired, line.beyond) = (0, 0, 0);
        state.last_number = number;
        state.let_go(old, Release::Changed);
        self.take_stock(&state);
        drop(state);
        self.changed();
        self.hears.tell();
        Ok(())
    }

    /// Removes a fault; messages that it holds are released.
    pub fn remove(&self, name: &str) -> Result<(), Rejected> {
        let mut state = self.lock();
        let number = state.find(name)?.number;
        state.lines.retain(|line| line.number != number);
        state.let_go(number, Release::Removed);
        self.take_stock(&state);
        drop(state);
        self.changed();
        self.hears.tell();
        Ok(())
    }

    /// The active faults, in the order of precedence.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        let state = self.lock();
        let holds = |number| {
            let of_it = |holding: &&Holding| holding.fault == number && holding.let_go.is_none();
            state.tickets.values().filter(of_it).count()
        };
        let entry = |line: &Line| Entry {
            name: line.name.clone(),
            fault: Arc::clone(&line.fault),
            met: line.met,
            fired: line.fired,
            holds: holds(line.number),
            beyond: line.beyond,
        };
        state.lines.iter().map(entry).collect()
    }

    /// The fault that acts on a request or notification, if any. The first chosen one acts; all
    /// matching ones count.
    #[must_use]
    pub fn choose(&self, now: Offset, subject: &Subject<'_>) -> Option<Hit> {
        let mut state = self.lock();
        let mut hit = None;
        let sort = ExpectedMessage {
            dir: subject.dir,
            is_request: subject.is_request,
        };
        for line in &mut state.lines {
            let selector = &line.fault.selector;
            if !line.acts_on.contains(&sort) || !selector.meets(subject, &self.server, now) {
                continue;
            }
            line.met += 1;
            let mut random = Random::new(self.seed, &line.name, line.met);
            let falls = selector.probability.is_none_or(|one| random.falls(one));
            let kind = line.fault.kind;
            let spent = kind
                .limit
                .is_some_and(|limit| line.fired >= line.fault.values.number(kind, limit));
            if hit.is_none() && falls && !spent && selector.chooses(line.met) {
                line.fired += 1;
                hit = Some(Hit {
                    name: line.name.clone(),
                    fault: Arc::clone(&line.fault),
                    random,
                    number: line.number,
                });
            }
        }
        hit
    }

    /// Whether the fault of a hit was neither removed nor changed since.
    #[must_use]
    pub fn is_in_force(&self, hit: &Hit) -> bool {
        let state = self.lock();
        state.lines.iter().any(|line| line.number == hit.number)
    }

    /// A ticket for a message that a hit holds: the state `before` it is due, and `then`.
    pub fn ticket(
        &self,
        hit: &Hit,
        due: Option<Offset>,
        before: Hold,
        then: Hold,
    ) -> Result<Ticket, NoTicket> {
        let mut state = self.lock();
        let full = state.tickets.len() >= MOST_HELD;
        let mut lines = state.lines.iter_mut();
        let line = lines.find(|line| line.number == hit.number);
        let line = line.ok_or(NoTicket::Removed)?;
        if full {
            line.beyond += 1;
            return Err(NoTicket::TooMany);
        }
        state.last_ticket += 1;
        let ticket = Ticket(state.last_ticket);
        let holding = Holding {
            fault: hit.number,
            due,
            then,
            before,
            holders: 1,
            let_go: None,
        };
        state.tickets.insert(ticket, holding);
        Ok(ticket)
    }

    /// Increases whenever a ticket may end earlier than planned. Costs one load.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// The fault that a ticket belongs to, unless it was removed or changed since.
    #[must_use]
    pub fn fault_of(&self, ticket: Ticket) -> Option<FaultRef> {
        let state = self.lock();
        let number = state.tickets.get(&ticket)?.fault;
        let line = state.lines.iter().find(|line| line.number == number)?;
        Some(FaultRef {
            name: line.name.clone(),
            kind: FaultKind::known(line.fault.kind.name),
        })
    }

    /// When a ticket is due, as far as is known.
    #[must_use]
    pub fn due_at(&self, ticket: Ticket) -> Option<Offset> {
        self.lock().tickets.get(&ticket)?.due
    }

    /// Whether a message must still be held under a ticket. The caller returns the ticket when it
    /// is over.
    #[must_use]
    pub fn hold(&self, now: Offset, ticket: Ticket) -> Hold {
        let state = self.lock();
        let Some(holding) = state.tickets.get(&ticket) else {
            return Hold::Over(Release::Unknown);
        };
        if let Some(why) = holding.let_go {
            return Hold::Over(why);
        }
        if holding.due.is_none_or(|due| due > now) {
            return holding.before;
        }
        holding.then
    }

    /// Makes a ticket due at this time, for this reason.
    pub fn due(&self, ticket: Ticket, at: Offset, why: Release) {
        if let Some(holding) = self.lock().tickets.get_mut(&ticket) {
            holding.due = Some(at);
            holding.then = Hold::Over(why);
        }
        self.changed();
    }

    /// Whether anything is held under a ticket.
    pub(crate) fn knows(&self, ticket: Ticket) -> bool {
        self.lock().tickets.contains_key(&ticket)
    }

    /// Adds a holder to a ticket, who must return it as well; returns false if the ticket is over.
    #[must_use]
    pub fn share(&self, ticket: Ticket) -> bool {
        let mut state = self.lock();
        let holding = state.tickets.get_mut(&ticket);
        holding.map(|holding| holding.holders += 1).is_some()
    }

    /// Returns a ticket for one of its holders.
    pub fn give_back(&self, ticket: Ticket) {
        let mut state = self.lock();
        let Some(holding) = state.tickets.get_mut(&ticket) else {
            return;
        };
        holding.holders -= 1;
        if holding.holders == 0 {
            state.tickets.remove(&ticket);
        }
    }

    /// Updates the flags that messages check first.
    fn take_stock(&self, state: &State) {
        let lines = &state.lines;
        let meets_posts = lines.iter().any(|line| line.fault.meets_posts());
        self.meets_posts.store(meets_posts, Ordering::Relaxed);
        self.in_force.store(!lines.is_empty(), Ordering::Relaxed);
    }

    fn changed(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }

    fn check(&self, fault: &Fault) -> Result<(), Rejected> {
        fault.check()?;
        Ok(fault.check_reach(self.reach)?)
    }

    /// The kinds of matching messages that a fault can act on.
    fn acts_on(&self, fault: &Fault) -> Vec<ExpectedMessage> {
        let mut sorts = ExpectedMessage::all();
        sorts.retain(|sort| fault.can_act(self.reach, *sort));
        sorts
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn find(&mut self, name: &str) -> Result<&mut Line, Rejected> {
        let near = did_you_mean(name, self.lines.iter().map(|line| line.name.as_str()));
        self.lines
            .iter_mut()
            .find(|line| line.name == name)
            .ok_or_else(|| Rejected::Unknown {
                name: name.to_owned(),
                near,
            })
    }

    fn free_name(&self, kind: &str) -> String {
        let taken = |name: &String| self.lines.iter().any(|line| line.name == *name);
        let names = (1_u64..).map(|number| format!("{kind}-{number}"));
        names
            .into_iter()
            .find(|name| !taken(name))
            .unwrap_or_else(|| kind.to_owned())
    }

    fn let_go(&mut self, fault: u64, why: Release) {
        let tickets = self.tickets.values_mut();
        for holding in tickets.filter(|holding| holding.fault == fault) {
            holding.let_go.get_or_insert(why);
        }
    }
}
