//! The operator's log: what it contains, what it never contains, and that it never affects a
//! session.

#[cfg(unix)]
mod events;
mod options;
mod pressure;
mod secrets;

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tapewright_schemas::published;

use crate::support::{Session, record};

const LIMIT: Duration = Duration::from_secs(60);
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

/// A server that answers each line as a ping.
const ANSWER: &str = r#"while read line; do echo '{"jsonrpc":"2.0","id":1,"result":{}}'; done"#;

/// A folder with a log in it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, name: &str) -> String {
        self.path().join(name).to_str().unwrap().to_owned()
    }

    /// The options for a JSON log in the file `log`.
    fn logged(&self, filter: &str) -> Vec<String> {
        self.logged_as("json", filter)
    }

    fn logged_as(&self, format: &str, filter: &str) -> Vec<String> {
        let log = self.file("log");
        let options = [
            "--log",
            &log,
            "--log-format",
            format,
            "--log-filter",
            filter,
        ];
        options.map(str::to_owned).into()
    }

    /// A recorder with such a log, around a server, with further options.
    fn record(&self, filter: &str, options: &[&str], server: &[&str]) -> Session {
        let logged = self.logged(filter);
        let mut all: Vec<&str> = logged.iter().map(String::as_str).collect();
        all.extend(options);
        let mut command = record(&all, server);
        command.env("TAPEWRIGHT_HOME", self.path().join("home"));
        Session::start(command)
    }

    fn log(&self) -> Vec<Value> {
        lines(&std::fs::read_to_string(self.file("log")).unwrap())
    }
}

/// The lines of a JSON log, each validated by its schema.
fn lines(text: &str) -> Vec<Value> {
    let schema = published::find("log-line").unwrap();
    let schema: Value = serde_json::from_str(schema.text()).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "{text:?}");
    let read = |line: &str| {
        assert!(line.len() < 4_096);
        let value: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        let wrong = validator.iter_errors(&value).map(|one| one.to_string());
        assert_eq!(wrong.collect::<Vec<_>>(), Vec::<String>::new(), "{line}");
        value
    };
    text.lines().map(read).collect()
}

/// The names of events, in order.
fn names(lines: &[Value]) -> Vec<&str> {
    lines
        .iter()
        .map(|line| line["event"].as_str().unwrap())
        .collect()
}
