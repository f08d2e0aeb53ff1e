//! The recording that a tape is a part of: the folder in which an agent's models and its
//! servers are recorded.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context as _;

use super::target;
use crate::files::folder;
use crate::files::output::{self, Over};
use crate::report::{Mistake, safe};

/// The variable that tells a recorder which recording it is part of, as `ID:FOLDER`.
pub(super) const VARIABLE: &str = "TAPEWRIGHT_RECORDING";

/// What stands in place of an id where the recording is played.
const PLAYED: &str = "replay";

/// A recording that has several tapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// What all of them have in their headers.
    pub(super) id: String,
    /// Where they are.
    pub(super) folder: PathBuf,
}

impl Part {
    /// Begins a recording in a folder of its own.
    pub(super) fn create(
        output: Option<&Path>,
        label: &str,
        created: SystemTime,
    ) -> anyhow::Result<Self> {
        let name = target::stem(label, created);
        let folder = match output {
            Some(folder) => folder.components().collect(),
            None => target::home()?.join(&name),
        };
        let mistake = |what: &str, hint: &str| {
            let what = format!("`{}` {what}", safe(&folder.display().to_string()));
            Err(Mistake::new(what, hint).into())
        };
        let hint = "name a folder, such as `-o run/`: a recording of an agent has several tapes";
        if folder.exists() && !folder.is_dir() {
            return mistake("is not a folder", hint);
        }
        let is_file = |ending: &str| folder.to_string_lossy().ends_with(ending);
        if !folder.exists() && (is_file(".json") || is_file(".jsonl")) {
            return mistake("is the name of a file", hint);
        }
        if folder.is_dir() && folder::has_tapes(&folder) {
            let hint = "name another folder, or move this one away: a folder holds one recording";
            return mistake("holds a recording already", hint);
        }
        output::folder(&folder, Over::Recording)?;
        let folder = fs::canonicalize(&folder).context("the folder of the recording is gone")?;
        Ok(Self { id: name, folder })
    }

    /// The one that we were started in, if we were.
    pub(super) fn inherited() -> Option<Self> {
        let value = std::env::var_os(VARIABLE).or_else(above)?;
        Self::of(&value)
    }

    /// Reads what stands in the variable. A folder that is gone takes no tape.
    pub(super) fn of(value: &OsStr) -> Option<Self> {
        let bytes = value.as_bytes();
        let colon = bytes.iter().position(|byte| *byte == b':')?;
        let (id, folder) = bytes.split_at_checked(colon)?;
        let id = std::str::from_utf8(id).ok().filter(|id| !id.is_empty())?;
        let folder = PathBuf::from(OsString::from_vec(folder.get(1..)?.to_vec()));
        (folder.is_absolute() && folder.is_dir()).then(|| Self {
            id: id.to_owned(),
            folder,
        })
    }

    /// A recording in a folder that is played: whoever records a server plays it instead.
    pub(super) fn played(folder: &Path) -> Option<Self> {
        let folder = fs::canonicalize(folder).ok()?;
        let id = PLAYED.to_owned();
        folder.is_dir().then_some(Self { id, folder })
    }

    /// The tape of a server, where the recording is played. Of several starts of it that
    /// which tells the most.
    pub(super) fn played_tape(&self, label: &str) -> Option<anyhow::Result<PathBuf>> {
        if self.id != PLAYED {
            return None;
        }
        let label = target::plain(label);
        let is_of_label = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let stem = name
                .strip_suffix(".tape.jsonl")
                .and_then(|stem| stem.strip_prefix(&*label));
            let number = |rest: &str| {
                rest.strip_prefix('.')
                    .is_some_and(|one| one.parse::<u32>().is_ok())
            };
            stem.is_some_and(|rest| rest.is_empty() || number(rest))
        };
        let tapes = match folder::recordings(&self.folder) {
            Ok(tapes) => tapes.into_iter().filter(is_of_label),
            Err(error) => return Some(Err(error)),
        };
        let length = |path: &PathBuf| fs::metadata(path).map_or(0, |found| found.len());
        Some(tapes.max_by_key(length).ok_or_else(|| {
            let folder = safe(&self.folder.display().to_string());
            let what = format!(
                "the recording in `{folder}` has no server `{}`",
                safe(&label)
            );
            let hint = "record the agent with this server, or name another recording";
            Mistake::new(what, hint).into()
        }))
    }

    /// What stands in the variable.
    pub(super) fn value(&self) -> OsString {
        let mut value = OsString::from(format!("{}:", self.id));
        value.push(&self.folder);
        value
    }
}

/// How far up it is looked: launchers stand between an agent and the servers it starts.
const GENERATIONS: usize = 16;

/// What the processes that we were started by have in the variable. Many clients hand down
/// few variables, or none; on Linux their own can be read.
fn above() -> Option<OsString> {
    let mut process = std::os::unix::process::parent_id();
    for _ in 0..GENERATIONS {
        // That of another user cannot be read, and nobody beyond it started us for us.
        let environment = fs::read(format!("/proc/{process}/environ")).ok()?;
        if let Some(value) = value_in(&environment) {
            return Some(value);
        }
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        process = parent_in(&stat).filter(|parent| *parent > 1)?;
    }
    None
}

fn value_in(environment: &[u8]) -> Option<OsString> {
    let mut variables = environment.split(|byte| *byte == 0);
    let value = variables.find_map(|variable| {
        let rest = variable.strip_prefix(VARIABLE.as_bytes())?;
        rest.strip_prefix(b"=")
    })?;
    Some(OsString::from_vec(value.to_vec()))
}

/// The parent in `PID (NAME) STATE PPID …`; the name may hold anything.
fn parent_in(stat: &str) -> Option<u32> {
    let (_, after) = stat.rsplit_once(')')?;
    after.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handed_down_is_what_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let part = Part {
            id: "20261125T024000Z-agent-7".to_owned(),
            folder: folder.path().join("a:b"),
        };
        assert_eq!(Part::of(&part.value()), None, "the folder is not there");
        fs::create_dir(&part.folder).unwrap();
        assert_eq!(Part::of(&part.value()), Some(part));
        for nothing in ["", ":", ":/tmp", "id:", "id:tmp", "/tmp", "id"] {
            assert_eq!(Part::of(OsStr::new(nothing)), None, "{nothing}");
        }
    }

    #[test]
    fn an_environment_is_searched_for_the_whole_name() {
        let environment = b"A=1\0XTAPEWRIGHT_RECORDING=x\0TAPEWRIGHT_RECORDING=id:/a\0B=2\0";
        assert_eq!(value_in(environment), Some("id:/a".into()));
        assert_eq!(value_in(b"TAPEWRIGHT_RECORDINGS=1\0"), None);
        assert_eq!(value_in(b"TAPEWRIGHT_RECORDING=\0"), Some(OsString::new()));
        assert_eq!(parent_in("7 (a) b (c) S 3 42 42 0"), Some(3));
        assert_eq!(parent_in(""), None);
    }

    #[test]
    fn a_folder_takes_one_recording() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("run/");
        let create = || Part::create(Some(&folder), "agent", SystemTime::UNIX_EPOCH);
        let first = create().unwrap();
        assert!(first.folder.is_absolute() && first.folder.is_dir());
        assert!(create().is_ok(), "it holds nothing yet");
        fs::write(folder.join("models.tape.jsonl"), "{}\n").unwrap();
        let error = create().unwrap_err().to_string();
        assert!(error.contains("holds a recording already"), "{error}");
        let file = home.path().join("run.json");
        let error = Part::create(Some(&file), "agent", SystemTime::UNIX_EPOCH).unwrap_err();
        assert!(
            error.to_string().contains("is the name of a file"),
            "{error}"
        );
    }
}
