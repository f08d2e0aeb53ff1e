//! The scripted server over HTTP.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::peer;

/// The scripted server, until it is dropped.
pub(super) struct Scripted {
    child: Child,
    pub(super) url: String,
}

impl Scripted {
    /// Starts it with these violations.
    pub(super) fn start(broken: &[&str]) -> Self {
        let mut command = Command::new(peer());
        command.arg("corpus-http").args(broken);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let mut line = String::new();
        let output = child.stdout.take().expect("a pipe");
        BufReader::new(output)
            .read_line(&mut line)
            .expect("a line that says where it is");
        let line: Value = serde_json::from_str(&line).expect("JSON");
        let url = line["listening"].as_str().expect("a URL").to_owned();
        Self { child, url }
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
