//! Finds the files for paths.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files::{is_yaml, unreadable};
use tapewright_schemas::order::Order as _;

/// How deep to walk folders.
const DEPTH: usize = 32;

/// The files, in order; true for those that were given by their own path. Links within folders are
/// not followed.
pub(super) fn files(paths: &[PathBuf]) -> anyhow::Result<Vec<(PathBuf, bool)>> {
    let mut all = Vec::new();
    for path in paths {
        if path.is_dir() {
            walk(path, DEPTH, &mut all)?;
        } else {
            all.push((path.clone(), true));
        }
    }
    Ok(all)
}

fn walk(folder: &Path, depth: usize, all: &mut Vec<(PathBuf, bool)>) -> anyhow::Result<()> {
    let Some(depth) = depth.checked_sub(1) else {
        return Ok(());
    };
    let fail = |error: std::io::Error| {
        unreadable(
            folder,
            &error.to_string(),
            "check the path and its permissions",
        )
    };
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        entries.push((entry.path(), entry.file_type().map_err(fail)?));
    }
    entries.order_by(|one, other| one.0.cmp(&other.0));
    for (path, kind) in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') || name == "node_modules" {
            continue;
        }
        if kind.is_dir() {
            walk(&path, depth, all)?;
        } else if kind.is_file() && (is_yaml(&path) || is_json(&path)) {
            all.push((path, false));
        }
    }
    Ok(())
}

pub(super) fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|kind| kind == "json")
}
