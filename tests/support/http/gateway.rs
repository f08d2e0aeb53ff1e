//! The gateway under test: the real binary, and its recording.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use serde_json::Value;
use tapewright_schemas::event::{
    CloseReason, Direction, Edit, Event, EventBody, Head, InPlace, RequestHead, ResponseHead,
    SseNote,
};

use super::{PATIENCE, Wire};
use crate::support::system::{STOPPED, peak_memory_kib, spawn};
use crate::support::{Tape, signal, tapewright, wait};

/// A gateway that runs.
pub(crate) struct Gateway {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    /// The line of JSON that it printed.
    pub(crate) line: Value,
    pub(crate) folder: tempfile::TempDir,
    // The status of a regular end.
    status: AtomicI32,
}

impl Gateway {
    /// In front of a server at an address.
    pub(crate) fn to(upstream: SocketAddr, options: &[&str]) -> Self {
        Self::to_url(&format!("http://{upstream}/mcp"), options)
    }

    /// In front of a server with a URL.
    pub(crate) fn to_url(url: &str, options: &[&str]) -> Self {
        let mut all = vec!["--upstream", url];
        if !options.contains(&"--listen") {
            all.extend(["--listen", "127.0.0.1:0"]);
        }
        all.extend(options);
        Self::start(&all)
    }

    /// As a forward proxy.
    pub(crate) fn forward(options: &[&str]) -> Self {
        let mut all = vec!["--forward-proxy", "127.0.0.1:0"];
        all.extend(options);
        Self::start(&all)
    }

    pub(crate) fn start(options: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().expect("a folder"), options)
    }

    pub(crate) fn start_in(folder: tempfile::TempDir, options: &[&str]) -> Self {
        let tape = folder.path().join("run.tape.jsonl");
        let mut command = tapewright();
        command.arg("record").arg("-o").arg(tape).args(options);
        Self::of(folder, &mut command)
    }

    /// Any command that serves HTTP.
    pub(crate) fn of(folder: tempfile::TempDir, command: &mut Command) -> Self {
        let errors = File::create(folder.path().join("stderr")).expect("a file");
        command
            .env("TAPEWRIGHT_HOME", folder.path().join("home"))
            .env("TEST_SECRET", "Bearer from-the-environment-4711")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(errors);
        let mut child = spawn(command).expect("the gateway starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe"))
            .read_line(&mut line)
            .expect("readable output");
        let line: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            let errors = std::fs::read_to_string(folder.path().join("stderr"));
            panic!("no line of JSON but {line:?}; {errors:?}")
        });
        let url = line["listening"].as_str().expect("a URL");
        let authority = url.split('/').nth(2).expect("an authority");
        Self {
            address: authority.parse().expect("an address"),
            line,
            child,
            folder,
            status: AtomicI32::new(0),
        }
    }

    pub(crate) fn connect(&self) -> Wire {
        Wire::connect(self.address)
    }

    pub(crate) fn tape(&self) -> PathBuf {
        self.folder.path().join("run.tape.jsonl")
    }

    pub(crate) fn errors(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("stderr")).expect("a file")
    }

    /// The most memory that it had.
    pub(crate) fn peak_memory_kib(&self) -> u64 {
        peak_memory_kib(self.child.id())
    }

    pub(crate) fn signal(&self, name: &str) {
        if name == "TERM" {
            self.status.store(STOPPED, Relaxed);
        }
        signal(self.child.id(), name);
    }

    /// The status of a regular end: that of being stopped, if it was.
    pub(crate) fn regular(&self) -> i32 {
        self.status.load(Relaxed)
    }

    /// Waits for its regular end and reads its tape, which must be complete.
    pub(crate) fn ended(&mut self) -> Tape {
        let tape = self.ended_with(self.regular());
        assert!(tape.is_complete(), "{:?}", tape.ending);
        tape
    }

    /// Stops it and reads its tape, which must be complete.
    pub(crate) fn stop(mut self) -> Tape {
        self.signal("TERM");
        self.ended()
    }

    /// Stops it, whatever it wrote and where.
    pub(crate) fn stop_quietly(mut self) {
        self.signal("TERM");
        wait(&mut self.child, PATIENCE);
    }

    /// Stops it and reads its tape, which must have gaps, and the exit status must report that.
    pub(crate) fn stop_with_gaps(mut self) -> Tape {
        self.signal("TERM");
        let tape = self.ended_with(3);
        assert!(!tape.is_complete(), "{:?}", tape.ending);
        tape
    }

    fn ended_with(&mut self, status: i32) -> Tape {
        let ended = wait(&mut self.child, PATIENCE);
        assert_eq!(ended.code(), Some(status), "{}", self.errors());
        Tape::read(&self.tape())
    }

    /// Every byte of every file that it wrote.
    pub(crate) fn bytes_on_disk(&self) -> Vec<u8> {
        let mut all = Vec::new();
        gather(self.folder.path(), &mut all);
        all
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn gather(folder: &Path, all: &mut Vec<u8>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            gather(&path, all);
        } else {
            all.extend(std::fs::read(path).expect("a file"));
        }
    }
}

/// A tunnel to an authority.
pub(crate) fn tunnel(gateway: &Gateway, authority: &str) -> Wire {
    let mut client = gateway.connect();
    client.send(format!(
        "CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n"
    ));
    let head = client.head();
    assert_eq!(head.status(), 200);
    assert!(head.get("content-length").is_none() && head.get("transfer-encoding").is_none());
    client
}

/// One exchange, as recorded on a tape.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) session: u32,
    pub(crate) request: RequestHead,
    pub(crate) response: Option<ResponseHead>,
    pub(crate) events: Vec<Event>,
}

impl Recorded {
    pub(crate) fn messages(&self, dir: Direction) -> Vec<String> {
        self.texts(dir, |body| match body {
            EventBody::Message { payload, .. } => Some(payload.kept().to_vec()),
            _ => None,
        })
    }

    /// The recorded content that is not a message.
    pub(crate) fn bodies(&self, dir: Direction) -> Vec<String> {
        self.texts(dir, |body| match body {
            EventBody::Body { payload } => Some(payload.kept().to_vec()),
            _ => None,
        })
    }

    fn texts(&self, dir: Direction, of: impl Fn(&EventBody) -> Option<Vec<u8>>) -> Vec<String> {
        let events = self.events.iter().filter(|event| event.dir == dir);
        events
            .filter_map(|event| of(&event.body))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect()
    }

    /// How a direction ended; fails if it has more than one end.
    pub(crate) fn end(&self, dir: Direction) -> Option<CloseReason> {
        let mut ends = self.events.iter().filter_map(|event| match event.body {
            EventBody::Closed(reason) if event.dir == dir => Some(reason),
            _ => None,
        });
        let end = ends.next();
        assert_eq!(ends.next(), None, "a direction ends once");
        end
    }

    pub(crate) fn edits(&self) -> Vec<&Edit> {
        self.find(|body| match body {
            EventBody::Edited(edit) => Some(edit.as_ref()),
            _ => None,
        })
    }

    pub(crate) fn notes(&self) -> Vec<&SseNote> {
        self.find(|body| match body {
            EventBody::Sse(note) => Some(note.as_ref()),
            _ => None,
        })
    }

    /// The statuses of interim responses, in order.
    pub(crate) fn interims(&self) -> Vec<u16> {
        self.find(|body| match body {
            EventBody::Head(head) => match head.as_ref() {
                Head::Interim(head) => Some(head.status),
                _ => None,
            },
            _ => None,
        })
    }

    pub(crate) fn trailers(&self, dir: Direction) -> Vec<(String, String)> {
        let events = self.events.iter().filter(|event| event.dir == dir);
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        events
            .filter_map(|event| match &event.body {
                EventBody::Trailers(fields) => Some(fields.iter().map(owned)),
                _ => None,
            })
            .flatten()
            .collect()
    }

    /// The parts of event bodies that `of` selects.
    pub(crate) fn find<'a, T>(&'a self, of: impl Fn(&'a EventBody) -> Option<T>) -> Vec<T> {
        self.events
            .iter()
            .filter_map(|event| of(&event.body))
            .collect()
    }

    /// The cause for which the recorder answered in the server's place, and its subject.
    pub(crate) fn ours(&self) -> String {
        let response = self.response.as_ref().expect("an answer");
        let cause = response.ours_cause.expect("an answer of ours").name();
        match &response.ours_about {
            Some(about) => format!("{cause}: {about}"),
            None => cause.to_owned(),
        }
    }

    /// Why we answered in the server's place.
    pub(crate) fn in_place(&self) -> Option<InPlace> {
        self.response.as_ref()?.ours
    }
}

impl Tape {
    /// The exchanges, in the order in which they began.
    pub(crate) fn exchanges(&self) -> Vec<Recorded> {
        let mut found: Vec<(u32, Recorded)> = Vec::new();
        for event in &self.events {
            let number = event.conduit.0;
            if number == 0 {
                continue;
            }
            let at = found.iter().position(|(known, _)| *known == number);
            let at = at.unwrap_or_else(|| {
                let session = event.session.0;
                found.push((
                    number,
                    Recorded {
                        session,
                        ..Recorded::default()
                    },
                ));
                found.len() - 1
            });
            let exchange = &mut found[at].1;
            assert_eq!(
                exchange.session, event.session.0,
                "one exchange, one session"
            );
            if let EventBody::Head(head) = &event.body {
                match head.as_ref() {
                    Head::Interim(_) => {}
                    Head::Request(head) => exchange.request = head.clone(),
                    Head::Response(head) => exchange.response = Some(head.clone()),
                }
            }
            exchange.events.push(event.clone());
        }
        found.sort_by_key(|(number, _)| *number);
        found.into_iter().map(|(_, exchange)| exchange).collect()
    }

    /// The only exchange.
    pub(crate) fn only(&self) -> Recorded {
        let mut all = self.exchanges();
        assert_eq!(all.len(), 1, "{all:#?}");
        all.remove(0)
    }
}
