//! Shows a recording with several tapes as one conversation, its lines ordered by time.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use tapewright_models::listing::Listing;
use tapewright_models::prices::Prices;
use tapewright_schemas::listing::{Counts, Entry, Wanted};
use tapewright_schemas::tape::{Ending, Header};

use crate::command::linking;
use crate::files::{Recording, TapeReader, folder, tape_error};
use crate::report::progress::Reading;

/// One tape of the recording.
pub(crate) struct Tape {
    /// Its name in the recording.
    pub(crate) name: String,
    /// Its file.
    pub(crate) path: PathBuf,
    // How much later than the recording it began.
    later_ms: f64,
    reader: Box<TapeReader>,
    listing: Listing,
    next: Option<Entry>,
    is_over: bool,
}

/// All tapes of a recording, tape by tape.
pub(crate) struct Whole {
    /// Each of them.
    pub(crate) tapes: Vec<Tape>,
    timed: bool,
    reading: Option<Reading>,
}

impl Whole {
    /// Opens the tapes of a recording.
    pub(crate) fn open(
        paths: &[PathBuf],
        wanted: &Wanted,
        prices: &Prices,
    ) -> anyhow::Result<Self> {
        let mut tapes = Vec::new();
        let mut began = Vec::new();
        for (path, links) in paths.iter().zip(linking::of_parts(paths)?) {
            let Some(reader) = Recording::open(path)?.into_tape() else {
                continue;
            };
            // Lines are ordered by their times, even if these are not shown.
            let wanted = Wanted {
                timed: true,
                ..wanted.clone()
            };
            began.push(linking::began(&reader.header().created));
            tapes.push(Tape {
                name: folder::part(path),
                path: path.clone(),
                later_ms: 0.0,
                reader,
                listing: Listing::new(wanted, prices.clone(), links),
                next: None,
                is_over: false,
            });
        }
        let first = began.iter().copied().min().unwrap_or_default();
        for (tape, began) in tapes.iter_mut().zip(began) {
            tape.later_ms = tapewright_schemas::event::Offset(began - first).millis();
        }
        let timed = wanted.timed;
        Ok(Self {
            tapes,
            timed,
            reading: None,
        })
    }

    /// Shows how much of the tapes has been read, if that takes long.
    pub(crate) fn with_progress(mut self, name: &str) -> Self {
        let handle = |tape: &mut Tape| tape.reader.input().get_ref().try_clone().ok();
        let handles: Option<Vec<File>> = self.tapes.iter_mut().map(handle).collect();
        self.reading = handles.and_then(|handles| Reading::of_all(handles, name));
        self
    }

    /// Passes on the selected lines one by one, each with the number of its tape.
    pub(crate) fn list(
        &mut self,
        mut each: impl FnMut(usize, Entry) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        for tape in &mut self.tapes {
            tape.advance()?;
        }
        while let Some(at) = self.first() {
            self.reading.iter_mut().for_each(Reading::step);
            let Some(tape) = self.tapes.get_mut(at) else {
                break;
            };
            if let Some(entry) = tape.next.take() {
                let entry = if self.timed {
                    entry
                } else {
                    entry.without_times()
                };
                each(at, entry)?;
            }
            tape.advance()?;
        }
        Ok(())
    }

    /// The tape whose next line began first.
    fn first(&self) -> Option<usize> {
        let next = self.tapes.iter().enumerate();
        // Each line of a tape has a time.
        let next = next
            .filter_map(|(at, tape)| Some((at, tape.next.as_ref()?.at_ms().unwrap_or_default())));
        let first = next.min_by(|(_, one), (_, other)| one.total_cmp(other));
        first.map(|(at, _)| at)
    }
}

impl Tape {
    /// Reads the next line.
    fn advance(&mut self) -> anyhow::Result<()> {
        loop {
            if let Some(entry) = self.listing.poll() {
                self.next = Some(entry.later_by(self.later_ms));
                return Ok(());
            }
            if self.is_over {
                return Ok(());
            }
            let event = self.reader.next_event();
            let event = event.map_err(|error| tape_error(&self.path, &error))?;
            if let Some(event) = event {
                let envelope = self.reader.envelope(&event);
                self.listing.observe(&event, envelope.as_ref());
            } else {
                self.listing.finish();
                self.is_over = true;
            }
        }
    }

    /// The header of its tape.
    pub(crate) fn header(&self) -> &Header {
        self.reader.header()
    }

    /// How it ends, after all lines were passed on.
    pub(crate) fn ending(&self) -> Ending {
        let torn = Ending::CutShort {
            last_seq: 0,
            torn: false,
        };
        self.reader.ending().cloned().unwrap_or(torn)
    }

    /// The counts of all lines.
    pub(crate) fn counts(&self) -> Counts {
        self.listing.counts()
    }
}
