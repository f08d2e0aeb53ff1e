//! Keeps the names of one recording's files together: `fs.2.json` is the projection of
//! `fs.2.tape.jsonl`.
//!
//! While it runs, a recording has a tape with the first unused number. When its cassette is named,
//! the tape is renamed accordingly; an existing file of that name gets the tape's previous number.
//! So does the tape of a recording without a cassette, if anything was answered.
//! A cassette and its tape have the same modification time, which shows that they belong together:
//! a cassette does not name its recording, so recording the same again yields the same file. All of
//! this happens under the lock that the recorders of a folder share.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use memchr::memmem;
use tapewright_schemas::envelope::Kind;
use tapewright_schemas::tape::Reader;

use super::names::{Target, numbered};
use crate::system::files;

/// Whether a tape is still being written.
#[must_use]
pub fn is_written(tape: &Path) -> bool {
    File::open(tape).is_ok_and(|file| files::is_written(&file, tape))
}

/// The number for a recording whose name is already used: the first for which no other recording
/// has a file.
pub(super) fn free_number(
    target: &Target,
    cassette: &Path,
    tape: &Path,
    first: u32,
) -> Option<u32> {
    let is_free = |path: &Path| path.symlink_metadata().is_err();
    (first.max(2)..=u32::MAX).find(|number| {
        let beside = numbered(&target.tape, *number);
        is_free(&numbered(cassette, *number))
            && (is_free(&beside)
                || beside == tape
                || tape == target.tape && made(&beside, cassette))
    })
}

/// Renames a tape like its cassette; returns its name.
pub(super) fn join(tape: &Path, wanted: &Path) -> PathBuf {
    let is_done = tape != wanted
        && (files::rename_new(tape, wanted).is_ok()
            || !is_written(wanted) && files::exchange(tape, wanted).is_ok());
    // On failure both exist under their previous names.
    if is_done { wanted } else { tape }.to_path_buf()
}

/// Whether there is an answer on a tape: others take no name from a tape that exists.
pub(super) fn is_answered(tape: &Path) -> bool {
    let answered = || {
        let mut reader = Reader::open(io::BufReader::new(File::open(tape).ok()?)).ok()?;
        while let Some(event) = reader.next_event().ok()? {
            let message = reader.envelope(&event);
            if message.is_some_and(|message| matches!(message.kind, Kind::Response { .. })) {
                return Some(());
            }
        }
        None
    };
    answered().is_some()
}

/// Sets the modification time of a projection to that of its tape.
pub(super) fn mark(projection: &Path, tape: &Path) {
    let time = || tape.metadata()?.modified();
    let mark = |time| {
        File::options()
            .write(true)
            .open(projection)?
            .set_modified(time)
    };
    // On failure, a later recorder uses another number.
    drop(time().and_then(mark));
}

/// Whether a cassette was made from a finished tape.
fn made(tape: &Path, cassette: &Path) -> bool {
    let time = |path: &Path| path.metadata()?.modified();
    let same = time(tape).is_ok_and(|made| time(cassette).is_ok_and(|time| time == made));
    same && !is_written(tape) || is_told(tape, cassette)
}

/// Whether the content of a cassette shows that it was made from a finished tape.
fn is_told(tape: &Path, cassette: &Path) -> bool {
    let created = || {
        let reader = Reader::open(io::BufReader::new(File::open(tape).ok()?)).ok()?;
        Some(reader.header().created.clone())
    };
    let Some(created) = created().filter(|created| !created.is_empty()) else {
        return false;
    };
    let mut head = Vec::new();
    let read = File::open(cassette).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let member = format!("\"recorded_at\": \"{created}\"");
    read.is_ok() && memmem::find(&head, member.as_bytes()).is_some() && !is_written(tape)
}

/// How far into a cassette its `recorded_at` is searched, in bytes.
const HEAD: u64 = 64 * 1024;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::names::create_tape;
    use super::*;

    #[test]
    fn a_tape_takes_its_name_unless_somebody_writes_there() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = folder.path().join("fs.tape.jsonl");
        let (first, path, _) = create_tape(&wanted, None).unwrap();
        fs::write(&path, "first").unwrap();
        let (second, other, _) = create_tape(&wanted, None).unwrap();
        fs::write(&other, "second").unwrap();
        assert!(is_written(&path) && is_written(&other));
        assert_eq!(join(&other, &wanted), other);
        drop(first);
        assert!(!is_written(&path));
        assert_eq!(join(&other, &wanted), wanted);
        assert_eq!(fs::read_to_string(&wanted).unwrap(), "second");
        assert_eq!(fs::read_to_string(&other).unwrap(), "first");
        let third = numbered(&wanted, 3);
        assert_eq!(join(&wanted, &third), third);
        drop(second);
        assert!(!wanted.exists() && !is_written(&third));
    }

    #[test]
    fn a_number_is_free_of_both_files() {
        let folder = tempfile::tempdir().unwrap();
        let cassette = folder.path().join("fs.json");
        let target = Target::cassette(&cassette);
        let number = |tape: &Path| free_number(&target, &cassette, tape, 1);
        let made = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        assert_eq!(number(&target.tape), Some(2));
        made("fs.2.json", "{}");
        made(
            "fs.3.tape.jsonl",
            "{\"tape\":\"2.1\",\"created\":\"now\"}\n",
        );
        assert_eq!(number(&target.tape), Some(4));
        assert_eq!(number(&folder.path().join("fs.3.tape.jsonl")), Some(3));
        // The tape of the cassette with that name gives up its number.
        made("fs.json", "{\"meta\": {\"recorded_at\": \"now\"}}");
        assert_eq!(number(&target.tape), Some(3));
        made("fs.json", "{}");
        assert_eq!(number(&target.tape), Some(4));
        mark(&cassette, &folder.path().join("fs.3.tape.jsonl"));
        assert_eq!(number(&target.tape), Some(3));
    }
}
