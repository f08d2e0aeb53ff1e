//! Lines other than exchanges.

use std::collections::BTreeSet;

use super::keep::KeptExchange;
use super::{Body, Note, NoteContent};
use crate::conversation::{Step, shown};
use crate::envelope::Kind;
use crate::event::{Event, EventBody, Payload};
use crate::filter::LineKind;
use crate::json;

/// A message that is neither a request nor an answer to one.
pub(super) fn of_step(
    event: &Event,
    step: &Step<'_, KeptExchange>,
    kind: LineKind,
    body: Body,
) -> Note {
    let method = match &step.envelope.kind {
        Kind::Notification { method, .. } => Some(shown(method)),
        _ => None,
    };
    let id = match &step.envelope.kind {
        Kind::Response { .. } => json::find(step.text, &["id"]),
        _ => None,
    };
    Note {
        method,
        id: id.map(|id| shown(&String::from_utf8_lossy(id))),
        about: step.exchange.map(|exchange| exchange.seq),
        ..note(event, kind, NoteContent::Message(body))
    }
}

/// Any event that is not a message, if requested.
pub(super) fn of_event(event: &Event, kinds: &BTreeSet<LineKind>) -> Option<Note> {
    let wanted = |kind: LineKind| kinds.contains(&kind);
    let (kind, told) = match &event.body {
        EventBody::Message {
            payload: Payload::Clipped { len, .. },
            ..
        } if wanted(LineKind::Gap) => (LineKind::Gap, NoteContent::Clipped(*len)),
        EventBody::Gap(gap) if wanted(LineKind::Gap) => {
            (LineKind::Gap, NoteContent::Gap(gap.clone()))
        }
        EventBody::Stderr { line, .. } if wanted(LineKind::Stderr) => {
            (LineKind::Stderr, NoteContent::Stderr(line.clone()))
        }
        EventBody::Head(head) if wanted(LineKind::Http) => {
            (LineKind::Http, NoteContent::Head(head.clone()))
        }
        EventBody::Faulted(faulted) if wanted(LineKind::Fault) => {
            (LineKind::Fault, NoteContent::Fault(faulted.clone()))
        }
        EventBody::Finding(finding) if wanted(LineKind::Finding) => {
            (LineKind::Finding, NoteContent::Finding(finding.clone()))
        }
        _ => return None,
    };
    Some(note(event, kind, told))
}

fn note(event: &Event, kind: LineKind, told: NoteContent) -> Note {
    Note {
        kind,
        seq: event.seq,
        session: event.session.0,
        dir: event.dir,
        at_ms: Some(event.at.millis()),
        method: None,
        id: None,
        about: None,
        is_ours: event.is_made_by_us(),
        told,
    }
}
