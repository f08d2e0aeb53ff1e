//! The requests to a healthy collector.

use std::collections::HashSet;
use std::io::Read as _;

use serde_json::{Value, json};

use super::{
    Collector, LIMIT, RecorderFolder, ask, attribute, call, calls, exported, initialize, sorted,
    taken,
};
use crate::support::http::{Gateway, Strict, json as http_json, post};
use crate::support::{Tape, eventually, tapewright};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[test]
fn spans_come_while_it_is_recorded_and_are_those_of_the_export() {
    let (collector, place) = (Collector::good(), RecorderFolder::new());
    let mut session = place.record(&collector.url(), &[]);
    ask(&mut session, &initialize());
    calls(&mut session, 30);
    ask(&mut session, &call(40, "refuse", &json!({})));
    ask(&mut session, &call(41, "fail", &json!({})));
    let traced = json!({"jsonrpc": "2.0", "id": 42, "method": "tools/call", "params": {"name": "add", "_meta": {"traceparent": PARENT}}});
    ask(&mut session, &traced.to_string());
    // They are there before the session ends.
    assert!(eventually(LIMIT, || collector.spans().len() > 20));
    assert!(session.finish(LIMIT).success());
    let spans = collector.spans();
    assert_eq!(sorted(spans.clone()), sorted(place.exported(&[])));
    assert_eq!(place.told(), (spans.len() as u64, 0));
    assert!(
        spans
            .iter()
            .any(|span| span["parentSpanId"] == "b7ad6b7169203331")
    );
    let ids: HashSet<&str> = spans
        .iter()
        .map(|span| span["spanId"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), spans.len(), "each once");
    assert!(Tape::read(&place.path().join("fs.tape.jsonl")).is_complete());
}

#[test]
fn a_request_is_otlp_in_json_with_the_users_fields_and_names() {
    let (collector, place) = (Collector::good(), RecorderFolder::new());
    let mut command = place.recorder(&collector.url(), &["--label", "files"]);
    command
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=team%20a")
        .env("OTEL_SERVICE_NAME", "gate")
        .env(
            "OTEL_RESOURCE_ATTRIBUTES",
            "deployment.environment.name=test",
        );
    let mut session = crate::support::Session::start(command);
    calls(&mut session, 3);
    assert!(session.finish(LIMIT).success());
    let requests = collector.requests();
    assert!(!requests.is_empty());
    for request in &requests {
        assert_eq!(request.line, "POST /v1/traces HTTP/1.1");
        assert_eq!(request.field("content-type"), Some("application/json"));
        assert_eq!(request.field("x-tenant"), Some("team a"));
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let about = &body["resourceSpans"][0]["resource"]["attributes"];
        let told = |name: &str| {
            let all = about.as_array().unwrap();
            let found = all.iter().find(|one| one["key"] == name);
            found.map(|one| one["value"]["stringValue"].as_str().unwrap().to_owned())
        };
        assert_eq!(told("service.name").as_deref(), Some("gate"));
        assert_eq!(told("tapewright.label").as_deref(), Some("files"));
        assert_eq!(told("deployment.environment.name").as_deref(), Some("test"));
    }
}

#[test]
fn a_request_may_be_compressed_and_holds_no_more_spans_than_was_said() {
    let (collector, place) = (Collector::good(), RecorderFolder::new());
    let mut command = place.recorder(&collector.url(), &[]);
    command
        .env("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
        .env("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "7");
    let mut session = crate::support::Session::start(command);
    calls(&mut session, 40);
    assert!(session.finish(LIMIT).success());
    let mut all = Vec::new();
    for mut request in collector.requests() {
        assert_eq!(request.field("content-encoding"), Some("gzip"));
        let mut plain = Vec::new();
        let mut decoder = flate2::read::GzDecoder::new(request.body.as_slice());
        decoder.read_to_end(&mut plain).unwrap();
        request.body = plain;
        let spans = request.spans();
        assert!((1..=7).contains(&spans.len()));
        all.extend(spans);
    }
    assert_eq!(sorted(all), sorted(place.exported(&[])));
}

/// A server over HTTP that gives sessions ids and answers everything.
fn server() -> Strict {
    Strict::start(|seen| {
        let asked: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"protocolVersion": "2025-06-18"}});
        let session = if asked["method"] == "initialize" {
            format!("Mcp-Session-Id: s{}\r\n", asked["id"])
        } else {
            String::new()
        };
        http_json("200 OK", &session, &answer.to_string()).into_bytes()
    })
}

/// A gateway that sends traces: two sessions, and requests without one.
fn over_http(collector: &Collector, output: &str, options: &[&str]) -> Gateway {
    let server = server();
    let (url, upstream) = (collector.url(), format!("http://{}/mcp", server.address()));
    let folder = tempfile::tempdir().unwrap();
    let mut command = tapewright();
    command.args(["record", "--listen", "127.0.0.1:0", "--upstream", &upstream]);
    command.arg("-o").arg(folder.path().join(output));
    command.args(["--otlp", &url]).args(options);
    command.env("OTEL_BSP_SCHEDULE_DELAY", "20");
    let gateway = Gateway::of(folder, &mut command);
    let mut client = gateway.connect();
    let mut send = |fields: &str, body: &Value| {
        client.send(post(gateway.address, fields, &body.to_string()));
        let head = client.head();
        assert_eq!(head.status(), 200);
        client.body(&head);
    };
    for id in 1..=2 {
        let begin = json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}});
        send("", &begin);
        let field = format!("Mcp-Session-Id: s{id}\r\n");
        for number in 0..3 {
            let ping = json!({"jsonrpc": "2.0", "id": number, "method": "ping"});
            send(&field, &ping);
        }
    }
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    for id in 0..3 {
        let list =
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {"_meta": meta}});
        send("Mcp-Method: tools/list\r\n", &list);
    }
    gateway
}

#[test]
fn over_http_a_session_is_a_trace_and_so_is_a_request_without_one() {
    let collector = Collector::good();
    let mut gateway = over_http(&collector, "run.tape.jsonl", &[]);
    gateway.signal("TERM");
    assert!(gateway.ended().is_complete());
    let spans = collector.spans();
    let made = exported(gateway.folder.path(), "run.tape.jsonl", &[]);
    assert_eq!(sorted(spans.clone()), sorted(made));
    let traces = |name: &str| -> HashSet<&str> {
        let named = spans.iter().filter(|span| span["name"] == name);
        named
            .map(|span| span["traceId"].as_str().unwrap())
            .collect()
    };
    assert_eq!(traces("ping").len(), 2);
    assert_eq!(traces("tools/list").len(), 3);
    for span in &spans {
        let id = attribute(span, "mcp.session.id");
        if span["name"] == "tools/list" {
            assert_eq!((id, span.get("parentSpanId")), (None, None));
            assert_eq!(attribute(span, "mcp.protocol.version"), Some("2026-07-28"));
        } else if span["name"] == "ping" {
            // The one on the wire is a credential.
            assert_eq!(id, span["parentSpanId"].as_str());
        }
    }
}

#[test]
fn all_tapes_of_a_folder_are_sent() {
    let collector = Collector::good();
    let mut gateway = over_http(&collector, "all/", &[]);
    gateway.signal("TERM");
    let ended = crate::support::wait(&mut gateway.child, LIMIT);
    assert_eq!(ended.code(), Some(gateway.regular()));
    let folder = gateway.folder.path();
    let output = folder.join("all");
    let mut made = Vec::new();
    for entry in std::fs::read_dir(&output).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().ends_with(".tape.jsonl") {
            made.extend(exported(folder, path.to_str().unwrap(), &[]));
        }
    }
    assert!(made.len() > 10);
    assert_eq!(sorted(collector.spans()), sorted(made));
}

#[test]
fn figures_tell_what_arrived() {
    let collector = Collector::start(|_| taken());
    let gateway = over_http(&collector, "run.tape.jsonl", &["--metrics", "127.0.0.1:0"]);
    let url = gateway.line["metrics"].as_str().unwrap();
    let address: std::net::SocketAddr = url.split('/').nth(2).unwrap().parse().unwrap();
    let figure = |name: &str| -> f64 {
        let mut wire = crate::support::http::Wire::connect(address);
        wire.send(crate::support::http::request("GET /metrics", address, ""));
        let head = wire.head();
        let text = String::from_utf8(wire.body(&head)).unwrap();
        let name = format!("tapewright_{name} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&name));
        line.expect("a figure").parse().unwrap()
    };
    assert!(eventually(LIMIT, || figure("traces_sent_spans_total") > 0.0));
    assert_eq!(
        figure("traces_lost_spans_total{cause=\"unreachable\"}"),
        0.0
    );
    gateway.stop_quietly();
}
