//! The output of `sessions` and `tail`, for people.

use std::fmt::Write as _;

use serde_json::Value;

use tapewright_schemas::event::{FaultRef, GapReason};

use super::figures::{duration, plural, size};
use super::{effect, safe};

/// The lists of a control, as text.
pub(crate) fn sessions(all: &Value) -> String {
    let list = |name: &str| all.get(name).and_then(Value::as_array);
    let mut out = String::new();
    let none = Vec::new();
    let found = list("sessions").unwrap_or(&none);
    let count = found.len() as u64;
    // Writing to a string does not fail.
    let _never_fails = writeln!(out, "{count} {}", plural(count, "session"));
    for one in found {
        let _never_fails = writeln!(out, "  {}", session(one));
    }
    section(&mut out, "pending", list("pending"), pending);
    section(&mut out, "hangs", list("hangs"), hang);
    section(&mut out, "findings", list("findings"), finding);
    out
}

/// One event of a stream, as a line.
pub(crate) fn event(event: &Value) -> String {
    let at = number(event, "at_ms").map(duration).unwrap_or_default();
    let session = number(event, "session").unwrap_or_default();
    let what = text(event, "event");
    let said = match what.as_str() {
        "message" => message(event),
        "hang" => hang(event),
        "fault" => faulted(event),
        "exchange" => event.get("exchange").map(exchange).unwrap_or_default(),
        "finding" => finding(event),
        "missed" => {
            let count = number(event, "count").unwrap_or_default();
            return format!(
                "… {count} events were missed: they arrived faster than they were read"
            );
        }
        _ => beside(what.as_str(), event),
    };
    format!("{at:>10}  s{session}  {what:<8} {said}")
        .trim_end()
        .to_owned()
}

fn section(
    out: &mut String,
    name: &str,
    list: Option<&Vec<Value>>,
    line: impl Fn(&Value) -> String,
) {
    let Some(list) = list.filter(|list| !list.is_empty()) else {
        return;
    };
    let _never_fails = writeln!(out, "\n{name}");
    for one in list {
        let session = number(one, "session").unwrap_or_default();
        let _never_fails = writeln!(out, "  s{session}  {}", line(one));
    }
}

fn session(one: &Value) -> String {
    let peer = |name: &str| match one.get(name) {
        Some(peer) if peer.is_object() => {
            format!("{} {}", text(peer, "name"), text(peer, "version"))
        }
        _ => "(not named)".to_owned(),
    };
    let total = |name: &str| {
        let total = one.get(name).cloned().unwrap_or_default();
        let messages = whole(&total, "messages");
        format!(
            "{messages} {} ({})",
            plural(messages, "message"),
            size(whole(&total, "bytes"))
        )
    };
    let mut line = format!(
        "s{}  {} -> {}, {} to the server, {} to the client, {} pending",
        whole(one, "session"),
        peer("client").trim_end(),
        peer("server").trim_end(),
        total("to_server"),
        total("to_client"),
        whole(one, "pending"),
    );
    for (name, word) in [("faults", "fault"), ("findings", "finding")] {
        let count = whole(one, name);
        if count > 0 {
            let _never_fails = write!(line, ", {count} {}", plural(count, word));
        }
    }
    let gaps = whole(one, "gap_events");
    if gaps > 0 {
        let _never_fails = write!(line, ", {gaps} events were not seen");
    }
    let ended = text(one, "ended");
    if !ended.is_empty() {
        let _never_fails = write!(line, ", ended: {ended}");
    }
    line
}

fn pending(one: &Value) -> String {
    let mut line = format!(
        "{} for {}",
        request(one),
        number(one, "age_ms").map(duration).unwrap_or_default()
    );
    if let Some(fault) = fault(one) {
        let _never_fails = write!(line, ", by the fault {fault}");
    } else if one.get("hangs") == Some(&Value::Bool(true)) {
        line.push_str(", hangs");
    }
    line
}

fn hang(one: &Value) -> String {
    let mut line = format!(
        "{}, pending since {}",
        request(one),
        number(one, "since_ms").map(duration).unwrap_or_default()
    );
    let waited = number(one, "waited_ms").map(duration).unwrap_or_default();
    let closed = text(one, "closed");
    if closed.is_empty() {
        line.push_str(", still pending");
    } else {
        let _never_fails = write!(line, ", {closed} after {waited}");
    }
    if let Some(fault) = fault(one) {
        let _never_fails = write!(line, ", by the fault {fault}");
    }
    line
}

/// Events other than messages.
fn beside(what: &str, event: &Value) -> String {
    match what {
        "opened" => match text(event, "peer").as_str() {
            "process" => format!("process {}", whole(event, "pid")),
            "cassette" => "a recording".to_owned(),
            _ => "a server over HTTP".to_owned(),
        },
        "closed" => format!("by the {}: {}", text(event, "from"), text(event, "reason")),
        "exited" => match event.get("exit_signal").and_then(Value::as_i64) {
            Some(signal) => format!("signal {signal}"),
            None => format!(
                "status {}",
                event
                    .get("exit_code")
                    .and_then(Value::as_i64)
                    .unwrap_or_default()
            ),
        },
        "session" => {
            let began = text(event, "began");
            if began.is_empty() {
                format!("ended: {}", text(event, "ended").replace('_', " "))
            } else {
                format!("began: {}", began.replace('_', " "))
            }
        }
        "signal" => text(event, "signal"),
        "gap" => {
            let events = whole(event, "events");
            let why = GapReason::from_name(&text(event, "why")).unwrap_or_default();
            format!(
                "{events} {}, {} are missing: {}",
                plural(events, "event"),
                size(whole(event, "bytes")),
                gap(why)
            )
        }
        "http" => format!("status {}", whole(event, "http_status")),
        _ => String::new(),
    }
}

/// Why a tape has a gap.
fn gap(why: GapReason) -> &'static str {
    match why {
        GapReason::Disk => "cannot write the tape",
        GapReason::Encoding => "cannot decode the content encoding",
        GapReason::QueueFull => "the queue was full",
        GapReason::Unknown => "unknown reason",
    }
}

/// The name of the fault that affects a request.
fn fault(one: &Value) -> Option<String> {
    let fault: FaultRef = serde_json::from_value(one.get("fault")?.clone()).ok()?;
    Some(effect::fault(&fault))
}

fn faulted(event: &Value) -> String {
    let told = event.get("effect").cloned().unwrap_or_default();
    let faulted = serde_json::from_value(told);
    faulted.map_or_else(|_| String::new(), |faulted| effect::line(&faulted))
}

fn exchange(one: &Value) -> String {
    let outcome = text(one, "outcome").replace('_', " ");
    let waited = number(one, "waited_ms").map(duration).unwrap_or_default();
    format!("{}: {outcome} after {waited}", request(one))
}

fn finding(one: &Value) -> String {
    format!(
        "{} {} ({}): {}",
        text(one, "code"),
        text(one, "status"),
        text(one, "side"),
        text(one, "detail")
    )
}

fn message(one: &Value) -> String {
    let arrow = if text(one, "from") == "client" {
        "->"
    } else {
        "<-"
    };
    let kind = text(one, "kind");
    let bytes = size(whole(one, "bytes"));
    let mut line = match kind.as_str() {
        "request" | "response" => format!("{arrow} {kind} {}, {bytes}", request(one)),
        "notification" => format!("{arrow} {kind} {}, {bytes}", text(one, "method")),
        _ => format!("{arrow} {kind}, {bytes}"),
    };
    if let Some(took) = number(one, "took_ms") {
        let _never_fails = write!(line, ", took {}", duration(took));
    }
    if let Some(code) = one.get("error_code").and_then(Value::as_i64) {
        let _never_fails = write!(line, ", error {code}");
    }
    if one.get("tool_error") == Some(&Value::Bool(true)) {
        line.push_str(", the tool failed");
    }
    line
}

/// The name of a request.
fn request(one: &Value) -> String {
    let mut line = text(one, "method");
    if line.is_empty() {
        line.push_str("(to no request)");
    }
    let name = text(one, "name");
    if !name.is_empty() {
        let _never_fails = write!(line, " {name}");
    }
    let _never_fails = write!(line, ", id {}", text(one, "id"));
    line
}

fn text(value: &Value, name: &str) -> String {
    safe(value.get(name).and_then(Value::as_str).unwrap_or_default())
}

fn number(value: &Value, name: &str) -> Option<f64> {
    value.get(name).and_then(Value::as_f64)
}

fn whole(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}
