//! A recording as one HTML file.

use std::io::Write;
use std::path::Path;

use tapewright_models::prices::Prices;
use tapewright_schemas::filter::LineKind;
use tapewright_schemas::listing::{Counts, Wanted};
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::tape::{Ending, Header};

use super::tell_end;
use crate::command::show;
use crate::command::show::whole::{Tape, Whole};
use crate::exit::Exit;
use crate::files::output::{self, Overwrite};
use crate::files::{Frame, NewFile, Recording, folder};
use crate::report;
use crate::report::page::{End, Page};
use crate::report::show::{Closing, Part};

/// Writes a page that shows a recording.
pub(super) fn of_one(recording: Recording, out: &mut dyn Write) -> anyhow::Result<Frame> {
    let (kind, timed, header) = (recording.kind(), recording.timed(), recording.header());
    warn(&[&header]);
    let name = name_of(&recording.path);
    let mut page = Page::begin(out, &name, kind.name(), &header)?;
    let (frame, counts) = show::list(recording, &everything(), &Prices::built_in(), |entry| {
        page.entry(entry, None)
    })?;
    let part = Part {
        name: None,
        kind,
        timed,
        ending: &frame.ending,
        last: counts.last,
        written_by: None,
    };
    page.end(&end(counts, vec![part]), counts.last.millis())?;
    Ok(frame)
}

/// Writes a page that shows the recording of an agent.
pub(super) fn of_folder(folder: &Path, output: Option<&Path>) -> anyhow::Result<Exit> {
    if let Some(output) = output {
        output::check_ahead(output, Overwrite::Nothing)?;
    }
    let parts = folder::contained(folder)?.parts;
    let whole = Whole::open(&parts, &everything(), &Prices::built_in())?;
    let name = name_of(&std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()));
    let whole = if output.is_some() || !report::is_terminal() {
        whole.with_progress(&name)
    } else {
        whole
    };
    match output {
        None => {
            let mut out = report::stdout();
            write_whole(whole, &name, &mut out)?;
            out.flush()?;
        }
        Some(output) => {
            let mut file = NewFile::create(output)?;
            write_whole(whole, &name, file.writer())?;
            file.commit(None)?;
        }
    }
    Ok(Exit::Pass)
}

fn write_whole(mut whole: Whole, name: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    let headers: Vec<&Header> = whole.tapes.iter().map(Tape::header).collect();
    warn(&headers);
    let first = headers.iter().min_by_key(|header| &header.created);
    let header = Header {
        label: headers
            .first()
            .map_or("", |header| &header.part_of)
            .to_owned(),
        created: first.map_or("", |header| &header.created).to_owned(),
        ..Header::default()
    };
    let names: Vec<String> = whole.tapes.iter().map(|tape| tape.name.clone()).collect();
    let mut page = Page::begin(out, name, "recording", &header)?;
    whole.list(|tape, entry| page.entry(&entry, names.get(tape).map(String::as_str)))?;
    let endings: Vec<Ending> = whole.tapes.iter().map(Tape::ending).collect();
    let mut counts = Counts::default();
    let mut parts = Vec::new();
    for (tape, ending) in whole.tapes.iter().zip(&endings) {
        counts = counts.plus(&tape.counts());
        parts.push(Part {
            name: Some(tape.name.clone()),
            kind: FileKind::Tape,
            timed: true,
            ending,
            last: tape.counts().last,
            written_by: None,
        });
        tell_end(&Frame {
            header: tape.header().clone(),
            ending: ending.clone(),
        });
    }
    page.end(&end(counts, parts), counts.last.millis())?;
    Ok(())
}

/// Everything in a recording.
fn everything() -> Wanted {
    Wanted {
        kinds: LineKind::ALL.into(),
        bodies: true,
        timed: true,
        ..Wanted::default()
    }
}

fn end(counts: Counts, parts: Vec<Part<'_>>) -> End {
    let closing = Closing {
        counts,
        parts,
        filtered: false,
        wants_times: false,
    };
    End {
        text: closing.text(),
        incomplete: closing.is_incomplete(),
    }
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Warns if the recording contains secrets.
fn warn(headers: &[&Header]) {
    if headers.iter().any(|header| !header.redacted) {
        report::note(
            "recorded with `--no-redact`: the page contains any secrets that were recorded",
        );
    }
}
