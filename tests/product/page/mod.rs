//! The page that shows a recording or a replay, from its browser's point of view.

mod live;
mod own;
mod refused;
mod view;

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::process::Child;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Session, eventually, peer, record};

/// The time after which a test has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A served page, and the token of its link.
struct Page {
    address: String,
    token: String,
}

/// A response.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Page {
    /// The page whose link a process prints.
    fn of(child: &mut Child) -> Self {
        let mut errors = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        // Later output does not matter, but must not fill the pipe.
        std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no link: {line}"));
        let url = told["page"].as_str().expect("a link");
        let rest = url.strip_prefix("http://").expect("a link");
        let (address, token) = rest
            .split_once("/#token=")
            .expect("a token in the fragment");
        Self {
            address: address.to_owned(),
            token: token.to_owned(),
        }
    }

    fn bearer(&self) -> (&'static str, String) {
        ("authorization", format!("Bearer {}", self.token))
    }

    /// A request with exactly these fields, and `Host` if it is missing.
    fn send(&self, method: &str, path: &str, fields: &[(&str, String)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!(
            "{method} {path} HTTP/1.0\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !fields.iter().any(|(name, _)| *name == "host") {
            request += "Host: ";
            request += &self.address;
            request += "\r\n";
        }
        for (name, value) in fields {
            request.extend([name, ": ", value, "\r\n"]);
        }
        write!(stream, "{request}\r\n{body}").unwrap();
        stream
    }

    fn ask(&self, method: &str, path: &str, fields: &[(&str, String)], body: &str) -> Answer {
        let mut text = String::new();
        self.send(method, path, fields, body)
            .read_to_string(&mut text)
            .unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    /// The response to a request with the token.
    fn get(&self, path: &str) -> Value {
        let answer = self.ask("GET", path, &[self.bearer()], "");
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    /// All rows, each in its last version.
    fn rows(&self) -> Vec<Value> {
        let (mut rows, mut from): (Vec<Value>, u64) = (Vec::new(), 0);
        loop {
            let batch = self.get(&format!("/api/rows?from={from}"));
            let next = batch["next"].as_u64().unwrap();
            if next == from {
                return rows;
            }
            from = next;
            for row in batch["rows"].as_array().unwrap() {
                rows.retain(|old| key(old) != key(row));
                rows.push(row.clone());
            }
        }
    }

    /// The exchanges with their outcomes, by the places of their requests.
    fn exchanges(&self) -> Vec<(u64, String)> {
        let mut all: Vec<(u64, String)> = self
            .rows()
            .iter()
            .filter(|row| row["kind"] == "exchange")
            .map(|row| {
                let outcome = row["outcome"].as_str().unwrap().to_owned();
                (row["request_seq"].as_u64().unwrap(), outcome)
            })
            .collect();
        all.sort();
        all
    }

    /// A stream of new events.
    fn events(&self, last: Option<&str>) -> Events {
        let mut fields = vec![self.bearer()];
        fields.extend(last.map(|last| ("last-event-id", last.to_owned())));
        let mut stream = BufReader::new(self.send("GET", "/api/events", &fields, ""));
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        assert!(line.contains(" 200 "), "{line}");
        Events(stream)
    }
}

/// A stream of events.
struct Events(BufReader<TcpStream>);

impl Events {
    /// The next event with this name: its id and its data.
    fn next(&mut self, wanted: &str) -> (String, Value) {
        let (mut name, mut id) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            match line.trim_end().split_once(": ") {
                Some(("event", rest)) => rest.clone_into(&mut name),
                Some(("id", rest)) => rest.clone_into(&mut id),
                Some(("data", rest)) if name == wanted => {
                    return (id, serde_json::from_str(rest).unwrap());
                }
                _ => {}
            }
        }
    }

    /// Reads rows until one matches; returns the id of its event.
    fn until(&mut self, is: impl Fn(&Value) -> bool) -> String {
        loop {
            let (id, rows) = self.next("rows");
            if rows.as_array().unwrap().iter().any(&is) {
                return id;
            }
        }
    }
}

fn key(row: &Value) -> String {
    let seq = if row["request_seq"].is_null() {
        &row["seq"]
    } else {
        &row["request_seq"]
    };
    format!("{} {} {seq} {}", row["part"], row["kind"], row["id"])
}

/// A recorder with a page, around a server that answers everything.
struct Recorded {
    folder: tempfile::TempDir,
    session: Session,
    page: Page,
}

impl Recorded {
    fn start(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (tape, log) = (path("run.tape.jsonl"), path("log"));
        let mut all = vec!["-o", &tape, "--page"];
        all.extend(options);
        let peer = peer();
        let server = [peer.to_str().unwrap(), "answer", &log];
        let mut session = Session::start(record(&all, &server));
        let page = Page::of(&mut session.child);
        Self {
            folder,
            session,
            page,
        }
    }

    /// Calls a tool, and waits for the answer.
    fn call(&mut self, id: u64, tool: &str) {
        self.session.send(&call(id, tool));
        let line = self.session.line();
        assert!(line.contains(&format!("\"id\":{id}")), "{line}");
    }
}

/// A tool call.
fn call(id: u64, tool: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\"}},\"id\":{id}}}"
    )
}
