//! The faults in force, what they have met, and what they hold.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tapewright_schemas::event::Offset;

use super::dice::Dice;
use super::kinds::{Kind, On, Reach};
use super::selector::Subject;
use super::spec::{Fault, SpecError, nearest};
use super::values::Values;
use crate::policy::{Hold, Ticket};

/// How many faults may be in force at once.
const MOST: usize = 256;

/// The faults in force on one recording. Shared by all its conversations and whoever
/// changes them; taken and changed at once, while messages flow.
#[derive(Debug)]
pub struct Book {
    // Whether any fault is in force: all that is looked at while there is none.
    in_force: AtomicBool,
    seed: u64,
    server: String,
    reach: Reach,
    state: Mutex<State>,
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
    // Tells a fault from one that had its name before.
    number: u64,
    met: u64,
    fired: u64,
}

/// What a ticket stands for.
#[derive(Debug)]
struct Holding {
    fault: u64,
    due: Option<Offset>,
    then: Hold,
    before: Hold,
}

/// A fault in force, and what became of it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The fault.
    pub fault: Arc<Fault>,
    /// How many messages fitted its selector.
    pub met: u64,
    /// How many of them it acted on.
    pub fired: u64,
    /// How many messages it holds.
    pub holds: usize,
}

/// A fault that was chosen for a message.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The name of the fault.
    pub name: String,
    /// The fault.
    pub fault: Arc<Fault>,
    /// Chance, for this message alone.
    pub dice: Dice,
    pub(crate) number: u64,
}

impl Hit {
    /// What is done.
    #[must_use]
    pub fn kind(&self) -> &'static Kind {
        self.fault.kind
    }

    /// How.
    #[must_use]
    pub fn values(&self) -> &Values {
        &self.fault.values
    }

    /// To which message of a request.
    #[must_use]
    pub fn on(&self) -> On {
        self.fault.on
    }
}

/// Why the book was not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejected {
    /// The name is taken.
    #[error("there is a fault `{0}` already; change it, or choose another name")]
    NameTaken(String),
    /// It can never fire here.
    #[error("`{kind}` is for {needs}, which is not what is spoken here")]
    OutOfReach {
        /// The kind.
        kind: &'static str,
        /// What it needs.
        needs: &'static str,
    },
    /// Something is missing.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Too many.
    #[error("there are {MOST} faults already")]
    TooMany,
    /// No such fault.
    #[error("there is no fault `{name}`{}", .near.as_ref().map_or_else(String::new, |near| format!("; did you mean `{near}`?")))]
    Unknown {
        /// What was said.
        name: String,
        /// What may have been meant.
        near: Option<String>,
    },
}

impl Book {
    /// A book without faults, for a server of this label, spoken to in this way.
    #[must_use]
    pub fn new(seed: u64, server: &str, reach: Reach) -> Self {
        Self {
            in_force: AtomicBool::new(false),
            seed,
            server: server.to_owned(),
            reach,
            state: Mutex::default(),
        }
    }

    /// Where chance begins.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether no fault is in force.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        !self.in_force.load(Ordering::Relaxed)
    }

    /// Puts a fault in force; its name.
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
            name: name.clone(),
            fault: Arc::new(fault),
            number,
            met: 0,
            fired: 0,
        });
        self.in_force.store(true, Ordering::Relaxed);
        Ok(name)
    }

    /// Puts another fault in the place of one: what that one holds is passed on, and the
    /// new one begins to count.
    pub fn change(&self, name: &str, fault: Fault) -> Result<(), Rejected> {
        self.check(&fault)?;
        let mut state = self.lock();
        let number = state.last_number + 1;
        let line = state.find(name)?;
        let old = std::mem::replace(&mut line.number, number);
        line.fault = Arc::new(fault);
        (line.met, line.fired) = (0, 0);
        state.last_number = number;
        state.let_go(old);
        Ok(())
    }

    /// Takes a fault away; what it holds is passed on.
    pub fn remove(&self, name: &str) -> Result<(), Rejected> {
        let mut state = self.lock();
        let number = state.find(name)?.number;
        state.lines.retain(|line| line.number != number);
        state.let_go(number);
        let in_force = !state.lines.is_empty();
        self.in_force.store(in_force, Ordering::Relaxed);
        Ok(())
    }

    /// The faults in force, in the order in which they are asked.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        let state = self.lock();
        let holds = |number| {
            let of_it = |holding: &&Holding| holding.fault == number;
            state.tickets.values().filter(of_it).count()
        };
        let entry = |line: &Line| Entry {
            name: line.name.clone(),
            fault: Arc::clone(&line.fault),
            met: line.met,
            fired: line.fired,
            holds: holds(line.number),
        };
        state.lines.iter().map(entry).collect()
    }

    /// The fault that acts on a request or notification, if any. The first one that is
    /// chosen acts; all that fit count.
    #[must_use]
    pub fn choose(&self, now: Offset, subject: &Subject<'_>) -> Option<Hit> {
        let mut state = self.lock();
        let mut hit = None;
        for line in &mut state.lines {
            let selector = &line.fault.selector;
            if !selector.meets(subject, &self.server, now) {
                continue;
            }
            line.met += 1;
            let mut dice = Dice::new(self.seed, &line.name, line.met);
            let falls = selector.probability.is_none_or(|one| dice.falls(one));
            let kind = line.fault.kind;
            let spent = kind
                .limit
                .is_some_and(|limit| line.fired >= line.fault.values.number(kind, limit));
            if hit.is_none() && falls && !spent && selector.chooses(line.met) {
                line.fired += 1;
                hit = Some(Hit {
                    name: line.name.clone(),
                    fault: Arc::clone(&line.fault),
                    dice,
                    number: line.number,
                });
            }
        }
        hit
    }

    /// A ticket for what a hit holds: `before` it is due, and `then`. `None` when the
    /// fault has been taken away since.
    #[must_use]
    pub fn ticket(
        &self,
        hit: &Hit,
        due: Option<Offset>,
        before: Hold,
        then: Hold,
    ) -> Option<Ticket> {
        let mut state = self.lock();
        if !state.lines.iter().any(|line| line.number == hit.number) {
            return None;
        }
        state.last_ticket += 1;
        let ticket = Ticket(state.last_ticket);
        let holding = Holding {
            fault: hit.number,
            due,
            then,
            before,
        };
        state.tickets.insert(ticket, holding);
        Some(ticket)
    }

    /// Whether what is held under a ticket is to be held any longer.
    #[must_use]
    pub fn hold(&self, now: Offset, ticket: Ticket) -> Hold {
        let mut state = self.lock();
        let Some(holding) = state.tickets.get(&ticket) else {
            return Hold::Over;
        };
        if holding.due.is_none_or(|due| due > now) {
            return holding.before;
        }
        let then = holding.then;
        // Whoever waits for a cut has to see it; others ask once.
        if then != Hold::Cut {
            state.tickets.remove(&ticket);
        }
        then
    }

    /// A ticket becomes due at this time.
    pub fn due(&self, ticket: Ticket, at: Offset) {
        if let Some(holding) = self.lock().tickets.get_mut(&ticket) {
            holding.due = Some(at);
        }
    }

    /// Whether anything is held under a ticket.
    pub(crate) fn knows(&self, ticket: Ticket) -> bool {
        self.lock().tickets.contains_key(&ticket)
    }

    /// A ticket is not needed any more.
    pub fn give_back(&self, ticket: Ticket) {
        self.lock().tickets.remove(&ticket);
    }

    fn check(&self, fault: &Fault) -> Result<(), Rejected> {
        fault.check()?;
        let (kind, needs) = (fault.kind, fault.kind.reach);
        if needs == Reach::Any || self.reach == Reach::Any || needs == self.reach {
            return Ok(());
        }
        let needs = match needs {
            Reach::Http => "HTTP",
            _ => "standard streams",
        };
        Err(Rejected::OutOfReach {
            kind: kind.name,
            needs,
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn find(&mut self, name: &str) -> Result<&mut Line, Rejected> {
        let near = nearest(name, self.lines.iter().map(|line| line.name.as_str()));
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

    fn let_go(&mut self, fault: u64) {
        self.tickets.retain(|_, holding| holding.fault != fault);
    }
}
