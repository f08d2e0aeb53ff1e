//! Verdicts as SARIF 2.1.0, for code scanning.

use std::collections::BTreeMap;
use std::path::{Path, is_separator};

use serde_json::{Value, json};
use tapewright_compliance::code::Code;
use tapewright_compliance::finding::{Finding, Place, Severity, Status};
use tapewright_compliance::{Invariant, page, table};

use super::sentence;
use crate::command::compliance::{Server, Verdicts};
use crate::report::formats::sarif;
use crate::report::safe;

/// One log with one run.
pub(crate) fn sarif(verdicts: &Verdicts) -> anyhow::Result<String> {
    let rules = rules(verdicts);
    let index: BTreeMap<Code, usize> = rules.iter().map(|rule| rule.code).zip(0..).collect();
    let mut results = Vec::new();
    for server in &verdicts.servers {
        for outcome in &server.outcomes {
            let expected = server.expected.contains(&outcome.code);
            for finding in &outcome.findings {
                let index = index.get(&finding.code);
                results.push(result(server, finding, index, expected));
            }
        }
    }
    let hazards = verdicts.hazards().map(|(hazard, expected)| {
        json!({
            "ruleId": hazard.kind,
            "kind": "fail",
            "level": "error",
            "message": {"text": safe(&hazard.detail)},
            "suppressions": sarif::suppressions(expected),
        })
    });
    results.extend(hazards);
    let rules: Vec<Value> = rules.into_iter().map(rule).collect();
    sarif::log(&rules, &results)
}

/// The invariants that were judged, in the order of the table.
fn rules(verdicts: &Verdicts) -> Vec<&'static Invariant> {
    let judged = |rule: &&&Invariant| {
        let outcomes = verdicts.servers.iter().flat_map(|server| &server.outcomes);
        outcomes.into_iter().any(|one| one.code == rule.code)
    };
    table::TABLE.iter().filter(judged).copied().collect()
}

fn rule(rule: &Invariant) -> Value {
    let strongest = rule.levels.each().next().map(|(severity, _)| severity);
    json!({
        "id": rule.code.to_string(),
        "shortDescription": {"text": rule.property},
        "fullDescription": {"text": format!("{}. {}", rule.property, rule.why)},
        "help": {"text": format!("{}; {}. `tapewright explain {}` shows examples.",
            page::binding(rule.levels), rule.source, rule.code)},
        "defaultConfiguration": {"level": strongest.map_or("none", level)},
        "properties": {"tags": [rule.category]},
    })
}

fn result(server: &Server, finding: &Finding, index: Option<&usize>, expected: bool) -> Value {
    let failed = finding.status == Status::Fail;
    let (first, rest) = match finding.evidence.as_slice() {
        [first, rest @ ..] => (Some(first), rest),
        [] => (None, &[][..]),
    };
    let related: Vec<Value> = (1..)
        .zip(rest)
        .map(|(id, place)| {
            let mut location = location(server, Some(place));
            if let Some(members) = location.as_object_mut() {
                members.insert("id".to_owned(), json!(id));
            }
            location
        })
        .collect();
    let fingerprint = format!("{}/{}/{}", server.label, finding.code, finding.detail);
    let mut value = json!({
        "ruleId": finding.code.to_string(),
        "kind": if failed { "fail" } else { "review" },
        "level": if failed { level(finding.severity) } else { "none" },
        "message": {"text": sentence(server, finding)},
        "locations": [location(server, first)],
        "relatedLocations": related,
        "partialFingerprints": {"finding/v1": safe(&fingerprint)},
        "suppressions": sarif::suppressions(expected),
    });
    if let (Some(index), Some(members)) = (index, value.as_object_mut()) {
        members.insert("ruleIndex".to_owned(), json!(index));
    }
    value
}

/// The location of an event: a line of a tape, a pointer into a capture.
fn location(server: &Server, place: Option<&Place>) -> Value {
    let line = place.and_then(|place| server.line(place.seq));
    let physical = sarif::place(&uri(&server.path), line);
    let Some(place) = place else {
        return json!({"physicalLocation": physical});
    };
    let name = match server.origin(place.seq) {
        Some(origin) => format!("{}{}", origin.pointer(), place.pointer),
        None => format!("event {}{}", place.seq, place.pointer),
    };
    json!({
        "physicalLocation": physical,
        "logicalLocations": [{"fullyQualifiedName": safe(&name)}],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Must => "error",
        Severity::Should => "warning",
        Severity::Derived => "note",
    }
}

/// A path as a URI reference, relative if the path is.
pub(crate) fn uri(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let is_separator = |byte: u8| is_separator(char::from(byte));
    let mut uri = String::new();
    if path.is_absolute() {
        uri.push_str("file://");
        // A drive of Windows follows a slash.
        if !bytes.first().is_some_and(|first| is_separator(*first)) {
            uri.push('/');
        }
    }
    for byte in bytes {
        match byte {
            separator if is_separator(*separator) => uri.push('/'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(*byte));
            }
            other => uri.extend(['%', hex(other >> 4), hex(other & 15)]),
        }
    }
    uri
}

fn hex(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16).map_or('0', |digit| digit.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri(Path::new("a b/ü.json")), "a%20b/%C3%BC.json");
        let absolute = uri(&std::path::absolute("/x/y").unwrap());
        assert!(absolute.starts_with("file:///"), "{absolute}");
        assert!(absolute.ends_with("/x/y"), "{absolute}");
        assert_eq!(absolute == "file:///x/y", cfg!(unix), "{absolute}");
    }
}
