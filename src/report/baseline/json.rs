//! A model comparison as JSON.

use serde_json::{Value, json};
use tapewright_baselines::{Comparison, Entry, InvariantResult, Outcome};

use super::{Compared, words};

/// The object of a comparison.
pub(super) fn document(compared: &Compared<'_>) -> Value {
    let Compared {
        baseline,
        candidate,
        models,
        runs,
        found,
    } = compared;
    let fingerprint = &found.fingerprint;
    json!({
        "baseline": {"file": baseline, "model_id": models[0], "runs": runs[0]},
        "candidate": {"file": candidate, "model_id": models[1], "runs": runs[1]},
        "outcome": outcome(found),
        "identity": found.identity.iter().map(|one| json!({
            "field": one.field.name(),
            "baseline": one.before,
            "candidate": one.after,
        })).collect::<Vec<Value>>(),
        "entries": found.entries.iter().map(entry).collect::<Vec<Value>>(),
        "summary": summary(found),
        "invariant_results": found.invariants.iter().map(invariant).collect::<Vec<Value>>(),
        "fingerprint": {
            "same": fingerprint.is_same(),
            "tool_sequence_changed": fingerprint.tool_sequence_changed,
            "finish_reasons_changed": fingerprint.finish_reasons_changed,
            "distance": fingerprint.distance,
            "baseline_digest": fingerprint.baseline,
            "candidate_digest": fingerprint.candidate,
        },
    })
}

/// The token for its outcome.
pub(super) fn outcome(found: &Comparison) -> &'static str {
    match found.outcome() {
        Outcome::Pass => "pass",
        Outcome::Drift => "drift",
        Outcome::Fail => "fail",
        Outcome::Invalid => "invalid",
        Outcome::Empty => "empty",
    }
}

/// The counts.
pub(super) fn summary(found: &Comparison) -> Value {
    let summary = found.summary();
    json!({
        "total": summary.total,
        "pass": summary.pass,
        "drift": summary.drift,
        "fail": summary.fail,
        "noise": summary.noise,
    })
}

fn entry(entry: &Entry) -> Value {
    json!({
        "test_id": entry.test_id,
        "category": entry.category.name(),
        "severity": entry.severity.name(),
        "noise": entry.is_noise,
        "message": words::of(entry),
    })
}

fn invariant(result: &InvariantResult) -> Value {
    let detail = result.violation.as_ref().map(words::why);
    json!([
        result.test_id,
        {"name": result.name, "passed": detail.is_none(), "detail": detail},
    ])
}
