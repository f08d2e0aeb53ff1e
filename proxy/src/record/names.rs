//! The names of a recording's files, and how they are created.
//!
//! A client may start its server twice at the same time with the same command line (the TypeScript
//! SDK does so to detect the era), and a user may record to the same name every day. So a tape is
//! created exclusively: if the name exists, it gets a number, `fs.2.tape.jsonl`.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tapewright_schemas::tape::Header;

use crate::system::files;

/// The extension of a tape's name.
pub(super) const TAPE_ENDING: &str = ".tape.jsonl";

/// The paths of a recording's files.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// The tape's path, before a number is inserted.
    pub(crate) tape: PathBuf,
    /// The cassette, if requested.
    pub(crate) cassette: Option<PathBuf>,
    /// The capture, if requested.
    pub(crate) capture: Option<PathBuf>,
    /// The folder, if every session gets separate files.
    pub(crate) folder: Option<FolderTarget>,
    /// Whether cassettes contain times and durations.
    pub(crate) times: bool,
    /// Whether the tape is one of several in its folder, whose numbers are their order.
    pub(crate) one_of_several: bool,
}

/// A folder in which every session gets its own tape, cassette and capture.
#[derive(Clone, Debug)]
pub(crate) struct FolderTarget {
    pub(crate) path: PathBuf,
    /// The maximum number of open tapes.
    pub(crate) most_open: usize,
    /// The time without events after which a session's files are finished.
    pub(crate) idle: Duration,
}

/// Default limit of open tapes.
const MOST_OPEN: usize = 256;
/// Default time after which the files of a silent session are finished.
const IDLE: Duration = Duration::from_secs(300);

impl Target {
    /// Only a tape.
    #[must_use]
    pub fn tape_only(tape: &Path) -> Self {
        Self {
            tape: resolve(tape),
            cassette: None,
            capture: None,
            folder: None,
            times: false,
            one_of_several: false,
        }
    }

    /// A folder, with a tape, a cassette and a capture for each session:
    /// `TIME-LABEL-PID-s1.tape.jsonl`, and `…-lane.tape.jsonl` for sessionless exchanges.
    #[must_use]
    pub fn folder(folder: &Path) -> Self {
        Self {
            tape: folder.to_path_buf(),
            cassette: None,
            capture: None,
            folder: Some(FolderTarget {
                path: folder.to_path_buf(),
                most_open: MOST_OPEN,
                idle: IDLE,
            }),
            times: false,
            one_of_several: false,
        }
    }

    /// For a folder: sets the time without events after which a session's files are finished. If
    /// the session continues later, another tape continues the first.
    #[must_use]
    pub fn finish_after(mut self, idle: Duration) -> Self {
        if let Some(folder) = &mut self.folder {
            folder.idle = idle;
        }
        self
    }

    /// For a folder: sets the maximum number of open tapes, beyond which the one that has been
    /// silent longest is closed.
    #[must_use]
    pub fn keep_open(mut self, most_open: usize) -> Self {
        if let Some(folder) = &mut self.folder {
            folder.most_open = most_open.max(1);
        }
        self
    }

    /// A cassette, with its tape next to it. A symbolic link is followed: the files are created at
    /// its target.
    #[must_use]
    pub fn cassette(cassette: &Path) -> Self {
        let cassette = resolve(cassette);
        let stem = cassette
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let tape = cassette.with_file_name(format!("{stem}{TAPE_ENDING}"));
        Self {
            tape,
            cassette: Some(cassette),
            capture: None,
            folder: None,
            times: false,
            one_of_several: false,
        }
    }

    /// Moves the tape into the folder of a recording with several tapes, as `NAME.tape.jsonl` or
    /// with the first unused number. The paths of the cassette and the capture are unchanged,
    /// unless each session has its own.
    #[must_use]
    pub fn within(mut self, folder: &Path, name: &str) -> Self {
        self.one_of_several = true;
        match &mut self.folder {
            Some(sessions) => folder.clone_into(&mut sessions.path),
            None => self.tape = folder.join(format!("{name}{TAPE_ENDING}")),
        }
        self
    }

    /// The folder in which its tapes are created, and whether there may be several.
    #[must_use]
    pub fn place(&self) -> (PathBuf, bool) {
        if let Some(folder) = &self.folder {
            return (folder.path.clone(), true);
        }
        let folder = self
            .tape
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        (folder.unwrap_or(Path::new(".")).to_owned(), false)
    }

    /// Adds times and durations to cassettes, which differ between recordings. Without this, only
    /// the tape has times.
    #[must_use]
    pub fn with_times(mut self) -> Self {
        self.times = true;
        self
    }

    /// Also writes a capture.
    #[must_use]
    pub fn with_capture(mut self, capture: &Path) -> Self {
        self.capture = Some(resolve(capture));
        self
    }
}

/// Follows a symbolic link at the end of a path, even if its target does not exist yet.
fn resolve(path: &Path) -> PathBuf {
    let mut here = path.to_path_buf();
    // The system's limit for links.
    for _ in 0..40 {
        let Ok(next) = fs::read_link(&here) else {
            break;
        };
        here = here.parent().unwrap_or(Path::new("")).join(next);
    }
    here
}

/// Creates the tape, under its own name or with the first unused number. Missing folders are
/// created. A number is unused if no cassette has it either.
pub(crate) fn create_tape(
    wanted: &Path,
    cassette: Option<&Path>,
) -> io::Result<(File, PathBuf, u32)> {
    if let Some(folder) = wanted
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        fs::create_dir_all(folder)?;
    }
    for number in 1..=LAST_NUMBER {
        let path = numbered(wanted, number);
        let cassette = cassette.filter(|_| number > 1);
        if cassette.is_some_and(|cassette| numbered(cassette, number).exists()) {
            continue;
        }
        match create(&path) {
            Ok(file) => {
                files::mark_written(&file);
                return Ok((file, path, number));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Creates a file that must not exist, with permissions for its owner only.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    files::open_own(OpenOptions::new().append(true).create_new(true), path)
}

/// The prefix of the names of all files of a run: `20261121T040932Z-files-4711`.
pub(crate) fn stem(header: &Header) -> String {
    let time = header.created.split('.').next().unwrap_or_default();
    let digits = time.chars().filter(|char| !matches!(char, '-' | ':' | 'Z'));
    let time: String = digits.collect();
    let plain = |char: char| {
        if char.is_ascii_alphanumeric() || "-_.".contains(char) {
            char
        } else {
            '_'
        }
    };
    let label: String = header.label.chars().take(60).map(plain).collect();
    format!("{time}Z-{label}-{}", header.pid)
}

const LAST_NUMBER: u32 = 100_000;

/// `fs.json` as number 2 is `fs.2.json`; `fs.tape.jsonl` is `fs.2.tape.jsonl`.
pub(crate) fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.to_path_buf();
    }
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let endings = [TAPE_ENDING, ".capture.json"];
    let ending = endings
        .into_iter()
        .find(|ending| name.ends_with(ending))
        .map(str::to_owned);
    let ending = ending.or_else(|| Some(format!(".{}", path.extension()?.to_string_lossy())));
    let ending = ending.unwrap_or_default();
    let stem = name.strip_suffix(&ending).unwrap_or(&name);
    path.with_file_name(format!("{stem}.{number}{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_before_the_ending() {
        for (name, second) in [
            ("a/fs.tape.jsonl", "a/fs.2.tape.jsonl"),
            ("fs.json", "fs.2.json"),
            ("fs.capture.json", "fs.2.capture.json"),
            ("plain", "plain.2"),
        ] {
            assert_eq!(numbered(Path::new(name), 2), Path::new(second));
        }
        assert_eq!(numbered(Path::new("fs.json"), 1), Path::new("fs.json"));
    }

    #[cfg(unix)]
    #[test]
    fn the_tape_stands_beside_the_cassette_that_a_link_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link.json");
        std::os::unix::fs::symlink("deep/real.json", &link).unwrap();
        let target = Target::cassette(&link);
        assert_eq!(target.tape, folder.path().join("deep/real.tape.jsonl"));
        assert_eq!(target.cassette, Some(folder.path().join("deep/real.json")));
    }

    #[test]
    fn a_taken_name_gets_a_number_and_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = folder.path().join("new/fs.tape.jsonl");
        let (_, first, one) = create_tape(&wanted, None).unwrap();
        fs::write(&first, "kept").unwrap();
        let (_, second, two) = create_tape(&wanted, None).unwrap();
        assert_eq!((one, two), (1, 2));
        assert_eq!(second, folder.path().join("new/fs.2.tape.jsonl"));
        assert_eq!(fs::read_to_string(first).unwrap(), "kept");
    }
}
