//! The tests that did not pass last time, in the state folder.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::command::record::target;
use crate::files::NewFile;
use crate::report;
use crate::suite::plan::Plan;
use crate::suite::result::{Results, Row, Status};

/// The names that did not pass; `None` if unknown.
pub(super) fn recall(suite: &Path) -> Option<Vec<String>> {
    let text = std::fs::read(file(suite)?).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Saves the names that did not pass, with the known ones that did not run. Without a state folder
/// nothing is saved, which is reported when it is needed.
pub(super) fn remember(suite: &Path, plan: &Plan, results: &Results) {
    let failed = |status| matches!(status, Status::Fail | Status::Error | Status::Inconclusive);
    let ran = |row: &&Row| row.status != Status::Skip;
    let rows = results.rows.iter().filter(ran);
    let known: HashSet<&str> = rows.clone().map(|row| row.name.as_str()).collect();
    let is_there = |name: &str| plan.cases.iter().any(|case| case.name == name);
    let mut names = recall(suite).unwrap_or_default();
    names.retain(|name| !known.contains(name.as_str()) && is_there(name));
    let rows = rows.filter(|row| failed(row.status));
    // A case may have further rows under other names.
    let cases = rows.filter_map(|row| plan.cases.get(row.case));
    names.extend(cases.map(|case| case.name.clone()));
    names.dedup();
    let Some(path) = file(suite) else { return };
    let write = || -> anyhow::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = NewFile::create(&path)?;
        file.writer().write_all(&serde_json::to_vec(&names)?)?;
        file.commit(None)
    };
    if let Err(error) = write() {
        report::note(&format!("cannot save the failed tests: {error:#}"));
    }
}

/// One file for each suite, named by the suite's path.
fn file(suite: &Path) -> Option<PathBuf> {
    let suite = suite.canonicalize().ok()?;
    let mut hasher = DefaultHasher::new();
    hasher.write(suite.as_os_str().as_encoded_bytes());
    let name = suite.file_stem()?.to_string_lossy().into_owned();
    let home = target::home().ok()?;
    let file = format!("{name}-{:016x}.json", hasher.finish());
    Some(home.join("last-failed").join(file))
}
