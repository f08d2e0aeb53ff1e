//! Judging a session from its events.
//!
//! A [`Checker`] is a fold over events, the same one for live traffic, a tape, a cassette or a
//! capture. Each event is passed to the rules for its kind, with the state of the session before
//! it; then it updates the session. Findings are available at once ([`Checker::poll`]), and the
//! verdicts when the recording is over ([`Checker::finish`]).
//!
//! # Bounded memory
//!
//! Every table of a session is bounded. Forgotten data makes a verdict inconclusive, never wrong.

mod briefs;
mod case;
mod dispatch;
mod document;
mod drive;
mod exchange;
mod out;
mod results;
mod routine;
mod selection;
mod sessions;
mod turn;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use tapewright_schemas::event::{ConduitId, SessionKey};

use self::briefs::Briefs;
pub(crate) use self::briefs::Followed;
pub(crate) use self::case::{Case, Closing};
use self::dispatch::Dispatch;
pub(crate) use self::out::{Fault, Out};
use self::results::Results;
pub use self::results::{Judged, Outcome};
use self::routine::Routine;
pub use self::selection::{Selection, SelectionError};
use self::sessions::Sessions;
use crate::facts::Facts;
use crate::finding::{Doubts, Finding};
use crate::http::conduit::Conduit;
use crate::http::session::SessionIds;
use crate::session::Follows;

/// Judges one recording.
#[derive(Debug)]
pub struct Checker {
    facts: Facts,
    follows: Follows,
    selection: Selection,
    dispatch: Dispatch,
    briefs: Briefs,
    sessions: Sessions,
    conduits: HashMap<ConduitId, Conduit>,
    // Exchanges between a bridge and its server, which carry the messages of the lines.
    bridged: HashSet<ConduitId>,
    world: SessionIds,
    results: BTreeMap<SessionKey, Results>,
    // What is routine in the session that was used last.
    routine: Option<Routine>,
    found: VecDeque<Finding>,
    // The names of the tools that each session offers.
    offers: BTreeMap<SessionKey, BTreeSet<String>>,
    // Doubts about the whole recording.
    doubts: Doubts,
    // The number of the last event, if events are numbered, and how many were missing.
    last_seq: u64,
    missing: u64,
    // The number of messages that were not routine.
    #[cfg(test)]
    judged_one_by_one: u64,
    // Verdicts at the end are not needed.
    forgetting: bool,
    // The following messages belong to no session, although the file does not record exchanges.
    sessionless: bool,
}

/// The maximum number of tool names that are remembered for one session.
const OFFERS: usize = 10_000;

impl Checker {
    /// Creates a checker of the selected invariants at the start of a recording.
    #[must_use]
    pub fn new(facts: Facts, selection: Selection) -> Self {
        let dispatch = Dispatch::new(&selection);
        Self {
            facts,
            follows: Follows::of(&selection),
            briefs: Briefs::new(dispatch.lists),
            dispatch,
            selection,
            sessions: Sessions::default(),
            conduits: HashMap::new(),
            bridged: HashSet::new(),
            world: SessionIds::default(),
            results: BTreeMap::new(),
            routine: None,
            found: VecDeque::new(),
            offers: BTreeMap::new(),
            doubts: Doubts::default(),
            last_seq: 0,
            missing: 0,
            #[cfg(test)]
            judged_one_by_one: 0,
            forgetting: false,
            sessionless: false,
        }
    }

    /// Forgets the verdicts on a session when it ends: findings are taken at once, and there may be
    /// any number of sessions.
    #[must_use]
    pub(crate) fn forgetting(mut self) -> Self {
        self.forgetting = true;
        self
    }

    /// Asks every rule about every message, however plain.
    #[cfg(test)]
    pub(crate) fn asking_always(mut self) -> Self {
        self.dispatch.spare_nothing();
        self.briefs = Briefs::none();
        self
    }

    #[cfg(test)]
    pub(crate) fn sessions_known(&self) -> usize {
        self.sessions.len().max(self.results.len())
    }

    /// The next finding that has not been taken yet.
    pub fn poll(&mut self) -> Option<Finding> {
        self.found.pop_front()
    }

    /// Whether there are findings that have not been taken yet.
    pub(crate) fn has_found(&self) -> bool {
        !self.found.is_empty()
    }

    /// The number of missing events, by the numbers of the others.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// The tools that were listed so far, by session and name.
    pub fn tools(&self) -> impl Iterator<Item = (SessionKey, &str)> {
        self.offers
            .iter()
            .flat_map(|(key, names)| names.iter().map(move |name| (*key, name.as_str())))
    }
}
