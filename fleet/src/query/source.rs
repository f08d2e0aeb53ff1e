//! A store as the source of a query.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};

use tapewright_fleet::chain::{Chain, Missing};
use tapewright_fleet::clock;
use tapewright_fleet::entry::{Entry, RowFile};
use tapewright_fleet::list::{Catalogue, State};
use tapewright_fleet::names::{EntryName, Gateway, Kind, TapeName};
use tapewright_fleet::store::{Problem, Store, StoreError};
use tapewright_fleet_query::{File, Named, Source, SourceError, Table, Tape};

/// How many tapes are read in parallel.
const AT_ONCE: usize = 32;

/// A store with cached lists: a query that uses a table twice sees the same both times.
#[derive(Debug)]
pub(crate) struct StoreSource {
    store: Store,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The gateways that were listed; `None` stands for all.
    gateways: BTreeSet<Option<String>>,
    names: HashMap<Named, Listed>,
    /// Whether something that was read was missing.
    is_missing: bool,
}

/// A tape that was listed.
#[derive(Clone, Debug)]
struct Listed {
    name: TapeName,
    entries: Arc<[EntryName]>,
    tape: Option<Arc<Tape>>,
}

impl StoreSource {
    pub(crate) fn new(store: Store) -> Self {
        Self {
            store,
            seen: Mutex::default(),
        }
    }

    /// Whether reading failed because something is missing.
    pub(crate) fn missing(&self) -> bool {
        self.with(|seen| seen.is_missing)
    }

    /// The damaged tapes among those that were read, with what is missing.
    pub(crate) fn damaged(&self) -> Vec<(String, String)> {
        let mut damaged = self.with(|seen| {
            let tapes = seen.names.values().filter_map(|one| one.tape.as_ref());
            let damaged = tapes.filter_map(|tape| {
                let name = format!("{}/{}", tape.gateway, tape.tape);
                Some((name, tape.missing.clone()?))
            });
            damaged.collect::<Vec<_>>()
        });
        damaged.sort();
        damaged
    }

    fn with<T>(&self, work: impl FnOnce(&mut Seen) -> T) -> T {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut seen)
    }

    fn error(&self, error: StoreError) -> SourceError {
        if matches!(error.problem, Problem::Missing | Problem::Bad) {
            self.with(|seen| seen.is_missing = true);
        }
        SourceError(Box::new(error))
    }

    /// Lists one gateway, or all, unless already done.
    async fn list(&self, gateway: Option<&str>) -> Result<(), SourceError> {
        let key = gateway.map(str::to_owned);
        let is_listed =
            self.with(|seen| seen.gateways.contains(&None) || seen.gateways.contains(&key));
        if is_listed {
            return Ok(());
        }
        let catalogue = Catalogue::read(&self.store, gateway).await;
        let catalogue = catalogue.map_err(|error| self.error(error))?;
        self.with(|seen| {
            for (name, entries) in catalogue.tapes {
                let listed = Listed {
                    entries: entries.into(),
                    name,
                    tape: None,
                };
                seen.names.entry(named(&listed.name)).or_insert(listed);
            }
            seen.gateways.insert(key);
        });
        Ok(())
    }

    async fn tape(&self, name: &Named) -> Result<Option<Arc<Tape>>, SourceError> {
        let Some(listed) = self.with(|seen| seen.names.get(name).cloned()) else {
            return Ok(None);
        };
        if listed.tape.is_some() {
            return Ok(listed.tape);
        }
        let chain = Chain::of_names(&self.store, &listed.entries).await;
        let chain = chain.map_err(|error| self.error(error))?;
        if chain.swept().is_some() {
            return Ok(None);
        }
        let tape = Arc::new(tape(&listed.name, &chain));
        self.with(|seen| {
            if let Some(listed) = seen.names.get_mut(name) {
                listed.tape = Some(Arc::clone(&tape));
            }
        });
        Ok(Some(tape))
    }
}

#[async_trait]
impl Source for StoreSource {
    async fn names(&self, gateways: Option<&BTreeSet<String>>) -> Result<Vec<Named>, SourceError> {
        match gateways {
            None => self.list(None).await?,
            Some(gateways) => {
                // An invalid name has no tapes.
                let real = gateways
                    .iter()
                    .filter(|name| name.parse::<Gateway>().is_ok());
                for gateway in real {
                    self.list(Some(gateway)).await?;
                }
            }
        }
        let is_asked = |name: &&Named| gateways.is_none_or(|all| all.contains(&name.gateway));
        let mut names = self.with(|seen| {
            let names = seen.names.keys().filter(is_asked);
            names.cloned().collect::<Vec<_>>()
        });
        names.sort_by(|a, b| (&a.gateway, &a.tape).cmp(&(&b.gateway, &b.tape)));
        Ok(names)
    }

    async fn tapes(&self, names: &[Named]) -> Result<Vec<Arc<Tape>>, SourceError> {
        let work: Vec<_> = names.iter().map(|name| self.tape(name)).collect();
        let tapes = futures_util::stream::iter(work).buffered(AT_ONCE);
        let tapes: Vec<_> = tapes.try_collect().await?;
        Ok(tapes.into_iter().flatten().collect())
    }

    async fn read(&self, path: &str, range: Range<u64>) -> Result<Bytes, SourceError> {
        let read = self.store.range(path, range).await;
        read.map_err(|error| self.error(error))
    }
}

fn named(name: &TapeName) -> Named {
    Named {
        gateway: name.gateway.to_string(),
        tape: name.id.to_string(),
        from_us: name.id.begun().and_then(|time| micros(&time)),
    }
}

/// A time in RFC 3339 in microseconds since 1970.
fn micros(time: &str) -> Option<i64> {
    let since = clock::parse(time)?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_micros()).ok()
}

fn tape(name: &TapeName, chain: &Chain) -> Tape {
    let row = tapewright_fleet::list::Row::of(name, chain);
    let last = chain.entries.last();
    let created_us = micros(&row.created);
    let at = |us: u64| created_us?.checked_add(i64::try_from(us).ok()?);
    let mut contents = chain.entries.iter().map(|entry| entry.content);
    let ended = row.ended;
    Tape {
        first_us: contents.clone().find_map(|one| one.first_us).and_then(at),
        last_us: contents
            .rfind(|one| one.last_us.is_some())
            .and_then(|one| one.last_us)
            .and_then(at),
        gateway: row.gateway,
        tape: row.tape,
        label: row.label,
        transport: row.transport,
        state: State::name(row.state).to_owned(),
        missing: chain.missing.as_ref().map(Missing::text),
        created_us,
        shipped_us: last.and_then(|entry| micros(&entry.shipped)),
        events: row.events,
        bytes: row.bytes,
        stored_bytes: row.stored_bytes,
        segments: row.segments,
        lost_events: ended.map_or(0, |ended| ended.lost_events),
        lost_bytes: ended.map_or(0, |ended| ended.lost_bytes + ended.torn_bytes),
        files: chain.entries.iter().flat_map(files).collect(),
    }
}

fn files(entry: &Entry) -> impl Iterator<Item = File> {
    let files = entry.rows.files();
    files.filter_map(|(kind, one)| Some(file(table(kind)?, one)))
}

/// The table that a file of this kind is part of.
fn table(kind: Kind) -> Option<Table> {
    match kind {
        Kind::Segment => None,
        Kind::Exchanges => Some(Table::Exchanges),
        Kind::Findings => Some(Table::Findings),
        Kind::ModelCalls => Some(Table::ModelCalls),
        Kind::Tools => Some(Table::Tools),
    }
}

fn file(table: Table, file: &RowFile) -> File {
    File {
        table,
        path: file.name.clone(),
        bytes: file.bytes,
        rows: file.rows,
        first_us: file.first_us,
        last_us: file.last_us,
        tools: file.tools.clone(),
    }
}
