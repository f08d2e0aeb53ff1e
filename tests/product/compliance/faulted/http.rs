//! A session over streamable HTTP, with bodies of JSON or of events.

use std::io::Read as _;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};

use super::{
    Came, Client, INITIALIZE, INITIALIZED, LONG, PATIENCE, SHORT, Transport, answer, is_answered,
    process,
};
use crate::support::http::{Gateway, Seen, Strict, chunk, json, post, request};
use crate::support::{Tape, eventually};

const SESSION: &str = "Mcp-Session-Id: s-1\r\n";
const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n";
const ACCEPTED: &str = "HTTP/1.1 202 Accepted\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
/// How a response ends on the tape if its client left before.
const GONE: &str = "\"closed\":\"receiver gone\"";
const VERSION: &str = "MCP-Protocol-Version: 2025-06-18\r\n";

/// A client that sends each message with a POST, and its gateway.
pub(super) struct Posts {
    gateway: Gateway,
    tape: PathBuf,
    came: Came,
    // Open connections.
    open: Vec<TcpStream>,
    way: Transport,
    // The header with the session id, once there is one.
    session: Option<String>,
}

impl Posts {
    pub(super) fn start(folder: &Path, options: &[&str], way: Transport) -> Self {
        let server = match way {
            Transport::Front => ["--".to_owned()].into_iter().chain(process()).collect(),
            way => vec![
                "--upstream".to_owned(),
                format!("http://{}/mcp", streamable(way)),
            ],
        };
        let tape = folder.join("run.tape.jsonl");
        let mut all = vec!["--listen", "127.0.0.1:0", "-o", tape.to_str().unwrap()];
        all.extend(options);
        all.extend(server.iter().map(String::as_str));
        let mut command = crate::support::tapewright();
        let gateway = Gateway::of(
            tempfile::tempdir().unwrap(),
            command.arg("record").args(&all),
        );
        Self {
            gateway,
            tape,
            came: Came::default(),
            open: Vec::new(),
            way,
            session: None,
        }
    }

    /// Sends a request on a new connection; responses are collected.
    fn ask(&mut self, text: &str) {
        let mut wire = self.gateway.connect();
        let socket = wire.writer();
        // The fault may have ended everything already.
        wire.try_send(text).ok();
        socket.set_read_timeout(None).unwrap();
        self.came.gather(socket.try_clone().unwrap());
        self.open.push(socket);
    }
}

impl Client for Posts {
    fn open(&mut self) {
        self.send(INITIALIZE);
        assert!(is_answered(self, 0, PATIENCE));
        let came = self.came.text();
        let mut heads = came.lines();
        let named = heads.find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id:"));
        self.session = named.map(|line| format!("{line}\r\n"));
        self.send(INITIALIZED);
        // A later message would overtake it.
        let accepted = || self.came.text().contains("HTTP/1.1 202");
        assert!(eventually(PATIENCE, accepted));
    }

    fn send(&mut self, message: &str) {
        let address = self.gateway.address;
        let accept = "Accept: application/json, text/event-stream\r\nConnection: close\r\n";
        let session = self.session.as_deref();
        let known = session.map_or_else(String::new, |session| format!("{session}{VERSION}"));
        let text = post(address, &(accept.to_owned() + &known), message);
        self.ask(&text);
    }

    fn came(&mut self) -> String {
        self.came.text()
    }

    fn leave(&mut self) {
        for socket in self.open.drain(..) {
            socket.shutdown(Shutdown::Both).ok();
        }
        // In front of a process, the stream of an answer may be resumed.
        if !matches!(self.way, Transport::Front) {
            let gone = || std::fs::read_to_string(&self.tape).is_ok_and(|text| text.contains(GONE));
            let _cut_by_the_fault = !eventually(LONG, gone);
        }
    }

    fn finish(mut self: Box<Self>) -> Tape {
        let session = self.session.as_deref().unwrap_or_default();
        let fields = format!("{session}{VERSION}Connection: close\r\n");
        let text = request("DELETE /mcp", self.gateway.address, &fields);
        let mut wire = self.gateway.connect();
        wire.try_send(text).ok();
        // A session that is wedged does not answer that either.
        let mut socket = wire.writer();
        socket.set_read_timeout(Some(SHORT)).unwrap();
        socket.read_to_end(&mut Vec::new()).ok();
        for socket in self.open.drain(..) {
            socket.shutdown(Shutdown::Both).ok();
        }
        self.gateway.signal("TERM");
        crate::support::wait(&mut self.gateway.child, PATIENCE);
        Tape::read(&self.tape)
    }
}

/// A correct server of streamable HTTP.
fn streamable(way: Transport) -> SocketAddr {
    let respond = move |seen: &Seen| {
        let message = String::from_utf8_lossy(&seen.body).into_owned();
        let response = if seen.head.line.starts_with("DELETE") {
            ACCEPTED.replacen("202 Accepted", "200 OK", 1)
        } else if let Some(answer) = answer(&message) {
            match way {
                Transport::Events => {
                    let event = String::from_utf8(chunk(format!("data: {answer}\n\n"))).unwrap();
                    let coding = "Transfer-Encoding: chunked\r\n";
                    format!("{STREAM}{SESSION}{coding}\r\n{event}0\r\n\r\n")
                }
                _ => json(
                    "200 OK",
                    &format!("Connection: close\r\n{SESSION}"),
                    &answer,
                ),
            }
        } else {
            ACCEPTED.to_owned()
        };
        response.into_bytes()
    };
    Strict::start(respond).address()
}
