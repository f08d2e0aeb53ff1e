//! Lists the tapes of a store with their states.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, TryStreamExt as _};
use serde::Serialize;

use crate::chain::Chain;
use crate::entry::{Ended, Entry, How, Total};
use crate::names::{EntryName, Kind, TapeName};
use crate::store::{Store, StoreError};

/// How many tapes are read in parallel.
const AT_ONCE: usize = 16;

/// The entries of a store, by their names.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// The entries of each tape, by their offsets.
    pub tapes: BTreeMap<TapeName, Vec<EntryName>>,
    /// Objects among them that `ship` did not write.
    pub foreign: u64,
}

impl Catalogue {
    /// Lists the entries of one gateway, or of all.
    pub async fn read(store: &Store, gateway: Option<&str>) -> Result<Self, StoreError> {
        let mut catalogue = Self::default();
        let each = |one: crate::store::Listed| match EntryName::read(&one.path) {
            Ok(name) => {
                let names = catalogue.tapes.entry(name.tape.clone()).or_default();
                names.push(name);
            }
            Err(_) => catalogue.foreign += 1,
        };
        store.manifests(gateway, each).await?;
        for names in catalogue.tapes.values_mut() {
            EntryName::keep_latest(names);
        }
        Ok(catalogue)
    }

    /// The tape for a text: `GATEWAY/TAPE`, its name alone, or the beginning of either, if it is
    /// unique.
    pub fn find(&self, text: &str) -> Result<&TapeName, FindError> {
        let begins = |name: &&TapeName| {
            name.to_string().starts_with(text) || name.id.to_string().starts_with(text)
        };
        let is_it = |name: &&TapeName| name.to_string() == text || name.id.to_string() == text;
        let several: Vec<&TapeName> = self.tapes.keys().filter(is_it).collect();
        if let [one] = several.as_slice() {
            return Ok(one);
        }
        let several: Vec<&TapeName> = self.tapes.keys().filter(begins).collect();
        match several.as_slice() {
            [one] if !text.is_empty() => Ok(one),
            [] => Err(FindError::None),
            _ => Err(FindError::Several(several.len())),
        }
    }
}

/// Why a text does not identify a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// No tape has the name.
    #[error("no such tape in the store; `ls` lists them")]
    None,
    /// Several tapes have it.
    #[error("{0} tapes match; write more of the name, or GATEWAY/TAPE")]
    Several(usize),
}

/// One tape of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The gateway that shipped it.
    pub gateway: String,
    /// Its name.
    pub tape: String,
    /// Name of the server that was recorded.
    pub label: String,
    /// When the recording began.
    pub created: String,
    /// `stdio`, or `http`.
    pub transport: String,
    /// Its state.
    pub state: State,
    /// How many of its bytes are stored.
    pub bytes: u64,
    /// The size of its segments.
    pub stored_bytes: u64,
    /// How many of its events are stored.
    pub events: u64,
    /// The number of its segments.
    pub segments: u64,
    /// How many rows of exchanges.
    pub exchanges: u64,
    /// How many rows of findings.
    pub findings: u64,
    /// How many rows of model calls.
    pub model_calls: u64,
    /// When it was last shipped.
    pub shipped: String,
    /// How it ended, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// What is missing, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// The state of a tape in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It has not ended.
    Open,
    /// It has its footer.
    Whole,
    /// Its recorder was stopped before it wrote the footer.
    CutShort,
    /// The rest of it was deleted on the gateway before it was shipped.
    Dropped,
    /// It was closed after a long time without new entries.
    Abandoned,
    /// It was removed from the store.
    Swept,
    /// A part of it is missing in the store.
    Damaged,
}

impl State {
    /// From a chain.
    #[must_use]
    pub fn of(chain: &Chain) -> Self {
        if chain.missing.is_some() {
            return Self::Damaged;
        }
        if chain.swept().is_some() {
            return Self::Swept;
        }
        match chain.ended().map(|ended| ended.how) {
            None => Self::Open,
            Some(How::Footer) => Self::Whole,
            Some(How::CutShort) => Self::CutShort,
            Some(How::Dropped) => Self::Dropped,
            Some(How::Abandoned) => Self::Abandoned,
        }
    }

    /// Its token.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Whole => "whole",
            Self::CutShort => "cut short",
            Self::Dropped => "dropped",
            Self::Abandoned => "abandoned",
            Self::Swept => "swept",
            Self::Damaged => "damaged",
        }
    }
}

impl Row {
    /// From a tape's entries.
    #[must_use]
    pub fn of(name: &TapeName, chain: &Chain) -> Self {
        let total = chain.entries.iter().fold(Total::default(), Total::and);
        Self::with(name, chain, total)
    }

    /// From the last entries of a tape, and the totals of all.
    fn with(name: &TapeName, chain: &Chain, total: Total) -> Self {
        let last = chain.entries.last().cloned().unwrap_or_default();
        Self {
            gateway: name.gateway.to_string(),
            tape: name.id.to_string(),
            state: State::of(chain),
            bytes: chain.end(),
            stored_bytes: total.stored_bytes,
            events: total.events,
            segments: total.segments,
            exchanges: total.exchanges,
            findings: total.findings,
            model_calls: total.model_calls,
            shipped: last.shipped,
            label: last.about.label,
            created: last.about.created,
            transport: last.about.transport,
            ended: last.ended,
            missing: chain.missing.as_ref().map(crate::chain::Missing::text),
        }
    }

    /// From the listed names of a tape's entries. Usually the last entry suffices; with
    /// `is_thorough`, each is read.
    async fn read(
        store: &Store,
        name: &TapeName,
        entries: &[EntryName],
        is_thorough: bool,
    ) -> Result<Self, StoreError> {
        if !is_thorough && let Some(chain) = Chain::last_of(store, entries).await? {
            let total = chain.total().unwrap_or_default();
            return Ok(Self::with(name, &chain, total));
        }
        Ok(Self::of(name, &Chain::of_names(store, entries).await?))
    }
}

/// The tapes of a catalogue, sorted by name.
pub async fn rows(
    store: &Store,
    catalogue: &Catalogue,
    is_thorough: bool,
) -> Result<Vec<Row>, StoreError> {
    futures_util::stream::iter(&catalogue.tapes)
        .map(async |(name, entries)| Row::read(store, name, entries, is_thorough).await)
        .buffered(AT_ONCE)
        .try_collect()
        .await
}

/// The paths of the objects of one kind in a catalogue's entries, ordered by tape.
pub async fn files(
    store: &Store,
    catalogue: &Catalogue,
    kind: Kind,
) -> Result<Vec<String>, StoreError> {
    let mut paths = Vec::new();
    for entries in catalogue.tapes.values() {
        let chain = Chain::of_names(store, entries).await?;
        if chain.swept().is_some() {
            continue;
        }
        let objects = chain.entries.iter().flat_map(Entry::objects);
        let of_kind = objects.filter(|(one, _)| *one == kind);
        paths.extend(of_kind.map(|(_, path)| path.to_owned()));
    }
    Ok(paths)
}
