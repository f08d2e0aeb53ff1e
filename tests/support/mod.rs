//! Common parts of whole-product tests: the binary, a peer, a folder, and timeouts.

mod eventually;
pub(crate) mod http;
pub(crate) mod provider;
pub(crate) mod stream;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_shutdown;
use tapewright_schemas::event::{Direction, Event, EventBody};
use tapewright_schemas::tape::{Ending, Reader};

pub(crate) use self::eventually::eventually;

static HEARD: Once = Once::new();

/// The binary under test.
///
/// If the tests run in the background of a script, or under `nohup`, SIGINT or SIGHUP is ignored,
/// also by the processes that they start. A signal that is handled here has its default action
/// there.
pub(crate) fn tapewright() -> Command {
    HEARD.call_once(|| {
        let always = Arc::new(AtomicBool::new(true));
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            let always = Arc::clone(&always);
            register_conditional_shutdown(signal, 128 + signal, always).expect("a handler");
        }
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_tapewright"));
    command.env_remove("TAPEWRIGHT_HOME");
    command
}

static BUILT: Once = Once::new();

/// The scriptable server, which is built next to the binary.
pub(crate) fn peer() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_tapewright"));
    let peer = binary.with_file_name("examples").join("peer");
    BUILT.call_once(|| {
        // `cargo test` has built it; `cargo test --test product` has not.
        if !peer.exists() {
            let done = Command::new(env!("CARGO"))
                .args(["build", "--quiet", "--example", "peer"])
                .status();
            assert!(done.expect("cargo can be run").success());
        }
    });
    peer
}

/// A recorder around `server`, with pipes on all three streams.
pub(crate) fn record(options: &[&str], server: &[&str]) -> Command {
    let mut command = tapewright();
    command.arg("record").args(options).arg("--").args(server);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A session that a test talks in, line by line.
pub(crate) struct Session {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    pub(crate) output: BufReader<ChildStdout>,
}

impl Session {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the recorder starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self {
            child,
            input,
            output,
        }
    }

    pub(crate) fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the input is open");
        input
            .write_all(line.as_bytes())
            .expect("the recorder reads");
        input.write_all(b"\n").expect("the recorder reads");
    }

    /// The next line, without its line feed; empty at the end.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("readable output");
        line.truncate(line.trim_end_matches('\n').len());
        line
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }

    /// The exit status, waited for no longer than any client would.
    pub(crate) fn finish(mut self, within: Duration) -> ExitStatus {
        self.close_input();
        wait(&mut self.child, within)
    }
}

/// Sends a signal as a client would.
pub(crate) fn signal(pid: u32, name: &str) {
    let done = Command::new("kill")
        .arg(format!("-{name}"))
        .arg(pid.to_string())
        .status();
    assert!(done.expect("kill can be run").success());
}

/// Waits for a process; one that takes longer than `within` fails the test.
pub(crate) fn wait(child: &mut Child, within: Duration) -> ExitStatus {
    let mut status = None;
    let ended = eventually(within, || {
        status = child.try_wait().expect("a child can be waited for");
        status.is_some()
    });
    if !ended {
        child.kill().ok();
        panic!("the process was still there after {within:?}");
    }
    status.expect("it ended")
}

/// Processes that carry this mark in their environment. Guards count too.
pub(crate) fn marked(mark: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")
        .expect("a process list")
        .flatten()
    {
        let Ok(pid) = entry.file_name().to_string_lossy().parse() else {
            continue;
        };
        let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environ
            .windows(mark.len())
            .any(|part| part == mark.as_bytes())
            && !is_zombie(pid)
        {
            found.push(pid);
        }
    }
    found
}

fn is_zombie(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_some_and(|rest| rest.starts_with('Z'))
}

/// A tape, read whole.
pub(crate) struct Tape {
    pub(crate) events: Vec<Event>,
    pub(crate) ending: Ending,
    pub(crate) header: tapewright_schemas::tape::Header,
}

impl Tape {
    pub(crate) fn read(path: &Path) -> Self {
        let text =
            std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut reader = Reader::open(text.as_slice()).expect("a tape");
        let mut events = Vec::new();
        while let Some(event) = reader.next_event().expect("a readable tape") {
            events.push(event);
        }
        let ending = reader.ending().expect("the end was reached").clone();
        Self {
            events,
            ending,
            header: reader.header().clone(),
        }
    }

    /// The messages of one direction, as text.
    pub(crate) fn messages(&self, dir: Direction) -> Vec<String> {
        let text = |event: &Event| match &event.body {
            EventBody::Message { payload, .. } if event.dir == dir => {
                Some(String::from_utf8_lossy(payload.kept()).into_owned())
            }
            _ => None,
        };
        self.events.iter().filter_map(text).collect()
    }

    pub(crate) fn is_complete(&self) -> bool {
        matches!(&self.ending, Ending::Footer(footer) if footer.complete)
    }
}
