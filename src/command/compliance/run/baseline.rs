//! Rules that are known to fail.
//!
//! ```yaml
//! server:
//!   - TOOL-003
//!   - rule_id: RES-002
//!     reason: until the next release
//!     tracking: https://example.com/issues/7
//! ```

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use tapewright_config::corpus::{Baseline, KnownFailure, load_baseline};

use super::scored::Scored;
use crate::command::compliance::corpora::sound;
use crate::files::{Disk, NewFile};

/// The result of applying a baseline to a score.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    /// Failures that are listed.
    pub(crate) expected: BTreeSet<String>,
    /// Failures that are not.
    pub(crate) regressions: BTreeSet<String>,
    /// Listed rules that hold.
    pub(crate) stale: BTreeSet<String>,
}

impl Expectations {
    /// Compares the listed rules with their outcomes.
    fn of(listed: &BTreeSet<String>, scored: &Scored) -> Self {
        let failed: BTreeSet<String> = scored.failed().map(str::to_owned).collect();
        let passed: BTreeSet<String> = scored.passed().map(str::to_owned).collect();
        Self {
            expected: failed.intersection(listed).cloned().collect(),
            regressions: failed.difference(listed).cloned().collect(),
            stale: passed.intersection(listed).cloned().collect(),
        }
    }
}

/// Marks expected failures and stale entries; with `update` the file is brought up to date first.
pub(super) fn apply(path: &Path, update: bool, scored: &mut Scored) -> anyhow::Result<()> {
    let known = if update && !path.exists() {
        Baseline::default()
    } else {
        sound(&path.display().to_string(), load_baseline(path, &Disk))?
    };
    let mut listed: BTreeSet<String> = known.server.iter().map(|one| one.rule_id.clone()).collect();
    if update {
        let failed: BTreeSet<String> = scored.failed().map(str::to_owned).collect();
        let passed: BTreeSet<&str> = scored.passed().collect();
        // Rules that were not tested stay.
        listed.retain(|id| !passed.contains(id.as_str()));
        listed.extend(failed);
        write(path, &known, &listed)?;
    }
    scored.expectations = Some(Expectations::of(&listed, scored));
    Ok(())
}

/// Writes the list, and keeps the reasons in the earlier one.
fn write(path: &Path, before: &Baseline, listed: &BTreeSet<String>) -> anyhow::Result<()> {
    let mut text = "# Rules that the server is known to break.\nserver:".to_owned();
    if listed.is_empty() {
        text.push_str(" []");
    }
    text.push('\n');
    let old = |id: &str| before.server.iter().find(|one| one.rule_id == id);
    for id in listed {
        entry(id, old(id), &mut text);
    }
    let mut file = NewFile::shared(path)?;
    file.writer().write_all(text.as_bytes())?;
    file.commit(fs::metadata(path).ok().map(|data| data.permissions()))
}

fn entry(id: &str, old: Option<&KnownFailure>, text: &mut String) {
    // JSON is YAML, and quotes any name safely.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let reasons = old.map(|one| [("reason", &one.reason), ("tracking", &one.tracking)]);
    let reasons: Vec<(&str, String)> = reasons
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key, quoted(value.as_ref()?))))
        .collect();
    let id = quoted(id);
    if reasons.is_empty() {
        let _never_fails = writeln!(text, "  - {id}");
        return;
    }
    let _never_fails = writeln!(text, "  - rule_id: {id}");
    for (key, value) in reasons {
        let _never_fails = writeln!(text, "    {key}: {value}");
    }
}
