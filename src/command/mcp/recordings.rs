//! The recordings of a folder, by names that never lead out of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::Context as _;
use tapewright_proxy::record::is_written;
use tapewright_schemas::near::did_you_mean;
use tapewright_schemas::order::Order as _;
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::redact::Redactor;
use tapewright_schemas::scrub;

use crate::command::record::target;
use crate::command::redaction;
use crate::files::{Recording, folder, portable};
use crate::report::{Mistake, safe};

/// A folder of recordings, and the folders directly in it, which hold those of agents.
#[derive(Debug)]
pub(super) struct Recordings {
    folder: PathBuf,
}

/// A recording of the folder.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Its path from the folder on, with `/` in between.
    pub(super) name: String,
    /// Where it is, without links.
    pub(super) path: PathBuf,
    /// Its size, in bytes.
    pub(super) bytes: u64,
    /// When it was last written to.
    pub(super) changed: SystemTime,
}

/// How many folders in the folder are looked into.
const FOLDERS: usize = 1_000;

impl Recordings {
    /// The folder that was named, or the one where recordings go.
    pub(super) fn open(named: Option<&Path>) -> anyhow::Result<Self> {
        let Some(named) = named else {
            return Ok(Self {
                folder: target::home()?,
            });
        };
        let metadata = fs::metadata(named).with_context(|| mistake(named, "cannot be read"))?;
        if !metadata.is_dir() {
            return Err(mistake(named, "is not a folder").into());
        }
        Ok(Self {
            folder: named.to_owned(),
        })
    }

    /// The folder, for people.
    pub(super) fn shown(&self) -> String {
        safe(&self.folder.display().to_string())
    }

    /// The files that are recordings by their names, the newest first.
    pub(super) fn found(&self) -> anyhow::Result<Vec<Found>> {
        // Where recordings go is made by the first of them.
        let Ok(root) = fs::canonicalize(&self.folder) else {
            return Ok(Vec::new());
        };
        let mut paths = folder::named(&root)?;
        for inner in folders(&root) {
            // One that cannot be read holds nothing for us.
            paths.extend(folder::named(&inner).unwrap_or_default());
        }
        let found = paths.iter().filter_map(|path| Found::at(&root, path));
        let mut all: Vec<Found> = found.collect();
        all.order_by(|one, other| {
            let newest = other.changed.cmp(&one.changed);
            newest.then_with(|| one.name.cmp(&other.name))
        });
        Ok(all)
    }

    /// The recording of a name.
    pub(super) fn find(&self, name: &str) -> anyhow::Result<Found> {
        let found = plain(name).then(|| self.at(name)).flatten();
        match found {
            Some(found) if found.name == name => Ok(found),
            _ => Err(self.unknown(name).into()),
        }
    }

    /// An opened recording. One that was made without redaction is never shown, nor is a capture
    /// with a secret.
    pub(super) fn read(&self, name: &str) -> anyhow::Result<(Found, Recording)> {
        let found = self.find(name)?;
        let recording = Recording::open(&found.path)?;
        // A capture has no place for a mark.
        let is_clean = recording.kind() == FileKind::Capture && has_no_secret(&found.path)?;
        if !recording.header().redacted && !is_clean {
            let what = format!("`{}` was recorded with its secrets", safe(name));
            let hint = "ask the user to take them out with `tapewright scrub FILE`";
            return Err(Mistake::new(what, hint).into());
        }
        Ok((found, recording))
    }

    fn at(&self, name: &str) -> Option<Found> {
        let root = fs::canonicalize(&self.folder).ok()?;
        Found::at(&root, &root.join(name))
    }

    fn unknown(&self, name: &str) -> Mistake {
        let all = self.found().unwrap_or_default();
        let near = did_you_mean(name, all.iter().map(|one| one.name.as_str()));
        let hint = "`list_recordings` lists them";
        let hint = near.map_or_else(
            || hint.to_owned(),
            |near| format!("{}; {hint}", safe(&near)),
        );
        let cut: String = name.chars().take(NAME_CHARS).collect();
        let (cut, folder) = (safe(&cut), self.shown());
        Mistake::new(format!("no recording `{cut}` in {folder}"), hint)
    }
}

impl Found {
    /// A file, if it is a recording by its name and lies within the folder, wherever links lead.
    fn at(root: &Path, path: &Path) -> Option<Self> {
        let name = path.strip_prefix(root).ok()?;
        // A name that is no text could not be asked for.
        name.to_str()?;
        let name = portable(name);
        let path = fs::canonicalize(path).ok()?;
        if !path.starts_with(root) {
            return None;
        }
        let metadata = fs::metadata(&path).ok()?;
        metadata.is_file().then(|| Self {
            name,
            bytes: metadata.len(),
            changed: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            path,
        })
    }

    /// Whether a recorder still writes it.
    pub(super) fn is_written(&self) -> bool {
        is_written(&self.path)
    }

    /// When it was last written to, RFC 3339.
    pub(super) fn changed_at(&self) -> String {
        target::timestamp(self.changed)
    }
}

/// The folders directly in a folder: no hidden ones, and no links.
fn folders(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let inner = entries.filter(|entry| {
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        !hidden && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    let mut all: Vec<PathBuf> = inner.map(|entry| entry.path()).collect();
    all.order();
    all.truncate(FOLDERS);
    all
}

/// Whether a name is that of a recording: one or two plain parts, none of them hidden.
fn plain(name: &str) -> bool {
    let is_recording = folder::has_name(Path::new(name));
    let parts: Vec<&str> = name.split('/').collect();
    let plain = |part: &&str| !part.is_empty() && !part.starts_with('.');
    is_recording && name.len() <= NAME_BYTES && parts.len() <= 2 && parts.iter().all(plain)
}

/// Whether a capture contains no secret that could be recognized.
fn has_no_secret(path: &Path) -> anyhow::Result<bool> {
    let text = fs::read(path)?;
    let rules = redaction::built_in(&redaction::of_environment());
    let mut redactor = Redactor::new(Arc::new(rules));
    let found = scrub::document(&mut redactor, &text);
    Ok(found.is_ok_and(|(_, places)| places.is_empty()))
}

fn mistake(named: &Path, why: &str) -> Mistake {
    let shown = safe(&named.display().to_string());
    let hint = "name the folder that holds recordings, or leave it out";
    Mistake::new(format!("`{shown}` {why}"), hint)
}

const NAME_BYTES: usize = 1_000;
const NAME_CHARS: usize = 200;

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use super::*;

    #[cfg(unix)]
    #[test]
    fn names_never_lead_out_of_the_folder() {
        use std::os::unix::fs::symlink;
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("inner");
        fs::create_dir_all(inner.join("agent")).unwrap();
        fs::create_dir_all(inner.join(".hidden")).unwrap();
        for name in [
            "secret.tape.jsonl",
            "inner/fs.tape.jsonl",
            "inner/agent/fs.tape.jsonl",
            "inner/.hidden/fs.tape.jsonl",
        ] {
            fs::write(outer.path().join(name), "{}").unwrap();
        }
        symlink("../secret.tape.jsonl", inner.join("out.tape.jsonl")).unwrap();
        symlink("fs.tape.jsonl", inner.join("in.tape.jsonl")).unwrap();
        symlink("..", inner.join("up")).unwrap();
        let recordings = Recordings::open(Some(&inner)).unwrap();
        let mut names: Vec<String> = recordings
            .found()
            .unwrap()
            .into_iter()
            .map(|one| one.name)
            .collect();
        names.sort();
        assert_eq!(
            names,
            ["agent/fs.tape.jsonl", "fs.tape.jsonl", "in.tape.jsonl"]
        );
        for name in [
            "../secret.tape.jsonl",
            "up/secret.tape.jsonl",
            "out.tape.jsonl",
            ".hidden/fs.tape.jsonl",
            "agent/../fs.tape.jsonl",
            "./fs.tape.jsonl",
            "agent//fs.tape.jsonl",
            "agent/./fs.tape.jsonl",
            "",
            "/etc/passwd",
            "fs.tape.jsonl\0",
            "agent",
        ] {
            assert!(recordings.find(name).is_err(), "{name}");
        }
        let absolute = outer.path().join("secret.tape.jsonl");
        assert!(recordings.find(absolute.to_str().unwrap()).is_err());
        assert!(recordings.find("agent/fs.tape.jsonl").is_ok());
    }
}
