//! The report of `inspect`, for people.

use std::fmt::Write as _;

use tapewright_schemas::conversation::Outcome;
use tapewright_schemas::summary::{Hang, Method, Peer, Report, Totals};
use tapewright_schemas::tape::{GapTotal, Incomplete};

use super::figures::{duration, plural, size};
use super::inspect_models::{self, ModelCalls};
use super::inspect_tools::{self, Tools};
use super::{effect, in_place, inspect_http, safe, show};

/// The report as text, aligned and without colour.
pub(crate) fn text(file: &str, report: &Report, models: &ModelCalls, links: &Tools) -> String {
    let mut out = Page::default();
    let state = if report.ended.complete {
        "complete"
    } else {
        "incomplete"
    };
    let recorded = report
        .recorded_at
        .as_ref()
        .map(|at| format!(", recorded {}", safe(at)));
    out.line(&format!(
        "{}: {}{}, {state}",
        safe(file),
        report.kind,
        recorded.unwrap_or_default()
    ));
    out.line("");
    facts(report, &mut out);
    inspect_http::sessions(report, &mut out);
    inspect_http::exchanges(report, &mut out);
    inspect_models::calls(models, &mut out);
    inspect_tools::tools(links, &mut out);
    methods(report, &mut out);
    tools(report, &mut out);
    notifications(report, &mut out);
    injected(report, &mut out);
    effects(report, &mut out);
    hangs(report, &mut out);
    noise(report, &mut out);
    found(report, &mut out);
    out.text
}

/// Lines of a report.
#[derive(Default)]
pub(super) struct Page {
    pub(super) text: String,
}

impl Page {
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Adds how many of the `all` items of a list are not shown.
    pub(super) fn rest(&mut self, all: u64) {
        let rest = all.saturating_sub(SHOWN as u64);
        if rest > 0 {
            self.line(&format!("    and {rest} more, see `--json`"));
        }
    }

    fn fact(&mut self, name: &str, value: &str) {
        self.line(&format!("  {name:<12}{value}"));
    }
}

fn facts(report: &Report, out: &mut Page) {
    let peer = |peer: &Option<Peer>| match peer {
        Some(Peer { name, version }) => safe(format!("{name} {version}").trim_end()),
        None => "(not named)".to_owned(),
    };
    out.fact("server", &peer(&report.server));
    out.fact("client", &peer(&report.client));
    if let Some(label) = &report.label {
        out.fact("label", &safe(label));
    }
    if !report.command.is_empty() {
        out.fact("command", &safe(&report.command.join(" ")));
    }
    let version = report.protocol_version.as_deref().unwrap_or("unknown");
    let eras = report.eras.join(", ");
    let eras = if eras.is_empty() {
        String::new()
    } else {
        format!(" ({eras})")
    };
    out.fact("protocol", &format!("{}{eras}", safe(version)));
    if report.sessions > 1 {
        out.fact("sessions", &report.sessions.to_string());
    }
    match report.duration_ms {
        Some(ms) => out.fact("duration", &duration(ms)),
        None => out.fact("duration", &format!("this {} has no times", report.kind)),
    }
    let total = |Totals { messages, bytes }| {
        format!(
            "{messages} {}, {}",
            plural(messages, "message"),
            size(bytes)
        )
    };
    out.fact("to server", &total(report.to_server));
    out.fact("to client", &total(report.to_client));
    oddities(report, out);
    ends(report, out);
}

/// Unusual contents of a recording.
fn oddities(report: &Report, out: &mut Page) {
    for (name, count) in [
        ("stray", report.stray_responses),
        ("clipped", report.clipped),
        ("time", report.backwards),
        ("faults", report.faults),
        ("findings", report.findings),
        ("stderr", report.stderr_lines),
    ] {
        let what = match name {
            "stray" => {
                "response that answers no open request|responses that answer no open request"
            }
            "clipped" => "message over the recorder's limit|messages over the recorder's limit",
            "time" => {
                "event is earlier than the one before it: durations are unreliable|events are earlier than those before them: durations are unreliable"
            }
            "faults" => "fault injected|faults injected",
            "findings" => "finding of a judge|findings of judges",
            _ => "line|lines",
        };
        let (one, many) = what.split_once('|').unwrap_or((what, what));
        if count > 0 {
            out.fact(
                name,
                &format!("{count} {}", if count == 1 { one } else { many }),
            );
        }
    }
    if !report.redactions.is_empty() {
        let kinds = report
            .redactions
            .iter()
            .map(|(kind, count)| format!("{} {count}", safe(kind)));
        out.fact("redacted", &kinds.collect::<Vec<_>>().join(", "));
    }
}

/// What is missing, and how the recording ended.
fn ends(report: &Report, out: &mut Page) {
    let gaps = report.gaps;
    if gaps.count > 0 {
        let events = format!("{} {}", gaps.events, plural(gaps.events, "event"));
        out.fact(
            "gaps",
            &format!(
                "{}, {events} and {} are missing",
                gaps.count,
                size(gaps.bytes)
            ),
        );
    }
    match (report.ended.written_by, &report.ended.why) {
        (Some(process), _) => {
            let so_far = "showing what was recorded so far";
            out.fact(
                "recording",
                &format!("process {process} is still writing this tape: {so_far}"),
            );
        }
        (None, Some(why)) => {
            let lacks = Incomplete {
                why: *why,
                detail: report.ended.detail.clone(),
                last_seq: report.ended.last_seq,
                gaps: GapTotal {
                    count: gaps.count,
                    events: gaps.events,
                    bytes: gaps.bytes,
                },
            };
            out.fact("incomplete", &in_place::lacks(&lacks));
        }
        (None, None) => {}
    }
    match (report.ended.exit_code, report.ended.exit_signal) {
        (Some(code), _) => out.fact("exit", &format!("the server exited with status {code}")),
        (_, Some(signal)) => out.fact("exit", &format!("signal {signal} ended the server")),
        _ => {}
    }
}

fn methods(report: &Report, out: &mut Page) {
    if report.methods.is_empty() {
        return;
    }
    let name = |method: &Method| {
        let from = if method.from == "server" {
            "server: "
        } else {
            ""
        };
        safe(&format!("{from}{}", method.method))
    };
    let width = report
        .methods
        .iter()
        .map(|one| name(one).chars().count())
        .max()
        .unwrap_or(0);
    let width = width.max("requests".len());
    out.line("");
    out.line(&format!(
        "  {:<width$}  {:>6}  {:>8}  {:>6}  {:>9}  {:>9}  {:>9}  {:>9}",
        "requests", "count", "answered", "errors", "p50", "p99", "sent", "received"
    ));
    for method in &report.methods {
        let counters = &method.counters;
        let delay = |ms: Option<f64>| ms.map_or_else(|| "-".to_owned(), duration);
        out.line(&format!(
            "  {:<width$}  {:>6}  {:>8}  {:>6}  {:>9}  {:>9}  {:>9}  {:>9}",
            name(method),
            counters.count,
            counters.answered,
            counters.errors + counters.tool_errors,
            delay(counters.delays.map(|delays| delays.p50_ms)),
            delay(counters.delays.map(|delays| delays.p99_ms)),
            size(counters.request_bytes),
            size(counters.response_bytes),
        ));
    }
}

fn tools(report: &Report, out: &mut Page) {
    let names: Vec<String> = report.tools.iter().map(|one| safe(&one.tool)).collect();
    let Some(widest) = names.iter().map(|name| name.chars().count()).max() else {
        return;
    };
    let width = widest.max("tools".len());
    out.line("");
    out.line(&format!(
        "  {:<width$}  {:>6}  {:>6}  {:>9}  {:>9}  {:>9}",
        "tools", "calls", "errors", "p50", "p99", "bytes"
    ));
    for (tool, name) in report.tools.iter().zip(names) {
        let counters = &tool.counters;
        let (count, delays) = (counters.count, counters.delays);
        let delay = |ms: Option<f64>| ms.map_or_else(|| "-".to_owned(), duration);
        out.line(&format!(
            "  {name:<width$}  {count:>6}  {:>6}  {:>9}  {:>9}  {:>9}",
            counters.errors + counters.tool_errors,
            delay(delays.map(|delays| delays.p50_ms)),
            delay(delays.map(|delays| delays.p99_ms)),
            size(counters.request_bytes + counters.response_bytes),
        ));
    }
}

fn notifications(report: &Report, out: &mut Page) {
    if report.notifications.is_empty() {
        return;
    }
    out.line("");
    out.line("  notifications");
    for one in &report.notifications {
        out.line(&format!(
            "  {:>6}  from the {}: {}",
            one.count,
            one.from,
            safe(&one.method)
        ));
    }
}

fn injected(report: &Report, out: &mut Page) {
    if report.injected.is_empty() {
        return;
    }
    out.line("");
    out.line("  injected faults");
    for one in &report.injected {
        let acted = match one.acted {
            0 => "never fired".to_owned(),
            count => format!("acted {count} {}", plural(count, "time")),
        };
        out.line(&format!("    {}: {acted}", safe(&one.spec)));
    }
}

/// The effects of faults, including those added while recording.
fn effects(report: &Report, out: &mut Page) {
    if report.effects.is_empty() {
        return;
    }
    out.line("");
    out.line("  what faults did");
    for one in report.effects.iter().take(SHOWN) {
        let at = one
            .at_ms
            .map_or_else(String::new, |at| format!(" at {}", duration(at)));
        let what = effect::line(&one.effect);
        out.line(&format!("    event {}{at}: {what}", one.seq));
    }
    out.rest(report.faults);
}

fn hangs(report: &Report, out: &mut Page) {
    if report.hangs_count == 0 {
        return;
    }
    out.line("");
    let count = report.hangs_count;
    let unanswered = match report.unanswered_count {
        0 => String::new(),
        count => format!(", {count} never answered"),
    };
    out.line(&format!(
        "  hangs: {count} {}{unanswered}",
        plural(count, "request")
    ));
    for one in report.hangs.iter().take(SHOWN) {
        out.line(&format!("    {}", hang(one)));
    }
    out.rest(count);
}

/// A request that hung.
pub(super) fn hang(one: &Hang) -> String {
    let from = if one.from == "server" { "server: " } else { "" };
    let mut line = format!("{from}{}", safe(&one.method));
    if let Some(name) = &one.name {
        // Writing to a string does not fail.
        let _never_fails = write!(line, " {}", safe(name));
    }
    let _never_fails = write!(line, ", id {}", safe(&one.id));
    if let Some(since) = one.since_ms {
        let _never_fails = write!(line, ", pending since {}", duration(since));
    }
    // Nothing is known after the last event.
    if one.closed == Outcome::StillPending && one.waited_ms.is_some_and(|waited| waited <= 0.0) {
        line.push_str(", pending at the end of the recording");
    } else {
        let _never_fails = match one.closed {
            Outcome::PeerGone => write!(line, ", {} gone", show::receiver(one.from)),
            closed => write!(line, ", {}", closed.word()),
        };
        if let Some(waited) = one.waited_ms {
            let _never_fails = write!(line, " after {}", duration(waited));
        }
    }
    if let Some(fault) = &one.fault {
        let _never_fails = write!(line, ", by the fault {}", effect::fault(fault));
    }
    line
}

fn found(report: &Report, out: &mut Page) {
    if report.found.is_empty() {
        return;
    }
    out.line("");
    out.line("  found by judges");
    for one in report.found.iter().take(SHOWN) {
        for line in super::finding::line(one).lines() {
            out.line(&format!("    {line}"));
        }
    }
    out.rest(report.findings);
}

fn noise(report: &Report, out: &mut Page) {
    if report.noise_count == 0 {
        return;
    }
    out.line("");
    let count = report.noise_count;
    out.line(&format!(
        "  noise: {count} {} without a JSON-RPC message",
        plural(count, "line")
    ));
    for one in &report.noise {
        let text: String = one.text.chars().take(NOISE_CHARS).collect();
        let more = if one.text.chars().count() > NOISE_CHARS {
            "…"
        } else {
            ""
        };
        out.line(&format!(
            "    {}: {}{more} ({}, {})",
            one.from,
            safe(&text),
            one.why,
            size(one.bytes)
        ));
    }
}

/// How many items of a list are shown.
pub(super) const SHOWN: usize = 20;
const NOISE_CHARS: usize = 100;
