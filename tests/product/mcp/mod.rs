//! `tapewright mcp`: recordings as an MCP server.

mod answers;
mod clean;
mod guarded;
mod hostile;
mod live;

use std::fs;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Session, tapewright};

const PATIENCE: Duration = Duration::from_secs(60);

/// The recordings of the tests, by name.
const TAPES: [&str; 3] = ["handshake-stdio", "handshake-http", "stateless-stdio"];
const TAPE: &str = "handshake-stdio.tape.jsonl";

/// A folder of recordings of real sessions, with a cassette of one in a subfolder.
fn library() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let wire = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire");
    for name in TAPES {
        let name = format!("{name}.tape.jsonl");
        fs::copy(wire.join(&name), folder.path().join(&name)).unwrap();
    }
    fs::create_dir(folder.path().join("runs")).unwrap();
    let mut export = tapewright();
    export.current_dir(folder.path()).args([
        "export",
        TAPE,
        "--as",
        "cassette",
        "-o",
        "runs/one.json",
    ]);
    assert!(export.status().unwrap().success());
    folder
}

/// One call of every tool, and further ones for tools with several modes.
fn every_call() -> Vec<(&'static str, Value)> {
    vec![
        ("list_recordings", json!({})),
        ("inspect_recording", json!({ "recording": TAPE })),
        (
            "find_exchanges",
            json!({ "recording": TAPE, "filter": ["tool:e"], "limit": 3 }),
        ),
        (
            "find_exchanges",
            json!({ "recording": "runs/one.json", "filter": ["kind:progress,exchange"] }),
        ),
        (
            "find_exchanges",
            json!({ "recording": "handshake-http.tape.jsonl", "filter": ["kind:http"] }),
        ),
        ("show_exchange", json!({ "recording": TAPE, "id": "3" })),
        ("find_hangs", json!({ "recording": TAPE })),
        (
            "judge_recording",
            json!({ "recording": "handshake-http.tape.jsonl" }),
        ),
        (
            "diff_recordings",
            json!({ "before": TAPE, "after": "handshake-http.tape.jsonl" }),
        ),
        ("explain_code", json!({ "code": "INV-012" })),
        ("explain_code", json!({})),
        ("write_suite_step", json!({ "recording": TAPE, "seq": 15 })),
    ]
}

/// A client that communicates with the server line by line.
struct Asking {
    session: Session,
    id: u64,
}

impl Asking {
    /// A server for a folder, with further options.
    fn of(folder: &Path, options: &[&str]) -> Self {
        let mut command = tapewright();
        command
            .arg("mcp")
            .arg(folder)
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut asking = Self {
            session: Session::start(command),
            id: 0,
        };
        let client = json!({ "name": "test", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        asking.ask("initialize", &params);
        asking
            .session
            .send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        asking
    }

    /// The whole answer to a request.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        let request =
            json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        self.session.send(&request.to_string());
        let answer: Value = serde_json::from_str(&self.session.line()).unwrap();
        assert_eq!(answer["id"], self.id, "{answer}");
        answer
    }

    /// The result of a call.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.ask("tools/call", &params);
        assert!(answer["error"].is_null(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// The data of a call that succeeds.
    fn told(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// The text of a call that fails.
    fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        text(&result)
    }

    fn end(self) -> ExitStatus {
        self.session.finish(PATIENCE)
    }
}

/// The text of a result.
fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap().to_owned()
}
