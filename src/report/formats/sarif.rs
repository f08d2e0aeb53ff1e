//! The common part of SARIF 2.1.0 logs, for code scanning. Each subject makes its own rules and
//! results.

use std::path::{Path, is_separator};

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

/// A location: a file, and the line in it if known, counted from 1.
pub(crate) fn place(file: &Path, line: Option<u64>) -> Value {
    let mut place = json!({"artifactLocation": {"uri": uri(file)}});
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

/// A path as a URI reference, relative if the path is.
fn uri(path: &Path) -> String {
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
