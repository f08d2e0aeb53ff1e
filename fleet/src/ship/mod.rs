//! Follows the tapes of a folder and ships them to a store, each byte once.
//!
//! Nothing is remembered between runs. The entries say what is in the store, and a store accepts
//! the name of an entry, a tape and an offset, only once: of two shippers with the same range one
//! is refused, reads what the other one shipped, and continues after it. A shipper that was killed
//! leaves at most a segment without an entry, which is never read.

mod backoff;
mod buffer;
mod event;
mod note;
mod row_files;
mod same;
mod tape;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::StreamExt as _;

pub(crate) use self::backoff::Backoff;
pub use self::event::{Line, ShipEvent};
pub(crate) use self::row_files::put_rows;
use self::tape::{Step, Tape};
use crate::clock::Stopwatch;
use crate::disk::{self, FileId, Found};
use crate::names::Gateway;
use crate::store::{Problem, Store, StoreError};

/// How to ship tapes.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder with the tapes.
    pub folder: PathBuf,
    /// The name of the gateway.
    pub gateway: Gateway,
    /// The length of a segment, in bytes of the tape.
    pub segment_bytes: u64,
    /// How long bytes wait until they are shipped.
    pub segment_age: Duration,
    /// The size limit of the folder, in bytes; `None` for no limit.
    pub buffer: Option<u64>,
    /// What to do if the folder is larger, and no tape is completely in the store.
    pub when_full: WhenFull,
}

/// What to do if the buffer is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Report it, and keep everything.
    Wait,
    /// Delete the oldest finished tape.
    DropOldest,
}

/// Why shipping stopped.
#[derive(Debug, thiserror::Error)]
pub enum ShipError {
    /// A tape could not be read.
    #[error("cannot read the tape: {0}")]
    Tape(#[source] io::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The tape is damaged in the store.
    #[error("the tape is damaged in the store: {0}")]
    Damaged(String),
    /// The folder could not be read.
    #[error("cannot read the folder: {0}")]
    Folder(#[source] io::Error),
}

/// The context for shipping a tape.
struct Context<'a> {
    store: &'a Store,
    settings: &'a Settings,
    gateway: &'a Gateway,
    /// Whether everything is due.
    is_flushing: bool,
    on_event: &'a dyn Fn(&ShipEvent<'_>),
}

impl Context<'_> {
    fn tell(&self, told: &ShipEvent<'_>) {
        (self.on_event)(told);
    }
}

/// Ships the tapes of a folder.
pub struct Shipper<'a> {
    store: &'a Store,
    settings: &'a Settings,
    on_event: &'a dyn Fn(&ShipEvent<'_>),
    tapes: HashMap<FileId, Tape>,
    /// Tapes that cannot be shipped now, with their delays.
    troubles: HashMap<FileId, Backoff>,
    backoff: Backoff,
    told_full: Option<Stopwatch>,
    /// Whether it is proved that the store accepts a name only once.
    is_proved: bool,
}

/// How many tapes are shipped in parallel: each has a part of a segment in memory.
const AT_ONCE: usize = 8;

/// The result of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// There may be more to ship at once.
    More,
    /// Everything that is due is shipped.
    Done,
    /// The store is unavailable, or a tape could not be shipped; a later round tries again.
    Waits,
}

impl<'a> Shipper<'a> {
    /// Starts without reading the folder.
    #[must_use]
    pub fn new(
        store: &'a Store,
        settings: &'a Settings,
        on_event: &'a dyn Fn(&ShipEvent<'_>),
    ) -> Self {
        Self {
            store,
            settings,
            on_event,
            tapes: HashMap::new(),
            troubles: HashMap::new(),
            backoff: Backoff::default(),
            told_full: None,
            is_proved: false,
        }
    }

    /// How long the store has been unavailable.
    #[must_use]
    pub fn away(&self) -> Duration {
        self.backoff.away()
    }

    /// Checks the folder and ships what is due, or everything.
    pub async fn round(&mut self, is_flushing: bool) -> Result<Round, ShipError> {
        self.look().map_err(ShipError::Folder)?;
        let round = if self.is_reached().await? {
            self.ship(is_flushing).await
        } else {
            Round::Waits
        };
        self.keep_within_buffer().await;
        Ok(round)
    }

    /// Whether the store is available and usable.
    async fn is_reached(&mut self) -> Result<bool, ShipError> {
        if !self.backoff.is_over() {
            return Ok(false);
        }
        if self.is_proved {
            return Ok(true);
        }
        match self.store.prove(&self.settings.gateway).await {
            Ok(()) => self.is_proved = true,
            Err(error) if error.problem == Problem::Unusable => return Err(error.into()),
            Err(error) => self.is_away(&error),
        }
        Ok(self.is_proved)
    }

    /// Finds tapes that are new, renamed, changed or gone.
    fn look(&mut self) -> io::Result<()> {
        let found = disk::find(&self.settings.folder)?;
        let there: HashSet<FileId> = found.iter().map(|found| found.id).collect();
        self.tapes.retain(|id, _| there.contains(id));
        self.troubles.retain(|id, _| there.contains(id));
        for found in found {
            match self.tapes.get_mut(&found.id) {
                Some(tape) => tape.seen(found),
                None => drop(self.tapes.insert(found.id, Tape::new(found))),
            }
        }
        Ok(())
    }

    async fn ship(&mut self, is_flushing: bool) -> Round {
        let context = Context {
            store: self.store,
            settings: self.settings,
            gateway: &self.settings.gateway,
            is_flushing,
            on_event: self.on_event,
        };
        let mut waits = false;
        if let Err(error) = note::ship(&context).await {
            waits = true;
            self.trouble(error);
        }
        let troubles = &self.troubles;
        let is_ready = |id: &FileId| troubles.get(id).is_none_or(Backoff::is_over);
        let is_held = self.tapes.keys().any(|id| !is_ready(id));
        let due = self
            .tapes
            .iter_mut()
            .filter(|(id, tape)| !tape.is_settled() && is_ready(id));
        let steps = futures_util::stream::iter(due)
            .map(|(id, tape)| step(&context, *id, tape))
            .buffer_unordered(AT_ONCE);
        let done: Vec<Done> = steps.collect().await;
        let mut again = false;
        for one in done {
            again |= matches!(one.result, Ok(Step::Again));
            waits |= one.result.is_err();
            self.note(one);
        }
        match (waits || is_held, again) {
            (true, _) => Round::Waits,
            (false, true) => Round::More,
            (false, false) => Round::Done,
        }
    }

    /// Handles the result of one tape.
    fn note(&mut self, done: Done) {
        let Done {
            id,
            found,
            result,
            asked,
        } = done;
        match result {
            Err(ShipError::Store(error)) if error.problem != Problem::Bad => self.is_away(&error),
            Err(error) => {
                let trouble = self.troubles.entry(id).or_default();
                let _told = trouble.failed();
                (self.on_event)(&ShipEvent::Trouble {
                    file: &found.path,
                    why: &error.to_string(),
                });
            }
            Ok(_) => {
                self.troubles.remove(&id);
                // A step without a request does not show whether the store is available.
                if asked && let Some(after) = self.backoff.went_well() {
                    (self.on_event)(&ShipEvent::Back { after });
                }
            }
        }
    }

    /// Notes a failure of the store.
    fn is_away(&mut self, error: &StoreError) {
        // Of several tapes that fail at once, one reports it.
        if self.backoff.is_over() {
            let again = self.backoff.failed();
            let why = &error.to_string();
            (self.on_event)(&ShipEvent::Away { why, again });
        }
    }

    /// Notes a tape that could not be shipped.
    fn trouble(&mut self, error: ShipError) {
        match error {
            ShipError::Store(error) if error.problem != Problem::Bad => self.is_away(&error),
            error => (self.on_event)(&ShipEvent::Trouble {
                file: &self.settings.folder,
                why: &error.to_string(),
            }),
        }
    }

    /// Tapes by age, the one that was changed longest ago first.
    fn by_age(&self) -> BTreeMap<(i128, FileId), &Tape> {
        let key = |(id, tape): (&FileId, _)| ((Tape::changed(tape), *id), tape);
        self.tapes.iter().map(key).collect()
    }
}

/// The result of one tape.
struct Done {
    id: FileId,
    found: Found,
    result: Result<Step, ShipError>,
    asked: bool,
}

async fn step(context: &Context<'_>, id: FileId, tape: &mut Tape) -> Done {
    let result = tape.step(context).await;
    Done {
        id,
        found: tape.found.clone(),
        asked: matches!(result, Ok(Step::Again)) || tape.is_over(),
        result,
    }
}
