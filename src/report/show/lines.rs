//! Lines other than exchanges.

use std::fmt::Write as _;

use tapewright_schemas::event::{Direction, Head};
use tapewright_schemas::filter::LineKind;
use tapewright_schemas::listing::{Note, NoteContent};
use tapewright_schemas::slices::Front as _;

use super::line::{DIM, Margin, RED, YELLOW, paint, short};
use crate::report::figures::{plural, size};
use crate::report::{effect, finding, in_place, safe};

/// A note, as more than one line if it has fields.
pub(super) fn note(note: &Note, margin: &Margin) -> String {
    let front = margin.front(note.at_ms, note.dir == Direction::ToClient);
    let colour = match note.kind {
        LineKind::Gap | LineKind::Finding | LineKind::Orphan | LineKind::Noise => RED,
        LineKind::Late | LineKind::Fault | LineKind::Cancellation => YELLOW,
        _ => DIM,
    };
    let word = paint(note.kind.name(), colour, margin.colour);
    format!("{front}{word} {}", said(note))
}

/// The text of a note, without its context.
pub(crate) fn said(note: &Note) -> String {
    match &note.told {
        NoteContent::Clipped(bytes) => {
            format!("a message of {} was recorded in part", size(*bytes))
        }
        NoteContent::Fault(faulted) => effect::line(faulted),
        NoteContent::Finding(found) => finding::line(found).replace('\n', "\n    "),
        NoteContent::Gap(gap) => {
            let (events, bytes) = (gap.events, size(gap.bytes));
            format!(
                "{events} {} and {bytes} are missing",
                plural(events, "event")
            )
        }
        NoteContent::Head(head) => http(head),
        NoteContent::Message(body) => message(note, body.text().unwrap_or_default()),
        NoteContent::Stderr(line) => safe(&String::from_utf8_lossy(line)),
    }
}

fn message(note: &Note, text: &[u8]) -> String {
    match note.kind {
        LineKind::Noise => {
            let text = String::from_utf8_lossy(text.front(NOISE_BYTES));
            format!("is not a message: {}", short(&safe(&text), NOISE_CHARS))
        }
        LineKind::Late if note.is_ours => {
            format!(
                "answer of the recorder to {}, whose peer has left",
                id(note)
            )
        }
        LineKind::Late => format!("answer to {}, which has already ended", id(note)),
        LineKind::Orphan => format!("answer to {}, which was never requested", id(note)),
        _ => {
            let mut said = safe(note.method.as_deref().unwrap_or_default());
            if let Some(about) = note.about {
                // Writing to a string does not fail.
                let _never_fails = write!(said, " about event {about}");
            }
            said
        }
    }
}

fn id(note: &Note) -> String {
    safe(note.id.as_deref().unwrap_or("null"))
}

fn http(head: &Head) -> String {
    let (first, fields) = match head {
        Head::Request(head) => {
            let (method, target) = (safe(&head.method), safe(&head.target));
            (
                format!("{method} {target} {}", safe(&head.version)),
                &head.fields,
            )
        }
        Head::Interim(head) | Head::Response(head) => {
            let about = head.ours_about.as_deref();
            let ours = head.ours.map(|why| {
                format!(
                    " (by the recorder: {})",
                    in_place::answered(why, head.ours_cause, about)
                )
            });
            let status = head.status;
            (
                format!(
                    "{} {status}{}",
                    safe(&head.version),
                    ours.unwrap_or_default()
                ),
                &head.fields,
            )
        }
    };
    let mut text = first;
    for (name, value) in fields.iter() {
        // Writing to a string does not fail.
        let _never_fails = write!(text, "\n    {}: {}", safe(name), safe(value));
    }
    text
}

const NOISE_CHARS: usize = 100;
const NOISE_BYTES: usize = 400;
