//! Walks the lists of takes that may match a request.

use std::sync::Arc;

use bytes::Bytes;
use tapewright_schemas::json;

use super::bind::{Pair, mark, placeholders};
use super::{Found, Live, Matcher};
use crate::index::{Chains, Entry, Index, Level, key, method_key};
use crate::json::{Aliases, Tree, placeholder};
use crate::options::{Exhausted, MatchMode};
use crate::script::MethodId;

/// Takes that a search found but could not use.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Matching takes that were already played.
    pub(super) used: usize,
    /// A take whose turn has not come, and the one whose turn it is.
    pub(super) blocked: Option<(u32, u32)>,
    // Whether played takes are counted.
    told: bool,
}

impl Seen {
    /// For callers that report why nothing was found.
    pub(super) fn to_be_told() -> Self {
        Self {
            told: true,
            ..Self::default()
        }
    }
}

/// One list, and how to check that its takes belong to it.
struct List<'l> {
    chains: &'l Chains,
    key: u64,
    level: Level,
    form: &'l [u8],
    masks: Option<&'l [u64]>,
}

/// The maximum number of takes that differ only in their secrets and are compared for the best fit.
const LOOK_AHEAD: usize = 32;

impl Matcher {
    /// A take of a method, whatever its parameters.
    pub(super) fn by_method(&mut self, method: MethodId, seen: &mut Seen) -> Option<Found> {
        let index = Arc::clone(&self.index);
        let mut again = None;
        for session in self.sessions() {
            let key = method_key(method, session);
            let chains = &index.by_method;
            if let Some(found) = self.walk(chains, key, seen, |_, _| true) {
                return Some(found);
            }
            again = again.or_else(|| self.again(chains, key, |_, _| true));
        }
        again
    }

    /// Finds a take of the same request, starting at the most exact level.
    pub(super) fn by_content(
        &mut self,
        live: Live<'_>,
        method: MethodId,
        aliases: &Aliases,
        seen: &mut Seen,
    ) -> Option<Found> {
        let index = Arc::clone(&self.index);
        let mut form = Vec::new();
        let aliases = Some(aliases).filter(|aliases| !aliases.is_empty());
        index.write_form(Level::Exact, method, live.params, aliases, None, &mut form);
        let exact = self.at_level(Level::Exact, &index.exact, method, &form, None, seen);
        if exact.is_some() {
            return exact;
        }
        let params = self.redacted_params(live);
        let params = params.as_deref();
        let live_marks = placeholders(params);
        let loose = index.loose();
        for level in index.levels().iter().copied() {
            form.clear();
            index.write_form(level, method, params, aliases, None, &mut form);
            let found = self.hidden(level, &loose.chains, method, &form, &live_marks, seen);
            if found.is_some() {
                return found;
            }
        }
        if index.options.mode != MatchMode::Strict {
            let patterns = loose.patterns.get(&method).map_or(&[][..], Vec::as_slice);
            for (number, masks) in patterns.iter().enumerate() {
                form.clear();
                index.write_form(
                    Level::Pattern,
                    method,
                    params,
                    aliases,
                    Some(masks),
                    &mut form,
                );
                let found = self.pattern(number, masks, method, &form, [params, live.params], seen);
                if found.is_some() {
                    return found;
                }
            }
        }
        if index.options.mode == MatchMode::Structural {
            form.clear();
            index.write_form(Level::Shape, method, params, aliases, None, &mut form);
            return self.at_level(Level::Shape, &loose.chains, method, &form, None, seen);
        }
        None
    }

    fn at_level(
        &mut self,
        level: Level,
        chains: &Chains,
        method: MethodId,
        form: &[u8],
        masks: Option<&[u64]>,
        seen: &mut Seen,
    ) -> Option<Found> {
        for session in self.sessions() {
            let list = List {
                chains,
                key: key(level, session, method, 0, form),
                level,
                form,
                masks,
            };
            let found = self.in_list(&list, seen, |_| true);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Like [`at_level`](Self::at_level), for takes that may differ in their secrets.
    fn hidden(
        &mut self,
        level: Level,
        chains: &Chains,
        method: MethodId,
        form: &[u8],
        live: &[Vec<u8>],
        seen: &mut Seen,
    ) -> Option<Found> {
        if live.is_empty() {
            return self.at_level(level, chains, method, form, None, seen);
        }
        let index = Arc::clone(&self.index);
        let pairs = |ordinal: u32| {
            let take = index.script.take(ordinal as usize);
            let params = take.and_then(|take| index.redacted_params(ordinal, &take));
            let recorded = placeholders(params.as_deref()).into_iter();
            Some(recorded.zip(live.iter().map(|one| mark(one))).collect())
        };
        self.sessions().find_map(|session| {
            let list = List {
                chains,
                key: key(level, session, method, 0, form),
                level,
                form,
                masks: None,
            };
            self.of_secrets(&list, pairs, seen)
        })
    }

    /// Finds takes whose placeholders at these places match any text that fits them. `params` are
    /// those of the request: redacted, and verbatim.
    fn pattern(
        &mut self,
        number: usize,
        masks: &[u64],
        method: MethodId,
        form: &[u8],
        params: [Option<&[u8]>; 2],
        seen: &mut Seen,
    ) -> Option<Found> {
        let index = Arc::clone(&self.index);
        // A value has the same mark everywhere: that of its placeholder, if it has one.
        let pairs = |ordinal: u32| {
            let mut each = params.into_iter();
            each.find_map(|params| captured(&index, ordinal, params))
        };
        self.sessions().find_map(|session| {
            let list = List {
                chains: &index.loose().chains,
                key: key(Level::Pattern, session, method, number, form),
                level: Level::Pattern,
                form,
                masks: Some(masks),
            };
            self.of_secrets(&list, pairs, seen)
        })
    }

    /// Finds a take in a list whose takes may differ in their secrets. `pairs` returns what each
    /// secret of a take is matched with, or `None` if the take does not fit.
    ///
    /// Takes that agree with earlier matches come first. If such takes were already played, only
    /// they count as recorded: the answer for another secret is not the answer for this one.
    fn of_secrets(
        &mut self,
        list: &List<'_>,
        pairs: impl Fn(u32) -> Option<Vec<Pair>>,
        seen: &mut Seen,
    ) -> Option<Found> {
        let agrees = |one: &u32| {
            self.look();
            pairs(*one).is_some_and(|pairs| self.bound.agree(&pairs))
        };
        let first = list.chains.first(list.key);
        let start = self.cursors.get(&list.key).copied().or(first);
        let fresh = list.chains.from(start).filter(|one| !self.is_used(*one));
        let mut chosen: Vec<u32> = fresh.take(LOOK_AHEAD).find(agrees).into_iter().collect();
        if chosen.is_empty() {
            let played = list.chains.from(first).filter(|one| self.is_used(*one));
            chosen.extend(played.take(LOOK_AHEAD).filter(agrees));
        }
        let found = self.in_list(list, seen, |one| {
            if chosen.is_empty() {
                pairs(one).is_some()
            } else {
                chosen.contains(&one)
            }
        })?;
        self.bound.learn(pairs(found.ordinal).unwrap_or_default());
        Some(found)
    }

    /// Finds an unplayed take in a list, or applies the policy for played ones.
    fn in_list(
        &mut self,
        list: &List<'_>,
        seen: &mut Seen,
        accept: impl Fn(u32) -> bool,
    ) -> Option<Found> {
        let index = Arc::clone(&self.index);
        // Two forms may have the same hash.
        let belongs = |matcher: &Self, ordinal: u32| {
            matcher.look();
            accept(ordinal) && index.form_of(list.level, ordinal, list.masks) == list.form
        };
        self.walk(list.chains, list.key, seen, belongs)
            .or_else(|| self.again(list.chains, list.key, belongs))
    }

    /// The first take of a list that is unplayed and allowed.
    fn walk(
        &mut self,
        chains: &Chains,
        key: u64,
        seen: &mut Seen,
        belongs: impl Fn(&Self, u32) -> bool,
    ) -> Option<Found> {
        let first = chains.first(key)?;
        let mut here = self.cursors.get(&key).copied().unwrap_or(first);
        // Those before were played.
        while self.is_used(chains.ordinal(here)) {
            let Some(next) = here.next() else { break };
            here = next;
        }
        self.cursors.insert(key, here);
        let fresh = chains.from(Some(here)).filter(|one| !self.is_used(*one));
        for ordinal in fresh.take(self.most) {
            if !belongs(self, ordinal) {
                continue;
            }
            if let Some(blocker) = self.blocker(ordinal) {
                seen.blocked = seen.blocked.or(Some((ordinal, blocker)));
                break;
            }
            return Some(Found {
                ordinal,
                again: false,
            });
        }
        // Only a search that reports a miss counts them, within bounds.
        if seen.told && seen.used == 0 {
            let played = chains.from(Some(first)).take(COUNT_LIMIT);
            seen.used = played
                .filter(|one| self.is_used(*one) && belongs(self, *one))
                .count();
        }
        None
    }

    /// Applies the policy to a list whose takes were all played.
    fn again(
        &mut self,
        chains: &Chains,
        key: u64,
        belongs: impl Fn(&Self, u32) -> bool,
    ) -> Option<Found> {
        let first = chains.first(key)?;
        let entries = |start: Entry| std::iter::successors(Some(start), |entry| entry.next());
        let played = |entry: &Entry| {
            let ordinal = chains.ordinal(*entry);
            self.is_used(ordinal) && belongs(self, ordinal)
        };
        // A list holds one request, except for its secrets and rare collisions of the hash: takes
        // that do not belong are skipped, also at the start.
        let entry = match self.index.options.exhausted {
            Exhausted::Error => return None,
            Exhausted::Cycle => {
                let round = self.rounds.get(&key).copied().flatten();
                let next = round.and_then(|start| entries(start).find(played));
                next.or_else(|| entries(first).find(played))?
            }
            Exhausted::Last => {
                let cursor = self.cursors.get(&key).copied();
                let last = cursor.and_then(|start| entries(start).filter(played).last());
                last.or_else(|| entries(first).filter(played).last())?
            }
        };
        self.rounds.insert(key, entry.next());
        Some(Found {
            ordinal: chains.ordinal(entry),
            again: true,
        })
    }

    /// The sessions whose lists are searched, in order.
    fn sessions(&self) -> impl Iterator<Item = Option<u32>> + use<> {
        let home = self.home.filter(|_| self.index.has_sessions());
        home.map(Some).into_iter().chain([None])
    }
}

/// The maximum number of takes counted for the message of a miss.
const COUNT_LIMIT: usize = 10_000;

/// The values of a live request in place of recorded placeholders; `None` if a placeholder cannot
/// match the value in its place.
fn captured(index: &Index, ordinal: u32, live: Option<&[u8]>) -> Option<Vec<Pair>> {
    let take = index.script.take(ordinal as usize)?;
    let recorded = index.redacted_params(ordinal, &take);
    let recorded = recorded.unwrap_or(Bytes::from_static(b"{}"));
    let recorded = Tree::read(&recorded).ok()?;
    let live = Tree::read(live.unwrap_or(b"{}")).ok()?;
    let mut found = Vec::new();
    let mut open = vec![(recorded.root(), live.root())];
    while let Some((ours, theirs)) = open.pop() {
        if let Some(text) = recorded.string(ours) {
            if !placeholder::is_likely(&text) {
                continue;
            }
            let said = live.string(theirs).unwrap_or_default();
            match placeholder::captures(&text, &said) {
                Some(pairs) => found.extend(
                    pairs
                        .into_iter()
                        .map(|(recorded, live)| (recorded.to_vec(), mark(live))),
                ),
                None if placeholder::is_pattern(&text) => return None,
                None => {}
            }
            continue;
        }
        let names = recorded.members(ours);
        if names.iter().all(|(name, _)| name.is_empty()) {
            open.extend(recorded.children(ours).zip(live.children(theirs)));
        } else {
            for (name, ours) in names {
                let name = String::from_utf8_lossy(&name);
                if let Some(theirs) = live.member(theirs, &name) {
                    open.push((ours, theirs));
                }
            }
        }
    }
    Some(found)
}

/// A member of a live request, for the message of a miss.
pub(super) fn member<'l>(params: Option<&'l [u8]>, name: &str) -> Option<&'l [u8]> {
    params.and_then(|params| json::find(params, &[name]))
}
