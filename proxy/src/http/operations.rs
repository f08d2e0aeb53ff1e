//! The durations of the conventions for MCP, as histograms: of operations and of sessions, as the sender and as the receiver sees them.
//!
//! <https://github.com/open-telemetry/semantic-conventions-genai>, `docs/gen-ai/mcp.md` as it stood in August 2026, in the names of
//! Prometheus. We stand between the two: to the sender of a request we are its receiver (`server`), and to its receiver the sender
//! (`client`), whichever of the two peers sends it.
//!
//! What is counted is read from the tapes behind their writers: a figure is a few seconds late, and the traffic waits for nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tapewright_schemas::conversation::{ExchangeRow, Outcome};
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{Event, EventBody, Offset, SessionMark};
use tapewright_schemas::filter::LineKind;
use tapewright_schemas::listing::{Change, Entry, Listing, Wanted};

use crate::behind::Observer;

/// The bounds that the conventions advise, in seconds.
const BOUNDS: [f64; 14] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];
/// How many names of methods, of tools and of errors are told, and how many of their combinations: peers choose the names.
const NAMES: usize = 100;
const SERIES: usize = 1_000;
/// What is told of any other.
const OTHER: &str = "other";
/// The longest name that is told, in characters.
const LONGEST: usize = 128;
/// How many sessions of one tape are known at once.
const SESSIONS: usize = 100_000;

/// Durations, by what they are of.
#[derive(Debug, Default)]
pub struct Operations(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    names: [BTreeSet<String>; 3],
    operations: BTreeMap<Series, [Histogram; 2]>,
    sessions: BTreeMap<&'static str, Histogram>,
    // Operations of which a name was one too many.
    overflow: u64,
}

/// What an operation is known by.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Series {
    transport: &'static str,
    method: String,
    tool: Option<String>,
    error: Option<String>,
}

/// What is counted of an exchange.
struct Operation<'o> {
    method: &'o str,
    tool: Option<&'o str>,
    error: Option<String>,
    // From the request to the end of the waiting, and of that the server's part.
    waited_ms: f64,
    theirs_ms: f64,
}

impl<'o> Operation<'o> {
    /// `None` where there are no times.
    fn of(row: &'o ExchangeRow) -> Option<Self> {
        let waited_ms = row.waited_ms?;
        let error = match row.outcome {
            Outcome::Answered if row.tool_error => Some("tool_error".to_owned()),
            Outcome::Answered => None,
            Outcome::Error => row.error_code.map(|code| code.to_string()),
            outcome => {
                let token = serde_json::to_value(outcome).unwrap_or_default();
                token.as_str().map(str::to_owned)
            }
        };
        Some(Self {
            method: &row.method,
            tool: row.tool.as_deref(),
            error,
            waited_ms,
            theirs_ms: row.theirs_ms.unwrap_or(waited_ms),
        })
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Histogram {
    // Not added up.
    buckets: [u64; BOUNDS.len()],
    count: u64,
    sum: f64,
}

impl Histogram {
    fn add(&mut self, seconds: f64) {
        let bucket = BOUNDS.iter().zip(&mut self.buckets);
        if let Some((_, bucket)) = bucket.into_iter().find(|(bound, _)| seconds <= **bound) {
            *bucket += 1;
        }
        self.count += 1;
        self.sum += seconds;
    }
}

impl Operations {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An exchange is over.
    fn add(&self, operation: &Operation<'_>, transport: &'static str) {
        let mut state = self.lock();
        let series = state.series(operation, transport);
        let [server, client] = state.operations.entry(series).or_default();
        server.add(operation.waited_ms / 1e3);
        client.add(operation.theirs_ms / 1e3);
    }

    /// A session is over.
    fn add_session(&self, lasted: Offset, transport: &'static str) {
        let mut state = self.lock();
        let sessions = state.sessions.entry(transport).or_default();
        sessions.add(lasted.millis() / 1e3);
    }

    /// Appends all of it, as text (Prometheus exposition format 0.0.4).
    pub(crate) fn render(&self, out: &mut String) {
        let state = self.lock();
        for (place, name, help) in [
            (
                0,
                "mcp_server_operation_duration_seconds",
                "Time from a request that reached us to its answer that left us.",
            ),
            (
                1,
                "mcp_client_operation_duration_seconds",
                "Time from a request that left us to its answer that reached us.",
            ),
        ] {
            begin(name, help, out);
            for (series, both) in &state.operations {
                if let Some(histogram) = both.get(place) {
                    histogram.render(name, &series.labels(), out);
                }
            }
        }
        for (name, help) in [
            (
                "mcp_server_session_duration_seconds",
                "Time that sessions lasted that are over, towards clients.",
            ),
            (
                "mcp_client_session_duration_seconds",
                "Time that sessions lasted that are over, towards servers.",
            ),
        ] {
            begin(name, help, out);
            for (transport, histogram) in &state.sessions {
                histogram.render(name, &label("network_transport", transport), out);
            }
        }
        let (name, help) = (
            "tapewright_operations_other_total",
            "Operations of which a method, a tool or an error is counted as `other`.",
        );
        // Writing to a string does not fail.
        writeln!(out, "# HELP {name} {help}\n# TYPE {name} counter").ok();
        writeln!(out, "{name} {}", state.overflow).ok();
    }
}

fn begin(name: &str, help: &str, out: &mut String) {
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} histogram").ok();
}

impl State {
    /// The series of an exchange, of which there are so many.
    fn series(&mut self, operation: &Operation<'_>, transport: &'static str) -> Series {
        let [methods, tools, errors] = &mut self.names;
        let (method, is_method) = known(methods, operation.method);
        let tool = operation.tool.map(|tool| known(tools, tool));
        let error = operation.error.as_deref();
        let error = error.map(|error| known(errors, error));
        let is_all = is_method
            && [&tool, &error]
                .into_iter()
                .flatten()
                .all(|(_, is_known)| *is_known);
        let series = Series {
            transport,
            method,
            tool: tool.map(|(tool, _)| tool),
            error: error.map(|(error, _)| error),
        };
        let is_room = self.operations.len() < SERIES || self.operations.contains_key(&series);
        self.overflow += u64::from(!is_all || !is_room);
        if is_room {
            return series;
        }
        Series {
            transport,
            method: OTHER.to_owned(),
            ..Series::default()
        }
    }
}

/// A name, or the one for all others; and whether it is the name.
fn known(names: &mut BTreeSet<String>, name: &str) -> (String, bool) {
    let name: String = name.chars().take(LONGEST).collect();
    if names.contains(&name) {
        return (name, true);
    }
    if names.len() >= NAMES {
        return (OTHER.to_owned(), false);
    }
    names.insert(name.clone());
    (name, true)
}

impl Series {
    fn labels(&self) -> String {
        let mut labels = label("mcp_method_name", &self.method);
        for (name, value) in [
            ("gen_ai_tool_name", self.tool.as_deref()),
            ("error_type", self.error.as_deref()),
            ("network_transport", Some(self.transport)),
        ] {
            if let Some(value) = value {
                labels.push(',');
                labels.push_str(&label(name, value));
            }
        }
        labels
    }
}

fn label(name: &str, value: &str) -> String {
    let value = value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("{name}=\"{value}\"")
}

impl Histogram {
    fn render(&self, name: &str, labels: &str, out: &mut String) {
        let mut sum = 0;
        for (bound, count) in BOUNDS.iter().zip(&self.buckets) {
            sum += count;
            writeln!(out, "{name}_bucket{{{labels},le=\"{bound}\"}} {sum}").ok();
        }
        let Self { count, sum, .. } = self;
        writeln!(out, "{name}_bucket{{{labels},le=\"+Inf\"}} {count}").ok();
        writeln!(out, "{name}_sum{{{labels}}} {sum}").ok();
        writeln!(out, "{name}_count{{{labels}}} {count}").ok();
    }
}

/// Counts what is on one tape.
#[derive(Debug)]
pub struct Counting {
    operations: Arc<Operations>,
    listing: Listing,
    transport: &'static str,
    // Wall time of offset zero.
    began: SystemTime,
    // When sessions began.
    sessions: HashMap<u32, Offset>,
}

impl Counting {
    /// Of a tape that began at this time, whose clients speak HTTP or lines.
    #[must_use]
    pub fn new(operations: Arc<Operations>, began: SystemTime, is_http: bool) -> Self {
        let wanted = Wanted {
            kinds: [LineKind::Exchange].into(),
            timed: true,
            ..Wanted::default()
        };
        Self {
            operations,
            listing: Listing::new(wanted).followed(),
            transport: if is_http { "tcp" } else { "pipe" },
            began,
            sessions: HashMap::new(),
        }
    }

    fn hand_on(&mut self) {
        while let Some(change) = self.listing.poll_change() {
            if let Change::Whole(_, Entry::Exchange { row, .. }) = change
                && let Some(operation) = Operation::of(&row)
            {
                self.operations.add(&operation, self.transport);
            }
        }
    }
}

impl Observer for Counting {
    fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        match event.body {
            EventBody::Session(SessionMark::Began(_)) if self.sessions.len() < SESSIONS => {
                self.sessions.entry(event.session.0).or_insert(event.at);
            }
            EventBody::Session(SessionMark::Ended(_)) => {
                if let Some(began) = self.sessions.remove(&event.session.0) {
                    let lasted = Offset(event.at.0.saturating_sub(began.0));
                    self.operations.add_session(lasted, self.transport);
                }
            }
            _ => {}
        }
        self.listing.observe(event, message);
        self.hand_on();
    }

    fn tick(&mut self, now: SystemTime) {
        let since = now.duration_since(self.began).unwrap_or_default();
        self.listing
            .tick(Offset(u64::try_from(since.as_micros()).unwrap_or(u64::MAX)));
        self.hand_on();
    }

    fn finish(&mut self) {
        self.listing.finish();
        self.hand_on();
    }
}

/// Wall time so many nanoseconds after 1970.
#[must_use]
pub fn wall_time(nanos: u64) -> SystemTime {
    UNIX_EPOCH + std::time::Duration::from_nanos(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row<'o>(method: &'o str, tool: Option<&'o str>, waited_ms: f64) -> Operation<'o> {
        Operation {
            method,
            tool,
            error: None,
            waited_ms,
            theirs_ms: waited_ms / 2.0,
        }
    }

    fn text(operations: &Operations) -> String {
        let mut text = String::new();
        operations.render(&mut text);
        text
    }

    #[test]
    fn buckets_are_added_up_and_bounds_belong_to_them() {
        let operations = Operations::default();
        for ms in [9.0, 10.0, 10.5, 400_000.0] {
            operations.add(&row("tools/call", Some("read"), ms), "tcp");
        }
        let text = text(&operations);
        let labels =
            "mcp_method_name=\"tools/call\",gen_ai_tool_name=\"read\",network_transport=\"tcp\"";
        for (part, value) in [
            (
                format!("server_operation_duration_seconds_bucket{{{labels},le=\"0.01\"}}"),
                "2",
            ),
            (
                format!("server_operation_duration_seconds_bucket{{{labels},le=\"0.02\"}}"),
                "3",
            ),
            (
                format!("server_operation_duration_seconds_bucket{{{labels},le=\"300\"}}"),
                "3",
            ),
            (
                format!("server_operation_duration_seconds_bucket{{{labels},le=\"+Inf\"}}"),
                "4",
            ),
            (
                format!("server_operation_duration_seconds_count{{{labels}}}"),
                "4",
            ),
            (
                format!("client_operation_duration_seconds_bucket{{{labels},le=\"0.01\"}}"),
                "3",
            ),
        ] {
            assert!(
                text.contains(&format!("mcp_{part} {value}\n")),
                "{part}: {text}"
            );
        }
    }

    #[test]
    fn names_that_peers_choose_are_bounded() {
        let operations = Operations::default();
        for number in 0..100_000 {
            let tool = format!("tool {number}\n\"\\");
            operations.add(&row("tools/call", Some(&tool), 1.0), "tcp");
            operations.add(&row(&format!("x/{number}"), None, 1.0), "tcp");
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
}
