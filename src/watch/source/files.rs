//! Reads files in parallel, ordered by time, and follows them as they grow.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tapewright_proxy::growth::Growth;
use tapewright_schemas::event::Offset;
use tapewright_schemas::listing::Change;

use super::bodies::Bodies;
use super::tape::Tape;
use super::{Library, Watcher, name};
use crate::files::folder;
use crate::watch::{Part, PartState, SourceUpdate};

/// How many changes are sent at once.
const AT_ONCE: usize = 1_024;
/// How many files are read in parallel.
const FILES: usize = 256;
/// How long an answer at the end of a tape may still change.
const UNSETTLED: Duration = Duration::from_millis(1_200);

struct Files<'w> {
    tapes: Vec<Tape>,
    known: HashSet<PathBuf>,
    watcher: &'w Watcher,
    library: &'w Library,
    growth: Growth,
    // When the first tape began, in microseconds of wall time.
    first_us: Option<i64>,
    // The changes of one tape that were not sent yet.
    changes: Vec<Change>,
    of: usize,
}

/// The view was closed.
struct Gone;

/// Reads files as they grow, until nothing more can come or the view is closed.
pub(super) fn follow(
    paths: &[PathBuf],
    folder: Option<&Path>,
    watcher: &Watcher,
    library: &Library,
) {
    let mut files = Files {
        tapes: Vec::new(),
        known: HashSet::new(),
        watcher,
        library,
        growth: Growth::default(),
        first_us: None,
        changes: Vec::with_capacity(AT_ONCE),
        of: 0,
    };
    // If the view is closed, the reason does not matter.
    drop(files.follow(paths, folder));
}

impl Files<'_> {
    fn follow(&mut self, paths: &[PathBuf], folder: Option<&Path>) -> Result<(), Gone> {
        // Before anything is read, so that later files are noticed.
        if let Some(folder) = folder {
            self.growth.add(folder);
        }
        let mut began: Vec<Option<i64>> = Vec::new();
        let mut opened = Vec::new();
        for path in paths.iter().take(FILES) {
            let tape = Tape::open(path);
            began.push(
                tape.as_ref()
                    .ok()
                    .and_then(|tape| micros(&tape.header.created)),
            );
            opened.push((path, tape));
        }
        self.first_us = began.iter().flatten().min().copied();
        for (path, tape) in opened {
            self.add(path, tape)?;
        }
        // Files that came after the folder was listed, and before it was watched.
        self.come(folder)?;
        self.read()?;
        self.settle()?;
        while folder.is_some() || self.tapes.iter().any(|tape| tape.state == PartState::Live) {
            self.grow(folder)?;
        }
        Ok(())
    }

    fn tell(&self, told: SourceUpdate) -> Result<(), Gone> {
        if self.watcher.tell(told) {
            Ok(())
        } else {
            Err(Gone)
        }
    }

    fn add(&mut self, path: &Path, tape: anyhow::Result<Tape>) -> Result<(), Gone> {
        self.known.insert(path.to_owned());
        match tape {
            Ok(mut tape) => {
                let began = micros(&tape.header.created);
                let later = began.zip(self.first_us).map(|(one, first)| one - first);
                let later = later.and_then(|later| u64::try_from(later).ok());
                tape.later_ms = Offset(later.unwrap_or_default()).millis();
                let part = Part {
                    name: name(&tape.path),
                    path: Some(tape.path.clone()),
                    faults: tape.header.faults.clone(),
                    began_us: self.first_us,
                    ..Part::default()
                };
                self.register(Arc::clone(&tape.bodies));
                self.growth.add(&tape.path);
                self.tapes.push(tape);
                self.tell(SourceUpdate::Part(Box::new(part)))
            }
            Err(why) => self.tell(SourceUpdate::Missing(format!("{}: {why:#}", name(path)))),
        }
    }

    fn register(&self, bodies: Arc<Bodies>) {
        let mut all = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(bodies);
    }

    /// Reads what exists, the earliest event first.
    fn read(&mut self) -> Result<(), Gone> {
        loop {
            let next = self.tapes.iter_mut().enumerate();
            let next = next.filter_map(|(at, tape)| Some((at, tape.next_at()?)));
            let Some((at, _)) = next.min_by(|(_, one), (_, other)| one.total_cmp(other)) else {
                break;
            };
            let Some(tape) = self.tapes.get_mut(at) else {
                break;
            };
            let told = tape.take();
            self.collect(at)?;
            if let Some((session, who)) = told {
                self.flush()?;
                self.tell(SourceUpdate::Introduced(number(at), session, who))?;
            }
        }
        self.flush()
    }

    fn collect(&mut self, at: usize) -> Result<(), Gone> {
        if self.of != at {
            self.flush()?;
            self.of = at;
        }
        while let Some(change) = self.tapes.get_mut(at).and_then(Tape::poll) {
            self.changes.push(change);
        }
        if self.changes.len() >= AT_ONCE {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Gone> {
        if self.changes.is_empty() {
            return Ok(());
        }
        let changes = std::mem::replace(&mut self.changes, Vec::with_capacity(AT_ONCE));
        self.tell(SourceUpdate::Changes(number(self.of), changes))
    }

    /// Reports the state of each tape after reading everything.
    fn settle(&mut self) -> Result<(), Gone> {
        for at in 0..self.tapes.len() {
            let Some(tape) = self.tapes.get_mut(at) else {
                break;
            };
            if !matches!(tape.state, PartState::Reading | PartState::Live) {
                continue;
            }
            let was = tape.state.clone();
            tape.settle();
            let state = tape.state.clone();
            self.collect(at)?;
            self.flush()?;
            if state != was {
                self.tell(SourceUpdate::State(number(at), state))?;
            }
        }
        Ok(())
    }

    /// Waits until a file has grown, and continues reading.
    fn grow(&mut self, folder: Option<&Path>) -> Result<(), Gone> {
        // It does not matter which file grew: all are read.
        let _over = self.growth.wait(None, None);
        loop {
            for tape in &mut self.tapes {
                if tape.state == PartState::Live {
                    tape.read_on();
                }
            }
            self.come(folder)?;
            let before = self.seen();
            self.read()?;
            self.settle()?;
            if before == self.seen() {
                break;
            }
            // An answer at the end of a tape is checked again.
            let _over = self.growth.wait(Some(UNSETTLED), None);
        }
        for at in 0..self.tapes.len() {
            if let Some(tape) = self
                .tapes
                .get_mut(at)
                .filter(|tape| tape.state == PartState::Live)
            {
                tape.rest();
                self.collect(at)?;
            }
        }
        self.flush()
    }

    fn seen(&self) -> usize {
        self.tapes.iter().map(Tape::seen).sum()
    }

    /// Adds recordings that are new in the folder.
    fn come(&mut self, folder: Option<&Path>) -> Result<(), Gone> {
        let Some(folder) = folder else { return Ok(()) };
        let found = folder::named(folder).unwrap_or_default();
        for path in found {
            let is_new = !self.known.contains(&path) && self.known.len() < FILES;
            // A tape without a header is tried again later.
            if is_new && let Ok(tape) = Tape::open(&path) {
                self.add(&path, Ok(tape))?;
            }
        }
        Ok(())
    }
}

/// The number of a tape.
fn number(at: usize) -> u16 {
    // The number of files is limited to less.
    u16::try_from(at).unwrap_or(u16::MAX)
}

fn micros(created: &str) -> Option<i64> {
    let created: jiff::Timestamp = created.parse().ok()?;
    Some(created.as_microsecond())
}
