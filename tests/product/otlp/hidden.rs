//! What is never sent to a collector, and what is not reported about the connection to it.

use serde_json::{Value, json};

use super::{Collector, LIMIT, RecorderFolder, ask, call, calls, sorted, status};
use crate::support::Session;

/// Put together here, so that nothing in this file is a secret by its shape.
fn canary() -> String {
    ["gh", "p_", "7aB2cD9eF4gH6iJ8kL1mN3oP5qR7sT9uV2wX"].concat()
}

const KEY: &str = "Xq7vB2kPz9sLm4Wd8Rt5";

#[test]
fn content_is_told_only_where_it_is_wanted_and_never_with_secrets() {
    for content in [false, true] {
        let (collector, place) = (Collector::good(), RecorderFolder::new());
        let options: &[&str] = if content { &["--otlp-content"] } else { &[] };
        let mut session = place.record(&collector.url(), options);
        let said = json!({"message": "a plain word", "token": canary(), "password": KEY});
        ask(&mut session, &call(1, "echo", &said));
        let echoed = json!({"message": format!("see {}", canary())});
        let answer = ask(&mut session, &call(2, "echo", &echoed));
        assert!(
            answer.to_string().contains(&canary()),
            "the client gets what was said"
        );
        let uri = format!("note://{}", canary());
        let read =
            json!({"jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": {"uri": uri}});
        ask(&mut session, &read.to_string());
        assert!(session.finish(LIMIT).success());
        let got: Vec<u8> = collector
            .requests()
            .iter()
            .flat_map(|one| one.body.clone())
            .collect();
        let got = String::from_utf8(got).unwrap();
        assert!(!got.contains(&canary()) && !got.contains(KEY), "{got}");
        assert_eq!(got.contains("a plain word"), content, "{got}");
        assert_eq!(got.contains("gen_ai.tool.call.arguments"), content);
        assert_eq!(got.contains("gen_ai.tool.call.result"), content);
        assert_eq!(got.matches("REDACTED").count() > 2, content, "{got}");
        assert_eq!(sorted(collector.spans()), sorted(place.exported(options)));
    }
}

#[test]
fn credentials_reach_the_collector_and_nobody_else() {
    let place = RecorderFolder::new();
    let collector = Collector::start(|_| status("401 Unauthorized", ""));
    let url = format!("{}/?key={KEY}", collector.url());
    let mut command = place.recorder(&url, &["-v", "--log-filter", "trace"]);
    command.env(
        "OTEL_EXPORTER_OTLP_HEADERS",
        format!("authorization=Bearer%20{}", canary()),
    );
    let mut session = Session::start(command);
    calls(&mut session, 3);
    // A server that repeats it has it hidden as well.
    ask(
        &mut session,
        &call(9, "echo", &json!({"message": canary()})),
    );
    let errors = session.child.stderr.take().unwrap();
    assert!(session.finish(LIMIT).success());
    let requests = collector.requests();
    let sent = format!("Bearer {}", canary());
    assert!(
        requests
            .iter()
            .all(|one| one.field("authorization") == Some(sent.as_str()))
    );
    assert!(
        requests[0]
            .line
            .starts_with(&format!("POST /v1/traces?key={KEY}")),
        "{}",
        requests[0].line
    );
    let said = std::io::read_to_string(errors).unwrap();
    assert!(said.contains("spans to http://127.0.0.1"), "{said}");
    let read = |name: &str| std::fs::read_to_string(place.file(name)).unwrap();
    for text in [said, read("log"), read("fs.tape.jsonl")] {
        assert!(!text.contains(&canary()) && !text.contains(KEY), "{text}");
    }
}

#[test]
fn a_recording_with_its_secrets_is_sent_nowhere() {
    let (collector, place) = (Collector::good(), RecorderFolder::new());
    let session = place.record(&collector.url(), &["--no-redact"]);
    let output = session.child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("omit `--no-redact` or `--otlp`"), "{said}");
    assert!(!place.path().join("fs.tape.jsonl").exists());
    assert_eq!(collector.spans(), Vec::<Value>::new());
}

#[test]
fn an_export_tells_no_content_of_a_recording_with_its_secrets() {
    let place = RecorderFolder::new();
    let header = json!({"tape": "2.3", "created": "2026-11-21T04:00:00Z", "by": "t", "transport": "stdio", "label": "fs", "pid": 1, "redacted": false});
    std::fs::write(place.file("fs.tape.jsonl"), format!("{header}\n")).unwrap();
    let arguments = ["export", "fs.tape.jsonl", "--as", "otlp", "--otlp-content"];
    let (status, out, said) = crate::cli::golden::run(place.path(), &arguments);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(said.contains("tapewright scrub"), "{said}");
    let arguments = [
        "export",
        "fs.tape.jsonl",
        "--as",
        "cassette",
        "--otlp-content",
    ];
    let (status, _, said) = crate::cli::golden::run(place.path(), &arguments);
    assert_eq!(status, 2, "{said}");
}
