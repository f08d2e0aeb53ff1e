//! Durations as OTLP metrics, as JSON.
//!
//! <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>: 64-bit integers are strings.

use std::collections::BTreeMap;
use std::io::Write as _;

use tapewright_schemas::json::escape;

use super::histogram::{BOUNDS, Histogram};
use super::series::{Both, Labels, State};
use crate::traces::Frame;

/// The start of the period that a request covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Temporality {
    /// The start of the recording.
    Cumulative,
    /// The previous successful request.
    Delta,
}

impl Temporality {
    /// Its number (`AggregationTemporality`).
    fn number(self) -> u8 {
        match self {
            Self::Delta => 1,
            Self::Cumulative => 2,
        }
    }
}

/// The counts at a point in time.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    // By index, which never changes.
    operations: Vec<Both>,
    sessions: BTreeMap<&'static str, Histogram>,
}

/// The period in which durations were counted, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) from: u64,
    pub(super) to: u64,
}

/// A request, and the number of its data points.
#[derive(Debug)]
pub(super) struct Points {
    pub(super) body: Vec<u8>,
    pub(super) count: u64,
}

/// A name, its description, and which of the two histograms it uses.
type OfOperations = (&'static str, &'static str, fn(&Both) -> &Histogram);

const OPERATIONS: [OfOperations; 2] = [
    (
        "mcp.server.operation.duration",
        "The duration of the MCP request or notification as observed on the receiver.",
        |both| &both.server,
    ),
    (
        "mcp.client.operation.duration",
        "The duration of the MCP request or notification as observed on the sender.",
        |both| &both.client,
    ),
];

const SESSIONS: [(&str, &str); 2] = [
    (
        "mcp.server.session.duration",
        "The duration of the MCP session as observed on the MCP server.",
    ),
    (
        "mcp.client.session.duration",
        "The duration of the MCP session as observed on the MCP client.",
    ),
];

impl State {
    /// The current counts.
    pub(super) fn counted(&self) -> Counted {
        Counted {
            operations: self.places().map(|(_, both)| both).collect(),
            sessions: self.sessions().map(|(name, one)| (name, *one)).collect(),
        }
    }

    /// The request with everything counted since then, in this period; `None` if there is nothing.
    pub(super) fn points(
        &self,
        since: &Counted,
        span: Span,
        temporality: Temporality,
        frame: &Frame,
    ) -> Option<Points> {
        let mut request = Request {
            out: b"{\"resourceMetrics\":[".to_vec(),
            span,
            temporality,
            count: 0,
        };
        request.out.extend_from_slice(&frame.before);
        let before = since
            .operations
            .iter()
            .map(Some)
            .chain(std::iter::repeat(None));
        let operations: Vec<_> = self.places().zip(before).collect();
        for (name, help, of) in OPERATIONS {
            let start = request.begin(name, help);
            for ((labels, both), before) in &operations {
                let before = before.map(of).copied().unwrap_or_default();
                request.point(of(both), &before, |out| operation(labels, out));
            }
            request.end(start);
        }
        for (name, help) in SESSIONS {
            let start = request.begin(name, help);
            for (transport, one) in self.sessions() {
                let before = since.sessions.get(transport).copied().unwrap_or_default();
                request.point(one, &before, |out| {
                    attribute("network.transport", transport, out);
                });
            }
            request.end(start);
        }
        request.out.extend_from_slice(&frame.after);
        request.out.extend_from_slice(b"]}");
        let Request { out, count, .. } = request;
        (count > 0).then_some(Points { body: out, count })
    }
}

/// The start of a metric: the number of bytes and of data points before it.
#[derive(Clone, Copy)]
struct Start {
    length: usize,
    count: u64,
}

/// A request in progress.
struct Request {
    out: Vec<u8>,
    span: Span,
    temporality: Temporality,
    count: u64,
}

impl Request {
    /// Starts a metric, and returns its position.
    fn begin(&mut self, name: &str, help: &str) -> Start {
        let start = Start {
            length: self.out.len(),
            count: self.count,
        };
        let number = self.temporality.number();
        let comma = if self.count > 0 { "," } else { "" };
        // Writing to memory cannot fail.
        write!(
            self.out,
            "{comma}{{\"name\":\"{name}\",\"description\":\"{help}\",\"unit\":\"s\",\
             \"histogram\":{{\"aggregationTemporality\":{number},\"dataPoints\":["
        )
        .ok();
        start
    }

    /// Ends a metric; one without data points is removed.
    fn end(&mut self, start: Start) {
        if self.count == start.count {
            return self.out.truncate(start.length);
        }
        // The trailing comma.
        self.out.pop();
        self.out.extend_from_slice(b"]}}");
    }

    /// Adds a data point, unless nothing was counted since.
    fn point(&mut self, one: &Histogram, before: &Histogram, labels: impl FnOnce(&mut Vec<u8>)) {
        let one = one.minus(before);
        if one.count == 0 {
            return;
        }
        self.count += 1;
        let out = &mut self.out;
        out.extend_from_slice(b"{\"attributes\":[");
        labels(out);
        let (Span { from, to }, sum) = (self.span, one.sum());
        let Histogram { count, buckets, .. } = one;
        write!(
            out,
            "],\"startTimeUnixNano\":\"{from}\",\"timeUnixNano\":\"{to}\",\"count\":\"{count}\",\"sum\":{sum},\"bucketCounts\":["
        )
        .ok();
        let mut rest = count;
        for bucket in buckets {
            write!(out, "\"{bucket}\",").ok();
            rest = rest.saturating_sub(bucket);
        }
        write!(out, "\"{rest}\"],\"explicitBounds\":[").ok();
        for (at, bound) in BOUNDS.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(out, "{comma}{bound}").ok();
        }
        out.extend_from_slice(b"]},");
    }
}

fn operation(labels: &Labels<'_>, out: &mut Vec<u8>) {
    attribute("mcp.method.name", labels.method, out);
    let operation = labels.tool.map(|_| "execute_tool");
    for (name, value) in [
        ("gen_ai.operation.name", operation),
        ("gen_ai.tool.name", labels.tool),
        ("error.type", labels.error),
        ("network.transport", Some(labels.transport)),
    ] {
        if let Some(value) = value {
            out.push(b',');
            attribute(name, value, out);
        }
    }
}

fn attribute(name: &str, value: &str, out: &mut Vec<u8>) {
    write!(out, "{{\"key\":\"{name}\",\"value\":{{\"stringValue\":\"").ok();
    escape(value, out);
    out.extend_from_slice(b"\"}}");
}
