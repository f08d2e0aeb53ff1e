//! Taking secrets out of a store, where a rule for them came after they were shipped.
//!
//! A range of a tape from which something is taken gets a new segment and new rows under new names, and an entry that supersedes the
//! old one: its name is the next version's, and is given away once. From that moment readers see the new one and nothing else. Then the
//! old entry is written over, and what it named is removed. Whoever is killed in between leaves objects that no entry names, or an old entry
//! that nobody reads; the next run removes both. Offsets stay those of the tape as it was shipped, so that a shipper goes on behind them.

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

/// What is scrubbed, and by which rules.
#[derive(Debug)]
pub struct Scrub {
    /// What is a secret.
    pub rules: Arc<Rules>,
    /// Only tapes of this gateway.
    pub gateway: Option<Gateway>,
    /// Nothing is changed.
    pub is_dry: bool,
    /// The time of the day.
    pub now: SystemTime,
}

/// What was scrubbed, or would be: numbers and kinds, never what it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Scrubbed {
    /// Nothing was changed: it was asked what would be.
    pub dry_run: bool,
    /// How many tapes were read.
    pub tapes: u64,
    /// The tapes in which something was found.
    pub changed: Vec<String>,
    /// How many entries were superseded.
    pub entries: u64,
    /// How many secrets of each kind were replaced in lines of tapes.
    pub replaced: BTreeMap<String, u64>,
    /// How many objects were removed that held what was replaced, or that no entry named.
    pub removed: u64,
    /// Tapes that could not be scrubbed to their end, and why.
    pub left: Vec<Left>,
}

/// A tape of which something was left as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Left {
    /// Which one.
    pub tape: String,
    /// Why.
    pub why: String,
}

/// Why a tape was not scrubbed to its end.
#[derive(Debug, thiserror::Error)]
enum ScrubError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something of it is missing or changed in the store.
    #[error("{0}")]
    Damaged(String),
    /// Somebody else changed it meanwhile.
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
        // What a shipper may be about to name stays.
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
