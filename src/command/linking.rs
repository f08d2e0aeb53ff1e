//! Which `tools/call` carried out what models asked for, across the tapes of a recording.

use std::path::{Path, PathBuf};

use tapewright_models::calls::{CallStep, Calls, ModelCall};
use tapewright_models::links::{Linker, PartLinks};
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::Event;
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::tape::Header;

use crate::files::Recording;
use crate::report::inspect_tools::Tools;

/// Who is linked with whom, and on which tapes they are.
#[derive(Debug, Default)]
pub(super) struct Linking {
    linker: Linker,
    files: Vec<String>,
    has_models: bool,
}

impl Linking {
    /// Another tape begins.
    pub(super) fn begin(&mut self, path: &Path, header: &Header) {
        self.linker.begin(&header.label, began(&header.created));
        let name = path.file_name().unwrap_or_default();
        self.files.push(name.to_string_lossy().into_owned());
    }

    /// Takes the next event of the tape that began last, and its message taken apart, where that
    /// is known.
    pub(super) fn observe_message(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        self.linker.observe_message(event, message);
    }

    /// Takes the calls of models that were on that tape.
    pub(super) fn models(&mut self, calls: &[ModelCall]) {
        self.linker.models(calls);
        self.has_models |= !calls.is_empty();
    }

    /// How many tapes there are.
    pub(super) fn parts(&self) -> usize {
        self.files.len()
    }

    /// What is told of all tapes together.
    pub(super) fn tools(self) -> Tools {
        Tools::new(self.linker.finish(), &self.files, self.has_models)
    }
}

/// What is linked on each of the tapes of a recording.
pub(super) fn of_parts(paths: &[PathBuf]) -> anyhow::Result<Vec<PartLinks>> {
    let mut linking = Linking::default();
    for path in paths {
        take(Recording::open(path)?, &mut linking);
    }
    let Linking { linker, files, .. } = linking;
    Ok(linker.finish().by_parts(&files, true))
}

/// What is linked on a tape that is shown alone.
///
/// Whether models are called on it is looked for at its beginning only, so that the first line
/// of a long tape without any comes at once.
pub(super) fn of_one(shown: &Recording) -> anyhow::Result<PartLinks> {
    let (header, path) = (shown.header(), &shown.path);
    // Calls of models are HTTP, and on no other kind of file.
    let may_be = shown.kind() == FileKind::Tape && header.transport == "http";
    if !may_be || !calls_models(Recording::open(path)?) {
        return Ok(PartLinks::default());
    }
    let mut linking = Linking::default();
    take(Recording::open(path)?, &mut linking);
    let Linking { linker, files, .. } = linking;
    // What another tape of its recording holds is not known.
    let has_all = header.part_of.is_empty();
    let mut parts = linker.finish().by_parts(&files, has_all);
    Ok(parts.pop().unwrap_or_default())
}

fn take(recording: Recording, linking: &mut Linking) {
    let mut calls = Calls::default();
    linking.begin(&recording.path, &recording.header());
    // The view reports why it cannot be read any further.
    let _told_later = recording.messages(|event, message| {
        calls.observe(event);
        linking.observe_message(event, message);
        Ok(())
    });
    let (calls, _) = calls.finish();
    linking.models(&calls);
}

/// How many events are looked at for the first call of a model.
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

/// Wall time of the beginning of a tape in microseconds; 0 where it is not told.
pub(super) fn began(created: &str) -> u64 {
    let time = created.parse::<jiff::Timestamp>();
    time.map_or(0, |time| {
        u64::try_from(time.as_microsecond()).unwrap_or_default()
    })
}
