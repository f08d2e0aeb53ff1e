//! The recordings of a folder.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use tapewright_schemas::order::Order as _;
use tapewright_schemas::recording::FileKind;

use crate::files::{Recording, first_line, unreadable};
use crate::report::{self, Mistake};

/// Every recording of a folder once, by name: of the files of one recording, the tape is chosen,
/// which has the most information.
pub(crate) fn recordings(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut chosen = named(folder)?;
    chosen.retain(|path| {
        let is_recording = is_recording(path);
        if !is_recording {
            let shown = report::safe(&path.display().to_string());
            report::note(&format!("skipped `{shown}`: not a recording"));
        }
        is_recording
    });
    Ok(chosen)
}

/// The recordings of a path: the file, or those in the folder.
///
/// # Errors
///
/// The folder cannot be read, or has no recording.
pub(crate) fn of(named: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !named.is_dir() {
        return Ok(vec![named.to_owned()]);
    }
    let found = recordings(named)?;
    if found.is_empty() {
        let hint = "give a recording, or a folder that contains some; subfolders are not searched";
        return Err(unreadable(named, "no recording in this folder", hint));
    }
    Ok(found)
}

/// Like `of`, for a single server: an agent's recording may have several, and its model calls are
/// left out.
pub(crate) fn of_server(named: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = of(named)?;
    if !named.is_dir() {
        return Ok(found);
    }
    found.retain(|path| !is_of_models(path));
    let mut labels = BTreeSet::new();
    for path in &found {
        let header = Recording::open(path)?.header();
        if !header.part_of.is_empty() {
            labels.insert(header.label);
        }
    }
    if labels.len() < 2 {
        return Ok(found);
    }
    let labels: Vec<String> = labels.iter().map(|one| report::safe(one)).collect();
    let what = format!(
        "`{}` has recordings of several servers: {}",
        report::safe(&named.display().to_string()),
        labels.join(", ")
    );
    Err(Mistake::new(what, "give the recordings of one server, file by file").into())
}

/// Every file of a folder that is a recording by its name, regardless of other files.
pub(crate) fn all(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let fail = |error: std::io::Error| {
        let hint = "check the path and its permissions";
        unreadable(folder, &error.to_string(), hint)
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let hidden = name(&path).starts_with('.');
        if path.is_file() && !hidden && has_name(&path) {
            paths.push(path);
        }
    }
    paths.order();
    Ok(paths)
}

/// Whether a file is a recording by its name.
pub(crate) fn has_name(path: &Path) -> bool {
    is_json(path) || is_tape(path)
}

/// Whether a file of [`named`] is a recording, as far as can be determined without reading it as
/// one.
pub(crate) fn is_recording(path: &Path) -> bool {
    is_tape(path) || looks_like_a_recording(path)
}

/// The files of a folder that are recordings by their names, as [`recordings`] chooses them.
pub(crate) fn named(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut paths = all(folder)?;
    let names: HashSet<String> = paths.iter().map(|path| name(path)).collect();
    paths.retain(|path| {
        let beside = |end: &str| names.contains(&format!("{}{end}", stem(path)));
        let stands_in = !is_tape(path) && beside(".tape.jsonl");
        let projected = path_is_capture(path) && beside(".json");
        !stands_in && !projected
    });
    Ok(paths)
}

/// The contents of a folder: the recording of an agent, and separate recordings.
#[derive(Debug, Default)]
pub(crate) struct Contained {
    /// The id of the recording that several tapes are parts of; empty if there is none.
    pub(crate) id: String,
    /// Its tapes.
    pub(crate) parts: Vec<PathBuf>,
    /// Everything else.
    pub(crate) others: Vec<PathBuf>,
}

/// The contents of a folder. Only its first agent's recording counts.
pub(crate) fn contained(folder: &Path) -> anyhow::Result<Contained> {
    let mut found = Contained::default();
    for path in recordings(folder)? {
        let opened = Some(&path).filter(|path| is_tape(path));
        // Its reader reports why it cannot be opened.
        let opened = opened.and_then(|path| Recording::open(path).ok());
        let part_of = opened.map_or_else(String::new, |tape| tape.header().part_of);
        if found.id.is_empty() {
            part_of.clone_into(&mut found.id);
        }
        if part_of.is_empty() || part_of != found.id {
            found.others.push(path);
        } else {
            found.parts.push(path);
        }
    }
    Ok(found)
}

/// The name of a tape within its recording: the file name without its ending.
pub(crate) fn part(path: &Path) -> String {
    stem(path)
}

/// The tape with the model calls in the folder of a recording.
const MODELS: &str = "models.tape.jsonl";

/// Whether the path is that tape.
pub(crate) fn is_of_models(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == MODELS)
}

/// Whether a folder has tapes.
pub(crate) fn has_tapes(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| is_tape(&entry.path()))
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Whether a file is a tape by its name.
pub(crate) fn is_tape(path: &Path) -> bool {
    name(path).ends_with(".tape.jsonl")
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|one| one == "json")
}

fn path_is_capture(path: &Path) -> bool {
    name(path).ends_with(".capture.json")
}

/// `fs.2` of `fs.2.tape.jsonl`, `fs.2.capture.json` and `fs.2.json`.
fn stem(path: &Path) -> String {
    let name = name(path);
    let endings = [".tape.jsonl", ".capture.json", ".json"];
    let stem = endings.iter().find_map(|end| name.strip_suffix(end));
    stem.unwrap_or(&name).to_owned()
}

/// Whether a JSON file has a member that every recording has.
fn looks_like_a_recording(path: &Path) -> bool {
    let Ok(file) = fs::File::open(path) else {
        // Opening it for reading reports the error.
        return true;
    };
    let line = first_line(&mut BufReader::new(file)).unwrap_or_default();
    if FileKind::is_tape_header(&line) {
        return true;
    }
    let text = fs::read(path).unwrap_or_default();
    let mentions = |word: &str| {
        let word = word.as_bytes();
        text.windows(word.len()).any(|part| part == word)
    };
    mentions("\"exchanges\"")
}
