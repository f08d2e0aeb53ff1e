//! Chooses the take for a live request: the state of one session.

mod bind;
mod miss;
mod named;
mod search;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use tapewright_schemas::json;
use tapewright_schemas::redact::Redactor;

use crate::index::{Entry, Index, is_by_method, method_key};
use crate::json::Aliases;
use crate::options::Ordering;
use crate::script::MethodId;

pub use miss::{MISS_CODE, Miss, Near, Reason};

/// Finds takes, and remembers which were played.
#[derive(Debug)]
pub(crate) struct Matcher {
    index: Arc<Index>,
    used: Vec<u64>,
    // The recorded session that this one plays.
    home: Option<u32>,
    // The first take of each list that may be unplayed.
    cursors: HashMap<u64, Entry>,
    // Where each list that is played repeatedly continues.
    rounds: HashMap<u64, Option<Entry>>,
    // All takes before this ordinal were played.
    front: u32,
    redactor: Redactor,
    adopted: bool,
    bound: bind::Bindings,
    // The maximum number of takes examined for one request, and the total for all requests.
    most: usize,
    looked_at: Cell<usize>,
}

/// The take for a live request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) ordinal: u32,
    /// It was already played.
    pub(crate) again: bool,
}

/// A live request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live<'l> {
    pub(crate) line: &'l [u8],
    pub(crate) method: &'l str,
    pub(crate) params: Option<&'l [u8]>,
}

impl Matcher {
    /// Creates a matcher; no take is played yet.
    pub(crate) fn new(index: Arc<Index>) -> Self {
        let words = index.script.takes.len().div_ceil(64);
        let rules = Arc::clone(&index.options.rules);
        Self {
            used: vec![0; words],
            home: index.options.session,
            cursors: HashMap::new(),
            rounds: HashMap::new(),
            front: 0,
            redactor: Redactor::new(rules),
            adopted: false,
            bound: bind::Bindings::default(),
            most: usize::MAX,
            looked_at: Cell::new(0),
            index,
        }
    }

    /// Limits the number of takes examined for one request.
    pub(crate) fn looking_at(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Counts one examined take.
    fn look(&self) {
        self.looked_at.set(self.looked_at.get() + 1);
    }

    /// The total number of takes examined so far.
    #[cfg(test)]
    pub(crate) fn looked_at(&self) -> usize {
        self.looked_at.get()
    }

    /// Starts again, as for a new session.
    pub(crate) fn reset(&mut self) {
        let (home, most) = (self.home, self.most);
        *self = Self::new(Arc::clone(&self.index)).looking_at(most);
        self.home = home;
    }

    /// Starts another session for the following requests.
    pub(crate) fn next_session(&mut self) {
        self.home = None;
    }

    /// The redactor of this session.
    pub(crate) fn redactor(&mut self) -> &mut Redactor {
        &mut self.redactor
    }

    /// A peer's name, redacted for display.
    pub(crate) fn shown(&mut self, name: &str) -> String {
        let text = self.redactor.text(name.as_bytes());
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The recorded session that is played, once it is chosen.
    pub(crate) fn home(&self) -> Option<u32> {
        self.home
    }

    /// The take for a request; marks it as played.
    pub(crate) fn find(&mut self, live: Live<'_>, aliases: &Aliases) -> Result<Found, Box<Miss>> {
        let mut seen = search::Seen::to_be_told();
        let method = self.index.script.methods.find(live.method);
        match method.and_then(|method| self.search(live, method, aliases, &mut seen)) {
            Some(found) => Ok(found),
            None => Err(self.miss(live, method, &seen, aliases)),
        }
    }

    /// Like [`find`](Self::find), without the reason for a miss, which takes a look at many takes.
    pub(crate) fn find_any(&mut self, live: Live<'_>, aliases: &Aliases) -> Option<Found> {
        let method = self.index.script.methods.find(live.method)?;
        self.search(live, method, aliases, &mut search::Seen::default())
    }

    fn search(
        &mut self,
        live: Live<'_>,
        method: MethodId,
        aliases: &Aliases,
        seen: &mut search::Seen,
    ) -> Option<Found> {
        // A probe does not choose a session: the next request does.
        if self.home.is_none() && live.method != "server/discover" {
            let initialize = (live.method == "initialize").then_some(method);
            self.home = self.index.claim(initialize, live.params);
        }
        let found = if is_by_method(live.method.as_bytes()) {
            self.by_method(method, seen)?
        } else {
            self.by_content(live, method, aliases, seen)?
        };
        self.mark(found.ordinal);
        Some(found)
    }

    /// Whether a take was played.
    pub(crate) fn is_used(&self, ordinal: u32) -> bool {
        let word = self.used.get(ordinal as usize / 64);
        word.is_some_and(|word| word >> (ordinal % 64) & 1 == 1)
    }

    fn mark(&mut self, ordinal: u32) {
        if let Some(word) = self.used.get_mut(ordinal as usize / 64) {
            *word |= 1 << (ordinal % 64);
        }
        while (self.front as usize) < self.index.script.takes.len() && self.is_used(self.front) {
            self.front += 1;
        }
        let take = self.index.script.take(ordinal as usize);
        if let (Ordering::PerMethod, Some(take)) = (self.index.options.ordering, take) {
            let chains = &self.index.by_method;
            let key = method_key(take.method, None);
            let mut here = self
                .cursors
                .get(&key)
                .copied()
                .or_else(|| chains.first(key));
            while let Some(entry) = here.filter(|entry| self.is_used(chains.ordinal(*entry))) {
                self.cursors.insert(key, entry);
                here = entry.next();
            }
        }
    }

    /// The take that must be played before this one under the configured order.
    fn blocker(&self, ordinal: u32) -> Option<u32> {
        let script = &self.index.script;
        let take = script.take(ordinal as usize)?;
        let before = |earlier: &u32| {
            script.take(*earlier as usize).is_some_and(|one| {
                !self.is_used(*earlier)
                    && one.session == take.session
                    && !self.index.is_skipped(&one)
                    // Requests that were in flight together may change places.
                    && one.answered < take.asked
            })
        };
        match self.index.options.ordering {
            Ordering::None => None,
            Ordering::Recorded => (self.front..ordinal).find(before),
            Ordering::PerMethod => {
                let key = method_key(take.method, None);
                let start = self.cursors.get(&key).copied();
                let start = start.or_else(|| self.index.by_method.first(key));
                let earlier = self.index.by_method.from(start);
                earlier.take_while(|one| *one < ordinal).find(before)
            }
        }
    }

    /// The live request, redacted by the rules of the recording.
    fn redacted<'l>(&mut self, line: &'l [u8]) -> Cow<'l, [u8]> {
        if !std::mem::replace(&mut self.adopted, true) {
            let placeholders = &self.index.loose().placeholders;
            if placeholders.is_empty() {
                // The recording was not redacted; learned secrets would make the result depend on
                // the order of requests.
                self.redactor.stop_learning();
            }
            self.redactor.adopt(placeholders);
        }
        self.redactor.json(line).unwrap_or(Cow::Borrowed(line))
    }

    fn redacted_params<'l>(&mut self, asked: Live<'l>) -> Option<Cow<'l, [u8]>> {
        match self.redacted(asked.line) {
            Cow::Borrowed(_) => asked.params.map(Cow::Borrowed),
            Cow::Owned(line) => {
                json::find(&line, &["params"]).map(|params| Cow::Owned(params.to_vec()))
            }
        }
    }

    /// The number of takes of a method.
    fn count(&self, method: Option<MethodId>) -> usize {
        method.map_or(0, |method| {
            let first = self.index.by_method.first(method_key(method, None));
            self.index.by_method.from(first).count()
        })
    }
}
