//! Finds the recorded call for a request.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

use tapewright_models::conversation::Request;
use tapewright_models::key::Key;
use tapewright_models::recorded::ProviderExchange;
use tapewright_models::{Call, Wire};

use super::miss::{ModelMiss, ModelReason};
use crate::json::{Comparison, Ignore, compare};
use crate::options::{Exhausted, MatchMode};

/// The recorded model calls, by the key that determines their answers.
#[derive(Debug, Default)]
pub(super) struct Index {
    entries: Vec<Entry>,
    exact: HashMap<Print, Vec<usize>>,
    masked: HashMap<Print, Vec<usize>>,
    outlines: HashMap<Print, Vec<usize>>,
    // Those with placeholders that match any text.
    patterns: Vec<usize>,
    unread: u64,
}

/// A recorded call.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) exchange: ProviderExchange,
    pub(super) call: Call,
    /// The requested model.
    pub(super) model: String,
    /// How often it was served.
    pub(super) times: u32,
}

/// How to search for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search<'s> {
    pub(super) mode: MatchMode,
    pub(super) exhausted: Exhausted,
    pub(super) places: &'s [Vec<String>],
}

/// A hash that identifies a text.
type Print = (u64, u64);

fn print(text: &str) -> Print {
    let hash = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write(text.as_bytes());
        hasher.finish()
    };
    (hash(1), hash(2))
}

/// The maximum number of recorded calls that a miss is compared with, and of their bytes.
const COMPARED: usize = 256;
const COMPARED_BYTES: usize = 64 << 20;

/// The root under which two calls are compared.
const ROOT: &str = "call";

/// The maximum number of differences in a miss.
const DIFFERENCES: usize = 5;

impl Index {
    /// Adds a call; counts it if its request cannot be read.
    pub(super) fn add(&mut self, exchange: ProviderExchange, call: Call, places: &[Vec<String>]) {
        let Ok(request) = call.wire.read_request(&call, &exchange.body) else {
            self.unread += 1;
            return;
        };
        let key = Key::of(&request).without(places);
        let at = self.entries.len();
        self.exact.entry(print(key.text())).or_default().push(at);
        self.masked
            .entry(print(&key.masked()))
            .or_default()
            .push(at);
        self.outlines
            .entry(print(&key.outline()))
            .or_default()
            .push(at);
        if key.is_pattern() {
            self.patterns.push(at);
        }
        self.entries.push(Entry {
            exchange,
            call,
            model: request.model,
            times: 0,
        });
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The number of calls whose request cannot be read.
    pub(super) fn unread(&self) -> u64 {
        self.unread
    }

    /// Marks a call as served, and returns it.
    pub(super) fn take(&mut self, at: usize) -> Option<&Entry> {
        let entry = self.entries.get_mut(at)?;
        entry.times = entry.times.saturating_add(1);
        Some(entry)
    }

    /// The recorded call for a request. Of equal calls, the first that was not served yet; more
    /// exact matches come first.
    pub(super) fn find(&self, key: &Key, search: &Search<'_>) -> Result<usize, ModelReason> {
        let mut used_up = Vec::new();
        for step in 0..4 {
            let class = self.class(step, key, search);
            let is_fresh = |at: &&usize| self.times(**at) == 0;
            if let Some(at) = class.iter().find(is_fresh) {
                return Ok(*at);
            }
            if used_up.is_empty() {
                used_up = class;
            }
        }
        let again = match search.exhausted {
            Exhausted::Error => None,
            Exhausted::Last => used_up.last(),
            Exhausted::Cycle => used_up.iter().min_by_key(|at| self.times(**at)),
        };
        match again {
            Some(at) => Ok(*at),
            None if used_up.is_empty() => Err(ModelReason::NeverRecorded),
            None => Err(ModelReason::UsedUp),
        }
    }

    /// The recorded calls that match a request, at each step from exact to loose.
    fn class(&self, step: u8, key: &Key, search: &Search<'_>) -> Vec<usize> {
        let (semantic, structural) = match search.mode {
            MatchMode::Strict => (false, false),
            MatchMode::Semantic => (true, false),
            MatchMode::Structural => (true, true),
        };
        let under = |map: &HashMap<Print, Vec<usize>>, text: &str| {
            map.get(&print(text)).cloned().unwrap_or_default()
        };
        match step {
            0 => under(&self.exact, key.text()),
            1 if semantic => under(&self.masked, &key.masked()),
            2 if semantic && !self.patterns.is_empty() => {
                let fits = |at: &usize| {
                    let recorded = self.key(*at, search.places);
                    recorded.is_some_and(|recorded| recorded.fits(key))
                };
                self.patterns.iter().copied().filter(fits).collect()
            }
            3 if structural => under(&self.outlines, &key.outline()),
            _ => Vec::new(),
        }
    }

    fn times(&self, at: usize) -> u32 {
        self.entries.get(at).map_or(0, |entry| entry.times)
    }

    fn request(&self, at: usize) -> Option<Request> {
        let entry = self.entries.get(at)?;
        let (call, body) = (&entry.call, &entry.exchange.body);
        call.wire.read_request(call, body).ok()
    }

    fn key(&self, at: usize, places: &[Vec<String>]) -> Option<Key> {
        Some(Key::of(&self.request(at)?).without(places))
    }

    /// The miss for a request without a recorded call.
    pub(super) fn missed(
        &self,
        asked: &Request,
        key: &Key,
        reason: ModelReason,
        search: &Search<'_>,
    ) -> ModelMiss {
        let mut miss = ModelMiss::new(asked.wire, &asked.model, reason);
        let of_wire = self
            .entries
            .iter()
            .filter(|one| one.call.wire == asked.wire);
        miss.recorded = of_wire.count() as u64;
        if reason == ModelReason::NeverRecorded
            && let Some((at, recorded)) = self.nearest(asked.wire, key, search.places)
        {
            let comparison = Comparison {
                mode: search.mode,
                ignore: &Ignore::default(),
                aliases: None,
                skip_incidental: false,
                limit: DIFFERENCES,
            };
            let (recorded, live) = (recorded.text().as_bytes(), key.text().as_bytes());
            let mut differences = compare(recorded, live, ROOT, &comparison);
            if differences.is_empty() {
                // Some differences do not count in an MCP message, but do in a model call.
                let strict = Comparison {
                    mode: MatchMode::Strict,
                    ..comparison
                };
                differences = compare(recorded, live, ROOT, &strict);
            }
            let seq = self.entries.get(at).map(|entry| entry.exchange.seq);
            for one in &mut differences {
                // The whole call is compared.
                one.path = one.path.replacen("$.call", "$", 1);
            }
            miss.nearest(seq.unwrap_or_default(), differences);
        }
        miss.said()
    }

    /// The most similar recorded call, preferably on the same wire.
    fn nearest(&self, wire: Wire, key: &Key, places: &[Vec<String>]) -> Option<(usize, Key)> {
        let all = 0..self.entries.len();
        let of_wire = |at: &usize| {
            self.entries
                .get(*at)
                .is_some_and(|one| one.call.wire == wire)
        };
        let mut candidates: Vec<usize> = all.clone().filter(of_wire).collect();
        if candidates.is_empty() {
            candidates = all.collect();
        }
        let mut left = COMPARED_BYTES;
        let keys = candidates.into_iter().take(COMPARED).map_while(|at| {
            let length = self.entries.get(at)?.exchange.body.len();
            left = left.checked_sub(length)?;
            Some((at, self.key(at, places)?))
        });
        let keys: Vec<(usize, Key)> = keys.collect();
        let (nearest, _) = key.nearest(keys.iter().map(|(_, key)| key))?;
        keys.into_iter().nth(nearest)
    }
}
