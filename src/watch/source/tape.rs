//! Reads one tape up to its current end, and continues when it has grown.

use std::fs::File;
use std::io::{BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tapewright_models::links::PartLinks;
use tapewright_models::listing::Listing;
use tapewright_models::prices::Prices;
use tapewright_proxy::record::is_written;
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{Event, Offset};
use tapewright_schemas::listing::Change;
use tapewright_schemas::tape::{Ending, Header, Read, Reader};

use super::bodies::Bodies;
use super::opening::Openings;
use super::told::{every_kind, later};
use crate::files::{Contents, Recording, tape_error};
use crate::report;
use crate::watch::{Introduced, PartState};

/// A recording that is read into changes.
pub(super) struct Tape {
    pub(super) path: PathBuf,
    pub(super) header: Header,
    /// Its messages, to be read again.
    pub(super) bodies: Arc<Bodies>,
    pub(super) state: PartState,
    input: Input,
    listing: Listing,
    openings: Openings,
    // How much later than the first tape it began, in milliseconds.
    pub(super) later_ms: f64,
    last: Offset,
    next: Option<Read>,
    // How many events were taken.
    taken: usize,
    /// Whether it was being written when it was last opened or read.
    was_written: bool,
}

enum Input {
    Tape(Box<Reader<BufReader<File>>>),
    Events(Arc<Vec<Event>>),
}

/// How many bytes are read at once.
const READ_BYTES: usize = 256 << 10;
/// After this time an answer at the end of a tape has reached its receiver.
const SETTLED: Offset = Offset(1_100_000);

impl Tape {
    /// Opens a tape, a cassette or a capture.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let recording = Recording::open(path)?;
        // Checked before reading, so that later events are not missed.
        let was_written = is_written(&recording.path);
        let (header, timed, path) = (
            recording.header(),
            recording.timed(),
            recording.path.clone(),
        );
        let (input, bodies) = match recording.contents {
            Contents::Tape(reader) => {
                let bodies = Bodies::tape(path.clone(), header.clone());
                (Input::Tape(reader), bodies)
            }
            contents => {
                // Cassettes and captures are smaller than tapes.
                let recording = Recording::of(path.clone(), contents);
                let mut events = Vec::new();
                recording.events(|event| {
                    events.push(event.clone());
                    Ok(())
                })?;
                let events = Arc::new(events);
                (Input::Events(Arc::clone(&events)), Bodies::Events(events))
            }
        };
        let wanted = every_kind(timed);
        let listing = Listing::new(wanted, Prices::built_in(), PartLinks::default()).followed();
        Ok(Self {
            path,
            header,
            bodies: Arc::new(bodies),
            state: PartState::Reading,
            input,
            listing,
            openings: Openings::default(),
            later_ms: 0.0,
            last: Offset(0),
            next: None,
            taken: 0,
            was_written,
        })
    }

    /// The time of the next event, in milliseconds since the first of all tapes began; `None` at
    /// the current end.
    pub(super) fn next_at(&mut self) -> Option<f64> {
        if let Input::Events(events) = &self.input {
            let event = events.get(self.taken)?;
            return Some(event.at.millis() + self.later_ms);
        }
        if self.next.is_none() {
            self.advance();
        }
        let read = self.next.as_ref()?;
        Some(read.event.at.millis() + self.later_ms)
    }

    fn advance(&mut self) {
        let Input::Tape(reader) = &mut self.input else {
            return;
        };
        let at = reader.offset();
        match reader.next_read() {
            Ok(read) => {
                if let (Some(read), Bodies::Tape(tape)) = (&read, &*self.bodies) {
                    tape.note(read.event.seq, at);
                }
                self.next = read;
            }
            Err(error) => {
                let error = tape_error(&self.path, &error);
                self.state = PartState::Failed(format!("{error:#}"));
            }
        }
    }

    /// Takes the next event. Returns the peers if it declares them.
    pub(super) fn take(&mut self) -> Option<(u32, Introduced)> {
        let next = match &self.input {
            Input::Events(events) => {
                let events = Arc::clone(events);
                let event = events.get(self.taken)?;
                self.taken += 1;
                return self.observe(event, None);
            }
            Input::Tape(_) => self.next.take()?,
        };
        self.taken += 1;
        let envelope = next.envelope();
        self.observe(&next.event, envelope.as_ref())
    }

    fn observe(
        &mut self,
        event: &Event,
        envelope: Option<&Envelope<'_>>,
    ) -> Option<(u32, Introduced)> {
        let parsed;
        let envelope = if envelope.is_some() {
            envelope
        } else {
            parsed = event.envelope();
            parsed.as_ref()
        };
        self.last = event.at;
        self.listing.observe(event, envelope);
        let told = self.openings.observe(event, envelope)?;
        Some((event.session.0, told))
    }

    /// The next change of its lines.
    pub(super) fn poll(&mut self) -> Option<Change> {
        let change = self.listing.poll_change()?;
        Some(later(change, self.later_ms))
    }

    /// How many events were taken.
    pub(super) fn seen(&self) -> usize {
        self.taken
    }

    /// Updates the state after everything was read.
    pub(super) fn settle(&mut self) {
        if matches!(self.state, PartState::Failed(_)) {
            self.listing.finish();
            return;
        }
        let ending = match &self.input {
            Input::Tape(reader) => reader.ending().cloned(),
            Input::Events(_) => None,
        };
        self.state = match ending {
            Some(Ending::CutShort { .. }) if self.was_written => PartState::Live,
            Some(Ending::CutShort { .. }) => PartState::CutShort,
            _ => PartState::Over,
        };
        if self.state != PartState::Live {
            self.listing.finish();
        }
    }

    /// Called after a pause.
    pub(super) fn rest(&mut self) {
        self.listing
            .tick(Offset(self.last.0.saturating_add(SETTLED.0)));
    }

    /// Continues reading.
    pub(super) fn read_on(&mut self) {
        let Input::Tape(reader) = &self.input else {
            return;
        };
        self.was_written = is_written(&self.path);
        let offset = reader.offset();
        let opened = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(offset))?;
            Ok(file)
        });
        match opened {
            Ok(file) => {
                let input = BufReader::with_capacity(READ_BYTES, file);
                let reader = Reader::within(self.header.clone(), input, offset);
                self.input = Input::Tape(Box::new(reader));
            }
            Err(error) => {
                let shown = report::safe(&self.path.display().to_string());
                self.state = PartState::Failed(format!("cannot read `{shown}`: {error}"));
            }
        }
    }
}
