//! Removing what is too old or too much, and what a shipper that was killed left behind.
//!
//! The last entry of a tape that is swept stays, and says so: a shipper that still has the file does not ship it again. It is written
//! first, then the other entries go, then the segments: whoever is killed in between leaves segments that no entry names, and the next
//! sweep removes them. A segment that an entry names is never removed.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::chain::Chain;
use crate::clock;
use crate::entry::{self, Ended, Entry, How};
use crate::hash::Hasher;
use crate::names::{EntryName, Kind, ObjectName, TapeName};
use crate::store::{Created, Listed, Problem, Store, StoreError};

/// How young a segment that no entry names may be and be removed, at least: its entry may be on its way.
pub const YOUNGEST: Duration = Duration::from_secs(3_600);
/// For how long nothing came of a tape that has not ended until it may be removed for its size.
const SILENT: Duration = Duration::from_secs(24 * 3_600);

/// What is swept.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Tapes that were shipped last so long ago.
    pub older_than: Option<Duration>,
    /// The oldest tapes, until the rest is so long in the store.
    pub max_size: Option<u64>,
    /// Segments that no entry names and that are so old.
    pub orphans_after: Duration,
    /// Nothing is removed.
    pub is_dry: bool,
    /// The time that ages are told by.
    pub now: SystemTime,
}

/// What was swept, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Nothing was removed: it was asked what would be.
    pub dry_run: bool,
    /// The tapes that were removed.
    pub tapes: Vec<String>,
    /// How long they were in the store.
    pub bytes: u64,
    /// How many segments were removed that no entry names.
    pub orphans: u64,
    /// How long those were.
    pub orphan_bytes: u64,
    /// How many tapes are left.
    pub kept: u64,
    /// How long they are in the store.
    pub kept_bytes: u64,
    /// Objects that `ship` did not write, which are left as they are.
    pub foreign: u64,
}

/// What was listed.
#[derive(Default)]
struct Listing {
    // What stands under the name of each entry: of each kind one object, or several, of which it names one.
    objects: HashMap<(EntryName, Kind), Vec<(ObjectName, Listed)>>,
    tapes: BTreeMap<TapeName, Held>,
    foreign: u64,
}

/// What is listed of one tape.
#[derive(Default)]
struct Held {
    entries: Vec<EntryName>,
    changed_ms: i64,
    objects: Vec<(String, u64)>,
}

impl Held {
    fn bytes(&self) -> u64 {
        self.objects.iter().map(|(_, bytes)| bytes).sum()
    }
}

/// Sweeps a store.
pub async fn sweep(store: &Store, policy: &Policy) -> Result<Swept, StoreError> {
    let mut listing = Listing::read(store).await?;
    let mut swept = Swept {
        dry_run: policy.is_dry,
        foreign: listing.foreign,
        ..Swept::default()
    };
    let orphans = listing.orphans(store, policy).await?;
    for (path, bytes) in orphans {
        swept.orphans += 1;
        swept.orphan_bytes += bytes;
        if !policy.is_dry {
            store.delete(&path).await?;
        }
    }
    sweep_tapes(store, policy, listing.tapes, &mut swept).await?;
    Ok(swept)
}

async fn sweep_tapes(
    store: &Store,
    policy: &Policy,
    tapes: BTreeMap<TapeName, Held>,
    swept: &mut Swept,
) -> Result<(), StoreError> {
    let mut total: u64 = tapes.values().map(Held::bytes).sum();
    let mut oldest: Vec<(TapeName, Held)> = tapes.into_iter().collect();
    oldest.sort_by(|a, b| (a.1.changed_ms, &a.0).cmp(&(b.1.changed_ms, &b.0)));
    for (name, held) in oldest {
        let is_old = policy
            .older_than
            .is_some_and(|age| policy.is_older(held.changed_ms, age));
        let is_much = policy.max_size.is_some_and(|most| total > most);
        let bytes = held.bytes();
        let removal = Removal {
            store,
            policy,
            name: &name,
            held: &held,
        };
        match removal.run(is_old || is_much).await? {
            Outcome::Removed => {
                total -= bytes;
                swept.bytes += bytes;
                swept.tapes.push(name.to_string());
            }
            Outcome::Kept => {
                swept.kept += 1;
                swept.kept_bytes += bytes;
            }
            Outcome::RemovedBefore => {}
        }
    }
    Ok(())
}

impl Policy {
    fn is_older(&self, at_ms: i64, than: Duration) -> bool {
        let now = self.now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = Duration::from_millis(u64::try_from(at_ms).unwrap_or_default());
        now.saturating_sub(at) > than
    }
}

impl Listing {
    /// Lists segments first: one that is listed and whose entry is not has none, or gets it within the time that shippers have.
    async fn read(store: &Store) -> Result<Self, StoreError> {
        let mut listing = Self::default();
        let each = |one: Listed| match ObjectName::read(&one.path) {
            Ok(name) => {
                let key = (name.of.clone(), name.kind);
                let places = listing.objects.entry(key).or_default();
                places.push((name, one));
            }
            Err(_) => listing.foreign += 1,
        };
        store.objects(each).await?;
        let each = |one: Listed| match EntryName::read(&one.path) {
            Ok(name) => {
                let held = listing.tapes.entry(name.tape.clone()).or_default();
                held.changed_ms = held.changed_ms.max(one.modified_ms);
                held.entries.push(name);
            }
            Err(_) => listing.foreign += 1,
        };
        store.manifests(None, each).await?;
        for held in listing.tapes.values_mut() {
            held.entries.sort();
        }
        Ok(listing)
    }

    /// The segments that no entry names and that are old enough. The others are put to their tapes.
    async fn orphans(
        &mut self,
        store: &Store,
        policy: &Policy,
    ) -> Result<Vec<(String, u64)>, StoreError> {
        let mut orphans = Vec::new();
        for ((name, kind), candidates) in std::mem::take(&mut self.objects) {
            let held = self.tapes.get_mut(&name.tape);
            let has_entry = held
                .as_ref()
                .is_some_and(|held| held.entries.binary_search(&name).is_ok());
            let named = match candidates.len() {
                _ if !has_entry => Named::None,
                // A single segment is the one that is named. Rows may be a part of an upload of which the entry says that there are none.
                1 if kind == Kind::Segment => Named::Any,
                _ => named(store, &name, kind).await?,
            };
            let mut of_tape = Vec::new();
            for (segment, listed) in candidates {
                let made_ms = segment.made_ms().max(listed.modified_ms);
                if named.is(&listed.path) {
                    of_tape.push((listed.path, listed.bytes));
                } else if policy.is_older(made_ms, policy.orphans_after.max(YOUNGEST)) {
                    orphans.push((listed.path, listed.bytes));
                }
            }
            if let Some(held) = held {
                held.objects.append(&mut of_tape);
            }
        }
        Ok(orphans)
    }
}

/// Which of the segments under the name of an entry it names.
enum Named {
    None,
    This(String),
    /// Any of them, for all that is known.
    Any,
}

impl Named {
    fn is(&self, path: &str) -> bool {
        match self {
            Self::None => false,
            Self::This(name) => name == path,
            Self::Any => true,
        }
    }
}

async fn named(store: &Store, name: &EntryName, kind: Kind) -> Result<Named, StoreError> {
    match store.entry(name).await {
        Ok(entry) => {
            let name = entry.objects().find(|(one, _)| *one == kind);
            Ok(name.map_or(Named::None, |(_, path)| Named::This(path.to_owned())))
        }
        Err(error) if matches!(error.problem, Problem::Bad | Problem::Missing) => Ok(Named::Any),
        Err(error) => Err(error),
    }
}

/// What became of a tape.
enum Outcome {
    Removed,
    RemovedBefore,
    Kept,
}

/// One tape that may be removed.
struct Removal<'a> {
    store: &'a Store,
    policy: &'a Policy,
    name: &'a TapeName,
    held: &'a Held,
}

impl Removal<'_> {
    async fn run(&self, is_wanted: bool) -> Result<Outcome, StoreError> {
        let chain = Chain::of_names(self.store, &self.held.entries).await?;
        if chain.swept().is_some() {
            // Whoever swept it may have been stopped.
            if !self.policy.is_dry {
                self.remove(&chain).await?;
            }
            return Ok(Outcome::RemovedBefore);
        }
        // What is wrong with a damaged tape is for somebody to look at.
        if !is_wanted || chain.missing.is_some() {
            return Ok(Outcome::Kept);
        }
        let is_silent = self.policy.is_older(self.held.changed_ms, SILENT);
        if chain.ended().is_none() && !is_silent {
            return Ok(Outcome::Kept);
        }
        if self.policy.is_dry {
            return Ok(Outcome::Removed);
        }
        let Some(last) = self.close(&chain).await? else {
            return Ok(Outcome::Kept);
        };
        let chain = Chain::of([Ok(last)]);
        self.remove(&chain).await?;
        Ok(Outcome::Removed)
    }

    /// Makes the last entry say that the tape was swept. `None` where its shipper goes on after all.
    async fn close(&self, chain: &Chain) -> Result<Option<Entry>, StoreError> {
        let last = chain.entries.last().cloned().unwrap_or_default();
        let mut entry = last.clone();
        if entry.ended.is_none() {
            entry = abandoned(&last);
            let name = entry.name(self.name);
            if let Created::Theirs(_) = self.store.create(&name, &entry).await? {
                return Ok(None);
            }
        }
        entry.swept = Some(clock::text(self.policy.now));
        self.store.replace(&entry.name(self.name), &entry).await?;
        Ok(Some(entry))
    }

    /// Removes everything but the last entry.
    async fn remove(&self, chain: &Chain) -> Result<(), StoreError> {
        let last = chain.entries.last().map(|last| last.start);
        for name in &self.held.entries {
            if Some(name.start) != last {
                self.store.delete(&name.path()).await?;
            }
        }
        for (path, _) in &self.held.objects {
            self.store.delete(path).await?;
        }
        Ok(())
    }
}

/// The last entry of a tape whose shipper has said nothing for long.
fn abandoned(last: &Entry) -> Entry {
    Entry {
        manifest: entry::VERSION.to_owned(),
        by: crate::BY.to_owned(),
        start: last.end,
        end: last.end,
        content: entry::Content::default(),
        sha256: Hasher::default().finish(),
        segment: None,
        rows: entry::Rows::default(),
        ended: Some(Ended {
            how: How::Abandoned,
            torn_bytes: 0,
            lost_bytes: 0,
            lost_events: 0,
        }),
        ..last.clone()
    }
}

#[cfg(test)]
mod tests;
