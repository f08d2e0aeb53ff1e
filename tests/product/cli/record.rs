//! Every error that a user of `tapewright record` and `demo` can make, and its message.

use super::golden::{folder, golden};

/// Wrong arguments, by the name of the error's file.
const MISTAKES: &[(&str, &[&str])] = &[
    ("record_no_command", &["record", "-o", "x.json"]),
    (
        "record_no_dashes",
        &["record", "-o", "x.json", "no-such-command", "-o", "y.json"],
    ),
    (
        "record_not_found",
        &["record", "-o", "x.json", "--", "no-such-command"],
    ),
    (
        "record_onto_a_file_as_a_folder",
        &["record", "-o", "file/", "--", "true"],
    ),
    (
        "record_capture_onto_a_folder",
        &[
            "record",
            "--save-capture",
            "recordings",
            "-o",
            "x.json",
            "--",
            "true",
        ],
    ),
    ("record_no_home", &["record", "--", "true"]),
    (
        "record_bad_size",
        &[
            "record",
            "--max-message",
            "lots",
            "-o",
            "x.json",
            "--",
            "true",
        ],
    ),
    (
        "record_bad_durability",
        &[
            "record",
            "--durability",
            "forever",
            "-o",
            "x.json",
            "--",
            "true",
        ],
    ),
    (
        "record_bad_when_full",
        &[
            "record",
            "--when-full",
            "panic",
            "-o",
            "x.json",
            "--",
            "true",
        ],
    ),
    (
        "record_bad_pattern",
        &[
            "record",
            "--redact-pattern",
            "(unclosed",
            "-o",
            "x.json",
            "--",
            "true",
        ],
    ),
    (
        "record_no_redact_and_keys",
        &[
            "record",
            "--no-redact",
            "--redact-key",
            "pet",
            "-o",
            "x.json",
            "--",
            "true",
        ],
    ),
    ("no_such_command", &["recrod"]),
];

/// Those that Windows tells otherwise, or does not know.
const ON_UNIX: &[(&str, &[&str])] = &[
    (
        "record_not_executable",
        &["record", "-o", "x.json", "--", "./file"],
    ),
    (
        "record_onto_a_device",
        &["record", "-o", "/dev/null", "--", "true"],
    ),
    ("demo_no_folder", &["demo", "--folder", "file/below"]),
];

#[test]
fn mistakes_in_the_arguments_of_record() {
    let folder = folder(&[("file", ""), ("cassette.json", "{}")]);
    std::fs::create_dir(folder.path().join("recordings")).unwrap();
    let here = if cfg!(unix) { ON_UNIX } else { &[] };
    for (case, arguments) in MISTAKES.iter().chain(here) {
        golden(case, folder.path(), arguments);
    }
    // Nothing was half-done.
    let mut left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["cassette.json", "file", "recordings"]);
}

#[test]
fn help_ends_in_examples() {
    let folder = folder(&[]);
    for command in [
        "record",
        "inspect",
        "export",
        "scrub",
        "demo",
        "completions",
    ] {
        let (status, text, _) = super::golden::run(folder.path(), &[command, "--help"]);
        assert_eq!(status, 0);
        let (_, examples) = text
            .split_once("Examples:")
            .unwrap_or_else(|| panic!("{command}: {text}"));
        assert!(
            examples.matches("  tapewright ").count() >= 2,
            "{command}: {text}"
        );
    }
}
