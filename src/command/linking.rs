//! Finds which `tools/call` carried out each tool use, across the tapes of a recording.

use std::path::{Path, PathBuf};

use tapewright_models::calls::{CallStep, Calls, ModelCall};
use tapewright_models::links::{Linker, PartLinks};
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::Event;
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::tape::Header;

use crate::files::Recording;
use crate::report::inspect_tools::Tools;

/// The links so far, and their tapes.
#[derive(Debug, Default)]
pub(super) struct Linking {
    linker: Linker,
    files: Vec<String>,
    has_models: bool,
}

impl Linking {
    /// Begins the next tape.
    pub(super) fn begin(&mut self, path: &Path, header: &Header) {
        self.linker.begin(&header.label, began(&header.created));
        let name = path.file_name().unwrap_or_default();
        self.files.push(name.to_string_lossy().into_owned());
    }

    /// Observes the next event of the current tape, with its parsed message if available.
    pub(super) fn observe_message(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        self.linker.observe_message(event, message);
    }

    /// Adds the model calls of the current tape.
    pub(super) fn models(&mut self, calls: &[ModelCall]) {
        self.linker.models(calls);
        self.has_models |= !calls.is_empty();
    }

    /// How many tapes there are.
    pub(super) fn parts(&self) -> usize {
        self.files.len()
    }

    /// The links of all tapes together.
    pub(super) fn tools(self) -> Tools {
        Tools::new(self.linker.finish(), &self.files, self.has_models)
    }
}

/// The links on each of the tapes of a recording.
pub(super) fn of_parts(paths: &[PathBuf]) -> anyhow::Result<Vec<PartLinks>> {
    let mut linking = Linking::default();
    for path in paths {
        take(Recording::open(path)?, &mut linking);
    }
    let Linking { linker, files, .. } = linking;
    Ok(linker.finish().by_parts(&files, true))
}

/// The links on a tape that is shown alone.
///
/// Looks for model calls only at its beginning, so that the first line of a long tape without any
/// appears at once.
pub(super) fn of_one(shown: &Recording) -> anyhow::Result<PartLinks> {
    let (header, path) = (shown.header(), &shown.path);
    // Model calls are HTTP, and only exist on tapes.
    let may_be = shown.kind() == FileKind::Tape && header.transport == "http";
    if !may_be || !calls_models(Recording::open(path)?) {
        return Ok(PartLinks::default());
    }
    let mut linking = Linking::default();
    take(Recording::open(path)?, &mut linking);
    let Linking { linker, files, .. } = linking;
    // The contents of the recording's other tapes are unknown.
    let has_all = header.part_of.is_empty();
    let mut parts = linker.finish().by_parts(&files, has_all);
    Ok(parts.pop().unwrap_or_default())
}

fn take(recording: Recording, linking: &mut Linking) {
    let mut calls = Calls::default();
    linking.begin(&recording.path, &recording.header());
    // The view reports read errors.
    let _told_later = recording.messages(|event, message| {
        calls.observe(event);
        linking.observe_message(event, message);
        Ok(())
    });
    let (calls, _) = calls.finish();
    linking.models(&calls);
}

/// How many events are searched for the first model call.
const BEGINNING: u32 = 10_000;

fn calls_models(recording: Recording) -> bool {
    let mut calls = Calls::default();
    let (mut seen, mut found) = (0, false);
    let _told_later = recording.until(|event| {
        found = matches!(calls.follow(event), CallStep::Began(_));
        seen += 1;
        found || seen > BEGINNING
    });
    found
}

/// The wall time when a tape began, in microseconds; 0 if unknown.
pub(super) fn began(created: &str) -> u64 {
    let time = created.parse::<jiff::Timestamp>();
    time.map_or(0, |time| {
        u64::try_from(time.as_microsecond()).unwrap_or_default()
    })
}
