//! The common part of SARIF 2.1.0 logs, for code scanning. Each subject makes its own rules and
//! results.

use serde_json::{Value, json};

use super::json::text;

/// One log with one run.
pub(crate) fn log(rules: &[Value], results: &[Value]) -> anyhow::Result<String> {
    text(&json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "tapewright",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "invocations": [{"executionSuccessful": true}],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    }))
}

/// A location: a file by its URI, and the line in it if known, counted from 1.
pub(crate) fn place(uri: &str, line: Option<u64>) -> Value {
    let mut place = json!({"artifactLocation": {"uri": uri}});
    if let (Some(line), Some(members)) = (line, place.as_object_mut()) {
        members.insert("region".to_owned(), json!({"startLine": line}));
    }
    place
}

/// Marks an expected result as suppressed, so that it does not count.
pub(crate) fn suppressions(expected: bool) -> Value {
    if expected {
        json!([{"kind": "external", "justification": "expected by the baseline"}])
    } else {
        json!([])
    }
}
