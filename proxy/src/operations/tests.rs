use std::sync::Arc;

use tapewright_schemas::conversation::{ExchangeRow, Outcome};
use tapewright_schemas::event::{Direction, Event, EventBody, LineEnd, Offset, Payload};
use tapewright_schemas::filter::LineKind;
use tapewright_schemas::listing::{Change, Entry, Listing, Wanted};
use tapewright_schemas::tape::{Ending, Header, Reader};

use super::names::NAMES;
use super::points::{Counted, Points, Span};
use super::series::Both;
use super::*;
use crate::traces::Frame;

/// All metrics as text.
pub(crate) fn text(operations: &Operations) -> String {
    let mut text = String::new();
    operations.render(&mut text);
    text
}

fn operation<'o>(method: &'o str, tool: Option<&'o str>, waited_us: u64) -> Operation<'o> {
    Operation {
        method,
        tool,
        error: None,
        waited: Offset(waited_us),
        theirs: Offset(waited_us / 2),
    }
}

#[test]
fn buckets_are_added_up_and_bounds_belong_to_them() {
    let operations = Operations::default();
    for us in [9_000, 10_000, 10_500, 400_000_000] {
        operations.add(&operation("tools/call", Some("read"), us), "tcp");
    }
    let text = text(&operations);
    let labels =
        "mcp_method_name=\"tools/call\",gen_ai_tool_name=\"read\",network_transport=\"tcp\"";
    let bucket = |of: &str, bound: &str| {
        format!("{of}_operation_duration_seconds_bucket{{{labels},le=\"{bound}\"}}")
    };
    let count = |of: &str| format!("{of}_operation_duration_seconds_count{{{labels}}}");
    for (part, value) in [
        (bucket("server", "0.01"), "2"),
        (bucket("server", "0.02"), "3"),
        (bucket("server", "300"), "3"),
        (bucket("server", "+Inf"), "4"),
        (count("server"), "4"),
        (bucket("client", "0.01"), "3"),
    ] {
        let line = format!("mcp_{part} {value}\n");
        assert!(text.contains(&line), "{part}: {text}");
    }
}

#[test]
fn names_that_peers_choose_are_bounded() {
    let operations = Operations::default();
    for number in 0..100_000 {
        let tool = format!("tool {number}\n\"\\");
        operations.add(&operation("tools/call", Some(&tool), 1), "tcp");
        operations.add(&operation(&format!("x/{number}"), None, 1), "tcp");
    }
    let text = text(&operations);
    let count = |part: &str| text.lines().filter(|line| line.contains(part)).count();
    assert_eq!(
        count("mcp_server_operation_duration_seconds_count"),
        2 * NAMES + 1
    );
    assert!(text.contains("gen_ai_tool_name=\"tool 0\\n\\\"\\\\\""));
    assert!(
        text.contains("gen_ai_tool_name=\"other\",network_transport=\"tcp\"} 99900\n"),
        "{text}"
    );
    assert!(
        text.contains("tapewright_operations_other_total 199801\n"),
        "{text}"
    );
}

#[test]
fn a_peer_that_says_other_is_counted_with_the_others() {
    let operations = Operations::default();
    let tools: Vec<String> = (0..=NAMES).map(|number| number.to_string()).collect();
    for tool in tools.iter().map(String::as_str).chain(["other"]) {
        operations.add(&operation("tools/call", Some(tool), 1), "tcp");
    }
    let labels =
        r#"{mcp_method_name="tools/call",gen_ai_tool_name="other",network_transport="tcp"}"#;
    let of_others = format!("_operation_duration_seconds_count{labels} 2\n");
    let text = text(&operations);
    assert_eq!(text.matches(&of_others).count(), 2, "{text}");
}

/// The metrics of a finished tape, computed from the rows of its exchanges.
fn by_rows(tape: &[u8]) -> Operations {
    let mut reader = Reader::open(tape).unwrap();
    let wanted = Wanted {
        kinds: [LineKind::Exchange].into(),
        timed: true,
        ..Wanted::default()
    };
    let (mut listing, mut rows) = (Listing::new(wanted).followed(), Vec::new());
    let mut collect = |listing: &mut Listing| {
        while let Some(change) = listing.poll_change() {
            if let Change::Whole(_, Entry::Exchange { row, .. }) = change {
                rows.push(*row);
            }
        }
    };
    while let Some(event) = reader.next_event().unwrap() {
        listing.observe(&event, None);
        collect(&mut listing);
    }
    listing.finish();
    collect(&mut listing);
    let transport = match reader.header().transport.as_str() {
        "http" => "tcp",
        _ => "pipe",
    };
    let operations = Operations::default();
    for row in &rows {
        operations.add(&of_row(row), transport);
    }
    operations
}

fn of_row(row: &ExchangeRow) -> Operation<'_> {
    let token = serde_json::to_value(row.outcome).unwrap();
    let error = match row.outcome {
        Outcome::Answered => row.tool_error.then(|| "tool_error".to_owned()),
        Outcome::Error => row.error_code.map(|code| code.to_string()),
        _ => token.as_str().map(str::to_owned),
    };
    let us = |ms: f64| format!("{:.0}", ms * 1e3).parse().map(Offset).unwrap();
    let waited = row.waited_ms.unwrap();
    Operation {
        method: &row.method,
        tool: row.tool.as_deref(),
        error,
        waited: us(waited),
        theirs: us(row.theirs_ms.unwrap_or(waited)),
    }
}

/// The metrics of a finished tape.
pub(crate) fn by_tape(tape: &[u8], operations: &Arc<Operations>) {
    let mut reader = Reader::open(tape).unwrap();
    let mut counting = Counting::new(Arc::clone(operations), reader.header());
    while let Some(event) = reader.next_event().unwrap() {
        let message = reader.envelope(&event);
        counting.observe(&event, message.as_ref());
    }
    if let Some(Ending::Footer(footer)) = reader.ending() {
        counting.tick(Offset(footer.at_us));
    }
    counting.finish();
}

#[test]
fn figures_are_those_of_the_rows_of_exchanges() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/wire");
    let mut all = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if !path.to_string_lossy().ends_with(".tape.jsonl") {
            continue;
        }
        let tape = std::fs::read(&path).unwrap();
        let (rows, counted) = (by_rows(&tape), Arc::default());
        by_tape(&tape, &counted);
        let (rows, counted) = (rows.lock(), counted.lock());
        assert_eq!(
            counted.operations(),
            rows.operations(),
            "{}",
            path.display()
        );
        all += counted
            .operations()
            .values()
            .map(|both: &Both| both.server.count)
            .sum::<u64>();
    }
    assert!(all > 100, "{all}");
}

#[test]
fn a_session_on_standard_streams_lasts_from_its_first_message_to_its_last_event() {
    let operations = Arc::<Operations>::default();
    let mut counting = Counting::new(Arc::clone(&operations), &Header::default());
    let message = |at: u64, text: &str| {
        let payload = Payload::Whole(text.as_bytes().to_vec().into());
        let body = EventBody::message(payload, LineEnd::Lf);
        Event::new(Offset(at), Direction::ToServer, body)
    };
    let part = EventBody::Part { bytes: 1 };
    counting.observe(&Event::new(Offset(1), Direction::ToServer, part), None);
    let asks = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    counting.observe(&message(2_000_000, asks), None);
    counting.observe(&message(5_000_000, "{}"), None);
    counting.finish();
    let text = text(&operations);
    let line = "mcp_server_session_duration_seconds_sum{network_transport=\"pipe\"} 3\n";
    assert!(text.contains(line), "{text}");
    let labels = r#"{mcp_method_name="ping",error_type="still_pending",network_transport="pipe"}"#;
    let line = format!("mcp_server_operation_duration_seconds_count{labels} 1\n");
    assert!(text.contains(&line), "{text}");
}

fn frame() -> Frame {
    Frame {
        before: b"{\"scopeMetrics\":[{\"metrics\":[".to_vec(),
        after: b"]}]}".to_vec(),
    }
}

/// The data points of a metric: method, count, sum, and buckets.
fn told(points: &Points, metric: &str) -> Vec<(String, String, f64, Vec<u64>)> {
    let value: serde_json::Value = serde_json::from_slice(&points.body).unwrap();
    let metrics = &value["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    let metrics = metrics.as_array().unwrap();
    assert!(
        metrics
            .iter()
            .all(|one| one["histogram"]["dataPoints"] != serde_json::json!([]))
    );
    let Some(one) = metrics.iter().find(|one| one["name"] == metric) else {
        return Vec::new();
    };
    assert_eq!(one["unit"], "s");
    let points = one["histogram"]["dataPoints"].as_array().unwrap().iter();
    points
        .map(|point| {
            let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
            let buckets = point["bucketCounts"].as_array().unwrap().iter();
            let buckets: Vec<u64> = buckets.map(|one| text(one).parse().unwrap()).collect();
            assert_eq!(
                point["explicitBounds"].as_array().unwrap().len() + 1,
                buckets.len()
            );
            assert_eq!(
                buckets.iter().sum::<u64>().to_string(),
                text(&point["count"])
            );
            (
                text(&point["attributes"][0]["value"]["stringValue"]),
                text(&point["count"]),
                point["sum"].as_f64().unwrap(),
                buckets,
            )
        })
        .collect()
}

#[test]
fn points_are_what_came_since_the_last_that_were_taken() {
    let operations = Operations::default();
    let span = Span { from: 1, to: 2 };
    let points = |since: &Counted| {
        let state = operations.lock();
        state.points(since, span, Temporality::Delta, &frame())
    };
    assert!(points(&Counted::default()).is_none());
    operations.add(&operation("a \"b\"\\", None, 9_000), "tcp");
    operations.add(&operation("a \"b\"\\", None, 400_000_000), "tcp");
    let first = operations.lock().counted();
    let all = points(&Counted::default()).unwrap();
    assert_eq!(all.count, 2);
    assert!(told(&all, "mcp.client.session.duration").is_empty());
    let server = "mcp.server.operation.duration";
    let (name, count, sum, buckets) = told(&all, server).remove(0);
    assert_eq!(
        (name.as_str(), count.as_str(), sum),
        ("a \"b\"\\", "2", 400.009)
    );
    assert_eq!((buckets.len(), buckets[0], buckets[14]), (15, 1, 1));
    assert!(points(&first).is_none());
    operations.add(&operation("a \"b\"\\", None, 10_500), "tcp");
    operations.add(&operation("c", None, 1), "tcp");
    operations.add_session(Offset(5), "pipe");
    let rest = points(&first).unwrap();
    let counts: Vec<_> = told(&rest, server)
        .into_iter()
        .map(|(name, count, sum, _)| (name, count, sum))
        .collect();
    let expected = [("a \"b\"\\", 0.0105), ("c", 0.000_001)];
    assert_eq!(
        counts,
        expected.map(|(name, sum)| (name.to_owned(), "1".to_owned(), sum))
    );
    assert_eq!(told(&rest, "mcp.client.session.duration").len(), 1);
    assert_eq!(rest.count, 6);
}
