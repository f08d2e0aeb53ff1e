//! Converts the events of a control to rows and notes.

use serde_json::Value;
use tapewright_schemas::conversation::{ExchangeRow, Outcome, shown};
use tapewright_schemas::event;
use tapewright_schemas::event::{Direction, FaultRef, Faulted, Finding, Gap, GapReason};
use tapewright_schemas::filter::LineKind;
use tapewright_schemas::listing::{Body, Entry, LinePosition, Note, NoteContent};

/// A pending request, from their list.
pub(super) fn pending(one: &Value) -> ExchangeRow {
    let fault = one.get("fault").cloned();
    ExchangeRow {
        at_ms: number(one, "since_ms"),
        fault: fault.and_then(|fault| serde_json::from_value(fault).ok()),
        ..request(one)
    }
}

/// A new request.
pub(super) fn request(one: &Value) -> ExchangeRow {
    let (method, name) = (text(one, "method"), text(one, "name"));
    let name = |kind: &str| (!name.is_empty() && method.starts_with(kind)).then(|| name.clone());
    ExchangeRow {
        request_seq: whole(one, "seq"),
        answer_seq: None,
        session: u32::try_from(whole(one, "session")).unwrap_or_default(),
        conduit: 0,
        from: from(one),
        at_ms: number(one, "at_ms"),
        id: text(one, "id"),
        tool: name("tools/"),
        resource: name("resources/"),
        prompt: name("prompts/"),
        method,
        outcome: Outcome::StillPending,
        error_code: None,
        tool_error: false,
        http_status: None,
        waited_ms: None,
        answered_ms: None,
        ours_ms: None,
        theirs_ms: None,
        request_bytes: whole(one, "bytes"),
        answer_bytes: None,
        fault: None,
        findings: Vec::new(),
        notifications: Vec::new(),
        asked_by: None,
    }
}

/// An exchange that has ended: the published row.
pub(super) fn exchange(row: &Value) -> ExchangeRow {
    let optional = |name: &str| row.get(name).and_then(Value::as_str).map(shown);
    let fault: Option<FaultRef> = row
        .get("fault")
        .and_then(|fault| serde_json::from_value(fault.clone()).ok());
    let codes = row.get("findings").and_then(Value::as_array);
    let codes = codes.into_iter().flatten().filter_map(Value::as_str);
    ExchangeRow {
        request_seq: whole(row, "request_seq"),
        answer_seq: row.get("answer_seq").and_then(Value::as_u64),
        conduit: u32::try_from(whole(row, "conduit")).unwrap_or_default(),
        tool: optional("tool"),
        resource: optional("resource"),
        prompt: optional("prompt"),
        outcome: outcome(&text(row, "outcome")),
        error_code: row.get("error_code").and_then(Value::as_i64),
        tool_error: row.get("tool_error") == Some(&Value::Bool(true)),
        http_status: u16::try_from(whole(row, "http_status"))
            .ok()
            .filter(|one| *one > 0),
        waited_ms: number(row, "waited_ms"),
        answered_ms: number(row, "answered_ms"),
        ours_ms: number(row, "ours_ms"),
        theirs_ms: number(row, "theirs_ms"),
        request_bytes: whole(row, "request_bytes"),
        answer_bytes: row.get("answer_bytes").and_then(Value::as_u64),
        fault,
        findings: codes.map(shown).collect(),
        ..request(row)
    }
}

fn outcome(word: &str) -> Outcome {
    match word {
        "answered" => Outcome::Answered,
        "cancelled" => Outcome::Cancelled,
        "client_gone" => Outcome::ClientGone,
        "error" => Outcome::Error,
        "failed" => Outcome::Failed,
        "http_error" => Outcome::HttpError,
        "kept_by_fault" => Outcome::KeptByFault,
        "no_response" => Outcome::NoResponse,
        "peer_gone" => Outcome::PeerGone,
        "still_pending" => Outcome::StillPending,
        _ => Outcome::Unknown,
    }
}

/// An exchange as a line.
pub(super) fn entry(row: ExchangeRow) -> Entry {
    Entry::Exchange {
        row: Box::new(row),
        request: Body::Unwanted,
        answer: Body::Unwanted,
    }
}

/// Other lines, if they are shown.
pub(super) fn note(event: &Value) -> Option<(LinePosition, Entry)> {
    let (kind, told) = match &*text(event, "event") {
        "message" => (message_kind(event)?, NoteContent::Message(Body::Unwanted)),
        "fault" => {
            let effect = event.get("effect")?.clone();
            let faulted: Faulted = serde_json::from_value(effect).ok()?;
            (LineKind::Fault, NoteContent::Fault(Box::new(faulted)))
        }
        "finding" => (
            LineKind::Finding,
            NoteContent::Finding(Box::new(finding(event)?)),
        ),
        "gap" => {
            let gap = Gap {
                events: whole(event, "events"),
                bytes: whole(event, "bytes"),
                why: GapReason::from_name(&text(event, "why")).unwrap_or_default(),
                ..Gap::default()
            };
            (LineKind::Gap, NoteContent::Gap(gap))
        }
        _ => return None,
    };
    let is_from_client = from(event) == Direction::ToServer.sender();
    let method = text(event, "method");
    let note = Note {
        kind,
        seq: whole(event, "seq"),
        session: u32::try_from(whole(event, "session")).unwrap_or_default(),
        dir: if is_from_client {
            Direction::ToServer
        } else {
            Direction::ToClient
        },
        at_ms: number(event, "at_ms"),
        method: (!method.is_empty()).then_some(method),
        id: None,
        about: None,
        is_ours: false,
        told,
    };
    // A line that is complete at once is not looked up by position.
    Some((LinePosition(note.seq, 0), Entry::Beside(Box::new(note))))
}

fn message_kind(event: &Value) -> Option<LineKind> {
    Some(match &*text(event, "kind") {
        "notification" => match &*text(event, "method") {
            "notifications/progress" => LineKind::Progress,
            "notifications/cancelled" => LineKind::Cancellation,
            _ => LineKind::Notification,
        },
        "noise" => LineKind::Noise,
        _ => return None,
    })
}

fn finding(event: &Value) -> Option<Finding> {
    let mut told = event.clone();
    let members = told.as_object_mut()?;
    if members.get("severity") == Some(&Value::from("")) {
        members.remove("severity");
    }
    let evidence = members.remove("evidence").unwrap_or_default();
    let places = evidence
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_u64);
    let places = places.map(|seq| event::Place {
        seq,
        ..event::Place::default()
    });
    let places: Vec<event::Place> = places.collect();
    let mut finding: Finding = serde_json::from_value(told).ok()?;
    finding.evidence = places;
    Some(finding)
}

fn from(one: &Value) -> &'static str {
    let client = Direction::ToServer.sender();
    if text(one, "from") == client {
        client
    } else {
        Direction::ToClient.sender()
    }
}

/// The text of a member, cut to the length that is shown.
pub(super) fn text(value: &Value, name: &str) -> String {
    shown(value.get(name).and_then(Value::as_str).unwrap_or_default())
}

/// A number.
pub(super) fn number(value: &Value, name: &str) -> Option<f64> {
    value.get(name).and_then(Value::as_f64)
}

/// A whole number, 0 if missing.
pub(super) fn whole(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// Milliseconds as microseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float that is too large, or none, becomes the nearest number"
)]
pub(super) fn micros(ms: f64) -> u64 {
    (ms * 1_000.0) as u64
}
