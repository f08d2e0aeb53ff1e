//! Common parts of whole-product tests: the binary, a peer, a folder, and timeouts.

mod eventually;
pub(crate) mod http;
pub(crate) mod provider;
pub(crate) mod stream;
pub(crate) mod system;

use std::env::consts::EXE_EXTENSION;
use std::io::{BufRead, BufReader, Write};
use std::path::{MAIN_SEPARATOR_STR, Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Once;
use std::time::Duration;

use tapewright_schemas::event::{Direction, Event, EventBody};
use tapewright_schemas::tape::{Ending, Reader};

pub(crate) use self::eventually::eventually;
#[cfg(unix)]
pub(crate) use self::system::marked;
pub(crate) use self::system::signal;

/// The binary under test.
pub(crate) fn tapewright() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tapewright"));
    system::prepare(&mut command);
    command.env_remove("TAPEWRIGHT_HOME");
    command
}

static BUILT: Once = Once::new();

/// The scriptable server, which is built next to the binary.
pub(crate) fn peer() -> PathBuf {
    example("peer")
}

/// A program of the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_tapewright"));
    let folder = binary.with_file_name("examples");
    let path = |name| folder.join(name).with_extension(EXE_EXTENSION);
    BUILT.call_once(|| {
        // `cargo test` has built them; `cargo test --test product` has not.
        if !path("peer").exists() || !path("sh").exists() {
            let done = Command::new(env!("CARGO"))
                .args(["build", "--quiet", "--example", "peer", "--example", "sh"])
                .status();
            assert!(done.expect("cargo can be run").success());
        }
    });
    path(name)
}

/// A path as messages show it: with the separators of the system.
pub(crate) fn native(path: &str) -> String {
    path.replace('/', MAIN_SEPARATOR_STR)
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
        let mut child = system::spawn(&mut command).expect("the recorder starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self {
            child,
            input,
            output,
        }
    }

    /// Closes all ends of its client at once, as when a process dies; what is left is the recorder.
    pub(crate) fn die(mut self) -> Child {
        drop((self.input, self.output, self.child.stderr.take()));
        self.child
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
