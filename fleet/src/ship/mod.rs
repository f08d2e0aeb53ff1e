//! Shipping: following the tapes of a folder and bringing them into a store, each byte once.
//!
//! Nothing is remembered between runs. What is in the store is told by its entries, and the name of an entry, a tape and an offset, is
//! given away once: of two shippers that have the same range one is refused, reads what the other one shipped, and goes on behind it. A
//! shipper that was killed left at most a segment that no entry names, which nobody reads.

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

/// How tapes are shipped.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder that is followed.
    pub folder: PathBuf,
    /// As whom.
    pub gateway: Gateway,
    /// How long a segment gets, in bytes of the tape.
    pub segment_bytes: u64,
    /// How long bytes wait until they are shipped.
    pub segment_age: Duration,
    /// How much the folder may hold, in bytes; `None` for any amount.
    pub buffer: Option<u64>,
    /// What is done where it holds more, and nothing of it is in the store.
    pub when_full: WhenFull,
}

/// What is done where the buffer is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// It is told, and kept.
    Wait,
    /// The oldest tape that has ended is deleted.
    DropOldest,
}

/// Why shipping did not go on.
#[derive(Debug, thiserror::Error)]
pub enum ShipError {
    /// A tape could not be read.
    #[error("cannot read the tape: {0}")]
    Tape(#[source] io::Error),
    /// The store did not do what it was asked.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What the store has of the tape is damaged.
    #[error("the tape is damaged in the store: {0}")]
    Damaged(String),
    /// The folder could not be read.
    #[error("cannot read the folder: {0}")]
    Folder(#[source] io::Error),
}

/// What shipping a tape needs to know.
struct Context<'a> {
    store: &'a Store,
    settings: &'a Settings,
    gateway: &'a Gateway,
    /// Everything is due.
    is_flushing: bool,
    on_event: &'a dyn Fn(&ShipEvent<'_>),
}

impl Context<'_> {
    fn tell(&self, told: &ShipEvent<'_>) {
        (self.on_event)(told);
    }
}

/// Follows the tapes of a folder.
pub struct Shipper<'a> {
    store: &'a Store,
    settings: &'a Settings,
    on_event: &'a dyn Fn(&ShipEvent<'_>),
    tapes: HashMap<FileId, Tape>,
    /// Tapes that cannot be shipped now, and until when.
    troubles: HashMap<FileId, Backoff>,
    backoff: Backoff,
    told_full: Option<Stopwatch>,
    /// It is proved that the store gives a name away once.
    is_proved: bool,
}

/// How many tapes are shipped at once: each holds a part of a segment in memory.
const AT_ONCE: usize = 8;

/// How far a round came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// There may be more to ship at once.
    More,
    /// Everything that is due is shipped.
    Done,
    /// The store is away, or a tape could not be shipped; a later round tries again.
    Waits,
}

impl<'a> Shipper<'a> {
    /// Nothing is looked at yet.
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

    /// For how long the store has been away.
    #[must_use]
    pub fn away(&self) -> Duration {
        self.backoff.away()
    }

    /// Looks at the folder and ships what is due, or everything.
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

    /// Whether the store can be asked, and may be used at all.
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

    /// Remembers and tells how it went with one tape.
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
                // A step that asked nothing of the store says nothing of it.
                if asked && let Some(after) = self.backoff.went_well() {
                    (self.on_event)(&ShipEvent::Back { after });
                }
            }
        }
    }

    /// The store failed.
    fn is_away(&mut self, error: &StoreError) {
        // Of tapes that were under way at once, one tells it.
        if self.backoff.is_over() {
            let again = self.backoff.failed();
            let why = &error.to_string();
            (self.on_event)(&ShipEvent::Away { why, again });
        }
    }

    /// A note could not be shipped.
    fn trouble(&mut self, error: ShipError) {
        match error {
            ShipError::Store(error) if error.problem != Problem::Bad => self.is_away(&error),
            error => (self.on_event)(&ShipEvent::Trouble {
                file: &self.settings.folder,
                why: &error.to_string(),
            }),
        }
    }

    /// Tapes by their age, the oldest change first.
    fn by_age(&self) -> BTreeMap<(i128, FileId), &Tape> {
        let key = |(id, tape): (&FileId, _)| ((Tape::changed(tape), *id), tape);
        self.tapes.iter().map(key).collect()
    }
}

/// How it went with one tape.
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
