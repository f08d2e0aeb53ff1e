//! Finds the file for a name.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tapewright_schemas::near::did_you_mean;
use tapewright_schemas::order::Order as _;

use super::unreadable;
use crate::report;

/// The file itself, or the tape next to a cassette that was never finished.
pub(super) fn existing(named: &Path) -> anyhow::Result<PathBuf> {
    match fs::metadata(named) {
        Ok(_) => Ok(named.to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => tape_beside(named)
            .or_else(|| tape_beside(&final_target(named)))
            .ok_or_else(|| missing(named)),
        Err(error) => Err(unreadable(
            named,
            &error.to_string(),
            "check the path and its permissions",
        )),
    }
}

/// The error for a recording that does not exist.
fn missing(named: &Path) -> anyhow::Error {
    let hint = near(named, super::folder::has_name);
    let hint = hint.unwrap_or_else(|| MISSING.to_owned());
    unreadable(named, "no such file, and no tape next to it", &hint)
}

/// A similar name for a file that does not exist: one in the same folder that `is_one` accepts.
pub(crate) fn near(named: &Path, is_one: impl Fn(&Path) -> bool) -> Option<String> {
    let folder = match named.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let text = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let stem = text(named.file_stem());
    // A common ending does not make names similar.
    let is_near = |path: &Path| did_you_mean(&stem, [&*text(path.file_stem())]).is_some();
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let paths = entries.map(|entry| entry.path()).take(MOST_FILES);
    let paths = paths.filter(|path| is_one(path) && is_near(path) && path.is_file());
    let mut candidates: Vec<String> = paths.map(|path| text(path.file_name())).collect();
    candidates.order();
    let name = text(named.file_name());
    let hint = did_you_mean(&name, candidates.iter().map(String::as_str))?;
    Some(report::safe(&hint))
}

/// The error for a file that cannot be read: for one that does not exist it suggests a similar
/// name, if any, and otherwise has the hint.
pub(crate) fn unreadable_or_near(
    named: &Path,
    error: &io::Error,
    hint: &str,
    is_one: impl Fn(&Path) -> bool,
) -> anyhow::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return unreadable(named, &error.to_string(), hint);
    }
    let hint = near(named, is_one).unwrap_or_else(|| hint.to_owned());
    unreadable(named, "no such file", &hint)
}

/// The file that writing to this path would write to: the target of its links, even if that does
/// not exist yet.
pub(crate) fn final_target(path: &Path) -> PathBuf {
    let mut here = path.to_owned();
    for _ in 0..LINK_LIMIT {
        let Ok(link) = fs::read_link(&here) else {
            break;
        };
        here = match here.parent() {
            Some(folder) => folder.join(link),
            None => link,
        };
    }
    here
}

/// Whether two paths lead to the same file.
pub(crate) fn same_file(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// The newest tape whose name belongs to a cassette: `NAME.tape.jsonl`, `NAME.N.tape.jsonl`.
pub(crate) fn tape_beside(cassette: &Path) -> Option<PathBuf> {
    let name = cassette.file_name()?.to_str()?;
    let stem = name
        .strip_suffix(".capture.json")
        .or_else(|| name.strip_suffix(".json"))?;
    let folder = match cassette.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut best: Option<(SystemTime, u64, PathBuf)> = None;
    for entry in fs::read_dir(folder).ok()?.filter_map(Result::ok) {
        let file_name = entry.file_name();
        let Some(number) = file_name.to_str().and_then(|name| tape_number(name, stem)) else {
            continue;
        };
        // Windows only updates the time of an entry when the file is closed.
        let changed = fs::metadata(entry.path()).and_then(|data| data.modified());
        let rank = (changed.unwrap_or(SystemTime::UNIX_EPOCH), number);
        if best
            .as_ref()
            .is_none_or(|(time, number, _)| (*time, *number) < rank)
        {
            best = Some((rank.0, rank.1, cassette.with_file_name(file_name)));
        }
    }
    best.map(|(_, _, path)| path)
}

/// The number in the name of a tape that belongs to this stem; 0 if it has none.
fn tape_number(name: &str, stem: &str) -> Option<u64> {
    let middle = name.strip_prefix(stem)?.strip_suffix(".tape.jsonl")?;
    if middle.is_empty() {
        Some(0)
    } else {
        middle.strip_prefix('.')?.parse().ok()
    }
}

const LINK_LIMIT: usize = 40;
/// How many files of a folder are compared with a name.
const MOST_FILES: usize = 1_000;
const MISSING: &str = "record one with `tapewright record -o FILE -- COMMAND`";

#[cfg(test)]
mod tests {
    use super::tape_number;

    #[test]
    fn tapes_are_known_by_their_stem() {
        assert_eq!(tape_number("fs.tape.jsonl", "fs"), Some(0));
        assert_eq!(tape_number("fs.12.tape.jsonl", "fs"), Some(12));
        assert_eq!(tape_number("fs.old.tape.jsonl", "fs"), None);
        assert_eq!(tape_number("fsx.tape.jsonl", "fs"), None);
        assert_eq!(tape_number("fs.json", "fs"), None);
    }
}
