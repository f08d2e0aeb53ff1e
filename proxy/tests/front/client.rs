//! A client that writes HTTP by hand and reads the answers.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use tapewright_proxy::front::FrontSettings;

use crate::fake::LIMIT;
use crate::front_server::FrontServer;

/// A connection to the front.
pub(crate) struct Http {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
    // The received part of a chunked body, and whether it has ended.
    text: String,
    ended: bool,
}

/// The head of an answer.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) fields: Vec<(String, String)>,
}

impl Head {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let (_, value) = fields.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(value)
    }
}

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const POST: &str =
    "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";

impl Http {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        Self {
            stream: BufReader::new(stream),
            address,
            text: String::new(),
            ended: false,
        }
    }

    /// Writes verbatim.
    pub(crate) fn raw(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Like `raw`, for bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    /// Sends a request with these header lines and this body.
    pub(crate) fn send(&mut self, line: &str, head: &str, body: &str) {
        let length = if body.is_empty() {
            String::new()
        } else {
            format!("Content-Length: {}\r\n", body.len())
        };
        let host = self.address;
        self.raw(&format!(
            "{line} HTTP/1.1\r\nHost: {host}\r\n{head}{length}\r\n{body}"
        ));
    }

    /// Reads the head of an answer.
    pub(crate) fn head(&mut self) -> Head {
        let mut head = Head::default();
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1);
        head.status = status
            .unwrap_or_else(|| panic!("a status line: {line:?}"))
            .parse()
            .unwrap();
        loop {
            line.clear();
            self.stream.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            head.fields.push((name.to_owned(), value.to_owned()));
        }
        self.text.clear();
        self.ended = false;
        head
    }

    /// Sends a request and reads its whole answer.
    pub(crate) fn ask(&mut self, line: &str, head: &str, body: &str) -> (Head, String) {
        self.send(line, head, body);
        self.answer()
    }

    /// Reads a whole answer.
    pub(crate) fn answer(&mut self) -> (Head, String) {
        let head = self.head();
        if head.get("transfer-encoding").is_some() {
            while self.chunk() {}
            return (head, std::mem::take(&mut self.text));
        }
        let length = head
            .get("content-length")
            .map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        (head, String::from_utf8(body).unwrap())
    }

    /// Sends a message like a client, with additional header lines.
    pub(crate) fn post(&mut self, head: &str, body: &str) -> (Head, String) {
        self.ask("POST /mcp", &format!("{POST}{head}"), body)
    }

    /// Sends a message without waiting for the answer.
    pub(crate) fn begin_post(&mut self, head: &str, body: &str) {
        self.send("POST /mcp", &format!("{POST}{head}"), body);
    }

    /// Opens a session; returns the header line with its id.
    pub(crate) fn open(&mut self) -> String {
        let (head, body) = self.post("", INITIALIZE);
        assert_eq!(head.status, 200, "{body}");
        let session = format!(
            "Mcp-Session-Id: {}\r\n",
            head.get("mcp-session-id").unwrap()
        );
        assert_eq!(self.post(&session, INITIALIZED).0.status, 202);
        session
    }

    /// Opens the stream of a GET.
    pub(crate) fn listen(&mut self, head: &str) -> Head {
        self.send(
            "GET /mcp",
            &format!("Accept: text/event-stream\r\n{head}"),
            "",
        );
        self.head()
    }

    /// The next block of an event stream, without comments; `None` at its normal end.
    pub(crate) fn event(&mut self) -> Option<String> {
        loop {
            let block = self.block()?;
            if !block.starts_with(':') {
                return Some(block);
            }
        }
    }

    /// The next block of an event stream, including comments.
    pub(crate) fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = block.to_owned();
                self.text = rest.to_owned();
                return Some(block);
            }
            if self.ended || !self.chunk() {
                assert!(self.text.is_empty(), "half an event: {}", self.text);
                return None;
            }
        }
    }

    /// The data of the next event.
    pub(crate) fn data(&mut self) -> Option<String> {
        let event = self.event()?;
        let mut lines = event.lines();
        Some(
            lines
                .find_map(|line| line.strip_prefix("data: "))
                .unwrap_or_default()
                .to_owned(),
        )
    }

    /// Reads one chunk of a body; returns false at its end.
    fn chunk(&mut self) -> bool {
        let mut size = String::new();
        assert_ne!(
            self.stream.read_line(&mut size).unwrap(),
            0,
            "the body breaks off"
        );
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        self.stream.read_exact(&mut chunk).unwrap();
        chunk.truncate(size);
        self.text.push_str(&String::from_utf8(chunk).unwrap());
        self.ended = size == 0;
        size > 0
    }

    /// Whether the server closes the connection without further bytes.
    pub(crate) fn is_closed(&mut self) -> bool {
        self.stream.fill_buf().map_or(true, <[u8]>::is_empty)
    }
}

impl FrontServer {
    /// A connection to the front.
    pub(crate) fn http(&self) -> Http {
        Http::connect(self.address)
    }
}

/// Settings with short timeouts.
pub(crate) fn hasty() -> FrontSettings {
    FrontSettings {
        patience: Duration::from_millis(20),
        keep_alive: Duration::from_millis(20),
        ..FrontSettings::default()
    }
}
