//! Appends all metrics.

use std::fmt::Write as _;

use super::Operations;
use super::histogram::{BOUNDS, Histogram};
use super::series::{Both, Labels};
use crate::traces::{Figures, Loss};

impl Operations {
    /// Appends all of it.
    pub(crate) fn render(&self, out: &mut String) {
        let state = self.lock();
        let all = state.operations();
        for (name, help, of) in OPERATIONS {
            begin(name, help, out);
            for (labels, both) in &all {
                of(both).render(name, &operation(labels), out);
            }
        }
        for (name, help) in SESSIONS {
            begin(name, help, out);
            for (transport, histogram) in state.sessions() {
                histogram.render(name, &label("network_transport", transport), out);
            }
        }
        let (name, help) = (
            "tapewright_operations_other_total",
            "Operations of which a method, a tool or an error is counted as `other`.",
        );
        // Writing to a string cannot fail.
        writeln!(out, "# HELP {name} {help}\n# TYPE {name} counter").ok();
        writeln!(out, "{name} {}", state.overflow()).ok();
        if let Some(sent) = self.sent.get() {
            points(sent, out);
        }
    }
}

/// A name, its description, and which of the two histograms it uses.
type OfOperations = (&'static str, &'static str, fn(&Both) -> &Histogram);

const OPERATIONS: [OfOperations; 2] = [
    (
        "mcp_server_operation_duration_seconds",
        "Time from receiving a request to forwarding its answer.",
        |both| &both.server,
    ),
    (
        "mcp_client_operation_duration_seconds",
        "Time from forwarding a request to receiving its answer.",
        |both| &both.client,
    ),
];

const SESSIONS: [(&str, &str); 2] = [
    (
        "mcp_server_session_duration_seconds",
        "Time that sessions lasted that are over, towards clients.",
    ),
    (
        "mcp_client_session_duration_seconds",
        "Time that sessions lasted that are over, towards servers.",
    ),
];

/// The metrics of exported data points.
fn points(sent: &Figures, out: &mut String) {
    let (name, help) = (
        "tapewright_metrics_sent_points_total",
        "Data points that the collector of metrics took.",
    );
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} counter").ok();
    writeln!(out, "{name} {}", sent.sent()).ok();
    let (name, help) = (
        "tapewright_metrics_lost_points_total",
        "Data points that did not arrive at the collector of metrics.",
    );
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} counter").ok();
    for loss in Loss::ALL {
        let (cause, lost) = (loss.name(), sent.lost(loss));
        writeln!(out, "{name}{{cause=\"{cause}\"}} {lost}").ok();
    }
}

fn begin(name: &str, help: &str, out: &mut String) {
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} histogram").ok();
}

fn operation(of: &Labels<'_>) -> String {
    let mut labels = label("mcp_method_name", of.method);
    for (name, value) in [
        ("gen_ai_tool_name", of.tool),
        ("error_type", of.error),
        ("network_transport", Some(of.transport)),
    ] {
        if let Some(value) = value {
            labels.push(',');
            labels.push_str(&label(name, value));
        }
    }
    labels
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
        let (count, sum) = (self.count, self.sum());
        writeln!(out, "{name}_bucket{{{labels},le=\"+Inf\"}} {count}").ok();
        writeln!(out, "{name}_sum{{{labels}}} {sum}").ok();
        writeln!(out, "{name}_count{{{labels}}} {count}").ok();
    }
}
