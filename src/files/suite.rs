//! Reads suites and their imports from the disk.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use tapewright_config::Files;
use tapewright_schemas::order::Order as _;

use super::unreadable;

/// The name of a suite that is read from standard input.
const STANDARD_INPUT: &str = "-";

/// The given suites; a folder is replaced by its YAML files, by name.
///
/// # Errors
///
/// A folder cannot be read, or has no YAML file.
pub(crate) fn suites(named: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in named {
        if path.is_dir() {
            all.extend(suites_of(path)?);
        } else {
            all.push(path.clone());
        }
    }
    Ok(all)
}

fn suites_of(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let fail = |error: io::Error| {
        let hint = "check the path and its permissions";
        unreadable(folder, &error.to_string(), hint)
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let is_hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if is_yaml(&path) && !is_hidden && path.is_file() {
            found.push(path);
        }
    }
    if found.is_empty() {
        let hint = "give a suite, or a folder that contains some; subfolders are not searched";
        return Err(unreadable(
            folder,
            "no `.yaml` or `.yml` file in this folder",
            hint,
        ));
    }
    found.order();
    Ok(found)
}

/// Whether a file is a suite: YAML by its name, with a block of a suite.
pub(super) fn is_suite(path: &Path) -> bool {
    if !is_yaml(path) {
        return false;
    }
    let text = Disk.read(path, tapewright_config::MAX_FILE_BYTES);
    let text = text.ok().and_then(|text| String::from_utf8(text).ok());
    let document = text.and_then(|text| tapewright_config::to_json(&text));
    document.is_some_and(|document| BLOCKS.iter().any(|block| document.get(block).is_some()))
}

/// Blocks that suites and their imports consist of.
const BLOCKS: [&str; 8] = [
    "servers",
    "tools",
    "resources",
    "prompts",
    "compliance",
    "agents",
    "evals",
    "imports",
];

/// Whether a file is YAML by its name.
pub(crate) fn is_yaml(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|ending| ending == "yaml" || ending == "yml")
}

/// Reads files from the disk.
pub(crate) struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // The length of a pipe is unknown.
        if path == Path::new(STANDARD_INPUT) {
            let input = io::stdin().lock();
            input.take(limit_bytes + 1).read_to_end(&mut bytes)?;
        } else {
            let file = File::open(path)?;
            if file.metadata()?.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            file.take(limit_bytes + 1).read_to_end(&mut bytes)?;
        }
        if bytes.len() as u64 > limit_bytes {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes)
    }

    fn near(&self, path: &Path) -> Option<String> {
        super::near(path, is_yaml)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        if path == Path::new(STANDARD_INPUT) {
            // Its imports are relative to the working folder.
            return Ok(Path::new(".").canonicalize()?.join(STANDARD_INPUT));
        }
        path.canonicalize()
    }
}
