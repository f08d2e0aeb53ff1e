//! Removes tapes that are too old or too large together, and leftovers of killed shippers.
//!
//! The last entry of a swept tape stays, and says so: a shipper that still has the file does not
//! ship it again. It is written first, then the other entries are removed, then the segments: a
//! sweep that is killed in between leaves segments without an entry, which the next sweep removes.
//! A segment with an entry is never removed on its own.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::chain::Chain;
use crate::clock;
use crate::entry::{self, Ended, Entry, How};
use crate::hash::Hasher;
use crate::names::{EntryName, Kind, ObjectName, TapeName};
use crate::store::{Created, Listed, Problem, Store, StoreError};

/// The least age at which a segment without an entry is removed: its entry may be on its way.
pub const YOUNGEST: Duration = Duration::from_secs(3_600);
/// How long an unfinished tape must have had no new entries before it may be removed for its size.
const SILENT: Duration = Duration::from_secs(24 * 3_600);

/// What to sweep.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Tapes that were last shipped this long ago.
    pub older_than: Option<Duration>,
    /// The oldest tapes, until the rest has at most this size in the store.
    pub max_size: Option<u64>,
    /// Segments without an entry of this age.
    pub orphans_after: Duration,
    /// Whether nothing is removed.
    pub is_dry: bool,
    /// The time from which ages are counted.
    pub now: SystemTime,
}

/// The result of a sweep, or what it would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Whether nothing was removed.
    pub dry_run: bool,
    /// The tapes that were removed.
    pub tapes: Vec<String>,
    /// Their size in the store.
    pub bytes: u64,
    /// How many segments without an entry were removed.
    pub orphans: u64,
    /// Their size.
    pub orphan_bytes: u64,
    /// How many tapes are left.
    pub kept: u64,
    /// Their size in the store.
    pub kept_bytes: u64,
    /// Objects that `ship` did not write; they are left alone.
    pub foreign: u64,
}

/// The listed objects.
#[derive(Default)]
struct Listing {
    // The objects of each range of a tape: those of its entry, and those without one.
    objects: HashMap<EntryName, Vec<(ObjectName, Listed)>>,
    tapes: BTreeMap<TapeName, StoredTape>,
    foreign: u64,
}

/// The listed objects of one tape.
#[derive(Default)]
struct StoredTape {
    // Every entry, including superseded ones.
    entries: Vec<EntryName>,
    // The latest versions.
    latest: Vec<EntryName>,
    changed_ms: i64,
    objects: Vec<(String, u64)>,
}

impl StoredTape {
    fn bytes(&self) -> u64 {
        self.objects.iter().map(|(_, bytes)| bytes).sum()
    }

    /// The latest entry of a range.
    fn entry(&self, of: &EntryName) -> Option<&EntryName> {
        let at = self.latest.binary_search_by_key(&of.start, |one| one.start);
        self.latest.get(at.ok()?)
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
    sweep_orphans(store, policy, &mut listing, &mut swept).await?;
    sweep_tapes(store, policy, listing.tapes, &mut swept).await?;
    Ok(swept)
}

/// Removes objects without an entry, as `sweep` does, and nothing else.
pub async fn sweep_unnamed(store: &Store, policy: &Policy) -> Result<Swept, StoreError> {
    let mut listing = Listing::read(store).await?;
    let mut swept = Swept::default();
    sweep_orphans(store, policy, &mut listing, &mut swept).await?;
    Ok(swept)
}

async fn sweep_orphans(
    store: &Store,
    policy: &Policy,
    listing: &mut Listing,
    swept: &mut Swept,
) -> Result<(), StoreError> {
    for (path, bytes) in listing.orphans(store, policy).await? {
        swept.orphans += 1;
        swept.orphan_bytes += bytes;
        if !policy.is_dry {
            store.delete(&path).await?;
        }
    }
    // A file that was begun this long ago is no longer being written.
    let age = policy.orphans_after.max(YOUNGEST);
    for stray in store.strays(&|modified_ms| policy.is_older(modified_ms, age))? {
        swept.orphans += 1;
        swept.orphan_bytes += stray.bytes;
        if !policy.is_dry {
            stray.remove()?;
        }
    }
    Ok(())
}

async fn sweep_tapes(
    store: &Store,
    policy: &Policy,
    tapes: BTreeMap<TapeName, StoredTape>,
    swept: &mut Swept,
) -> Result<(), StoreError> {
    let mut total: u64 = tapes.values().map(StoredTape::bytes).sum();
    let mut oldest: Vec<(TapeName, StoredTape)> = tapes.into_iter().collect();
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

    /// Whether an object without an entry is so old that it will never have one.
    fn is_orphan(&self, name: &ObjectName, listed: &Listed) -> bool {
        let made_ms = name.made_ms().max(listed.modified_ms);
        self.is_older(made_ms, self.orphans_after.max(YOUNGEST))
    }
}

impl Listing {
    /// Lists segments first: a segment that is listed without its entry has none, or gets it within
    /// the time limit of shippers.
    async fn read(store: &Store) -> Result<Self, StoreError> {
        let mut listing = Self::default();
        let each = |one: Listed| match ObjectName::read(&one.path) {
            Ok(name) => {
                let places = listing.objects.entry(name.of.clone()).or_default();
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
            held.latest.clone_from(&held.entries);
            EntryName::keep_latest(&mut held.latest);
        }
        Ok(listing)
    }

    /// The old objects without an entry. The others are assigned to their tapes.
    async fn orphans(
        &mut self,
        store: &Store,
        policy: &Policy,
    ) -> Result<Vec<(String, u64)>, StoreError> {
        let mut orphans = Vec::new();
        for (of, candidates) in std::mem::take(&mut self.objects) {
            let mut held = self.tapes.get_mut(&of.tape);
            let entry = held.as_ref().and_then(|held| held.entry(&of));
            let named = match entry {
                None => Named::None,
                Some(_) if is_one(&candidates) => Named::Any,
                Some(name) => named(store, name).await?,
            };
            for (name, listed) in candidates {
                if named.is(&listed.path) {
                    if let Some(held) = &mut held {
                        held.objects.push((listed.path, listed.bytes));
                    }
                } else if named.supersedes(&name) || policy.is_orphan(&name, &listed) {
                    orphans.push((listed.path, listed.bytes));
                }
            }
        }
        Ok(orphans)
    }
}

/// Whether all objects of a range were made at the same time, with a segment. Then its entry has
/// all of them.
fn is_one(candidates: &[(ObjectName, Listed)]) -> bool {
    let segment = candidates
        .iter()
        .find(|(name, _)| name.kind == Kind::Segment);
    segment.is_some_and(|(segment, _)| {
        candidates
            .iter()
            .all(|(name, _)| name.is_made_with(segment))
    })
}

/// Which objects of a range its entry names.
enum Named {
    None,
    These {
        paths: Vec<String>,
        /// When the entry superseded another one: when its objects were made.
        superseded_ms: Option<i64>,
    },
    /// Possibly any of them.
    Any,
}

impl Named {
    fn is(&self, path: &str) -> bool {
        match self {
            Self::None => false,
            Self::These { paths, .. } => paths.iter().any(|one| one == path),
            Self::Any => true,
        }
    }

    /// Whether an object without an entry was made before an entry superseded the one that might
    /// have it: it never gets an entry.
    fn supersedes(&self, object: &ObjectName) -> bool {
        let Self::These { superseded_ms, .. } = self else {
            return false;
        };
        superseded_ms.is_some_and(|made_ms| object.made_ms() < made_ms)
    }
}

async fn named(store: &Store, name: &EntryName) -> Result<Named, StoreError> {
    match store.entry(name).await {
        Ok(entry) => {
            let segment = entry.segment.as_ref().filter(|_| name.version > 0);
            let segment = segment.and_then(|segment| ObjectName::read(&segment.name).ok());
            Ok(Named::These {
                superseded_ms: segment.map(|segment| segment.made_ms()),
                paths: entry.objects().map(|(_, path)| path.to_owned()).collect(),
            })
        }
        Err(error) if matches!(error.problem, Problem::Bad | Problem::Missing) => Ok(Named::Any),
        Err(error) => Err(error),
    }
}

/// The result for a tape.
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
    held: &'a StoredTape,
}

impl Removal<'_> {
    async fn run(&self, is_wanted: bool) -> Result<Outcome, StoreError> {
        if !is_wanted {
            // For a tape that stays, the last entry suffices.
            return self.stays().await;
        }
        let chain = Chain::of_names(self.store, &self.held.latest).await?;
        if let (Some(_), Some(last)) = (chain.swept(), chain.entries.last()) {
            return self.finish(last).await;
        }
        // A damaged tape is left for inspection.
        if chain.missing.is_some() {
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
        self.remove(&last).await?;
        Ok(Outcome::Removed)
    }

    async fn stays(&self) -> Result<Outcome, StoreError> {
        let Some(last) = self.held.latest.last() else {
            return Ok(Outcome::Kept);
        };
        match self.store.entry(last).await {
            Ok(entry) if entry.swept.is_some() => self.finish(&entry).await,
            Err(error) if !matches!(error.problem, Problem::Bad | Problem::Missing) => Err(error),
            _ => Ok(Outcome::Kept),
        }
    }

    /// Removes the rest of a swept tape, if an earlier sweep was stopped.
    async fn finish(&self, last: &Entry) -> Result<Outcome, StoreError> {
        if !self.policy.is_dry {
            self.remove(last).await?;
        }
        Ok(Outcome::RemovedBefore)
    }

    /// Marks the tape as swept in its last entry. `None` if its shipper continues after all.
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
        let first = entry.name(self.name);
        let versions = self
            .held
            .entries
            .iter()
            .filter(|name| name.is_of_same(&first));
        // The latest version comes last.
        for name in versions.filter(|name| **name != first) {
            self.store.replace(name, &entry).await?;
        }
        self.store.replace(&first, &entry).await?;
        Ok(Some(entry))
    }

    /// Removes everything but the last entry.
    async fn remove(&self, last: &Entry) -> Result<(), StoreError> {
        for name in &self.held.entries {
            if name.start != last.start {
                self.store.delete(&name.path()).await?;
            }
        }
        for (path, _) in &self.held.objects {
            self.store.delete(path).await?;
        }
        Ok(())
    }
}

/// The last entry of a tape without new entries for a long time.
fn abandoned(last: &Entry) -> Entry {
    let mut entry = Entry {
        manifest: entry::VERSION.to_owned(),
        by: crate::BY.to_owned(),
        start: last.end,
        end: last.end,
        content: entry::Content::default(),
        sha256: Hasher::default().finish(),
        scrubbed: None,
        segment: None,
        rows: entry::Rows::default(),
        ended: Some(Ended {
            how: How::Abandoned,
            torn_bytes: 0,
            lost_bytes: 0,
            lost_events: 0,
        }),
        ..last.clone()
    };
    entry.total = last.total.map(|total| total.and(&entry));
    entry
}

#[cfg(test)]
mod tests;
