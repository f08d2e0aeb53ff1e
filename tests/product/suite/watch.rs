//! `--watch`: a suite runs again when it, or a file that it uses, has changed.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};

use crate::suite::stage::{Stage, with_peer};
use crate::support::http::PATIENCE;

/// A run that watches.
struct Watching {
    child: Child,
    reports: Receiver<String>,
    notes: Receiver<String>,
}

impl Watching {
    fn start(stage: &Stage) -> Self {
        let mut command = stage.command();
        command.args(["run", "suite.yaml", "--watch"]);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let reports = lines(child.stdout.take().expect("a pipe"));
        let notes = lines(child.stderr.take().expect("a pipe"));
        Self {
            child,
            reports,
            notes,
        }
    }
}

/// The lines of a stream as they arrive.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (tell, lines) = sync_channel(1_000);
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            tell.send(line).ok();
        }
    });
    lines
}

/// Waits for a line with this in it.
fn wait_for(lines: &Receiver<String>, part: &str) {
    let mut seen = Vec::new();
    while seen.last().is_none_or(|line: &String| !line.contains(part)) {
        let line = lines.recv_timeout(PATIENCE);
        seen.push(line.unwrap_or_else(|error| panic!("no `{part}` in {seen:#?}: {error}")));
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn a_change_of_any_file_of_the_suite_runs_it_again() {
    let stage = Stage::new();
    let test = |name: &str| format!("tools:\n  - {{ name: {name}, server: peer, tool: echo }}\n");
    stage.write("shared.yaml", &with_peer(""));
    stage.write(
        "suite.yaml",
        &format!("imports: [shared.yaml]\n{}", test("first")),
    );
    let watching = Watching::start(&stage);
    wait_for(&watching.reports, "PASS  first");
    wait_for(&watching.notes, "watching 2 files");
    stage.write(
        "suite.yaml",
        &format!("imports: [shared.yaml]\n{}", test("the second")),
    );
    wait_for(&watching.reports, "PASS  the second");
    wait_for(&watching.notes, "watching 2 files");
    // An error does not end the watch: it is fixed in its file.
    stage.write("shared.yaml", "servers: { peer: { comand: [x] } }\n");
    wait_for(&watching.notes, "did you mean `command`?");
    wait_for(&watching.notes, "watching");
    stage.write("shared.yaml", &with_peer("# mended\n"));
    wait_for(&watching.reports, "PASS  the second");
}
