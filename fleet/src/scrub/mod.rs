//! Removes secrets from a store, by rules that were added after the tapes were shipped.
//!
//! A range with a secret gets a new segment and new rows under new names, and an entry that
//! supersedes the old one: its name has the next version, and a store accepts it only once. From
//! then on readers only see the new one. Then the old entry is overwritten, and its objects are
//! removed. A scrub that is killed in between leaves objects without an entry, or an old entry that
//! is no longer read; the next run removes both. Offsets stay those of the original tape, so that
//! shippers continue after them.

mod tape;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;
use tapewright_schemas::redact::Rules;

use self::tape::TapeScrub;
use crate::chain::{Chain, Missing};
use crate::list::Catalogue;
use crate::names::{EntryName, Gateway, TapeName};
use crate::segment::UnpackError;
use crate::store::{Store, StoreError};
use crate::sweep::{Policy, YOUNGEST, sweep_unnamed};

/// What to scrub, and by which rules.
#[derive(Debug)]
pub struct Scrub {
    /// The rules for secrets.
    pub rules: Arc<Rules>,
    /// Only tapes of this gateway.
    pub gateway: Option<Gateway>,
    /// Whether nothing is changed.
    pub is_dry: bool,
    /// The current wall time.
    pub now: SystemTime,
}

/// The result of a scrub, or what it would do: numbers and kinds, never secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Scrubbed {
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// How many tapes were read.
    pub tapes: u64,
    /// The tapes with secrets.
    pub changed: Vec<String>,
    /// How many entries were superseded.
    pub entries: u64,
    /// How many secrets of each kind were replaced in lines of tapes.
    pub replaced: BTreeMap<String, u64>,
    /// How many objects were removed, because they had secrets or no entry.
    pub removed: u64,
    /// Tapes that could not be scrubbed completely, with reasons.
    pub left: Vec<Left>,
}

/// A tape that was not scrubbed completely.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Left {
    /// Its name.
    pub tape: String,
    /// The reason.
    pub why: String,
}

/// Why a tape was not scrubbed completely.
#[derive(Debug, thiserror::Error)]
enum ScrubError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A part of it is missing or changed in the store.
    #[error("{0}")]
    Damaged(String),
    /// Another process changed it meanwhile.
    #[error("it was changed meanwhile; run `scrub` again")]
    Raced,
}

impl From<UnpackError> for ScrubError {
    fn from(error: UnpackError) -> Self {
        match error {
            UnpackError::Damaged(why) => Self::Damaged(why),
            UnpackError::Store(error) => Self::Store(error),
            UnpackError::Write(error) => Self::Damaged(error.to_string()),
        }
    }
}

/// Scrubs the tapes of a store. Stopped at any moment, it can be run again.
pub async fn scrub(store: &Store, what: &Scrub) -> Result<Scrubbed, StoreError> {
    let gateway = what.gateway.as_ref().map(Gateway::as_str);
    let catalogue = Catalogue::read(store, gateway).await?;
    let mut scrubbed = Scrubbed {
        dry_run: what.is_dry,
        ..Scrubbed::default()
    };
    for (name, entries) in &catalogue.tapes {
        match scrub_tape(store, what, name, entries, &mut scrubbed).await {
            Ok(()) => {}
            Err(ScrubError::Store(error)) => return Err(error),
            Err(error) => scrubbed.left.push(Left {
                tape: name.to_string(),
                why: error.to_string(),
            }),
        }
    }
    let policy = Policy {
        older_than: None,
        max_size: None,
        // Objects that a shipper may be about to name stay.
        orphans_after: YOUNGEST,
        is_dry: what.is_dry,
        now: what.now,
    };
    scrubbed.removed = sweep_unnamed(store, &policy).await?.orphans;
    Ok(scrubbed)
}

async fn scrub_tape(
    store: &Store,
    what: &Scrub,
    name: &TapeName,
    entries: &[EntryName],
    scrubbed: &mut Scrubbed,
) -> Result<(), ScrubError> {
    let chain = Chain::of_names(store, entries).await?;
    if chain.swept().is_some() {
        return Ok(());
    }
    scrubbed.tapes += 1;
    let mut tape = TapeScrub::new(store, what, entries, &chain);
    let done = tape.run().await;
    if tape.superseded > 0 {
        scrubbed.changed.push(name.to_string());
        scrubbed.entries += tape.superseded;
        for (kind, count) in tape.replaced() {
            *scrubbed.replaced.entry(kind.clone()).or_default() += count;
        }
    }
    done?;
    match &chain.missing {
        Some(missing) => Err(ScrubError::Damaged(Missing::text(missing))),
        None => Ok(()),
    }
}
