//! The recordings of a folder.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use tapewright_schemas::recording::FileKind;

use crate::files::{first_line, unreadable};
use crate::report;

/// Every recording of a folder once, by name: of the files that one recording left, the
/// tape counts, which tells the most.
pub(crate) fn recordings(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let fail = |error: std::io::Error| {
        unreadable(
            folder,
            &error.to_string(),
            "name a folder that this user may read",
        )
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let hidden = name(&path).starts_with('.');
        if path.is_file() && !hidden && (is_json(&path) || is_tape(&path)) {
            paths.push(path);
        }
    }
    paths.sort();
    let mut chosen = Vec::new();
    for path in &paths {
        let tape = format!("{}.tape.jsonl", stem(path));
        let stands_in = !is_tape(path) && paths.iter().any(|other| name(other) == tape);
        let projected = path_is_capture(path)
            && paths
                .iter()
                .any(|other| other != path && name(other) == format!("{}.json", stem(path)));
        if stands_in || projected {
            continue;
        }
        if is_tape(path) || looks_like_a_recording(path) {
            chosen.push(path.clone());
        } else {
            let shown = report::safe(&path.display().to_string());
            report::note(&format!("`{shown}` is no recording and was passed over"));
        }
    }
    Ok(chosen)
}

/// Whether a folder holds tapes.
pub(crate) fn has_tapes(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| is_tape(&entry.path()))
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn is_tape(path: &Path) -> bool {
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

/// Whether a JSON file mentions what every recording has.
fn looks_like_a_recording(path: &Path) -> bool {
    let Ok(file) = fs::File::open(path) else {
        // Whoever opens it for reading says why it cannot be opened.
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
