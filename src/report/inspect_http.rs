//! The HTTP part of `inspect`: sessions, exchanges, failures.

use tapewright_schemas::event::{SessionEnd, SessionStart};
use tapewright_schemas::summary::{Http, HttpError, Report, SessionSummary};

use super::figures::{duration, plural};
use super::inspect::{Page, SHOWN};
use super::{in_place, safe};

/// The sessions, if there is something to report about them.
pub(super) fn sessions(report: &Report, out: &mut Page) {
    if report.by_session.is_empty() {
        return;
    }
    out.line("");
    out.line("  sessions");
    for one in report.by_session.iter().take(SHOWN) {
        out.line(&format!("    {}", session(one)));
    }
    out.rest(report.by_session.len() as u64);
}

fn session(one: &SessionSummary) -> String {
    let name = match one.session {
        0 => "of no session".to_owned(),
        number => format!("session {number}"),
    };
    let eras = if one.eras.is_empty() {
        String::new()
    } else {
        format!(", {}", one.eras.join(" and "))
    };
    let messages = one.to_server + one.to_client;
    let mut said = vec![
        format!(
            "{name}{eras}: {} {}",
            one.exchanges,
            plural(one.exchanges, "exchange")
        ),
        format!("{messages} {}", plural(messages, "message")),
    ];
    if let Some((began, ended)) = one.began_ms.zip(one.ended_ms) {
        said.push(format!("from {} to {}", duration(began), duration(ended)));
    }
    said.extend(one.began.map(|how| format!("begun by {}", began(how))));
    said.extend(one.ended.map(|why| format!("ended: {}", ended(why))));
    said.join(", ")
}

/// The exchanges.
pub(super) fn exchanges(report: &Report, out: &mut Page) {
    let Some(http) = &report.http else { return };
    out.line("");
    let ends: Vec<String> = http
        .ends
        .iter()
        .map(|(how, count)| format!("{how} {count}"))
        .collect();
    let count = http.exchanges;
    out.line(&format!(
        "  HTTP: {count} {} ({})",
        plural(count, "exchange"),
        ends.join(", ")
    ));
    for one in http.by_status.iter().take(SHOWN) {
        let status = one
            .status
            .map_or_else(|| "no response".to_owned(), |status| status.to_string());
        out.line(&format!(
            "    {:>6}  {} {status}",
            one.count,
            safe(&one.method)
        ));
    }
    out.rest(http.by_status.len() as u64);
    beside(http, out);
    if http.errors_count == 0 {
        return;
    }
    out.line("");
    let count = http.errors_count;
    out.line(&format!(
        "  HTTP errors: {count} {}",
        plural(count, "exchange")
    ));
    for one in http.errors.iter().take(SHOWN) {
        out.line(&format!("    {}", error(one)));
    }
    out.rest(count);
}

fn beside(http: &Http, out: &mut Page) {
    let streams = http.streams;
    if streams.count > 0 {
        let of = |count: u64, word: &str| format!("{count} {}", plural(count, word));
        let mut said = vec![
            of(streams.count, "event stream"),
            of(streams.events, "event"),
        ];
        if streams.comments > 0 {
            said.push(of(streams.comments, "comment"));
        }
        if streams.cut > 0 {
            said.push(format!("{} cut short", of(streams.cut, "event")));
        }
        if streams.resumed > 0 {
            said.push(format!("{} resumed", streams.resumed));
        }
        out.line(&format!("    {}", said.join(", ")));
    }
    if let Some(added) = http.added {
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let time = |micros: u64| duration(micros as f64 / 1_000.0);
        out.line(&format!(
            "    added latency: {} p50, {} p99, {} at most",
            time(added.p50_us),
            time(added.p99_us),
            time(added.max_us)
        ));
    }
    if !http.edits.is_empty() {
        let edits = http.edits.iter();
        let edits: Vec<String> = edits
            .map(|(what, count)| format!("{} {count}", safe(what)))
            .collect();
        out.line(&format!("    changed on the way: {}", edits.join(", ")));
    }
}

fn status(status: Option<u16>) -> String {
    status.map_or_else(|| "no response".to_owned(), |status| status.to_string())
}

fn error(one: &HttpError) -> String {
    let request = format!("{} {}", safe(&one.method), safe(&one.target));
    let mut said = vec![format!("{request}: {}", status(one.status))];
    if one.ended != "complete" {
        said.push(one.ended.to_owned());
    }
    if one.session > 0 {
        said.push(format!("session {}", one.session));
    }
    said.extend(one.at_ms.map(|at| format!("at {}", duration(at))));
    let about = one.ours_about.as_deref();
    said.extend(one.ours.map(|why| {
        format!(
            "answered by the recorder: {}",
            in_place::answered(why, one.ours_cause, about)
        )
    }));
    said.join(", ")
}

fn began(how: SessionStart) -> &'static str {
    match how {
        SessionStart::EventStream => "event stream",
        SessionStart::Initialize => "initialize",
        SessionStart::Process => "process",
        SessionStart::SessionId => "session id",
        SessionStart::Unknown => "what is not known",
    }
}

fn ended(why: SessionEnd) -> &'static str {
    match why {
        SessionEnd::Deleted => "deleted",
        SessionEnd::Idle => "idle",
        SessionEnd::NeverBegun => "never begun",
        SessionEnd::NoSessionId => "no session id",
        SessionEnd::NotFound => "not found",
        SessionEnd::ProcessEnded => "process ended",
        SessionEnd::Replaced => "replaced",
        SessionEnd::Shutdown => "shutdown",
        SessionEnd::StreamClosed => "stream closed",
        SessionEnd::Unknown => "not known why",
    }
}
