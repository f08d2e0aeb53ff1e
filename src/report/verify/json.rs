//! Drift, for programs.

use super::Verified;

/// One JSON object.
pub(crate) fn json(verified: &Verified<'_>) -> anyhow::Result<String> {
    let document = serde_json::json!({
        "tape": verified.tape.display().to_string(),
        "drifted": verified.drifted(),
        "same": verified.same(),
        "skipped": verified.skipped(),
        "checks": verified.checks,
    });
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}
