//! Progress: a line that is written over on a terminal, after a second, and nothing anywhere else.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use serde_json::json;

use super::golden::folder;
use crate::support::provider::Provider;
use crate::support::{peer, tapewright};

/// The beginning of a progress line: moves to the left, and erases the line.
const OVER: &str = "\r\u{1b}[K";

/// A running command, and the reader of its stderr.
struct Running {
    words: Vec<String>,
    said: JoinHandle<String>,
}

impl Running {
    /// Starts a command with its stderr on a separate terminal.
    fn on_terminal(folder: &Path, words: &[&str]) -> Self {
        Self::of_terminal(command(folder, words), words)
    }

    fn of_terminal(mut command: Command, words: &[&str]) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&ours).expect("a terminal");
        unlockpt(&ours).expect("a terminal");
        let name = ptsname(&ours, Vec::new()).expect("a name");
        let path = name.to_str().expect("text");
        // Without the flag it would become the controlling terminal of a test program that has
        // none, and end that program when it is closed.
        let flags = OFlags::NOCTTY.bits().cast_signed();
        let mut options = File::options();
        let options = options.read(true).write(true).custom_flags(flags);
        let theirs = options.open(path);
        command.stderr(theirs.expect("a terminal"));
        let mut child = command.spawn().expect("the binary runs");
        // The other end is closed when the child and this hold it no longer.
        drop(command);
        let said = thread::spawn(move || {
            let mut said = Vec::new();
            // At its end, reading a terminal is an error.
            drop(File::from(ours).read_to_end(&mut said));
            child.wait().expect("it ends");
            String::from_utf8_lossy(&said).into_owned()
        });
        Self::new(words, said)
    }

    /// Starts a command with its stderr on a pipe.
    fn on_pipe(folder: &Path, words: &[&str]) -> Self {
        Self::of_pipe(command(folder, words), words)
    }

    fn of_pipe(mut command: Command, words: &[&str]) -> Self {
        let child = command.stderr(Stdio::piped()).spawn();
        let child = child.expect("the binary runs");
        let said = thread::spawn(move || {
            let done = child.wait_with_output().expect("it ends");
            String::from_utf8_lossy(&done.stderr).into_owned()
        });
        Self::new(words, said)
    }

    fn new(words: &[&str], said: JoinHandle<String>) -> Self {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Self { words, said }
    }

    fn said(self) -> (Vec<String>, String) {
        (self.words, self.said.join().expect("it is read"))
    }
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = tapewright();
    command
        .args(words)
        .current_dir(folder)
        .env("TERM", "xterm")
        .env("HOME", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

/// Whether progress lines were written, and the last one was erased.
fn has_progress(words: &[String], said: &str) -> bool {
    let Some((_, last)) = said.rsplit_once(OVER) else {
        return false;
    };
    assert!(
        !last.contains(['[', '=']),
        "{words:?} left a line: {said:?}"
    );
    true
}

/// A recording with this many pings.
fn pings(count: usize) -> String {
    let mut tape = String::from(
        "{\"tape\":\"2.4\",\"created\":\"2026-11-26T03:00:00.000Z\",\"by\":\"test\",\"transport\":\"stdio\",\
         \"label\":\"fs\",\"command\":[\"fs\"],\"durability\":\"queue\",\"when_full\":\"wait\",\
         \"max_message_bytes\":67108864,\"redacted\":true}\n",
    );
    let mut seq = 0;
    for id in 1..=count {
        for (dir, rest) in [
            ("to_server", "\"method\":\"ping\""),
            ("to_client", "\"result\":{}"),
        ] {
            seq += 1;
            writeln!(
                tape,
                "{{\"seq\":{seq},\"at_us\":{seq},\"dir\":\"{dir}\",\"era\":\"handshake\",\
                 \"message\":{{\"jsonrpc\":\"2.0\",\"id\":{id},{rest}}}}}"
            )
            .expect("text");
        }
    }
    let footer = "{\"end\":{\"at_us\":SEQ,\"events\":SEQ,\"complete\":true}}\n";
    tape + &footer.replace("SEQ", &seq.to_string())
}

#[test]
fn a_slow_server_is_waited_for_with_progress_on_a_terminal_and_never_on_a_pipe() {
    let suite = "servers:\n  fs: { command: [BINARY, replay, fs.tape.jsonl, --exhausted, last, --fault, 'slow method=tools/call delay_ms=700'] }\n\
         tools:\n  - { name: one, server: fs, tool: echo, args: { message: hällo } }\n  - { name: two, server: fs, tool: echo, args: { message: hällo } }\n  \
         - { name: three, server: fs, tool: echo, args: { message: hällo } }\n";
    let suite = suite.replace("BINARY", env!("CARGO_BIN_EXE_tapewright"));
    let stage = folder(&[("pings.tape.jsonl", &pings(4)), ("suite.yaml", &suite)]);
    let tape = include_str!("../../wire/handshake-stdio.tape.jsonl");
    fs::write(stage.path().join("fs.tape.jsonl"), tape).expect("a file");
    let binary = env!("CARGO_BIN_EXE_tapewright");
    let server = ["--", binary, "replay", "pings.tape.jsonl"];
    let slow = ["--fault", "slow method=ping delay_ms=700"];
    let verify = [&["verify", "pings.tape.jsonl"], &server[..], &slow[..]].concat();
    let run = vec!["run", "suite.yaml"];
    for words in [verify, run] {
        let on_terminal = Running::on_terminal(stage.path(), &words);
        let on_pipe = Running::on_pipe(stage.path(), &words);
        let (words, said) = on_terminal.said();
        assert!(has_progress(&words, &said), "{words:?}: {said:?}");
        let (words, said) = on_pipe.said();
        assert!(!said.contains(['\r', '\u{1b}']), "{words:?}: {said:?}");
    }
}

#[test]
fn an_evaluation_is_waited_for_with_progress_on_a_terminal_and_never_on_a_pipe() {
    let provider = Provider::start(&json!({"key": "sk-told", "turns": [
        {"delay_ms": 1_100, "text": "It is 5."},
    ]}));
    let suite = "servers:\n  peer:\n    command: [PEER, suite]\nevals:\n\
         \x20 - { name: one, server: peer, prompt: What is 2 + 3?, rubric: It names the sum. }\n\
         \x20 - { name: two, server: peer, prompt: What is 1 + 4?, rubric: It names the sum. }\n";
    let suite = suite.replace("PEER", peer().to_str().expect("text"));
    let stage = folder(&[("suite.yaml", &suite)]);
    let words = ["eval", "suite.yaml", "--parallel", "1"];
    let asking = || {
        let mut command = command(stage.path(), &words);
        command.env_remove("CI").envs(provider.variables("sk-told"));
        command
    };
    let on_terminal = Running::of_terminal(asking(), &words);
    let on_pipe = Running::of_pipe(asking(), &words);
    let (words, said) = on_terminal.said();
    assert!(has_progress(&words, &said), "{words:?}: {said:?}");
    let (words, said) = on_pipe.said();
    assert!(!said.contains(['\r', '\u{1b}']), "{words:?}: {said:?}");
    let models = provider.requests().len();
    assert!(models >= 4, "each evaluation asks a model: {models}");
}

/// The number of exchanges in the longest recording. A machine that reads it within a second would
/// be twenty times as fast as this one.
const MOST: usize = 1 << 20;

#[test]
fn a_long_recording_is_read_with_progress_on_a_terminal_and_never_on_a_pipe() {
    let stage = folder(&[]);
    let mut count = 1 << 16;
    let words = loop {
        fs::write(stage.path().join("a.tape.jsonl"), pings(count)).expect("a file");
        fs::write(stage.path().join("b.tape.jsonl"), pings(count)).expect("a file");
        let commands: [&[&str]; 6] = [
            &["inspect", "a.tape.jsonl"],
            &["compliance", "invariants", "--capture", "a.tape.jsonl"],
            &["export", "a.tape.jsonl", "--as", "html", "-o", "a.html"],
            &["export", "a.tape.jsonl", "--as", "capture"],
            &["scrub", "--check", "a.tape.jsonl"],
            &["diff", "a.tape.jsonl", "b.tape.jsonl"],
        ];
        // All at once, so that each is slow.
        let running = commands.map(|words| Running::on_terminal(stage.path(), words));
        let said = running.map(Running::said);
        fs::remove_file(stage.path().join("a.html")).expect("a page");
        let silent = said.iter().find(|(words, said)| !has_progress(words, said));
        let Some((words, said)) = silent else {
            break commands;
        };
        assert!(count < MOST, "{words:?} shows no progress: {said:?}");
        count *= 4;
    };
    let running = words.map(|words| Running::on_pipe(stage.path(), words));
    for (words, said) in running.map(Running::said) {
        assert!(!said.contains(['\r', '\u{1b}']), "{words:?}: {said:?}");
    }
}

#[test]
fn a_cassette_is_scrubbed_with_progress() {
    let stage = folder(&[("a.tape.jsonl", &pings(1 << 17))]);
    let export = ["export", "a.tape.jsonl", "--as", "cassette", "-o", "a.json"];
    let done = tapewright().args(export).current_dir(stage.path()).status();
    assert!(done.expect("the binary runs").success());
    let words = ["scrub", "--check", "a.json"];
    // Several at once are slow on every machine.
    let running: Vec<_> = (0..4)
        .map(|_| Running::on_terminal(stage.path(), &words))
        .collect();
    let said: Vec<_> = running.into_iter().map(Running::said).collect();
    let shown = said
        .iter()
        .filter(|(words, said)| has_progress(words, said));
    assert!(shown.count() > 0, "{said:?}");
}
