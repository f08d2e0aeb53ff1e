//! The recording that a tape is part of: the folder in which an agent's models and its servers are
//! recorded.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context as _;

use tapewright_proxy::system::{files, process};

use super::target;
use crate::command::replay::PlayedStarts;
use crate::files::output;
use crate::files::{claims, folder};
use crate::report::{Mistake, safe};
use tapewright_schemas::order::Order as _;
use tapewright_schemas::slices::Part as _;

/// The variable that tells a recorder which recording it is part of, as `ID:FOLDER`.
pub(super) const VARIABLE: &str = "TAPEWRIGHT_RECORDING";

/// Takes the place of an id if the recording is being replayed.
const PLAYED: &str = "replay";

/// A recording with several tapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The id in the headers of all its tapes.
    pub(super) id: String,
    /// Where they are.
    pub(super) folder: PathBuf,
    /// Whether this recorder made the folder.
    is_new: bool,
}

/// A folder that this recorder made, which is removed if nothing is in it at the end.
#[derive(Debug)]
pub(super) struct NewFolder(PathBuf);

impl Drop for NewFolder {
    fn drop(&mut self) {
        // Fails if something was recorded.
        fs::remove_dir(&self.0).ok();
    }
}

impl Part {
    /// Begins a recording in a new folder.
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
        let hint = "use a folder, such as `-o run/`: an agent recording has several tapes";
        if folder.exists() && !folder.is_dir() {
            return mistake("is not a folder", hint);
        }
        let is_file = |ending: &str| folder.to_string_lossy().ends_with(ending);
        if !folder.exists() && (is_file(".json") || is_file(".jsonl")) {
            return mistake("is the name of a file", hint);
        }
        if folder.is_dir() && folder::has_tapes(&folder) {
            let hint = "choose another folder, or move this one away";
            return mistake("already contains a recording", hint);
        }
        let is_new = !folder.exists();
        output::folder(&folder)?;
        let folder = fs::canonicalize(&folder).context("the folder of the recording is gone")?;
        Ok(Self {
            id: name,
            folder,
            is_new,
        })
    }

    /// The folder, if this recorder made it.
    pub(super) fn created(&self) -> Option<NewFolder> {
        self.is_new.then(|| NewFolder(self.folder.clone()))
    }

    /// The recording that we were started in, if any.
    pub(super) fn inherited() -> Option<Self> {
        let value = std::env::var_os(VARIABLE).or_else(|| process::variable_above(VARIABLE))?;
        Self::of(&value)
    }

    /// Parses the variable. A folder that no longer exists takes no tape.
    pub(super) fn of(value: &OsStr) -> Option<Self> {
        let bytes = value.as_encoded_bytes();
        let colon = bytes.iter().position(|byte| *byte == b':')?;
        let (id, folder) = bytes.split_at_checked(colon)?;
        let id = std::str::from_utf8(id).ok().filter(|id| !id.is_empty())?;
        let folder = PathBuf::from(files::os_string(folder.part(1..).to_vec())?);
        (folder.is_absolute() && folder.is_dir()).then(|| Self {
            id: id.to_owned(),
            folder,
            is_new: false,
        })
    }

    /// A recording in a folder that is replayed: `record` of its server replays it instead.
    /// `claims` is where it claims the tape of its start.
    pub(super) fn played(folder: &Path, claims: Option<&Path>) -> Option<Self> {
        let folder = fs::canonicalize(folder).ok()?;
        let claims = claims.and_then(Path::to_str).map(|claims| {
            let claims = claims.replace('%', "%25").replace(':', "%3A");
            format!("{PLAYED}={claims}")
        });
        let id = claims.unwrap_or_else(|| PLAYED.to_owned());
        let is_new = false;
        folder.is_dir().then_some(Self { id, folder, is_new })
    }

    /// Whether it is being replayed.
    fn is_played(&self) -> bool {
        let rest = self.id.strip_prefix(PLAYED);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    }

    /// The folder for claims, if there is one.
    fn claims(&self) -> Option<PathBuf> {
        let claims = self.id.strip_prefix(PLAYED)?.strip_prefix('=')?;
        Some(claims.replace("%3A", ":").replace("%25", "%").into())
    }

    /// The tapes of a server, one for each start, if the recording is being replayed; and the one
    /// for this start.
    ///
    /// Starts take them in order. A start beyond the recorded ones takes the longest
    /// tape.
    pub(super) fn played_starts(&self, label: &str) -> Option<anyhow::Result<PlayedStarts>> {
        if !self.is_played() {
            return None;
        }
        let label = target::plain(label);
        let tapes = match folder::recordings(&self.folder) {
            Ok(tapes) => starts_of(tapes, &label),
            Err(error) => return Some(Err(error)),
        };
        if tapes.is_empty() {
            let folder = safe(&self.folder.display().to_string());
            let what = format!(
                "the recording in `{folder}` has no server `{}`",
                safe(&label)
            );
            let hint = "record the agent with this server, or use another recording";
            return Some(Err(Mistake::new(what, hint).into()));
        }
        let taken = self
            .claims()
            .and_then(|claims| claims::next(&claims, &label, tapes.len()));
        let length = |path: &PathBuf| fs::metadata(path).map_or(0, |found| found.len());
        let longest = || (0..tapes.len()).max_by_key(|at| tapes.get(*at).map_or(0, length));
        let start = taken.or_else(longest).unwrap_or_default();
        Some(Ok(PlayedStarts { tapes, start }))
    }

    /// The value of the variable.
    pub(super) fn value(&self) -> OsString {
        let mut value = OsString::from(format!("{}:", self.id));
        value.push(&self.folder);
        value
    }
}

/// `LABEL.tape.jsonl`, `LABEL.2.tape.jsonl`, …, in this order.
fn starts_of(tapes: Vec<PathBuf>, label: &str) -> Vec<PathBuf> {
    let number = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?;
        let stem = name.strip_suffix(".tape.jsonl")?.strip_prefix(label)?;
        match stem {
            "" => Some(1),
            rest => rest.strip_prefix('.')?.parse::<u32>().ok(),
        }
    };
    let numbered = tapes
        .into_iter()
        .filter_map(|path| Some((number(&path)?, path)));
    let mut numbered: Vec<(u32, PathBuf)> = numbered.collect();
    numbered.order();
    numbered.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name that has to be escaped; Windows has no colon in names.
    const NAME: &str = if cfg!(windows) { "50%" } else { "50%:x" };

    #[test]
    fn what_is_handed_down_is_what_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let part = Part {
            id: "20261125T024000Z-agent-7".to_owned(),
            folder: folder.path().join(NAME),
            is_new: false,
        };
        assert_eq!(Part::of(&part.value()), None, "the folder does not exist");
        fs::create_dir(&part.folder).unwrap();
        assert_eq!(Part::of(&part.value()), Some(part));
        for nothing in ["", ":", ":/tmp", "id:", "id:tmp", "/tmp", "id"] {
            assert_eq!(Part::of(OsStr::new(nothing)), None, "{nothing}");
        }
    }

    #[test]
    fn starts_are_played_in_their_order_and_one_more_gets_the_longest() {
        let home = tempfile::tempdir().unwrap();
        let run = home.path().join("run");
        fs::create_dir(&run).unwrap();
        for (name, length) in [
            ("fs.tape.jsonl", 3),
            ("fs.2.tape.jsonl", 9),
            ("fs.10.tape.jsonl", 5),
            ("fs2.tape.jsonl", 99),
            ("models.tape.jsonl", 99),
        ] {
            fs::write(run.join(name), "x".repeat(length)).unwrap();
        }
        let claims = home.path().join(NAME);
        fs::create_dir(&claims).unwrap();
        let part = Part::of(&Part::played(&run, Some(&claims)).unwrap().value()).unwrap();
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let mut starts = Vec::new();
        for _ in 0..4 {
            let played = part.played_starts("fs").unwrap().unwrap();
            assert_eq!(played.tapes.len(), 3);
            starts.push(name(&played.tapes[played.start]));
        }
        assert_eq!(
            starts,
            [
                "fs.tape.jsonl",
                "fs.2.tape.jsonl",
                "fs.10.tape.jsonl",
                "fs.2.tape.jsonl"
            ]
        );
        let untold = Part::of(&Part::played(&run, None).unwrap().value()).unwrap();
        let played = untold.played_starts("fs").unwrap().unwrap();
        assert_eq!(played.start, 1);
        assert!(part.played_starts("git").unwrap().is_err());
        let recorded = Part {
            id: "20261125T024000Z-agent-7".to_owned(),
            ..part
        };
        assert!(recorded.played_starts("fs").is_none());
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
        assert!(error.contains("already contains a recording"), "{error}");
        let file = home.path().join("run.json");
        let error = Part::create(Some(&file), "agent", SystemTime::UNIX_EPOCH).unwrap_err();
        assert!(
            error.to_string().contains("is the name of a file"),
            "{error}"
        );
    }
}
