//! `record --models`: an agent, its models and its servers in one recording.

mod agent;
mod differences;
mod law;
pub(crate) mod links;
mod secrets;
mod shown;
mod tls;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::http::{Gateway, Upstream, Wire, request};
use crate::support::tapewright;

/// A gateway for models, with a scripted provider for each of its three names.
struct Models {
    gateway: Gateway,
    anthropic: Upstream,
    openai: Upstream,
    gemini: Upstream,
}

impl Models {
    fn start() -> Self {
        let [anthropic, openai, gemini] = [(); 3].map(|()| Upstream::start());
        let folder = tempfile::tempdir().unwrap();
        let mut command = tapewright();
        command
            .args(["record", "--models", "--listen", "127.0.0.1:0", "-o"])
            .arg(folder.path().join("run"))
            .arg(format!(
                "--provider=anthropic=http://{}",
                anthropic.address()
            ))
            .arg(format!("--provider=openai=http://{}/v1", openai.address()))
            .arg(format!("--provider=gemini=http://{}", gemini.address()));
        Self {
            gateway: Gateway::of(folder, &mut command),
            anthropic,
            openai,
            gemini,
        }
    }

    fn folder(&self) -> PathBuf {
        self.gateway.folder.path().join("run")
    }

    /// A POST to the gateway.
    fn post(&self, target: &str, fields: &str, body: &str) -> Wire {
        let mut client = self.gateway.connect();
        let length = body.len();
        let fields =
            format!("{fields}Content-Type: application/json\r\nContent-Length: {length}\r\n");
        let line = format!("POST {target}");
        client.send(request(&line, self.gateway.address, &fields) + body);
        client
    }

    /// Stops it; everything it wrote.
    fn stop(mut self) -> (tempfile::TempDir, String) {
        self.gateway.signal("TERM");
        let ended = crate::support::wait(&mut self.gateway.child, crate::support::http::PATIENCE);
        let regular = Some(self.gateway.regular());
        assert_eq!(ended.code(), regular, "{}", self.gateway.errors());
        let written = String::from_utf8_lossy(&self.gateway.bytes_on_disk()).into_owned();
        let none = tempfile::tempdir().unwrap();
        (std::mem::replace(&mut self.gateway.folder, none), written)
    }
}

/// The header of a tape.
fn header(tape: &Path) -> Value {
    let text = std::fs::read_to_string(tape).unwrap();
    serde_json::from_str(text.lines().next().unwrap()).unwrap()
}

/// The output of `inspect --json` for a file or a folder.
fn inspected(path: &Path) -> Value {
    let output = tapewright()
        .args(["inspect", "--json"])
        .arg(path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}
