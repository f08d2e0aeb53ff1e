//! `record --otlp`: what a collector gets during a recording, and that a faulty one does not affect
//! a session.

mod hidden;
mod measured;
mod models;
mod options;
mod replayed;
mod sent;
mod tls;
mod troubled;

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use rustls::ServerConfig;
use serde_json::{Value, json};

use crate::cli::golden::run;
use crate::support::http::{Seen, Strict, json as http_json};
use crate::support::{Session, peer, record};

const LIMIT: Duration = Duration::from_secs(60);

/// A collector that stores its requests.
struct Collector {
    server: Strict,
    // Bodies, and whether each was taken.
    seen: Mutex<Vec<Request>>,
}

/// A request that a collector got.
#[derive(Clone)]
struct Request {
    line: String,
    fields: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let found = fields.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Its spans, which the types of OTLP also accept.
    fn spans(&self) -> Vec<Value> {
        let read: ExportTraceServiceRequest = serde_json::from_slice(&self.body).unwrap();
        let value: Value = serde_json::from_slice(&self.body).unwrap();
        let resources = value["resourceSpans"].as_array().unwrap();
        let spans: Vec<Value> = resources
            .iter()
            .flat_map(|one| one["scopeSpans"][0]["spans"].as_array().unwrap().clone())
            .collect();
        let scopes = read.resource_spans.iter().flat_map(|one| &one.scope_spans);
        assert_eq!(
            scopes.map(|one| one.spans.len()).sum::<usize>(),
            spans.len()
        );
        spans
    }
}

/// An answer that takes everything.
fn taken() -> Vec<u8> {
    http_json("200 OK", "", "{}").into_bytes()
}

/// An answer without a body that matters.
fn status(line: &str, fields: &str) -> Vec<u8> {
    http_json(line, fields, "{}").into_bytes()
}

impl Collector {
    fn good() -> Self {
        Self::start(|_| taken())
    }

    fn start(answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self {
            server: Strict::start(answer),
            seen: Mutex::default(),
        }
    }

    fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// A collector behind TLS.
    fn behind_tls(config: Arc<ServerConfig>) -> Self {
        Self {
            server: Strict::start_tls(config, |_| taken()),
            seen: Mutex::default(),
        }
    }

    /// The requests with spans that it got so far.
    fn requests(&self) -> Vec<Request> {
        let all = self.all().into_iter();
        all.filter(|one| !one.line.contains("/v1/metrics"))
            .collect()
    }

    /// The requests with durations that it got so far.
    fn measured(&self) -> Vec<Request> {
        let all = self.all().into_iter();
        all.filter(|one| one.line.contains("/v1/metrics")).collect()
    }

    /// The requests that it got so far.
    fn all(&self) -> Vec<Request> {
        let mut seen = self.seen.lock().unwrap();
        let fresh = self.server.seen().into_iter().map(|seen| Request {
            line: seen.head.line,
            fields: seen.head.fields,
            body: seen.body,
        });
        seen.extend(fresh);
        seen.clone()
    }

    fn spans(&self) -> Vec<Value> {
        self.requests().iter().flat_map(Request::spans).collect()
    }
}

/// A folder with a recorder in it that sends traces.
struct RecorderFolder(tempfile::TempDir);

impl RecorderFolder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, name: &str) -> String {
        self.path().join(name).to_str().unwrap().to_owned()
    }

    /// A recorder of the suite server, with a log.
    fn recorder(&self, collector: &str, options: &[&str]) -> Command {
        let (tape, log) = (self.file("fs.tape.jsonl"), self.file("log"));
        let mut all = vec!["-o", &tape, "--otlp", collector];
        all.extend(["--log", &log, "--log-format", "json"]);
        all.extend(options);
        let server = peer();
        let mut command = record(&all, &[server.to_str().unwrap(), "suite"]);
        command
            .env("TAPEWRIGHT_HOME", self.file("home"))
            .env("OTEL_BSP_SCHEDULE_DELAY", "20")
            // `measured` tests them; the other tests need not distinguish their requests.
            .env("OTEL_METRICS_EXPORTER", "none");
        command
    }

    fn record(&self, collector: &str, options: &[&str]) -> Session {
        Session::start(self.recorder(collector, options))
    }

    /// The lines of an event of the log.
    fn logged(&self, event: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.file("log")).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines
            .filter(|line: &Value| line["event"] == event)
            .collect()
    }

    /// The numbers sent and lost, according to the log at the end.
    fn told(&self) -> (u64, u64) {
        let [sent] = self.logged("spans_sent").try_into().expect("one line");
        (
            sent["sent"].as_u64().unwrap(),
            sent["lost"].as_u64().unwrap(),
        )
    }

    fn exported(&self, options: &[&str]) -> Vec<Value> {
        exported(self.path(), "fs.tape.jsonl", options)
    }
}

/// The spans of a tape.
fn exported(folder: &Path, tape: &str, options: &[&str]) -> Vec<Value> {
    let mut arguments = vec!["export", tape, "--as", "otlp", "-o", "made"];
    arguments.extend(options);
    let (status, _, said) = run(folder, &arguments);
    assert_eq!(status, 0, "{said}");
    let made = std::fs::read_to_string(folder.join("made")).unwrap();
    std::fs::remove_file(folder.join("made")).unwrap();
    let request = |line: &str| Request {
        line: String::new(),
        fields: Vec::new(),
        body: line.as_bytes().to_owned(),
    };
    made.lines()
        .flat_map(|line| request(line).spans())
        .collect()
}

/// Spans in a fixed order.
fn sorted(mut spans: Vec<Value>) -> Vec<Value> {
    spans.sort_by_key(|span| span["spanId"].as_str().unwrap().to_owned());
    let twice = spans
        .windows(2)
        .find(|two| two[0]["spanId"] == two[1]["spanId"]);
    assert_eq!(twice, None);
    spans
}

/// The text of an attribute of a span.
fn attribute<'s>(span: &'s Value, name: &str) -> Option<&'s str> {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|one| one["key"] == name);
    found.and_then(|one| one["value"]["stringValue"].as_str())
}

fn call(id: u64, tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// Asks, and waits for the answer.
fn ask(session: &mut Session, line: &str) -> Value {
    session.send(line);
    serde_json::from_str(&session.line()).unwrap()
}

fn initialize() -> String {
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params}).to_string()
}

/// This many calls that are answered.
fn calls(session: &mut Session, count: u64) {
    for id in 1..=count {
        let answer = ask(session, &call(id, "add", &json!({"a": id, "b": 1})));
        assert_eq!(answer["id"], id);
    }
}
