//! Recorders that write tapes, and the program, for both test targets.

pub(crate) mod recorded;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// A folder of tapes and a folder that is a store.
pub(crate) struct Fleet {
    pub(crate) tapes: TempDir,
    pub(crate) store: TempDir,
    /// The store if it is not the folder, and the environment for it.
    bucket: Option<(String, Vec<(&'static str, String)>)>,
}

impl Fleet {
    pub(crate) fn new() -> Self {
        Self {
            tapes: tempfile::tempdir().unwrap(),
            store: tempfile::tempdir().unwrap(),
            bucket: None,
        }
    }

    /// Sets the store to the bucket `tapes` of a server.
    pub(crate) fn bucket(&mut self, endpoint: &str, secret: &str) {
        self.bucket_below(endpoint, secret, "fleet");
    }

    /// Like `bucket`, with a prefix.
    pub(crate) fn bucket_below(&mut self, endpoint: &str, secret: &str, prefix: &str) {
        let variables = vec![
            ("AWS_ENDPOINT_URL", endpoint.to_owned()),
            ("AWS_ACCESS_KEY_ID", format!("id-{secret}")),
            ("AWS_SECRET_ACCESS_KEY", secret.to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
        ];
        self.bucket = Some((format!("s3://tapes/{prefix}"), variables));
    }

    /// How many events the store has, if it can be reached.
    pub(crate) fn events(&self) -> u64 {
        let output = self.run(&["ls", "--json"]);
        let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let rows = told["tapes"].as_array().cloned().unwrap_or_default();
        rows.iter().filter_map(|row| row["events"].as_u64()).sum()
    }

    pub(crate) fn url(&self) -> String {
        if let Some((url, _)) = &self.bucket {
            return url.clone();
        }
        format!("file://{}", self.store.path().display())
    }

    /// The program with these arguments, and the environment for the store.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tapewright-fleet"));
        command
            .args(arguments)
            .env("TAPEWRIGHT_STORE", self.url())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some((_, variables)) = &self.bucket {
            command.envs(variables.iter().cloned());
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// `ship` as gateway `g1`, with more arguments. It does not wait until other tests need
    /// no processor.
    pub(crate) fn ship(&self, more: &[&str]) -> Command {
        let mut command = self.ship_idle(more);
        command.args(["--nice", "0"]);
        command
    }

    /// The same at the default priority.
    pub(crate) fn ship_idle(&self, more: &[&str]) -> Command {
        let mut command = self.command(&["ship"]);
        command.arg(self.tapes.path());
        command.args(["--gateway", "g1"]).args(more);
        command
    }

    /// Ships everything that exists.
    pub(crate) fn ship_all(&self, more: &[&str]) {
        let output = self.ship(&["--once"]).args(more).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// The output of `ls --json` for each tape.
    pub(crate) fn list(&self) -> Vec<Value> {
        let output = self.run(&["ls", "--json"]);
        assert!(output.status.success(), "{output:?}");
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        told["tapes"].as_array().unwrap().clone()
    }

    /// The contents of a fetched tape.
    pub(crate) fn fetch(&self, tape: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_string_lossy().into_owned();
        let output = self.run(&["fetch", tape, "-o", &path, "--json"]);
        assert!(output.status.success(), "{output:?}");
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        fs::read(told["file"].as_str().unwrap()).unwrap()
    }
}

/// Writes a tape like a recorder: under a lock, by appending.
pub(crate) struct Recorder {
    pub(crate) path: PathBuf,
    file: File,
    seq: u64,
    at_us: u64,
}

impl Recorder {
    pub(crate) fn begin(folder: &Path, name: &str) -> Self {
        let path = folder.join(format!("{name}.tape.jsonl"));
        let file = File::options()
            .append(true)
            .create_new(true)
            .open(&path)
            .unwrap();
        file.try_lock().unwrap();
        let mut recorder = Self {
            path,
            file,
            seq: 0,
            at_us: 0,
        };
        recorder.write(&format!(
            "{{\"tape\":\"2.4\",\"created\":\"2026-11-26T03:15:00.5Z\",\"label\":\"{name}\"}}\n"
        ));
        recorder
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.file.write_all(text.as_bytes()).unwrap();
    }

    /// Appends this many events, some in two writes.
    pub(crate) fn events(&mut self, count: u64) {
        for _ in 0..count {
            self.seq += 1;
            let seq = self.seq;
            let pad = "x".repeat(usize::try_from(seq * 37 % 400).unwrap());
            let line = format!("{{\"seq\":{seq},\"at_us\":{seq},\"stderr\":\"{pad}\"}}\n");
            let (front, back) = line.split_at(line.len() / (1 + usize::try_from(seq % 3).unwrap()));
            self.write(front);
            self.write(back);
        }
    }

    /// Appends this many calls of four tools, each with its answer.
    pub(crate) fn calls(&mut self, count: u64) {
        for id in 0..count {
            let call = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"t{}\"}}}}",
                id % 4
            );
            let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}");
            for (dir, message) in [("to_server", call), ("to_client", answer)] {
                self.seq += 1;
                let seq = self.seq;
                self.write(&format!(
                    "{{\"seq\":{seq},\"at_us\":{seq},\"dir\":\"{dir}\",\"message\":{message}}}\n"
                ));
            }
        }
    }

    /// Appends a call that is never answered.
    pub(crate) fn call_without_an_answer(&mut self, tool: &str, argument: &str) {
        self.seq += 1;
        let seq = self.seq;
        let message = serde_json::json!({
            "jsonrpc": "2.0", "id": format!("x{seq}"), "method": "tools/call",
            "params": {"name": tool, "arguments": {"x": argument}},
        });
        self.write(&format!(
            "{{\"seq\":{seq},\"at_us\":{seq},\"dir\":\"to_server\",\"message\":{message}}}\n"
        ));
    }

    /// Appends the server's name and version.
    pub(crate) fn introduce(&mut self, name: &str, version: &str) {
        let ask = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
        self.message("to_server", 0, ask);
        let answer = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{{\"tools\":{{}}}},\"serverInfo\":{{\"name\":\"{name}\",\"version\":\"{version}\"}}}}}}"
        );
        self.message("to_client", 100, &answer);
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.message("to_server", 100, ready);
    }

    /// Appends a list of tools, each with a parameter of this name.
    pub(crate) fn list_tools(&mut self, tools: &[(&str, &str)]) {
        let ask = r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#;
        self.message("to_server", 100, ask);
        let tool = |(name, parameter): &(&str, &str)| {
            serde_json::json!({"name": name, "inputSchema": {
                "type": "object", "properties": {*parameter: {"type": "string"}},
            }})
        };
        let tools: Vec<Value> = tools.iter().map(tool).collect();
        let answer = serde_json::json!({"jsonrpc": "2.0", "id": "l", "result": {"tools": tools}});
        self.message("to_client", 100, &answer.to_string());
    }

    /// Appends a call of a tool, answered this many microseconds later.
    pub(crate) fn call(&mut self, id: u64, tool: &str, answered_us: Option<u64>) {
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\"}}}}"
        );
        self.message("to_server", 1_000, &call);
        if let Some(after_us) = answered_us {
            let answer =
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}");
            self.message("to_client", after_us, &answer);
        }
    }

    /// Appends a finding about the event this many events earlier.
    pub(crate) fn finding(&mut self, code: &str, back: u64) {
        let evidence = self.seq + 1 - back;
        self.event(&format!(
            "\"finding\":{{\"code\":\"{code}\",\"status\":\"fail\",\"side\":\"server\",\"severity\":\"must\",\"detail\":\"it's \u{9b}2J\",\"evidence\":[{{\"seq\":{evidence},\"pointer\":\"/result\"}}]}}"
        ));
    }

    /// Appends a model call of Anthropic, with this many tokens of each kind.
    pub(crate) fn model_call(&mut self, conduit: u32, model: &str, tokens: u32) {
        let call = [
            "\"dir\":\"to_server\",\"request\":{\"method\":\"POST\",\"target\":\"/v1/messages\",\"version\":\"HTTP/1.1\",\"fields\":[[\"host\",\"api.anthropic.com\"],[\"content-type\",\"application/json\"]]}".to_owned(),
            format!("\"dir\":\"to_server\",\"body\":{{\"json\":{{\"model\":\"{model}\",\"max_tokens\":9,\"messages\":[]}}}}"),
            "\"dir\":\"to_client\",\"response\":{\"status\":200,\"version\":\"HTTP/1.1\",\"fields\":[[\"content-type\",\"application/json\"]]}".to_owned(),
            format!("\"dir\":\"to_client\",\"body\":{{\"json\":{{\"type\":\"message\",\"role\":\"assistant\",\"id\":\"m\",\"model\":\"{model}\",\"stop_reason\":\"tool_use\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"read\",\"input\":{{}}}}],\"usage\":{{\"input_tokens\":{tokens},\"output_tokens\":{tokens}}}}}}}"),
            "\"dir\":\"to_client\",\"closed\":\"end of input\"".to_owned(),
        ];
        for part in call {
            self.event(&format!("\"conduit\":{conduit},{part}"));
        }
    }

    fn event(&mut self, rest: &str) {
        self.seq += 1;
        self.at_us += 10;
        let (seq, at) = (self.seq, self.at_us);
        self.write(&format!("{{\"seq\":{seq},\"at_us\":{at},{rest}}}\n"));
    }

    /// Appends a message, this many microseconds after the last one.
    pub(crate) fn message(&mut self, dir: &str, after_us: u64, message: &str) {
        self.seq += 1;
        self.at_us += after_us;
        let (seq, at) = (self.seq, self.at_us);
        self.write(&format!(
            "{{\"seq\":{seq},\"at_us\":{at},\"dir\":\"{dir}\",\"message\":{message}}}\n"
        ));
    }

    /// Appends the footer and releases the lock. Returns the tape.
    pub(crate) fn end(mut self) -> Vec<u8> {
        let seq = self.seq;
        self.write(&format!(
            "{{\"end\":{{\"at_us\":9,\"events\":{seq},\"complete\":true}}}}\n"
        ));
        fs::read(&self.path).unwrap()
    }
}

/// Waits until a condition holds.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..3_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("never: {what}");
}
