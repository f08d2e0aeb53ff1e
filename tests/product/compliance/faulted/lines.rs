//! A session over standard streams.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::thread::JoinHandle;

use super::{Came, Client, INITIALIZE, INITIALIZED, PATIENCE, is_answered, process};
use crate::support::{Tape, record, wait};

/// A client with lines, and its recorder.
pub(super) struct Lines {
    recorder: Child,
    input: Option<ChildStdin>,
    came: Came,
    reader: JoinHandle<()>,
    tape: PathBuf,
}

impl Lines {
    pub(super) fn start(folder: &Path, options: &[&str]) -> Self {
        let tape = folder.join("run.tape.jsonl");
        let mut all = vec!["-o", tape.to_str().unwrap()];
        all.extend(options);
        let server = process();
        let server: Vec<&str> = server.iter().map(String::as_str).collect();
        let mut command = record(&all, &server);
        let mut recorder = command.stderr(Stdio::null()).spawn().unwrap();
        let came = Came::default();
        let reader = came.gather(recorder.stdout.take().unwrap());
        Self {
            input: recorder.stdin.take(),
            recorder,
            came,
            reader,
            tape,
        }
    }
}

impl Client for Lines {
    fn open(&mut self) {
        self.send(INITIALIZE);
        assert!(is_answered(self, 0, PATIENCE));
        self.send(INITIALIZED);
    }

    fn send(&mut self, message: &str) {
        // The fault may have ended everything already.
        drop(writeln!(self.input.as_mut().unwrap(), "{message}"));
    }

    fn came(&mut self) -> String {
        self.came.text()
    }

    fn is_ordered(&self) -> bool {
        true
    }

    fn finish(mut self: Box<Self>) -> Tape {
        self.input = None;
        wait(&mut self.recorder, PATIENCE);
        self.reader.join().unwrap();
        Tape::read(&self.tape)
    }
}
