//! The displayed content, and its viewers.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use serde_json::{Map, Value, json};
use tapewright_schemas::event::Offset;
use tapewright_schemas::listing::Counts;
use tapewright_schemas::tape::Header;
use tokio::sync::watch;

use super::bodies::{self, RowId};
use super::pace::Pace;
use super::rows::{MakeFile, Room, RowWriter, Rows};
use super::state::State;
use super::tape::{Document, Places};
use super::{Drift, Words};
use crate::clock::Clock;
use crate::growth::Wakeup;

/// What is displayed.
#[derive(Debug)]
pub enum Source {
    /// A cassette or a capture.
    Document(Box<Document>),
    /// The tapes of a recording in a folder, including later ones.
    Folder(Search),
    /// A tape, which may still be written.
    Tape(PathBuf),
}

/// Which tapes of a folder belong to a recording.
#[derive(Clone, Debug)]
pub struct Search {
    /// The folder.
    pub folder: PathBuf,
    /// The tapes in it.
    pub tapes: TapeFilter,
    /// Whether there may be several.
    pub several: bool,
}

/// Which tapes of a folder belong to the recording.
#[derive(Clone, Debug)]
pub enum TapeFilter {
    /// Those of an agent's recording with this id.
    PartOf(String),
    /// Not part of another recording; without unredacted ones.
    Single,
    /// Those of a recorder, by its process and its start.
    Recorder {
        /// The process id.
        pid: u32,
        /// The start, as on its tapes.
        created: String,
    },
}

/// The settings of a page's content.
pub struct Feed {
    /// What is displayed.
    pub source: Source,
    /// Formats its texts.
    pub words: Box<dyn Words>,
    /// Creates files without names, for the rows.
    pub make: MakeFile,
    /// The maximum number of rows.
    pub room: Room,
    /// Time after which a request hangs; 30 seconds by default.
    pub long: Option<Offset>,
    /// Whether messages are displayed.
    pub bodies: bool,
}

/// The content of a page.
#[derive(Debug)]
pub struct PageContent {
    pub(super) rows: Rows,
    pub(super) words: Box<dyn Words>,
    /// Whether messages are displayed.
    pub(super) bodies: bool,
    pub(super) long: Option<Offset>,
    state: Mutex<State>,
    // Without viewers, and while no file grows, the reader waits for one of these.
    pub(super) wake: Condvar,
    pub(super) wakeup: Wakeup,
    pub(super) clock: Clock,
    // Increases when something was read or changed.
    stamps: watch::Sender<u64>,
    drift: OnceLock<Arc<dyn Drift>>,
}

/// An open page.
#[derive(Debug)]
pub(super) struct Viewer(Arc<PageContent>);

impl Drop for Viewer {
    fn drop(&mut self) {
        self.0.lock().looking -= 1;
        self.0.wakeup.wake();
    }
}

/// How long reading continues after a request.
const LINGER: Offset = Offset(10_000_000);
/// The maximum numbers of listed sessions, requests and hangs.
const LISTED: usize = 500;

impl PageContent {
    /// Prepares a source, which is read as soon as the page is opened.
    pub fn start(feed: Feed) -> io::Result<Arc<Self>> {
        Self::start_at(feed, Pace::default())
    }

    /// Like `start`, at another pace.
    pub(super) fn start_at(feed: Feed, pace: Pace) -> io::Result<Arc<Self>> {
        let Feed {
            source,
            words,
            make,
            room,
            long,
            bodies,
        } = feed;
        let shown = Arc::new(Self {
            rows: Rows::new(make, room),
            words,
            bodies,
            long,
            state: Mutex::default(),
            wake: Condvar::new(),
            wakeup: Wakeup::new()?,
            clock: Clock::start(),
            stamps: watch::Sender::new(0),
            drift: OnceLock::new(),
        });
        let reading = Arc::clone(&shown);
        thread::Builder::new()
            .name("page-reader".to_owned())
            .spawn(move || reading.run(source, pace))?;
        Ok(shown)
    }

    /// Ends the reading thread, since there will be no more viewers.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.wake();
    }

    /// Adds a viewer, until the returned value is dropped.
    pub(super) fn look(self: &Arc<Self>) -> Viewer {
        self.lock().looking += 1;
        self.wake();
        Viewer(Arc::clone(self))
    }

    /// Notes that a request arrived.
    pub(super) fn asked(&self) {
        let now = self.clock.now();
        let mut state = self.lock();
        // Repeated requests do not wake a thread that is awake.
        let is_awake = state.looking > 0 || state.asked_until > now;
        state.asked_until = Offset(now.0 + LINGER.0);
        drop(state);
        if !is_awake {
            self.wake();
        }
    }

    /// Reads everything for a viewer, even if the recorder has to wait.
    pub(super) fn read_all(&self) {
        self.lock().reads_all = true;
        self.wake();
    }

    fn wake(&self) {
        self.wake.notify_all();
        self.wakeup.wake();
    }

    /// Notifies of a change outside the rows.
    pub(super) fn changed(&self) {
        self.stamps.send_modify(|stamp| *stamp += 1);
    }

    /// Changes whenever something was read or changed: as long as it is equal, the state is the
    /// same.
    pub(super) fn stamps(&self) -> watch::Receiver<u64> {
        self.stamps.subscribe()
    }

    /// Also shows the misses of a replay.
    pub(super) fn drifts(&self, drift: Arc<dyn Drift>) {
        drop(self.drift.set(drift));
    }

    pub(super) fn row_writer(&self) -> RowWriter<'_> {
        RowWriter {
            rows: &self.rows,
            words: &*self.words,
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state outside the rows.
    pub(super) fn told(&self) -> Map<String, Value> {
        let state = self.lock();
        let mut told = Map::new();
        let mut lists: [(&str, Vec<Value>); 3] =
            ["sessions", "pending", "hangs"].map(|name| (name, Vec::new()));
        let (mut counts, mut now) = (Counts::default(), Offset::default());
        for (fold, at) in state.folds(&*self.words) {
            now = now.max(at);
            counts = counts.plus(&fold.counts());
            for ((_, all), (_, more)) in lists.iter_mut().zip(fold.lists(at)) {
                all.extend(more);
            }
        }
        for (name, mut list) in lists {
            // The last of them are the newest.
            let gone = list.len().saturating_sub(LISTED);
            told.insert(name.to_owned(), list.split_off(gone).into());
            told.insert(format!("{name}_left_out"), gone.into());
        }
        let [count, events, bytes] = counts.gaps;
        told.insert(
            "gaps".to_owned(),
            json!({"count": count, "events": events, "bytes": bytes}),
        );
        let (events, bytes) = state.behind();
        told.insert(
            "behind".to_owned(),
            json!({"events": events, "bytes": bytes}),
        );
        told.insert("now_ms".to_owned(), now.millis().into());
        told.insert("ended".to_owned(), state.ended(counts, &*self.words));
        drop(state);
        if let Some(drift) = self.drift.get() {
            told.extend(drift.told(self.bodies));
        }
        told
    }

    /// The messages of one exchange; `None` if none are there.
    pub(super) fn said(&self, part: &str, meant: &RowId) -> io::Result<Option<Value>> {
        let (header, places): (Header, Arc<Places>) = {
            let state = self.lock();
            if let Some((document, ..)) = &state.document {
                let document = Arc::clone(document);
                drop(state);
                return Ok(bodies::in_events(&document.events, meant));
            }
            let tape = state.tapes.iter().find(|tape| tape.part == part);
            let Some(tape) = tape else { return Ok(None) };
            (tape.header.clone(), Arc::clone(&tape.places))
        };
        bodies::on_tape(&header, &places, meant)
    }
}
