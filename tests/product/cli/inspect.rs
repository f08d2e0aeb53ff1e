//! `tapewright inspect`.

use super::golden::{TAPE, cut_short, folder, golden, run};

#[test]
fn a_tape_is_told_for_people_and_for_programs() {
    let folder = folder(&[("fs.tape.jsonl", TAPE)]);
    golden("inspect_tape", folder.path(), &["inspect", "fs.tape.jsonl"]);
    golden(
        "inspect_json",
        folder.path(),
        &["inspect", "--json", "fs.tape.jsonl"],
    );
}

#[test]
fn nothing_of_a_peer_moves_the_cursor() {
    let folder = folder(&[("fs.tape.jsonl", TAPE)]);
    let (_, text, _) = run(folder.path(), &["inspect", "fs.tape.jsonl"]);
    assert!(
        text.chars().all(|char| char == '\n' || !char.is_control()),
        "{text}"
    );
    assert!(!text.contains('\u{202e}'));
}

#[test]
fn every_kind_of_file_is_told_apart() {
    let folder = folder(&[("fs.tape.jsonl", TAPE)]);
    for (format, name) in [("cassette", "a"), ("capture", "b"), ("tape", "c")] {
        let output = ["export", "fs.tape.jsonl", "--as", format, "-o", name];
        assert_eq!(run(folder.path(), &output).0, 0);
        let (status, text, _) = run(folder.path(), &["inspect", name]);
        assert_eq!(status, 0);
        assert!(text.starts_with(&format!("{name}: {format}")), "{text}");
    }
    golden("inspect_capture", folder.path(), &["inspect", "b"]);
}

#[test]
fn a_tape_that_was_cut_short_says_so() {
    let folder = folder(&[("fs.tape.jsonl", cut_short())]);
    golden("inspect_cut_short", folder.path(), &["inspect", "fs.json"]);
}
