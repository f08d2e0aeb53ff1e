//! The option and the variables of OpenTelemetry.

use std::collections::HashSet;

use super::{Collector, LIMIT, RecorderFolder, calls};
use crate::support::{Session, peer, record};

/// A recorder with an option, and variables.
fn with(place: &RecorderFolder, option: &[&str], variables: &[(&str, &str)]) -> Session {
    let tape = place.file("fs.tape.jsonl");
    let mut all = vec!["-o", tape.as_str()];
    all.extend(option);
    let server = peer();
    let mut command = record(&all, &[server.to_str().unwrap(), "suite"]);
    command.envs(variables.iter().copied());
    Session::start(command)
}

#[test]
fn variables_say_where_without_a_url_and_nothing_is_sent_without_the_option() {
    let collector = Collector::good();
    let url = collector.url();
    let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str());
    let own = format!("{url}/own");
    let traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", own.as_str());
    let off = ("OTEL_SDK_DISABLED", "true");
    for (option, variables, path) in [
        (&["--otlp"][..], &[all][..], Some("/v1/traces")),
        (&["--otlp"], &[all, traces], Some("/own")),
        (&["--otlp", &url], &[traces], Some("/v1/traces")),
        (&["--otlp"], &[all, off], None),
        (&[], &[all, traces], None),
    ] {
        let place = RecorderFolder::new();
        let before = collector.requests().len();
        let mut session = with(&place, option, variables);
        calls(&mut session, 2);
        assert!(session.finish(LIMIT).success());
        let requests = collector.requests().split_off(before);
        let lines: HashSet<&str> = requests.iter().map(|one| one.line.as_str()).collect();
        let expected = path.map(|path| format!("POST {path} HTTP/1.1"));
        assert_eq!(lines, expected.iter().map(String::as_str).collect());
    }
}

#[test]
fn a_protocol_that_is_not_spoken_is_refused_before_anything_is_started() {
    for (option, name, value, hint) in [
        (
            "http://h",
            "OTEL_EXPORTER_OTLP_PROTOCOL",
            "grpc",
            "=http/json",
        ),
        (
            "http://h",
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
            "http/protobuf",
            "=http/json",
        ),
        ("http://h", "OTEL_BSP_MAX_QUEUE_SIZE", "many", "a number"),
        ("node", "OTEL_SERVICE_NAME", "x", "http://localhost:4318"),
        (
            "https://h",
            "OTEL_EXPORTER_OTLP_CERTIFICATE",
            "/nowhere.pem",
            "OTEL_EXPORTER_OTLP_CERTIFICATE",
        ),
    ] {
        let place = RecorderFolder::new();
        let session = with(&place, &["--otlp", option], &[(name, value)]);
        let output = session.child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("hint:") && said.contains(hint), "{said}");
        assert!(output.stdout.is_empty());
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
