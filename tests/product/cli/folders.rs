//! Folders, wherever a recording is read.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::golden::{folder, run};
use crate::support::native;

const STDIO: &str = include_str!("../../wire/handshake-stdio.tape.jsonl");
const HTTP: &str = include_str!("../../wire/handshake-http.tape.jsonl");

/// A folder with recordings of two servers, and another file.
fn recordings() -> TempDir {
    let stage = folder(&[("notes.txt", "no recording"), ("other.json", "{}")]);
    let path = stage.path().join("all");
    fs::create_dir(&path).unwrap();
    for (name, text) in [
        ("a.tape.jsonl", STDIO),
        ("b.tape.jsonl", HTTP),
        ("package.json", "{}"),
    ] {
        fs::write(path.join(name), text).unwrap();
    }
    fs::create_dir(stage.path().join("empty")).unwrap();
    stage
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|one| one.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn every_recording_of_a_folder_is_exported_to_a_folder() {
    let stage = recordings();
    for (format, ending) in [
        ("cassette", ".json"),
        ("capture", ".capture.json"),
        ("tape", ".tape.jsonl"),
        ("html", ".html"),
        ("otlp", ".otlp.jsonl"),
        ("har", ".har"),
    ] {
        let goal = format!("{format}/");
        let words = ["export", "all", "--as", format, "-o", &goal];
        let (status, out, said) = run(stage.path(), &words);
        assert_eq!((status, out.as_str()), (0, ""), "{format}: {said}");
        // A stdio session cannot be an HTTP archive.
        let exported = if format == "har" {
            &["b"][..]
        } else {
            &["a", "b"]
        };
        let expected: Vec<String> = exported
            .iter()
            .map(|name| format!("{name}{ending}"))
            .collect();
        assert_eq!(names(&stage.path().join(format)), expected, "{format}");
        let one = stage.path().join(format).join(format!("b{ending}"));
        let words = ["export", "all/b.tape.jsonl", "--as", format];
        let alone = run(stage.path(), &words).1;
        assert_eq!(fs::read_to_string(one).unwrap(), alone, "{format}");
    }
}

#[test]
fn a_folder_is_not_exported_to_a_file_or_to_stdout() {
    let stage = recordings();
    fs::write(stage.path().join("file"), "x").unwrap();
    for output in [&[][..], &["-o", "new.html"], &["-o", "file"]] {
        let words = [&["export", "all", "--as", "html"], output].concat();
        let (status, out, said) = run(stage.path(), &words);
        assert_eq!((status, out.as_str()), (2, ""), "{said}");
        assert!(said.contains("`-o FOLDER/`"), "{said}");
    }
    assert!(!stage.path().join("new.html").exists());
    // Nothing is written when one of them cannot be.
    fs::create_dir(stage.path().join("pages")).unwrap();
    fs::write(stage.path().join("pages/b.html"), "mine").unwrap();
    let (status, _, said) = run(
        stage.path(),
        &["export", "all", "--as", "html", "-o", "pages"],
    );
    assert_eq!(status, 2, "{said}");
    assert_eq!(names(&stage.path().join("pages")), ["b.html"], "{said}");
}

#[test]
fn a_suite_of_a_folder_has_every_server_of_it() {
    let stage = recordings();
    for words in [
        &["export", "all", "--as", "suite", "-o", "exported.yaml"][..],
        &["init", "all", "-o", "init.yaml"],
    ] {
        let (status, _, said) = run(stage.path(), words);
        assert_eq!(status, 0, "{words:?}: {said}");
        let file = words.last().unwrap();
        let (status, _, said) = run(stage.path(), &["validate", file]);
        assert_eq!(status, 0, "{words:?}: {said}");
        let text = fs::read_to_string(stage.path().join(file)).unwrap();
        let servers = text.split("servers:").nth(1).unwrap();
        let servers = servers.split("\n\n").next().unwrap().lines();
        let servers: Vec<&str> = servers
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .map(str::trim)
            .collect();
        assert_eq!(servers, ["everything:", "everything-2:"], "{text}");
        let tests = |server: &str| text.matches(&format!("server: {server}\n")).count();
        assert!(
            tests("everything") > 0 && tests("everything-2") > 0,
            "{text}"
        );
    }
}

#[test]
fn a_recording_twice_in_a_folder_gives_each_test_once() {
    let stage = recordings();
    fs::write(stage.path().join("all/b.tape.jsonl"), STDIO).unwrap();
    let one = run(
        stage.path(),
        &["export", "all/a.tape.jsonl", "--as", "suite"],
    );
    let both = run(stage.path(), &["export", "all", "--as", "suite"]);
    let tests = |text: &str| text.split_once("servers:").unwrap().1.to_owned();
    assert_eq!(tests(&both.1), tests(&one.1));
}

#[test]
fn a_migration_is_examined_recording_by_recording() {
    let stage = recordings();
    let doctor = ["compliance", "doctor", "--capture"];
    let (_, out, said) = run(stage.path(), &[&doctor[..], &["all", "--json"]].concat());
    let all: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{said}"));
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), 2, "{out}");
    for (one, path) in all.iter().zip(["all/a.tape.jsonl", "all/b.tape.jsonl"]) {
        let path = &native(path);
        let (_, out, _) = run(stage.path(), &[&doctor[..], &[path, "--json"]].concat());
        let alone: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(*one, alone, "{path}");
    }
    let (status, out, _) = run(stage.path(), &[&doctor[..], &["all"]].concat());
    assert_eq!(status, 1, "{out}");
    assert!(
        out.contains(&native("all/a.tape.jsonl")) && out.contains(&native("all/b.tape.jsonl")),
        "{out}"
    );
    let sarif = [&doctor[..], &["all", "--format", "sarif"]].concat();
    let (_, out, _) = run(stage.path(), &sarif);
    assert!(
        out.contains("all/a.tape.jsonl") && out.contains("all/b.tape.jsonl"),
        "{out}"
    );
}

#[test]
fn recordings_of_the_same_name_are_compared() {
    let stage = recordings();
    let later = stage.path().join("later");
    fs::create_dir(&later).unwrap();
    fs::write(later.join("a.tape.jsonl"), STDIO).unwrap();
    fs::write(later.join("c.tape.jsonl"), HTTP).unwrap();
    let (status, out, said) = run(stage.path(), &["diff", "all", "later", "--json"]);
    assert_eq!(status, 1, "{out}{said}");
    let (status, out, said) = run(stage.path(), &["diff", "all", "all"]);
    assert_eq!(status, 0, "{out}{said}");
    let (status, _, said) = run(stage.path(), &["diff", "all", "all/a.tape.jsonl"]);
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("two recordings, or two folders"), "{said}");
}

#[test]
fn a_folder_without_recordings_is_refused_with_what_to_do() {
    let stage = recordings();
    for words in [
        &["verify", "empty", "--", "true"][..],
        &["compliance", "doctor", "--capture", "empty"],
        &["init", "empty"],
        &["view", "empty"],
        &["export", "empty", "--as", "html", "-o", "pages/"],
        &["export", "empty", "--as", "suite"],
        &["diff", "empty", "empty"],
        &["scrub", "empty"],
    ] {
        let (status, out, said) = run(stage.path(), words);
        assert_eq!((status, out.as_str()), (2, ""), "{words:?}: {said}");
        assert!(
            said.contains("empty") && said.contains("hint: "),
            "{words:?}: {said}"
        );
    }
}

#[test]
fn a_replay_of_several_servers_is_refused() {
    let stage = recordings();
    let (status, _, said) = run(stage.path(), &["replay", "all"]);
    assert_eq!(status, 2, "{said}");
    assert!(said.contains(&native("all/a.tape.jsonl")), "{said}");
}
