//! `spec_version_check`: a gate on moving a suite to another revision.

use serde_json::{Value, json};
use tapewright_assertions::{
    Assertion, Evidence, Failure, Json, LoadError, NoWorld, Verdict, compile,
};
use tapewright_config::suite::compliance::SpecVersionCheck;

use crate::diff::{VersionDiff, diff_versions};
use crate::version::VersionCorpus;

/// The result of the gate.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Whether the run may pass.
    pub passed: bool,
    /// The version that the suite is pinned to; nothing when it is not.
    pub from: Option<String>,
    /// The version to move to; `None` if the block has none.
    pub to: Option<String>,
    /// Why it failed: the first assertion that does not hold. Why there was nothing to compare, when it passed
    /// without a comparison.
    pub reason: Option<String>,
    /// The comparison.
    pub diff: Option<VersionDiff>,
}

/// Why the gate could not be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// There is no version to compare with.
    #[error("`spec_version_check` needs `spec_version` to compare with `{against}`")]
    NoPin {
        /// The version that the block names.
        against: String,
    },
    /// The corpus of the pinned version does not exist, although the other does.
    #[error("the suite is pinned to `{pin}`, which has no corpus")]
    NoCorpus {
        /// The pinned version.
        pin: String,
    },
    /// An assertion of the block is invalid.
    #[error("invalid `expect` of `spec_version_check`")]
    Assertion(#[source] LoadError),
    /// An assertion could not be judged.
    #[error("cannot evaluate `expect` of `spec_version_check`: {0}")]
    Unjudged(String),
}

/// The source of corpora: returns the corpus of a version, or `None` if there is none.
pub type Corpora<'a> = dyn Fn(&str) -> Option<VersionCorpus> + 'a;

/// Compares the version that a suite is pinned to (`pin`, its `compliance.spec_version`) with the
/// one that the block `check` names, and judges the difference.
///
/// Assertions see `spec_clean`, whether all shared rules have the same expectations, and
/// `spec_breaking_changes`, the ids of those that differ, in order. Without any, the first must be
/// true and the second empty.
///
/// A suite without the block has no gate: the result is `None`. Two cases pass with a reason, so
/// that adding a gate does not break a build: the block has no version, or there is no corpus of
/// that version.
///
/// # Errors
///
/// The suite is not pinned, its own version has no corpus, or an assertion is invalid.
pub fn spec_version_check(
    pin: Option<&str>,
    check: Option<&SpecVersionCheck>,
    corpora: &Corpora<'_>,
) -> Result<Option<Gate>, GateError> {
    let Some(check) = check else { return Ok(None) };
    let assertions = compiled(check).map_err(GateError::Assertion)?;
    let Some(against) = check.against else {
        let why = "nothing to compare with: `against` is not a version";
        return Ok(Some(Gate::bootstrap(pin, None, why)));
    };
    let Some(pin) = pin else {
        let against = against.to_owned();
        return Err(GateError::NoPin { against });
    };
    let Some(to) = corpora(against) else {
        let why = format!("nothing to compare with: no corpus for `{against}`");
        return Ok(Some(Gate::bootstrap(Some(pin), Some(against), &why)));
    };
    let Some(from) = corpora(pin) else {
        let pin = pin.to_owned();
        return Err(GateError::NoCorpus { pin });
    };
    judge(diff_versions(&from, &to), &assertions).map(Some)
}

fn judge(diff: VersionDiff, assertions: &[Assertion]) -> Result<Gate, GateError> {
    let changed: Vec<&str> = diff
        .changed_rules()
        .map(|entry| entry.rule_id.as_str())
        .collect();
    let envelope =
        Json::from(&json!({"spec_clean": diff.is_clean(), "spec_breaking_changes": changed}));
    let evidence = Evidence {
        envelope: &envelope,
        world: &NoWorld,
    };
    let mut reason = None;
    for assertion in assertions {
        match assertion.judge(&evidence) {
            Verdict::Passed => {}
            Verdict::Failed(failure) => {
                reason = Some(words(&failure, &changed));
                break;
            }
            Verdict::Unjudged(error) => return Err(GateError::Unjudged(error.0)),
            Verdict::Undecided(why) | Verdict::Deferred(why) => {
                return Err(GateError::Unjudged(why));
            }
        }
    }
    Ok(Gate {
        passed: reason.is_none(),
        from: Some(diff.from.clone()),
        to: Some(diff.to.clone()),
        reason,
        diff: Some(diff),
    })
}

/// The assertions of the block, or else the defaults.
fn compiled(check: &SpecVersionCheck) -> Result<Vec<Assertion>, LoadError> {
    if check.expect.is_empty() {
        return defaults().iter().map(compile).collect();
    }
    check
        .expect
        .iter()
        .map(|written| compile(&written.value))
        .collect()
}

fn defaults() -> [Value; 2] {
    [
        json!({"target": "spec_clean", "matcher": {"exact": true}}),
        json!({"target": "spec_breaking_changes", "matcher": {"schema": {"maxItems": 0}}}),
    ]
}

fn words(failure: &Failure, changed: &[&str]) -> String {
    let target = &failure.target;
    let matcher = &failure.matcher;
    let changed = match changed {
        [] => "no shared rule changed".to_owned(),
        some => format!("changed: {}", some.join(", ")),
    };
    match &failure.message {
        Some(message) => format!("{message} ({changed})"),
        None => format!("`{matcher}` does not hold for `{target}` ({changed})"),
    }
}

impl Gate {
    fn bootstrap(from: Option<&str>, to: Option<&str>, why: &str) -> Self {
        Self {
            passed: true,
            from: from.map(str::to_owned),
            to: to.map(str::to_owned),
            reason: Some(why.to_owned()),
            diff: None,
        }
    }

    /// The line of a report: `spec_version_check: PASS v2024-11-05 -> draft`, and the reason if
    /// there is one.
    #[must_use]
    pub fn line(&self) -> String {
        let verdict = if self.passed { "PASS" } else { "FAIL" };
        let name =
            |version: &Option<String>| version.clone().unwrap_or_else(|| "(none)".to_owned());
        let mut line = format!(
            "spec_version_check: {verdict} {} -> {}",
            name(&self.from),
            name(&self.to)
        );
        if let Some(reason) = &self.reason {
            line.push_str(": ");
            line.push_str(reason);
        }
        line
    }
}
