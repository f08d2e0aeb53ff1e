//! Captures that cannot be judged, and their errors: the position of the error, and how to fix it.

use std::fs;

use super::golden::{folder, golden, run};

/// The name of the golden text, and the file.
const BAD: &[(&str, &str)] = &[
    ("empty_file", ""),
    ("only_white_space", " \n\t\n"),
    ("not_json", "session one\n"),
    (
        "cut_short",
        "{\n  \"server_label\": \"s\",\n  \"exchanges\": [\n    {\"request\": {\"id\": 1",
    ),
    (
        "trailing_comma",
        "{\n  \"server_label\": \"s\",\n  \"exchanges\": [],\n}",
    ),
    ("single_quotes", "{'server_label': 's', 'exchanges': []}"),
    (
        "comment",
        "{\n  // mine\n  \"server_label\": \"s\", \"exchanges\": []\n}",
    ),
    (
        "two_documents",
        "{\"server_label\":\"s\",\"exchanges\":[]}\n{\"server_label\":\"t\",\"exchanges\":[]}",
    ),
    (
        "not_a_number",
        "{\"server_label\":\"s\",\"exchanges\":[{\"request\":{\"id\":NaN}}]}",
    ),
    (
        "leading_zero",
        "{\"server_label\":\"s\",\"exchanges\":[{\"request\":{\"id\":01}}]}",
    ),
    (
        "raw_control_character",
        "{\"server_label\":\"a\u{1}b\",\"exchanges\":[]}",
    ),
    (
        "half_a_surrogate_escape",
        "{\"server_label\":\"\\ud8\",\"exchanges\":[]}",
    ),
    (
        "byte_order_mark",
        "\u{feff}{\"server_label\":\"s\",\"exchanges\":[]}",
    ),
    ("a_string", "\"server_label\""),
    ("a_number", "7"),
    ("other_object", "{\"servers\":[]}"),
    ("no_label", "[{\"exchanges\":[]}]"),
    ("label_is_null", "{\"server_label\":null,\"exchanges\":[]}"),
    ("label_is_a_number", "{\"server_label\":1,\"exchanges\":[]}"),
    ("no_exchanges", "{\"server_label\":\"s\"}"),
    (
        "exchanges_is_an_object",
        "{\"server_label\":\"s\",\"exchanges\":{}}",
    ),
    (
        "exchange_is_a_string",
        "{\"server_label\":\"s\",\"exchanges\":[\"x\"]}",
    ),
    (
        "exchange_without_request",
        "{\"server_label\":\"s\",\"exchanges\":[{\"request\":{}},{\"response\":{}}]}",
    ),
    (
        "request_is_null",
        "{\"server_label\":\"s\",\"exchanges\":[{\"request\":null}]}",
    ),
    (
        "session_is_null",
        "[{\"server_label\":\"s\",\"exchanges\":[]},null]",
    ),
    (
        "array_of_arrays",
        "[[{\"server_label\":\"s\",\"exchanges\":[]}]]",
    ),
    (
        "member_twice",
        "{\n  \"server_label\": \"s\",\n  \"exchanges\": [],\n  \"server_label\": \"t\"\n}",
    ),
    (
        "request_twice",
        "[{\"server_label\":\"s\",\"exchanges\":[{\"request\":{},\n\"request\":{}}]}]",
    ),
    (
        "escaped_member_twice",
        "{\"server_label\":\"s\",\"exchanges\":[],\"exchan\\u0067es\":[]}",
    ),
    ("cassette_version", "{\"version\":\"9\",\"exchanges\":[]}"),
];

#[test]
fn every_mistake_has_a_place_and_a_remedy() {
    assert!(BAD.len() >= 25);
    for (case, text) in BAD {
        let folder = folder(&[("bad.json", text)]);
        let arguments = ["compliance", "invariants", "--capture", "bad.json"];
        let (status, stdout, stderr) = run(folder.path(), &arguments);
        assert_eq!((status, stdout.as_str()), (2, ""), "{case}: {stderr}");
        assert!(stderr.contains("\nhint: "), "{case}: {stderr}");
        let placed = ["line ", "`/", "column "]
            .iter()
            .any(|word| stderr.contains(word));
        assert!(placed || UNPLACED.contains(case), "{case}: {stderr}");
        golden(&format!("capture_{case}"), folder.path(), &arguments);
    }
}

/// Errors of the document as a whole.
const UNPLACED: [&str; 7] = [
    "empty_file",
    "only_white_space",
    "not_json",
    "a_string",
    "a_number",
    "other_object",
    "cassette_version",
];

#[test]
fn bytes_that_are_no_text_are_refused_by_line() {
    let folder = folder(&[]);
    let text = b"{\"server_label\":\n\"\xff\xfe\",\"exchanges\":[]}";
    fs::write(folder.path().join("bad.json"), text).unwrap();
    let arguments = ["compliance", "invariants", "--capture", "bad.json"];
    golden("capture_not_utf8", folder.path(), &arguments);
}

#[test]
fn depth_and_size_are_no_danger() {
    let folder = folder(&[]);
    let judge = |text: &[u8]| {
        fs::write(folder.path().join("bad.json"), text).unwrap();
        let arguments = ["compliance", "invariants", "--capture", "bad.json"];
        run(folder.path(), &arguments)
    };
    let deep = |inside: &str| {
        let (open, close) = ("[".repeat(200_000), "]".repeat(200_000));
        format!("{{\"server_label\":\"s\",\"exchanges\":[{{\"request\":{inside}{open}{close}}}]}}")
    };
    let (status, stdout, stderr) = judge(deep("").as_bytes());
    assert_eq!((status, stdout.as_str()), (2, ""), "{stderr}");
    assert!(
        stderr.contains("line 1, column ") && stderr.contains("hint: "),
        "{stderr}"
    );
    // A hundred megabytes in one string, and then an error after them.
    let mut large = b"{\"server_label\":\"s\",\"exchanges\":[{\"request\":{\"pad\":\"".to_vec();
    large.resize(100 << 20, b'x');
    large.extend_from_slice(b"\"}}],}");
    let (status, _, stderr) = judge(&large);
    assert_eq!(status, 2, "{stderr}");
    assert!(
        stderr.contains(&format!("column {}", large.len())),
        "{stderr}"
    );
    large.truncate(large.len() - 2);
    large.push(b'}');
    // It can be judged: an object without a method is not a request.
    let (status, stdout, stderr) = judge(&large);
    assert_eq!((status, stderr.as_str()), (1, ""), "{stdout}");
    assert!(stdout.contains("INV-001"), "{stdout}");
}

#[test]
fn nothing_to_judge_is_no_pass() {
    for text in ["[]", "[ ]\n"] {
        let folder = folder(&[("none.json", text)]);
        let arguments = ["compliance", "invariants", "--capture", "none.json"];
        golden("capture_empty_array", folder.path(), &arguments);
    }
}
