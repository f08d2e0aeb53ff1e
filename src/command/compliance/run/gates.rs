//! The gates of a suite: `grade_delta` and `spec_version_check`.

use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};
use tapewright_assertions::{Assertion, EvalError, Evidence, Json, NoWorld, Verdict, compile};
use tapewright_config::suite::compliance::{Compliance, GradeDelta};
use tapewright_corpus::gate::spec_version_check;
use tapewright_corpus::score::delta;

use super::from_suite::failed;
use super::scored::{Gate, Scored};
use crate::corpus::versions::Versions;
use crate::report::{self, Mistake};

const GRADE_DELTA: &str = "grade_delta";
const SPEC_VERSION_CHECK: &str = "spec_version_check";

/// Evaluates the gates of the suite at the path `suite`.
pub(super) fn apply(
    scored: &mut Scored,
    compliance: &Compliance,
    suite: &Path,
    versions: &Versions,
) -> anyhow::Result<()> {
    if let Some(gate) = &compliance.grade_delta {
        let gate = grade(scored, gate, suite)?;
        scored.gates.push(gate);
    }
    let corpora = |version: &str| versions.corpus(version).ok();
    let check = compliance.spec_version_check.as_ref();
    let asked = spec_version_check(compliance.spec_version, check, &corpora);
    let asked = asked.context(Mistake::new(
        "cannot evaluate the gate `spec_version_check`",
        "fix the block in the suite",
    ))?;
    if let Some(gate) = asked {
        let name = |version: &Option<String>| version.clone().unwrap_or("nothing".to_owned());
        let reason = gate.reason.map_or(String::new(), |why| format!(": {why}"));
        scored.gates.push(Gate {
            name: SPEC_VERSION_CHECK,
            passed: gate.passed,
            text: format!("{} -> {}{reason}", name(&gate.from), name(&gate.to)),
        });
    }
    Ok(())
}

/// Compares the score with a saved one.
fn grade(scored: &Scored, gate: &GradeDelta, suite: &Path) -> anyhow::Result<Gate> {
    let passes = |text: String| Gate {
        name: GRADE_DELTA,
        passed: true,
        text,
    };
    let Some(against) = &gate.against else {
        return Ok(passes(
            "no previous score: `against` is not a file".to_owned(),
        ));
    };
    let path = suite.parent().unwrap_or(Path::new("")).join(against);
    let shown = report::safe(&path.display().to_string());
    if !path.exists() {
        return Ok(passes(format!(
            "no previous score: `{shown}` does not exist"
        )));
    }
    let before: Value = serde_json::from_slice(&std::fs::read(&path)?).map_err(|_| {
        let what = format!("`{shown}` is not a saved score");
        Mistake::new(what, "write one with `--save-scorecard`")
    })?;
    let targets = delta(&scored.card, &before).targets();
    let failed = first_failure(&assertions(gate)?, &Json::from(&targets))?;
    Ok(Gate {
        name: GRADE_DELTA,
        passed: failed.is_none(),
        text: failed.unwrap_or_else(|| format!("no worse than `{shown}`")),
    })
}

/// The assertions of the block, or else the defaults.
fn assertions(gate: &GradeDelta) -> anyhow::Result<Vec<Assertion>> {
    let defaults = [
        json!({ "target": "grade_regressed", "matcher": { "exact": false } }),
        json!({ "target": "regressed_sections", "matcher": { "schema": { "maxItems": 0 } } }),
    ];
    let written = gate.expect.iter().map(|one| one.value.clone());
    let written: Vec<Value> = if gate.expect.is_empty() {
        defaults.into()
    } else {
        written.collect()
    };
    let compiled: Result<Vec<Assertion>, _> = written.iter().map(compile).collect();
    compiled.context(Mistake::new(
        "invalid `expect` of `grade_delta`",
        "fix the block in the suite",
    ))
}

/// The message of the first assertion that does not hold.
fn first_failure(assertions: &[Assertion], targets: &Json) -> anyhow::Result<Option<String>> {
    let evidence = Evidence {
        envelope: targets,
        world: &NoWorld,
    };
    for assertion in assertions {
        match assertion.judge(&evidence) {
            Verdict::Passed => {}
            Verdict::Failed(failure) => return Ok(Some(failed(&failure))),
            Verdict::Unjudged(EvalError(why))
            | Verdict::Undecided(why)
            | Verdict::Deferred(why) => {
                let what = format!("cannot evaluate `expect` of `grade_delta`: {why}");
                return Err(Mistake::new(what, "fix the block in the suite").into());
            }
        }
    }
    Ok(None)
}
