//! Summaries of events without message contents.
//!
//! They contain no parameters, results or texts of a peer, but redacted names from the tape:
//! methods, ids, tools, and the texts of a judge.

use serde_json::{Value, json};
use tapewright_schemas::conversation::{ExchangeRow, Over, Step, name_of, shown};
use tapewright_schemas::envelope::Kind;
use tapewright_schemas::event::{
    Effect, Event, EventBody, Exit, FaultRef, Faulted, Finding, Gap, Head, Offset, Payload, Peer,
    SessionMark, What,
};
use tapewright_schemas::json;
use tapewright_schemas::waits::{HangReported, Wait};

/// A single message.
pub(super) fn message(event: &Event, step: &Step<'_, HangReported>) -> Value {
    let mut told = base(event, "message");
    put(&mut told, "from", event.dir.sender());
    put(&mut told, "bytes", step.text.len());
    let id = || json::find(step.text, &["id"]).map(|id| shown(&String::from_utf8_lossy(id)));
    let kind = match &step.envelope.kind {
        Kind::Request { method, params, .. } => {
            put(&mut told, "method", shown(method));
            put(&mut told, "id", id());
            if let Some(name) = name_of(method, *params) {
                put(&mut told, "name", name);
            }
            "request"
        }
        Kind::Notification { method, .. } => {
            put(&mut told, "method", shown(method));
            "notification"
        }
        Kind::Response { result, error, .. } => {
            put(&mut told, "id", id());
            if let Some(wait) = step.answers() {
                put(&mut told, "method", wait.method.clone());
                if let Some(name) = &wait.name {
                    put(&mut told, "name", name.clone());
                }
                put(&mut told, "took_ms", event.at.since(wait.at).millis());
            }
            if let Some(error) = error {
                let code = json::find(error, &["code"]).map(String::from_utf8_lossy);
                put(
                    &mut told,
                    "error_code",
                    code.and_then(|code| code.parse::<i64>().ok()),
                );
            }
            let tool_error = result.and_then(|result| json::find(result, &["isError"]));
            if tool_error == Some(b"true") {
                put(&mut told, "tool_error", true);
            }
            "response"
        }
        Kind::Batch { .. } | Kind::Malformed(_) => "noise",
        _ => "other",
    };
    put(&mut told, "kind", kind);
    told
}

/// Events other than single messages.
pub(super) fn beside(event: &Event) -> Option<Value> {
    let (what, members) = match &event.body {
        EventBody::Message {
            payload: Payload::Clipped { len, .. },
            ..
        } => {
            let from = event.dir.sender();
            let members = json!({"from": from, "bytes": len, "kind": "clipped"});
            ("message", members)
        }
        EventBody::Faulted(faulted) => ("fault", json!({"effect": shown_faulted(faulted)})),
        EventBody::Opened(Peer::Process { pid }) => {
            ("opened", json!({"peer": "process", "pid": pid}))
        }
        EventBody::Opened(Peer::Cassette) => ("opened", json!({"peer": "cassette"})),
        EventBody::Opened(Peer::Server { .. }) => ("opened", json!({"peer": "server"})),
        EventBody::Closed(reason) => {
            let from = event.dir.sender();
            ("closed", json!({"from": from, "reason": reason.name()}))
        }
        EventBody::Exited(exited) => match exited.how {
            Exit::Code(code) => ("exited", json!({"exit_code": code})),
            Exit::Signal(signal) => ("exited", json!({"exit_signal": signal})),
        },
        EventBody::Session(SessionMark::Began(how)) => ("session", json!({"began": how})),
        EventBody::Session(SessionMark::Ended(why)) => ("session", json!({"ended": why})),
        EventBody::Signal(name) => ("signal", json!({"signal": shown(name)})),
        EventBody::Gap(Gap {
            events, bytes, why, ..
        }) => ("gap", json!({"events": events, "bytes": bytes, "why": why})),
        EventBody::Head(head) => {
            let Head::Response(head) = head.as_ref() else {
                return None;
            };
            ("http", json!({"http_status": head.status}))
        }
        _ => return None,
    };
    let mut told = base(event, what);
    if let (Value::Object(told), Value::Object(members)) = (&mut told, members) {
        told.extend(members);
    }
    Some(told)
}

/// A pending request.
pub(super) fn pending(wait: &Wait, now: Offset, long: Offset) -> Value {
    let mut told = request(wait);
    put(&mut told, "age_ms", now.since(wait.at).millis());
    let hangs = wait.is_kept() || now.since(wait.at) >= long;
    put(&mut told, "hangs", hangs);
    told
}

/// A request that hangs, or did until `at`.
pub(super) fn hang(wait: &Wait, at: Offset, closed: Option<&'static str>) -> Value {
    let mut told = request(wait);
    put(&mut told, "waited_ms", at.since(wait.at).millis());
    put(&mut told, "closed", closed);
    told
}

/// The event for the start or end of a hang.
pub(super) fn hang_event(wait: &Wait, at: Offset, closed: Option<&'static str>) -> Value {
    let mut told = hang(wait, at, closed);
    put(&mut told, "event", "hang");
    put(&mut told, "at_ms", at.millis());
    told
}

/// A finished exchange.
pub(super) fn exchange(over: &Over<HangReported>) -> Value {
    json!({
        "event": "exchange",
        "at_ms": over.at.millis(),
        "session": over.exchange.session.0,
        "exchange": ExchangeRow::of(over),
    })
}

/// A finding of a judge.
pub(super) fn finding(event: &Event, finding: &Finding) -> Value {
    let mut told = base(event, "finding");
    put(&mut told, "code", shown(&finding.code));
    put(&mut told, "status", finding.status.name());
    put(&mut told, "side", finding.side.name());
    let severity = finding
        .severity
        .map(tapewright_schemas::event::Severity::name)
        .unwrap_or_default();
    put(&mut told, "severity", severity);
    put(&mut told, "detail", shown(&finding.detail));
    let evidence: Vec<u64> = finding.evidence.iter().map(|place| place.seq).collect();
    put(&mut told, "evidence", evidence);
    told
}

/// A fault, with its name shortened for display.
fn shown_fault(fault: &FaultRef) -> FaultRef {
    FaultRef {
        name: shown(&fault.name),
        kind: fault.kind.clone(),
    }
}

fn shown_faulted(faulted: &Faulted) -> Faulted {
    let effect = &faulted.effect;
    let what = match &effect.what {
        What::Other { text } => What::Other { text: shown(text) },
        known => known.clone(),
    };
    Faulted {
        message: faulted.message,
        effect: Effect {
            fault: effect.fault.as_ref().map(shown_fault),
            what,
        },
    }
}

fn request(wait: &Wait) -> Value {
    let mut told = json!({
        "session": wait.session.0,
        "seq": wait.seq,
        "from": wait.dir.sender(),
        "id": wait.id,
        "method": wait.method,
        "since_ms": wait.at.millis(),
    });
    if let Some(name) = &wait.name {
        put(&mut told, "name", name.clone());
    }
    if let Some(fault) = &wait.fault {
        put(&mut told, "fault", json!(shown_fault(fault)));
    }
    told
}

fn base(event: &Event, what: &str) -> Value {
    let mut told = json!({
        "event": what,
        "at_ms": event.at.millis(),
        "session": event.session.0,
    });
    // A judge's finding has no number yet.
    if event.seq > 0 {
        put(&mut told, "seq", event.seq);
    }
    told
}

fn put(told: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(members) = told.as_object_mut() {
        members.insert(name.to_owned(), value.into());
    }
}
