//! Walking the lists of takes that a request may be.

use std::borrow::Cow;
use std::sync::Arc;

use tapewright_schemas::json;

use super::bind::placeholders;
use super::{Found, Live, Matcher};
use crate::index::{Chains, Index, Level, key, method_key};
use crate::json::{Aliases, Tree, placeholder};
use crate::options::{Exhausted, MatchMode};
use crate::script::MethodId;

/// What a search came across that it could not take.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Takes of the same request that were played before.
    pub(super) used: usize,
    /// A take that is not its turn yet, and the one that is.
    pub(super) blocked: Option<(u32, u32)>,
}

/// One list, and what makes sure that its takes belong there.
struct List<'l> {
    chains: &'l Chains,
    key: u64,
    level: Level,
    form: &'l [u8],
    masks: Option<&'l [u64]>,
}

/// How many takes that differ only in their secrets are looked at for the one that fits
/// best.
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

    /// A take of the same request, from the most exact level on.
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
                let found = self.pattern(number, masks, method, &form, live, seen);
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

    /// As [`at_level`](Self::at_level), where takes may differ in their secrets: one that
    /// agrees with what was matched before is preferred.
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
        let recorded = |ordinal: u32| {
            let take = index.script.take(ordinal as usize);
            let params = take.and_then(|take| index.redacted_params(ordinal, take));
            placeholders(params.as_deref())
        };
        for session in self.sessions() {
            let key = key(level, session, method, 0, form);
            let ahead: Vec<u32> = chains
                .from(
                    self.cursors
                        .get(&key)
                        .copied()
                        .or_else(|| chains.first(key)),
                )
                .filter(|ordinal| !self.is_used(*ordinal))
                .take(LOOK_AHEAD)
                .collect();
            let agreed = ahead
                .into_iter()
                .find(|ordinal| self.bound.agree(&recorded(*ordinal), live));
            let list = List {
                chains,
                key,
                level,
                form,
                masks: None,
            };
            let found = self
                .in_list(&list, seen, |ordinal| {
                    agreed.is_none_or(|one| one == ordinal)
                })
                .or_else(|| self.in_list(&list, &mut Seen::default(), |_| true));
            if let Some(found) = found {
                self.bound.learn(&recorded(found.ordinal), live);
                return Some(found);
            }
        }
        None
    }

    /// Takes in which another tool left placeholders at these places.
    fn pattern(
        &mut self,
        number: usize,
        masks: &[u64],
        method: MethodId,
        form: &[u8],
        live: Live<'_>,
        seen: &mut Seen,
    ) -> Option<Found> {
        let index = Arc::clone(&self.index);
        for session in self.sessions() {
            let list = List {
                chains: &index.loose().chains,
                key: key(Level::Pattern, session, method, number, form),
                level: Level::Pattern,
                form,
                masks: Some(masks),
            };
            let fits = |ordinal: u32| patterns_fit(&index, ordinal, live.params);
            let found = self.in_list(&list, seen, fits);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// A take of a list that was not played yet, or what the policy says of those that
    /// were.
    fn in_list(
        &mut self,
        list: &List<'_>,
        seen: &mut Seen,
        accept: impl Fn(u32) -> bool,
    ) -> Option<Found> {
        let index = Arc::clone(&self.index);
        // Two forms may have one hash.
        let belongs = |_: &Self, ordinal: u32| {
            index.form_of(list.level, ordinal, list.masks) == list.form && accept(ordinal)
        };
        self.walk(list.chains, list.key, seen, belongs)
            .or_else(|| self.again(list.chains, list.key, belongs))
    }

    /// The first take of a list that was not played and may be.
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
            let Some(next) = chains.next(here) else { break };
            here = next;
        }
        self.cursors.insert(key, here);
        for ordinal in chains.from(Some(here)) {
            if self.is_used(ordinal) || !belongs(self, ordinal) {
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
        // Only a miss counts, and a miss may take its time, within bounds.
        if seen.used == 0 {
            let played = chains.from(Some(first)).take(COUNT_LIMIT);
            seen.used = played
                .filter(|one| self.is_used(*one) && belongs(self, *one))
                .count();
        }
        None
    }

    /// What a list gives whose takes were all played.
    fn again(
        &mut self,
        chains: &Chains,
        key: u64,
        belongs: impl Fn(&Self, u32) -> bool,
    ) -> Option<Found> {
        let first = chains.first(key)?;
        let take = |ordinal| Found {
            ordinal,
            again: true,
        };
        let policy = self.index.options.exhausted;
        if policy == Exhausted::Error {
            return None;
        }
        // A list of one hash holds one request; the rare other is passed over.
        let start = match policy {
            Exhausted::Cycle => self.rounds.get(&key).copied().flatten().unwrap_or(first),
            Exhausted::Last | Exhausted::Error => {
                let mut last = None;
                let mut here = self.cursors.get(&key).copied().or(Some(first));
                while let Some(entry) = here {
                    let ordinal = chains.ordinal(entry);
                    if self.is_used(ordinal) && belongs(self, ordinal) {
                        last = Some(entry);
                    }
                    here = chains.next(entry);
                }
                last?
            }
        };
        let mut here = Some(start);
        while let Some(entry) = here {
            let ordinal = chains.ordinal(entry);
            here = chains.next(entry);
            if self.is_used(ordinal) && belongs(self, ordinal) {
                self.rounds.insert(key, here);
                return Some(take(ordinal));
            }
        }
        None
    }

    /// The sessions under whose keys is looked, in order.
    fn sessions(&self) -> impl Iterator<Item = Option<u32>> + use<> {
        let home = self.home.filter(|_| self.index.has_sessions());
        home.map(Some).into_iter().chain([None])
    }
}

/// How many takes are counted for the text of a miss.
const COUNT_LIMIT: usize = 10_000;

/// Whether everything another tool hid in a recorded request can be what the live one
/// holds there.
fn patterns_fit(index: &Index, ordinal: u32, live: Option<&[u8]>) -> bool {
    let Some(take) = index.script.take(ordinal as usize) else {
        return false;
    };
    let recorded = index.redacted_params(ordinal, take);
    let recorded: Cow<'_, [u8]> = recorded.unwrap_or(Cow::Borrowed(b"{}"));
    let (Ok(recorded), Ok(live)) = (Tree::read(&recorded), Tree::read(live.unwrap_or(b"{}")))
    else {
        return false;
    };
    let mut pairs = vec![(recorded.root(), live.root())];
    while let Some((ours, theirs)) = pairs.pop() {
        if let Some(text) = recorded.string(ours) {
            if placeholder::is_pattern(&text) {
                let fits = live
                    .string(theirs)
                    .is_some_and(|live| placeholder::fits(&text, &live));
                if !fits {
                    return false;
                }
            }
            continue;
        }
        let names = recorded.members(ours);
        if names.iter().all(|(name, _)| name.is_empty()) {
            pairs.extend(recorded.children(ours).zip(live.children(theirs)));
        } else {
            for (name, ours) in names {
                let name = String::from_utf8_lossy(&name);
                if let Some(theirs) = live.member(theirs, &name) {
                    pairs.push((ours, theirs));
                }
            }
        }
    }
    true
}

/// The text of a member of a live request, for what a miss says.
pub(super) fn member<'l>(params: Option<&'l [u8]>, name: &str) -> Option<&'l [u8]> {
    params.and_then(|params| json::find(params, &[name]))
}
