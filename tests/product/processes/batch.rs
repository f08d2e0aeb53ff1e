//! Batch files: `npx` is `npx.cmd`, and `cmd.exe` parses its arguments again.

use std::ffi::OsString;
use std::path::Path;

use super::scene::{LIMIT, Scene};
use crate::support::{Session, peer, record, wait};

/// Passes its arguments on, as `npx.cmd` does.
const BATCH: &str = "@ECHO off\r\n\"%TAPEWRIGHT_TEST_PEER%\" processes words %*\r\n";

/// A recorder around `npx` with these arguments, where `npx.cmd` is in a folder of `PATH`.
fn npx(scene: &Scene, words: &[&str]) -> Session {
    let folder = scene.file("with space");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("npx.cmd"), BATCH).unwrap();
    let cassette = scene.file("s.json");
    let server = [&["npx"], words].concat();
    let mut command = record(&["-o", cassette.to_str().unwrap()], &server);
    command
        .env("PATH", path_with(&folder))
        .env("TAPEWRIGHT_TEST_PEER", peer())
        .current_dir(&folder);
    Session::start(command)
}

fn path_with(folder: &Path) -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).unwrap()
}

/// What `npx` was called with.
fn arrived(words: &[&str]) -> Vec<String> {
    let scene = Scene::new();
    let mut session = npx(&scene, words);
    let line = session.line();
    assert!(
        wait(&mut session.child, LIMIT).success(),
        "{words:?}: {line}"
    );
    assert!(!scene.file("with space/owned").exists(), "{words:?}");
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{words:?}: {error}: {line}"))
}

#[test]
fn a_batch_file_is_found_by_its_ending_and_gets_its_arguments() {
    let words = ["-y", "@scope/server@1.2.3", "two words", "", "--flag=a,b;c"];
    assert_eq!(arrived(&words), words);
}

#[test]
fn no_argument_of_a_batch_file_becomes_a_command() {
    for word in [
        "&mkdir owned",
        "\"&mkdir owned",
        "\"&mkdir owned&\"",
        "x\" & mkdir owned & \"",
        "|mkdir owned",
        "||mkdir owned",
        ">owned",
        "a^&mkdir owned",
        "(mkdir owned)",
        "\\\"&mkdir owned",
        "!CD!",
        "^",
        "back\\",
        "é 𝄞",
    ] {
        assert_eq!(arrived(&[word, "last"]), [word, "last"], "{word}");
    }
}

/// `std` hides them from `cmd.exe`, which Wine's does not understand.
#[test]
fn a_variable_in_an_argument_of_a_batch_file_is_text() {
    for word in [
        "%TAPEWRIGHT_TEST_PEER%",
        "%CD%",
        "%CMDCMDLINE:~-1%&mkdir owned",
        "50%",
    ] {
        assert_eq!(arrived(&[word, "last"]), [word, "last"], "{word}");
    }
}

#[test]
fn an_argument_that_a_batch_file_cannot_get_is_refused() {
    for word in ["a\nmkdir owned", "a\r\nmkdir owned"] {
        let scene = Scene::new();
        let session = npx(&scene, &[word]);
        let output = session.child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("cannot start `npx`"), "{told}");
        assert!(told.contains("batch file"), "{told}");
        assert!(!scene.file("with space/owned").exists());
    }
}
