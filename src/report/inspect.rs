//! What `inspect` says to people.

use std::fmt::Write as _;

use tapewright_schemas::summary::{Method, Peer, Report, Totals};

use super::safe;

/// The report as text, aligned and without colour.
pub(crate) fn text(file: &str, report: &Report) -> String {
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
    methods(report, &mut out);
    notifications(report, &mut out);
    unanswered(report, &mut out);
    noise(report, &mut out);
    found(report, &mut out);
    out.text
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
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
    for (name, count) in [
        ("stray", report.stray_responses),
        ("clipped", report.clipped),
        ("faults", report.faults),
        ("findings", report.findings),
        ("stderr", report.stderr_lines),
    ] {
        let what = match name {
            "stray" => {
                "response that answers no open request|responses that answer no open request"
            }
            "clipped" => "message over the recorder's limit|messages over the recorder's limit",
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
    if let Some(why) = &report.ended.why {
        out.fact("incomplete", &safe(why));
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
        let delay = |ms: Option<f64>| ms.map_or_else(|| "-".to_owned(), duration);
        out.line(&format!(
            "  {:<width$}  {:>6}  {:>8}  {:>6}  {:>9}  {:>9}  {:>9}  {:>9}",
            name(method),
            method.count,
            method.answered,
            method.errors + method.tool_errors,
            delay(method.delays.map(|delays| delays.p50_ms)),
            delay(method.delays.map(|delays| delays.p99_ms)),
            size(method.request_bytes),
            size(method.response_bytes),
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

fn unanswered(report: &Report, out: &mut Page) {
    if report.unanswered_count == 0 {
        return;
    }
    out.line("");
    let count = report.unanswered_count;
    out.line(&format!(
        "  never answered: {count} {}",
        plural(count, "request")
    ));
    for one in report.unanswered.iter().take(SHOWN) {
        let times = match (one.sent_ms, one.waited_ms) {
            (Some(sent), Some(waited)) => {
                format!(", sent at {}, waited {}", duration(sent), duration(waited))
            }
            _ => String::new(),
        };
        let from = if one.from == "server" { "server: " } else { "" };
        let id = safe(one.id.get());
        out.line(&format!(
            "    {from}{}, id {id}{times}, {}",
            safe(&one.method),
            one.why
        ));
    }
    let rest = count.saturating_sub(SHOWN as u64);
    if rest > 0 {
        out.line(&format!("    and {rest} more, see `--json`"));
    }
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
    let rest = report.findings.saturating_sub(SHOWN as u64);
    if rest > 0 {
        out.line(&format!("    and {rest} more, see `--json`"));
    }
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

fn plural(count: u64, word: &str) -> String {
    if count == 1 {
        word.to_owned()
    } else {
        format!("{word}s")
    }
}

fn duration(ms: f64) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let written = if ms < 1.0 {
        write!(text, "{:.0} us", ms * 1_000.0)
    } else if ms < 100.0 {
        write!(text, "{ms:.1} ms")
    } else if ms < 1_000.0 {
        write!(text, "{ms:.0} ms")
    } else {
        write!(text, "{:.1} s", ms / 1_000.0)
    };
    written.map(|()| text).unwrap_or_default()
}

/// A number of bytes, for people.
fn size(bytes: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", tenths(1_000)),
        1_000_000..1_000_000_000 => format!("{} MB", tenths(1_000_000)),
        _ => format!("{} GB", tenths(1_000_000_000)),
    }
}

const SHOWN: usize = 20;
const NOISE_CHARS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [size(999), size(1_250), size(52_000_000)],
            ["999 B", "1.2 kB", "52.0 MB"]
        );
        let times = [
            duration(0.0124),
            duration(1.26),
            duration(250.4),
            duration(61_000.0),
        ];
        assert_eq!(times, ["12 us", "1.3 ms", "250 ms", "61.0 s"]);
    }
}
