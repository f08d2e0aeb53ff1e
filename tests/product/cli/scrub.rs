//! `tapewright scrub`.

use std::fs;

use serde_json::{Value, json};

use super::golden::{TAPE, folder, golden, run};

const SECRET: &str = "Xq7vB2kPz9sLm4Wd8";

/// Files that contain the value of an environment variable of the program.
fn files() -> tempfile::TempDir {
    let cassette = format!(
        "{{\"version\": \"1\",\n \"exchanges\": [{{\"request\": {{\"id\":1,\"n\":1.0,\"a\":\"{SECRET}\"}}, \"response\": {{\"id\":1,\"result\":[\"{SECRET}\"]}}}}]}}\n"
    );
    let tape = TAPE.replace("\"name\":\"hang\"", &format!("\"name\":\"{SECRET}\""));
    folder(&[
        ("fs.tape.jsonl", &tape),
        ("fs.json", &cassette),
        ("clean.json", "{\"version\":\"1\",\"exchanges\":[]}"),
        ("broken.json", "{"),
    ])
}

#[test]
fn a_check_does_not_tell_a_name_that_is_a_secret() {
    let folder = folder(&[(
        "names.json",
        &format!(
            "{{\"version\":\"1\",\"exchanges\":[{{\"request\":{{\"id\":1,\"{SECRET}\":{{\"password\":\"hunter2\"}}}},\"response\":{{\"id\":1}}}}]}}"
        ),
    )]);
    let check = [
        "scrub",
        "--check",
        "--redact-env",
        "CHECK_VALUE",
        "names.json",
    ];
    let (status, stdout, stderr) = run(folder.path(), &check);
    assert_eq!(status, 1);
    assert!(
        stdout.contains("/request/") && stdout.contains("password"),
        "{stdout}"
    );
    assert!(
        !stdout.contains(SECRET) && !stderr.contains(SECRET),
        "{stdout}"
    );
}

#[test]
fn a_check_says_where_and_never_what() {
    let folder = files();
    let check = [
        "scrub",
        "--check",
        "--redact-env",
        "CHECK_VALUE",
        "fs.json",
        "fs.tape.jsonl",
        "clean.json",
    ];
    let before = fs::read(folder.path().join("fs.json")).unwrap();
    golden("scrub_check", folder.path(), &check);
    assert_eq!(fs::read(folder.path().join("fs.json")).unwrap(), before);
    let (_, stdout, stderr) = run(folder.path(), &check);
    assert!(!stdout.contains(SECRET) && !stderr.contains(SECRET));
    let clean = [
        "scrub",
        "--check",
        "--redact-env",
        "CHECK_VALUE",
        "clean.json",
    ];
    assert_eq!(
        run(folder.path(), &clean),
        (0, String::new(), String::new())
    );
}

/// The lines of a command that prints JSON, each validated by the schema with this name.
pub(crate) fn json_lines(text: &str, schema: &str) -> Vec<Value> {
    let schema = tapewright_schemas::published::find(schema).unwrap();
    let schema: Value = serde_json::from_str(schema.text()).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let line = |text: &str| {
        let value: Value = serde_json::from_str(text).unwrap();
        let wrong: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| error.to_string())
            .collect();
        assert!(
            wrong.is_empty(),
            "not as its schema says: {wrong:?} {value}"
        );
        let mut members = value.as_object().unwrap().keys();
        assert!(members.all(|name| schema["properties"].get(name).is_some()));
        value
    };
    text.lines().map(line).collect()
}

#[test]
fn json_has_a_line_for_each_file_with_places_and_never_a_secret() {
    let folder = files();
    let words = |rest: &[&'static str]| {
        let files = ["fs.json", "fs.tape.jsonl", "clean.json"];
        let scrub = ["scrub", "--redact-env", "CHECK_VALUE", "--json"];
        [&scrub[..], rest, &files].concat()
    };
    let (status, stdout, _) = run(folder.path(), &words(&["--check"]));
    assert_eq!(status, 1);
    assert!(!stdout.contains(SECRET), "{stdout}");
    let lines = json_lines(&stdout, "scrub");
    let [cassette, tape, clean] = lines.as_slice() else {
        panic!("three files: {stdout}");
    };
    assert_eq!(cassette["file"], "fs.json");
    assert_eq!(cassette["secrets"][0]["pointer"], "/exchanges/0/request/a");
    assert!(tape["secrets"][0]["line"].is_u64(), "{tape}");
    assert_eq!(
        *clean,
        json!({"file": "clean.json", "changed": false, "counts": {}, "secrets": []})
    );
    let kind = cassette["secrets"][0]["kind"].as_str().unwrap();
    assert!(cassette["counts"][kind].as_u64() >= Some(1), "{cassette}");

    let (status, stdout, _) = run(folder.path(), &words(&[]));
    assert_eq!(status, 0);
    let changed: Vec<Value> = json_lines(&stdout, "scrub")
        .iter()
        .map(|line| line["changed"].clone())
        .collect();
    assert_eq!(changed, [true, true, false]);
    assert!(!stdout.contains("secrets"), "{stdout}");
}

#[test]
fn files_are_scrubbed_in_place_and_once() {
    let folder = files();
    let scrub = [
        "scrub",
        "--redact-env",
        "CHECK_VALUE",
        "fs.json",
        "fs.tape.jsonl",
        "clean.json",
    ];
    golden("scrub_files", folder.path(), &scrub);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let (cassette, tape) = (read("fs.json"), read("fs.tape.jsonl"));
    assert!(!cassette.contains(SECRET) && !tape.contains(SECRET));
    assert!(cassette.starts_with(
        "{\"version\": \"1\",\n \"exchanges\": [{\"request\": {\"id\":1,\"n\":1.0,\"a\":\""
    ));
    assert_eq!(tape.lines().count(), TAPE.lines().count());
    golden("scrub_again", folder.path(), &scrub);
    assert_eq!((read("fs.json"), read("fs.tape.jsonl")), (cassette, tape));
}

#[test]
fn a_secret_is_found_before_its_name() {
    let named = "Tr0ub4dor&3-horse";
    let line = |number: u32, message: &str| {
        format!(
            "{{\"seq\":{number},\"at_us\":{number},\"dir\":\"to_client\",\"message\":{message}}}\n"
        )
    };
    let header = TAPE.lines().next().unwrap();
    let early =
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{{\"a\":\"so {named}\"}}}}");
    let late =
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{{\"password\":\"{named}\"}}}}");
    let tape = format!("{header}\n{}{}", line(1, &early), line(2, &late));
    let cassette = format!(
        "{{\"version\":\"1\",\"exchanges\":[{{\"request\":{early},\"response\":{{}},\"http\":{{\"request\":[[\"authorization\",\"Bearer {named}\"]]}}}}]}}"
    );
    let folder = folder(&[("a.tape.jsonl", &tape), ("b.json", &cassette)]);
    let scrub = ["scrub", "a.tape.jsonl", "b.json"];
    let (status, stdout, stderr) = run(folder.path(), &scrub);
    assert_eq!(status, 0, "{stderr}");
    assert!(!stdout.contains(named), "{stdout}");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("a.tape.jsonl").contains("\"a\":\"so <REDACTED:password#1>\""));
    assert!(read("b.json").contains("\"a\":\"so <REDACTED:bearer-token#1>\""));
    assert!(!read("a.tape.jsonl").contains(named) && !read("b.json").contains(named));
    let (_, again, _) = run(folder.path(), &scrub);
    assert_eq!(again.matches("nothing to replace").count(), 2, "{again}");
}

#[cfg(unix)]
#[test]
fn the_mode_is_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = files();
    let path = folder.path().join("fs.tape.jsonl");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(
        run(
            folder.path(),
            &["scrub", "--redact-env", "CHECK_VALUE", "fs.tape.jsonl"]
        )
        .0,
        0
    );
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert!(!fs::read_to_string(&path).unwrap().contains(SECRET));
}

#[test]
fn one_file_that_cannot_be_read_stops_no_other() {
    let folder = files();
    golden(
        "scrub_unreadable",
        folder.path(),
        &["scrub", "broken.json", "none.json", "clean.json"],
    );
}

#[test]
fn rules_that_make_no_sense_are_refused() {
    let folder = files();
    golden(
        "scrub_no_redact",
        folder.path(),
        &["scrub", "--no-redact", "clean.json"],
    );
    golden(
        "scrub_bad_pattern",
        folder.path(),
        &["scrub", "--redact-pattern", "(", "clean.json"],
    );
}
