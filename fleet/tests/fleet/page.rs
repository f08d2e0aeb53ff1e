//! The commands on the page for users work.

use std::fs;
use std::process::Command;

use crate::support::{Fleet, Recorder};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/fleet.md");

/// The commands in the `sh` blocks of a page.
fn commands(page: &str) -> Vec<String> {
    let mut is_inside = false;
    let mut commands = Vec::new();
    for line in page.lines() {
        match line {
            "```sh" => is_inside = true,
            "```" => is_inside = false,
            line if is_inside => commands.push(line.to_owned()),
            _ => {}
        }
    }
    commands
}

#[test]
fn the_commands_of_the_page_run() {
    let fleet = Fleet::new();
    let work = tempfile::tempdir().unwrap();
    let tapes = work.path().join("tapes");
    fs::create_dir(&tapes).unwrap();
    let mut recorder = Recorder::begin(&tapes, "files");
    recorder.events(9);
    recorder.end();
    let commands = commands(&fs::read_to_string(PAGE).unwrap());
    assert!(commands.len() >= 5, "{commands:?}");
    for command in commands {
        let once = if command.contains(" ship ") && !command.contains("--once") {
            " --once"
        } else {
            ""
        };
        let line = command
            .replace("tapewright-fleet", env!("CARGO_BIN_EXE_tapewright-fleet"))
            .replace("file:///srv/tapes", &fleet.url());
        let output = Command::new("sh")
            .args(["-c", &format!("{line}{once}")])
            .current_dir(work.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
    }
    assert_eq!(
        fs::read_dir(work.path().join("fetched")).unwrap().count(),
        1
    );
}
