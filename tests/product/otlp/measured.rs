//! Durations that a collector gets as metrics.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{
    Collector, LIMIT, RecorderFolder, Request, ask, attribute, call, calls, status, taken,
};
use crate::support::{Session, eventually};

const OPERATIONS: &str = "mcp.server.operation.duration";

/// The data points of a metric in a request.
fn points(request: &Request, metric: &str) -> Vec<Value> {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let metrics = &body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    let mut metrics = metrics.as_array().unwrap().iter();
    let Some(one) = metrics.find(|one| one["name"] == metric) else {
        return Vec::new();
    };
    one["histogram"]["dataPoints"].as_array().unwrap().clone()
}

/// The number of calls of a tool in a request.
fn count(request: &Request, tool: &str) -> u64 {
    let points = points(request, OPERATIONS).into_iter();
    let of_tool = points.filter(|one| attribute(one, "gen_ai.tool.name") == Some(tool));
    let count = |one: Value| one["count"].as_str().unwrap().parse::<u64>().unwrap();
    of_tool.map(count).sum()
}

fn start(place: &RecorderFolder, url: &str, variables: &[(&str, &str)]) -> Session {
    let mut command = place.recorder(url, &[]);
    command.env_remove("OTEL_METRICS_EXPORTER");
    command.envs(variables.iter().copied());
    Session::start(command)
}

/// The numbers sent and lost, according to the log at the end.
fn told(place: &RecorderFolder) -> (u64, u64) {
    let [sent] = place.logged("points_sent").try_into().expect("one line");
    (
        sent["sent"].as_u64().unwrap(),
        sent["lost"].as_u64().unwrap(),
    )
}

const DELTA: (&str, &str) = ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta");
const OFTEN: (&str, &str) = ("OTEL_METRIC_EXPORT_INTERVAL", "20");

#[test]
fn durations_of_everything_are_told_at_the_end() {
    let (collector, place) = (Collector::good(), RecorderFolder::new());
    let variables = [("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "x-tenant=a")];
    let mut session = start(&place, &collector.url(), &variables);
    calls(&mut session, 30);
    ask(&mut session, &call(40, "fail", &json!({})));
    assert!(session.finish(LIMIT).success());
    let requests = collector.measured();
    let request = requests.last().expect("a request");
    assert_eq!(request.line, "POST /v1/metrics HTTP/1.1");
    assert_eq!(request.field("x-tenant"), Some("a"));
    assert_eq!(request.field("content-type"), Some("application/json"));
    assert_eq!((count(request, "add"), count(request, "fail")), (30, 1));
    let failed = points(request, "mcp.client.operation.duration")
        .into_iter()
        .find(|one| attribute(one, "gen_ai.tool.name") == Some("fail"))
        .unwrap();
    for (name, value) in [
        ("mcp.method.name", "tools/call"),
        ("gen_ai.operation.name", "execute_tool"),
        ("network.transport", "pipe"),
    ] {
        assert_eq!(attribute(&failed, name), Some(value), "{failed}");
    }
    assert!(attribute(&failed, "error.type").is_some(), "{failed}");
    assert_eq!(points(request, "mcp.server.session.duration").len(), 1);
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let metrics = &body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    let number = &metrics[0]["histogram"]["aggregationTemporality"];
    assert_eq!(number, 2, "cumulative");
    let (sent, lost) = told(&place);
    assert!(sent > 0 && lost == 0, "{sent} {lost}");
}

#[test]
fn what_is_sent_in_parts_is_everything_once() {
    let (collector, place) = (Collector::good(), RecorderFolder::new());
    let mut session = start(&place, &collector.url(), &[DELTA, OFTEN]);
    let sum = || {
        let requests = collector.measured();
        requests.iter().map(|one| count(one, "add")).sum::<u64>()
    };
    calls(&mut session, 10);
    // They are there before the session ends.
    assert!(eventually(LIMIT, || sum() > 0));
    calls(&mut session, 10);
    assert!(session.finish(LIMIT).success());
    assert_eq!(sum(), 20);
    let ends: Vec<(u64, u64)> = collector
        .measured()
        .iter()
        .filter_map(|one| {
            let point = points(one, OPERATIONS).into_iter().next()?;
            let time = |name: &str| point[name].as_str().unwrap().parse().unwrap();
            Some((time("startTimeUnixNano"), time("timeUnixNano")))
        })
        .collect();
    assert!(ends.windows(2).all(|two| two[0].1 <= two[1].0), "{ends:?}");
}

#[test]
fn what_a_collector_did_not_take_is_in_the_next_request() {
    let tries = AtomicUsize::new(0);
    let collector = Collector::start(move |seen| {
        if !seen.head.line.contains("/v1/metrics") {
            return taken();
        }
        // The first is neither accepted nor rejected, and must not be retried soon.
        match tries.fetch_add(1, Ordering::SeqCst) {
            0 => status("503 Service Unavailable", "Retry-After: 9\r\n"),
            _ => taken(),
        }
    });
    let place = RecorderFolder::new();
    let mut session = start(&place, &collector.url(), &[DELTA, OFTEN]);
    calls(&mut session, 10);
    assert!(eventually(LIMIT, || !collector.measured().is_empty()));
    calls(&mut session, 10);
    assert!(session.finish(LIMIT).success());
    let requests = collector.measured();
    let after = requests.iter().skip(1).map(|one| count(one, "add"));
    assert_eq!(after.sum::<u64>(), 20);
    assert_eq!(told(&place).1, 0);
}

#[test]
fn a_collector_of_traces_alone_refuses_durations_and_nothing_else() {
    let collector = Collector::start(|seen| {
        if seen.head.line.contains("/v1/metrics") {
            status("404 Not Found", "")
        } else {
            taken()
        }
    });
    let place = RecorderFolder::new();
    let mut session = start(&place, &collector.url(), &[]);
    calls(&mut session, 3);
    assert!(session.finish(LIMIT).success());
    let [lost] = place.logged("points_lost").try_into().expect("one line");
    assert_eq!(
        (&lost["why"], &lost["status"]),
        (&json!("refused"), &json!(404))
    );
    let (sent, lost) = told(&place);
    assert!(sent == 0 && lost > 0, "{sent} {lost}");
    assert_eq!(place.told().1, 0);
    assert!(!collector.spans().is_empty());
}

#[test]
fn traces_and_durations_are_sent_each_for_itself() {
    for (variable, traces, metrics) in [
        ("OTEL_METRICS_EXPORTER", true, false),
        ("OTEL_TRACES_EXPORTER", false, true),
    ] {
        let (collector, place) = (Collector::good(), RecorderFolder::new());
        let mut session = start(&place, &collector.url(), &[(variable, "none")]);
        calls(&mut session, 3);
        assert!(session.finish(LIMIT).success());
        assert_eq!(!collector.requests().is_empty(), traces, "{variable}");
        assert_eq!(!collector.measured().is_empty(), metrics, "{variable}");
    }
}
