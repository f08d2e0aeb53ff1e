//! Finds the takes that match a request: hash tables, from exact to loose.
//!
//! | level | two requests are the same when |
//! |---|---|
//! | `Exact` | method and parameters mean the same |
//! | `Hidden` | … once both are redacted by the same rules |
//! | `Normal` | … and volatile values of one kind count as one |
//! | `Pattern` | … and a placeholder of another tool, or of a variable, matches what it may hide |
//! | `Shape` | names, types and lengths of arrays are the same |
//!
//! A more exact level wins. All but the first are built on demand; most sessions never need them.

mod aside;
mod chains;
mod keys;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use tapewright_schemas::era::own_version;
use tapewright_schemas::json::{self, Span};
use tapewright_schemas::redact::Redactor;

use crate::era::Eras;
use crate::json::{Aliases, Canon, Detail, Tree, pattern_places, write_canon};
use crate::options::{MatchMode, Options, Unanswered};
use crate::script::{MethodId, Script, Take, TakePlace};

pub(crate) use aside::AsideKind;
use chains::in_order;
pub(crate) use chains::{Chains, Entry, Link};

/// How much two requests have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Level {
    Exact,
    Hidden,
    Normal,
    Pattern,
    Shape,
}

impl Level {
    pub(crate) fn detail(self) -> Detail {
        match self {
            Self::Exact => Detail::Exact,
            Self::Hidden => Detail::Hidden,
            Self::Normal | Self::Pattern => Detail::Normal,
            Self::Shape => Detail::Shape,
        }
    }
}

/// A script that can be searched. Immutable, and shared by all sessions.
#[derive(Debug)]
pub struct Index {
    pub(crate) script: Arc<Script>,
    pub(crate) options: Arc<Options>,
    pub(crate) exact: Chains,
    /// All takes of a method, by [`method_key`].
    pub(crate) by_method: Chains,
    pub(crate) asides: Vec<AsideKind>,
    eras: OnceLock<Eras>,
    loose: OnceLock<Loose>,
    claims: Mutex<BTreeSet<u32>>,
}

/// The levels below the first.
#[derive(Debug, Default)]
pub(crate) struct Loose {
    pub(crate) chains: Chains,
    /// The sets of places that hold patterns, per method.
    pub(crate) patterns: HashMap<MethodId, Vec<Vec<u64>>>,
    /// The parameters of requests that were redacted on loading.
    redacted: HashMap<u32, Bytes>,
    /// The placeholders in requests, so that live secrets get other numbers.
    pub(crate) placeholders: Vec<u8>,
}

/// The maximum number of sets of places per method; requests with further ones only match exactly.
/// Real recordings have one or two.
const PATTERN_LIMIT: usize = 32;

impl Index {
    /// Indexes a script.
    #[must_use]
    pub fn new(script: Arc<Script>, options: Arc<Options>) -> Self {
        let mut index = Self {
            asides: aside::kinds(&script),
            exact: Chains::default(),
            by_method: Chains::default(),
            eras: OnceLock::new(),
            loose: OnceLock::new(),
            claims: Mutex::default(),
            script,
            options,
        };
        index.by_method = Chains::of_few(|| index.method_keys());
        index.exact = Chains::of(index.exact_keys());
        index
    }

    /// The script.
    #[must_use]
    pub fn script(&self) -> &Script {
        &self.script
    }

    /// Whether the script has several sessions, whose takes are separate.
    pub(crate) fn has_sessions(&self) -> bool {
        self.script.sessions.len() > 1
    }

    /// Whether the policy for unanswered requests skips this take.
    pub(crate) fn is_skipped(&self, take: &Take) -> bool {
        self.options.unanswered == Unanswered::Skip
            && matches!(take.place, TakePlace::Unanswered(..))
    }

    /// The levels that the mode allows below the first.
    pub(crate) fn levels(&self) -> &'static [Level] {
        match self.options.mode {
            MatchMode::Strict => &[Level::Hidden],
            MatchMode::Semantic | MatchMode::Structural => &[Level::Hidden, Level::Normal],
        }
    }

    /// Recorded parameters, verbatim.
    pub(crate) fn params(&self, take: &Take) -> Option<Bytes> {
        take.params.map(|span| self.script.source(span))
    }

    /// Recorded parameters, redacted.
    pub(crate) fn redacted_params(&self, ordinal: u32, take: &Take) -> Option<Bytes> {
        match self.loose().redacted.get(&ordinal) {
            Some(request) => {
                json::find(request, &["params"]).map(|params| request.slice_ref(params))
            }
            None => self.params(take),
        }
    }

    /// Appends the canonical form of parameters at a level.
    pub(crate) fn write_form(
        &self,
        level: Level,
        method: MethodId,
        params: Option<&[u8]>,
        aliases: Option<&Aliases>,
        masks: Option<&[u64]>,
        out: &mut Vec<u8>,
    ) {
        // Nearly all requests without parameters omit the member.
        let Some(params) = params.filter(|params| *params != b"{}") else {
            return;
        };
        let keep = match level {
            Level::Shape => kept(self.script.method_name(method)),
            _ => None,
        };
        let canon = Canon {
            detail: level.detail(),
            ignore: &self.options.ignore,
            aliases,
            masks,
            keep,
        };
        match Tree::read(params) {
            Ok(tree) => write_canon(&tree, &canon, out),
            Err(_) => out.extend_from_slice(params),
        }
        // If both eras are recorded, their answers differ even for equal requests. Checked last,
        // since it scans all requests.
        let handshake = self.script.methods.find("initialize").is_some();
        if handshake && own_version(params).is_some() && self.eras().are_both() {
            out.push(0xff);
        }
    }

    /// The form of a take at a level.
    pub(crate) fn form_of(&self, level: Level, ordinal: u32, masks: Option<&[u64]>) -> Vec<u8> {
        let mut form = Vec::new();
        let Some(take) = self.script.take(ordinal as usize) else {
            return form;
        };
        if level == Level::Exact {
            let params = self.params(&take);
            self.write_form(
                level,
                take.method,
                params.as_deref(),
                None,
                masks,
                &mut form,
            );
        } else {
            let params = self.redacted_params(ordinal, &take);
            self.write_form(
                level,
                take.method,
                params.as_deref(),
                None,
                masks,
                &mut form,
            );
        }
        form
    }

    /// The eras in the recording.
    pub(crate) fn eras(&self) -> &Eras {
        self.eras.get_or_init(|| Eras::of(&self.script))
    }

    /// The levels below the first, built on demand.
    pub(crate) fn loose(&self) -> &Loose {
        self.loose.get_or_init(|| self.make_loose())
    }

    fn make_loose(&self) -> Loose {
        let mut loose = Loose::default();
        let mut redactor = Redactor::new(Arc::clone(&self.options.rules));
        // A client may send its requests in another order.
        redactor.stop_learning();
        let mut form = Vec::new();
        let mut keys = Vec::new();
        let mut reader = self.script.text.reader();
        for (ordinal, take) in numbered(&self.script) {
            if self.is_skipped(&take) {
                continue;
            }
            let request = reader.read(take.request);
            if crate::json::is_likely_redacted(request) {
                redactor.adopt(request);
                loose.placeholders.extend_from_slice(request);
                loose.placeholders.push(b'\n');
            }
            let redacted = redactor.json(request).unwrap_or(Cow::Borrowed(request));
            let params = match &redacted {
                Cow::Borrowed(_) => take.params.map(|params| part_of(request, &take, params)),
                Cow::Owned(text) => json::find(text, &["params"]),
            };
            let mut levels = self.levels().to_vec();
            if self.options.mode == MatchMode::Structural {
                levels.push(Level::Shape);
            }
            for level in levels {
                form.clear();
                self.write_form(level, take.method, params, None, None, &mut form);
                for session in self.sessions_of(take.session) {
                    let key = key(level, session, take.method, 0, &form);
                    keys.push(Link::new(key, ordinal));
                }
            }
            if self.options.mode != MatchMode::Strict
                && let Some(places) = patterns(params)
            {
                self.add_pattern(&mut loose, &mut keys, ordinal, &take, params, places);
            }
            if let Cow::Owned(text) = redacted {
                loose.redacted.insert(ordinal, text.into());
            }
        }
        loose.chains = Chains::of(vec![in_order(keys)]);
        loose
    }

    fn add_pattern(
        &self,
        loose: &mut Loose,
        keys: &mut Vec<Link>,
        ordinal: u32,
        take: &Take,
        params: Option<&[u8]>,
        places: Vec<u64>,
    ) {
        let known = loose.patterns.entry(take.method).or_default();
        let number = match known.iter().position(|known| *known == places) {
            Some(number) => number,
            None if known.len() < PATTERN_LIMIT => {
                known.push(places);
                known.len() - 1
            }
            None => return,
        };
        let masks = known.get(number).map(Vec::as_slice);
        let mut form = Vec::new();
        self.write_form(Level::Pattern, take.method, params, None, masks, &mut form);
        for session in self.sessions_of(take.session) {
            let key = key(Level::Pattern, session, take.method, number, &form);
            keys.push(Link::new(key, ordinal));
        }
    }

    /// The sessions whose lists contain a take: any, and its own.
    fn sessions_of(&self, own: u32) -> impl Iterator<Item = Option<u32>> + use<> {
        let own = self.has_sessions().then_some(Some(own));
        std::iter::once(None).chain(own)
    }

    /// The recorded session that a new live session plays: one whose `initialize` has these
    /// parameters and that no other session plays yet, or else the next unclaimed one.
    pub(crate) fn claim(&self, initialize: Option<MethodId>, params: Option<&[u8]>) -> Option<u32> {
        if !self.has_sessions() {
            return self.script.sessions.first().copied();
        }
        let mut wanted = Vec::new();
        let mut equal = BTreeSet::new();
        if let Some(method) = initialize {
            self.write_form(Level::Exact, method, params, None, None, &mut wanted);
            for ordinal in self
                .by_method
                .from(self.by_method.first(method_key(method, None)))
            {
                if self.form_of(Level::Exact, ordinal, None) == wanted
                    && let Some(take) = self.script.take(ordinal as usize)
                {
                    equal.insert(take.session);
                }
            }
        }
        let mut claimed = self.lock_claims();
        // Session 0 of a recording over HTTP holds sessionless messages.
        let sessions = || self.script.sessions.iter().copied();
        let begins = |session: &u32| {
            initialize.is_none_or(|method| {
                let first = self.by_method.first(method_key(method, Some(*session)));
                first.is_some()
            })
        };
        if sessions().filter(begins).all(|one| claimed.contains(&one)) {
            claimed.clear();
        }
        let free = |one: &u32| !claimed.contains(one);
        let chosen = sessions()
            .filter(begins)
            .filter(free)
            .find(|one| equal.contains(one))
            .or_else(|| sessions().filter(begins).find(free));
        if let Some(chosen) = chosen {
            claimed.insert(chosen);
        }
        chosen
    }

    fn lock_claims(&self) -> MutexGuard<'_, BTreeSet<u32>> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The takes with their ordinals.
fn numbered(script: &Script) -> impl Iterator<Item = (u32, Take)> + '_ {
    (0..).zip(script.takes.iter())
}

/// A part of a request that is in memory.
fn part_of<'r>(request: &'r [u8], take: &Take, part: Span) -> &'r [u8] {
    let here = Span {
        start: part.start.saturating_sub(take.request.start),
        end: part.end.saturating_sub(take.request.start),
    };
    here.of(request)
}

/// Whether a request is matched by its method alone: what a client reports about itself changes
/// with each of its versions.
pub(crate) fn is_by_method(method: &[u8]) -> bool {
    matches!(method, b"initialize" | b"server/discover")
}

/// The member of `params` that names the target: two tools are unrelated, however similar their
/// arguments look.
fn kept(method: &[u8]) -> Option<&'static str> {
    matches!(method, b"tools/call" | b"prompts/get").then_some("name")
}

/// The key of a form.
pub(crate) fn key(
    level: Level,
    session: Option<u32>,
    method: MethodId,
    pattern: usize,
    form: &[u8],
) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u8(level as u8);
    hasher.write_u64(session.map_or(u64::MAX, u64::from));
    hasher.write_u32(method.0);
    hasher.write_usize(pattern);
    hasher.write(form);
    hasher.finish()
}

/// The key of all takes of a method.
pub(crate) fn method_key(method: MethodId, session: Option<u32>) -> u64 {
    let session = session.map_or(u64::from(u32::MAX) + 1, u64::from);
    // Spread the bits, since the table uses the number without hashing it.
    (session << 32 | u64::from(method.0))
        .wrapping_add(1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The places of parameters that hold patterns; `None` when none does.
fn patterns(params: Option<&[u8]>) -> Option<Vec<u64>> {
    let params = params.filter(|params| crate::json::is_likely_redacted(params))?;
    let places = pattern_places(&Tree::read(params).ok()?);
    (!places.is_empty()).then_some(places)
}

#[cfg(test)]
mod tests;
