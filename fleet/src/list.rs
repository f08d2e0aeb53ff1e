//! What a store has: its tapes, and how they are.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, TryStreamExt as _};
use serde::Serialize;

use crate::chain::Chain;
use crate::entry::{Ended, Entry, How, Total};
use crate::names::{EntryName, Kind, TapeName};
use crate::store::{Store, StoreError};

/// How many tapes are looked at at once.
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

    /// The tape that a text means: `GATEWAY/TAPE`, its name alone, or how either begins, where only one does.
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

/// Why a text means no tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// None has the name.
    #[error("no such tape in the store; `ls` lists them")]
    None,
    /// Several have.
    #[error("{0} tapes match; write more of the name, or GATEWAY/TAPE")]
    Several(usize),
}

/// One tape of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Who shipped it.
    pub gateway: String,
    /// Its name.
    pub tape: String,
    /// Name of the server that was recorded.
    pub label: String,
    /// When the recording began.
    pub created: String,
    /// `stdio`, or `http`.
    pub transport: String,
    /// How it is.
    pub state: State,
    /// How many bytes of it the store has.
    pub bytes: u64,
    /// How long they are in the store.
    pub stored_bytes: u64,
    /// How many events the store has.
    pub events: u64,
    /// In how many segments.
    pub segments: u64,
    /// How many exchanges have rows.
    pub exchanges: u64,
    /// How many findings have.
    pub findings: u64,
    /// How many calls of models have.
    pub model_calls: u64,
    /// When it was shipped last.
    pub shipped: String,
    /// How it ended, where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// What is missing, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// How a tape of a store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It has not ended.
    Open,
    /// It has its footer.
    Whole,
    /// Its recorder was stopped before it could write the footer.
    CutShort,
    /// The rest of it was deleted on the gateway before it was shipped.
    Dropped,
    /// It was given up: nothing had come for long.
    Abandoned,
    /// It was removed from the store.
    Swept,
    /// Something of it is missing in the store.
    Damaged,
}

impl State {
    /// Of a chain.
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

    /// As a token.
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
    /// Of a tape with these entries.
    #[must_use]
    pub fn of(name: &TapeName, chain: &Chain) -> Self {
        let total = chain.entries.iter().fold(Total::default(), Total::and);
        Self::with(name, chain, total)
    }

    /// Of a tape that ends with the entries of a chain, and whose entries come to so much.
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

    /// Of a tape whose entries were listed. Of most tapes the last entry tells enough; with `is_thorough` each is read.
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

/// The tapes of a catalogue, in the order of their names.
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

/// Where the objects of one kind stand that the entries of a catalogue name, in the order of their tapes.
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
