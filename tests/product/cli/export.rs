//! `tapewright export`.

use std::fs;

use super::golden::{TAPE, cut_short, folder, golden, run};

#[test]
fn a_tape_becomes_a_cassette_and_a_capture() {
    let folder = folder(&[("fs.tape.jsonl", TAPE)]);
    golden(
        "export_cassette",
        folder.path(),
        &["export", "fs.tape.jsonl", "--as", "cassette"],
    );
    golden(
        "export_capture",
        folder.path(),
        &["export", "fs.tape.jsonl", "--as", "capture"],
    );
}

#[test]
fn a_tape_is_written_as_it_is() {
    let folder = folder(&[("fs.tape.jsonl", TAPE)]);
    let (status, tape, _) = run(folder.path(), &["export", "fs.tape.jsonl", "--as", "tape"]);
    assert_eq!(status, 0);
    // It was recorded before messages had numbers.
    let plain = |line: &str| match line.split_once(",\"number\":") {
        Some((before, rest)) => {
            before.to_owned() + rest.trim_start_matches(|one: char| one.is_ascii_digit())
        }
        None => line.to_owned(),
    };
    let events = |text: &str| text.lines().skip(1).map(plain).collect::<Vec<_>>();
    let (found, expected) = (events(&tape), events(TAPE));
    assert_eq!(found.len(), expected.len());
    // Escapes that need not be are written as characters.
    assert_eq!(found[..8], expected[..8]);
}

#[test]
fn a_cassette_that_was_never_finished_is_read_from_its_tape() {
    let folder = folder(&[("fs.2.tape.jsonl", TAPE)]);
    golden(
        "export_stand_in",
        folder.path(),
        &["export", "fs.json", "--as", "capture"],
    );
    let named = &["export", "fs.capture.json", "--as", "capture"];
    assert_eq!(run(folder.path(), named).0, 0);
}

#[test]
fn one_format_leads_to_the_other() {
    let folder = folder(&[("fs.tape.jsonl", TAPE)]);
    let path = folder.path();
    let export = |from: &str, format: &str, to: &str| {
        assert_eq!(
            run(path, &["export", from, "--as", format, "-o", to]),
            (0, String::new(), String::new())
        );
        fs::read_to_string(path.join(to)).unwrap()
    };
    let cassette = export("fs.tape.jsonl", "cassette", "fs.json");
    let capture = export("fs.tape.jsonl", "capture", "fs.capture.json");
    // A cassette does not contain tapewright's version.
    let of_tape = capture.clone();
    let capture = capture.replace("tapewright 0.1.0", "tapewright");
    assert_ne!(capture, of_tape);
    assert_eq!(export("fs.json", "cassette", "again.json"), cassette);
    assert_eq!(export("fs.json", "capture", "from-cassette.json"), capture);
    assert_eq!(
        export("fs.capture.json", "capture", "again.capture.json"),
        of_tape
    );
    let made = [
        "export",
        "fs.json",
        "--as",
        "tape",
        "-o",
        "again.tape.jsonl",
    ];
    let (status, _, said) = run(path, &made);
    assert_eq!(status, 0);
    assert!(said.contains("has no times"), "{said}");
    let tape = export("again.tape.jsonl", "capture", "from-tape.json");
    assert_eq!(tape, capture);
    let left: Vec<_> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(
        !left
            .iter()
            .any(|name| name.to_string_lossy().contains(".tmp")),
        "{left:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_link_is_written_through() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = folder(&[
        ("fs.tape.jsonl", TAPE),
        ("real.json", "{\"version\":\"1\",\"exchanges\":[]}"),
    ]);
    symlink("real.json", folder.path().join("link.json")).unwrap();
    symlink("new.json", folder.path().join("dangling.json")).unwrap();
    for (link, goal) in [("link.json", "real.json"), ("dangling.json", "new.json")] {
        let arguments = ["export", "fs.tape.jsonl", "--as", "cassette", "-o", link];
        assert_eq!(run(folder.path(), &arguments).0, 0);
        let goal = folder.path().join(goal);
        assert!(
            fs::read_to_string(&goal)
                .unwrap()
                .contains("\"version\": \"1\"")
        );
        assert_eq!(
            fs::metadata(&goal).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert!(
            fs::symlink_metadata(folder.path().join(link))
                .unwrap()
                .is_symlink()
        );
    }
}

#[test]
fn a_tape_that_was_cut_short_says_so() {
    let folder = folder(&[("cut.tape.jsonl", cut_short())]);
    golden(
        "export_cut_short",
        folder.path(),
        &["export", "cut.tape.jsonl", "--as", "cassette"],
    );
}

#[test]
fn mistakes_are_explained() {
    let header = TAPE.lines().next().unwrap();
    let bad = format!("{header}\n{{\"seq\":1,\"at_us\":1,\"dir\":\"up\",\"message\":{{}}}}\n");
    let folder = folder(&[
        ("fs.tape.jsonl", TAPE),
        ("other.json", "{\"a\":1}"),
        (
            "broken.json",
            "{\n  \"version\": \"1\",\n  \"exchanges\": [\n",
        ),
        ("version.json", "{\"version\": 2, \"exchanges\": []}"),
        (
            "shape.json",
            "{\"version\": \"1\", \"exchanges\": [{\"request\": {}}]}",
        ),
        ("new.tape.jsonl", "{\"tape\":\"3.0\"}\n"),
        ("bad.tape.jsonl", &bad),
        ("empty.json", ""),
    ]);
    fs::create_dir(folder.path().join("folder")).unwrap();
    let case = |case: &str, file: &str| {
        let arguments = ["export", file, "--as", "cassette", "-o", "out.json"];
        golden(case, folder.path(), &arguments);
        assert!(!folder.path().join("out.json").exists());
    };
    case("open_missing", "nothing.json");
    case("open_folder", "folder");
    case("open_unknown", "other.json");
    case("open_empty", "empty.json");
    case("open_broken", "broken.json");
    case("open_version", "version.json");
    case("open_shape", "shape.json");
    case("open_new_tape", "new.tape.jsonl");
    case("open_bad_tape", "bad.tape.jsonl");
    let onto = |case: &str, output: &str| {
        golden(
            case,
            folder.path(),
            &["export", "fs.tape.jsonl", "--as", "cassette", "-o", output],
        );
    };
    onto("export_onto_itself", "fs.tape.jsonl");
    onto("export_no_folder", "fs.tape.jsonl/out.json");
    assert_eq!(
        fs::read_to_string(folder.path().join("fs.tape.jsonl")).unwrap(),
        TAPE
    );
}
