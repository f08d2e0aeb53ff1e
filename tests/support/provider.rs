//! The scripted provider of models (`tests/peer/provider` documents the script).
//!
//! ```ignore
//! let provider = Provider::start(&json!({"key": "sk-told", "turns": [
//!     {"tools": [{"name": "add", "arguments": {"a": 2, "b": 3}}]},
//!     {"text": "It is 5."},
//! ]}));
//! // ANTHROPIC_BASE_URL = provider.url(); OPENAI_BASE_URL = provider.url() + "/v1"; Gemini's = provider.url()
//! assert_eq!(provider.requests()[0]["wire"], "anthropic");
//! ```

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// A provider with scripted answers; it ends when it is dropped.
pub(crate) struct Provider {
    child: Child,
    url: String,
    folder: TempDir,
}

impl Provider {
    /// Starts one on a free port.
    pub(crate) fn start(script: &Value) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(super::peer());
        command
            .args(["provider", &script.to_string()])
            .arg(folder.path().join("requests"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("the peer starts");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut url = String::new();
        output.read_line(&mut url).expect("its address");
        let url = url.trim().to_owned();
        Self { child, url, folder }
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The variables that point clients of models to this provider, with this key.
    pub(crate) fn variables(&self, key: &str) -> [(&'static str, String); 8] {
        let (url, v1) = (self.url.clone(), format!("{}/v1", self.url));
        [
            ("ANTHROPIC_BASE_URL", url.clone()),
            ("ANTHROPIC_API_KEY", key.to_owned()),
            ("OPENAI_BASE_URL", v1.clone()),
            ("OPENAI_API_KEY", key.to_owned()),
            ("MISTRAL_BASE_URL", v1),
            ("MISTRAL_API_KEY", key.to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", url),
            ("GEMINI_API_KEY", key.to_owned()),
        ]
    }

    /// The requests that it got so far, each with `wire`, `method`, `path`, `status`, `turn`, `key` and `body`.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(self.log()).expect("a log");
        let read = |line: &str| serde_json::from_str(line).expect("JSON lines");
        log.lines().map(read).collect()
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("requests")
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Sends a request to a provider, or to its replacement: returns the status, the head and the body,
/// its chunks joined.
pub(crate) fn ask(url: &str, path: &str, head: &str, body: &Value) -> (u16, String, Vec<u8>) {
    let host = url.trim_start_matches("http://");
    let mut socket = TcpStream::connect(host).expect("a connection");
    socket
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("an option");
    let body = body.to_string();
    write!(
        socket,
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n{head}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("it reads");
    let mut answer = Vec::new();
    // A stream that is cut may end with a reset.
    socket.read_to_end(&mut answer).ok();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let body = answer.split_off(end.expect("a head") + 4);
    let head = String::from_utf8_lossy(&answer).to_ascii_lowercase();
    let status = head.split(' ').nth(1).expect("a status");
    let status = status.parse().expect("a number");
    let body = if head.contains("transfer-encoding: chunked") {
        joined(&body)
    } else {
        body
    };
    (status, head, body)
}

fn joined(mut chunks: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = chunks.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&chunks[..end]).expect("a size");
        let size = usize::from_str_radix(size.trim(), 16).expect("a size");
        let Some(part) = chunks.get(end + 2..end + 2 + size) else {
            break;
        };
        body.extend_from_slice(part);
        chunks = chunks.get(end + 4 + size..).unwrap_or_default();
    }
    body
}
