//! Adds the new exchanges of `--mode new-episodes` to a cassette.
//!
//! While it runs, they are written to a tape next to the cassette, `fs.new.tape.jsonl`, with the
//! guarantees of any tape. At the end they are added and the tape is removed. If the recorder did
//! not get that far, the next one does it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use tapewright_proxy::clock::Clock;
use tapewright_proxy::record::{Recorder, Target};
use tapewright_proxy::system::files;
use tapewright_schemas::cassette::{self, Projector, Unfinished};
use tapewright_schemas::order::Order as _;
use tapewright_schemas::tape::Ending;

use super::endpoints::Endpoints;
use super::{Arguments, settings};
use crate::files::{NewFile, Recording, spool};
use crate::log;
use crate::report::figures::plural;
use crate::report::{self, Mistake};

/// A recording of the requests to the live server.
pub(super) struct NewEpisodes {
    recorder: Arc<Recorder>,
}

impl NewEpisodes {
    /// Starts to record.
    pub(super) fn start(
        path: &Path,
        arguments: &Arguments,
        way: &Endpoints<'_>,
        clock: Clock,
    ) -> anyhow::Result<Self> {
        let label = arguments.label.clone().unwrap_or_else(|| way.label());
        let target = Target::tape_only(&path.with_file_name(format!("{}{ENDING}", begin(path))));
        let settings = settings(arguments, way, &label, clock, target, None)?;
        let recorder = Recorder::start(settings, clock);
        let recorder = Arc::new(recorder.context("cannot start the recorder")?);
        Ok(Self { recorder })
    }

    pub(super) fn recorder(&self) -> Arc<Recorder> {
        Arc::clone(&self.recorder)
    }

    /// Adds the recording to the cassette in its current state, by a new file that takes its name.
    /// False if a part of the recording is missing; then it is kept, and that is reported.
    pub(super) fn finish(
        self,
        path: &Path,
        asked: u64,
        arguments: &Arguments,
    ) -> anyhow::Result<bool> {
        if asked == 0 {
            self.recorder.abandon();
            return Ok(true);
        }
        let finished = self.recorder.finish();
        log::recorded(None, &finished);
        let Some(tape) = finished.tape.as_ref().filter(|_| finished.is_whole()) else {
            let place = finished.tape.as_deref().map(shown);
            let place = place.map_or_else(String::new, |tape| format!(" on `{tape}`"));
            report::note(&format!(
                "nothing was added: the recording{place} is incomplete"
            ));
            return Ok(false);
        };
        let added = add(path, tape, arguments.cassette_times).with_context(|| {
            let what = format!("cannot add the new exchanges to `{}`", shown(path));
            Mistake::new(what, format!("it is kept on `{}`", shown(tape)))
        })?;
        if arguments.verbose {
            tell(path, added, "");
        }
        Ok(true)
    }
}

/// What follows the cassette's name in the name of such a tape, before a number is inserted.
const ENDING: &str = ".new.tape.jsonl";

/// The part of a cassette's name before its ending.
fn begin(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// Adds to a cassette what earlier recorders left next to it when they were killed. What cannot be
/// added stays, and is reported.
pub(super) fn recover(path: &Path, times: bool) {
    for tape in left_behind(path) {
        // Anyone can put files into a folder that is open to all.
        let is_ours = tape
            .symlink_metadata()
            .is_ok_and(|data| data.is_file() && files::is_ours(&data));
        if !is_ours {
            continue;
        }
        // Another recorder may be adding it, or still be writing it.
        let Ok(Some(_claim)) = files::claim(&tape) else {
            continue;
        };
        match add(path, &tape, times) {
            Ok(0) => {}
            Ok(added) => tell(path, added, " of a recorder that was stopped"),
            Err(error) => report::note(&format!(
                "cannot add `{}` to the cassette: {error:#}",
                shown(&tape)
            )),
        }
    }
}

/// The tapes next to a cassette that are not added yet, the oldest first.
fn left_behind(path: &Path) -> Vec<PathBuf> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let begin = format!("{}.new.", begin(path));
    let is_one = |name: &str| {
        let rest = name.strip_prefix(&begin);
        let number = rest.and_then(|rest| rest.strip_suffix("tape.jsonl"));
        number.is_some_and(|number| {
            let digits = number.strip_suffix('.').unwrap_or(number);
            digits.len() < 10 && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else {
        return Vec::new();
    };
    let found = entries
        .flatten()
        .filter(|one| one.file_name().to_str().is_some_and(is_one));
    let mut tapes: Vec<_> = found
        .map(|one| {
            (
                one.metadata().and_then(|data| data.modified()).ok(),
                one.path(),
            )
        })
        .collect();
    tapes.order();
    tapes.into_iter().map(|(_, tape)| tape).collect()
}

/// Adds the exchanges of a tape to a cassette, and removes the tape. Returns their number. They
/// have times if `times` is set or the cassette's exchanges have them.
fn add(path: &Path, tape: &Path, times: bool) -> anyhow::Result<u64> {
    let times = times || Recording::open(path)?.timed();
    let recording = Recording::open(tape)?;
    let mut projector = Projector::new(&recording.header(), spool()?, spool()?);
    if !times {
        projector = projector.without_times();
    }
    let frame =
        recording.messages(|event, message| Ok(projector.observe_message(event, message)?))?;
    let mut new = Vec::new();
    projector.finish(&frame.ending, &mut new)?;
    // It is unknown whether open requests would have been answered.
    let unfinished = match frame.ending {
        Ending::Footer(_) => Unfinished::Kept,
        _ => Unfinished::LeftOut,
    };
    // Recorders that add to a cassette of this folder take turns.
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let _lock = files::lock_folder(folder.unwrap_or(Path::new(".")))?;
    let old = fs::read(path)?;
    let merged = cassette::merge(&old, &new, unfinished).context("not a cassette any more")?;
    let permissions = fs::metadata(path).ok().map(|data| data.permissions());
    let mut file = NewFile::create(path)?;
    file.writer().write_all(&merged.text)?;
    file.commit(permissions)?;
    fs::remove_file(tape)?;
    Ok(merged.added)
}

fn tell(path: &Path, added: u64, of: &str) {
    report::note(&format!(
        "added {added} new {}{of} to {}",
        plural(added, "exchange"),
        shown(path)
    ));
}

fn shown(path: &Path) -> String {
    report::safe(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tapes_of_this_cassette_are_added() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in [
            "fs.new.tape.jsonl",
            "fs.new.2.tape.jsonl",
            "fs.tape.jsonl",
            "fs.new.x.tape.jsonl",
            "other.new.tape.jsonl",
            "fs.new.json",
        ] {
            fs::write(path(name), "").unwrap();
        }
        let mut found = left_behind(&path("fs.json"));
        found.sort();
        assert_eq!(
            found,
            [path("fs.new.2.tape.jsonl"), path("fs.new.tape.jsonl")]
        );
    }
}
