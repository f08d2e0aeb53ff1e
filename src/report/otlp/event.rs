//! Tape lines other than exchanges, as events of a span.

use tapewright_schemas::event::FaultRef;
use tapewright_schemas::listing::NoteContent;

use super::span::Attributes;

/// A note as an event of its session.
pub(super) fn event(told: &NoteContent) -> Option<(&'static str, Attributes)> {
    let mut attributes = Attributes::default();
    let name = match told {
        NoteContent::Gap(gap) => {
            attributes.number("tapewright.gap.events", Some(gap.events));
            attributes.number("tapewright.gap.bytes", Some(gap.bytes));
            "tapewright.gap"
        }
        NoteContent::Fault(fault) => {
            fault_names(fault.effect.fault.as_ref()?, &mut attributes);
            "tapewright.fault"
        }
        NoteContent::Finding(finding) => {
            attributes.text("tapewright.finding.code", finding.code.as_str());
            attributes.text("tapewright.finding.status", &token(finding.status));
            attributes.text("tapewright.finding.side", &token(finding.side));
            "tapewright.finding"
        }
        _ => return None,
    };
    Some((name, attributes))
}

/// Adds the fault.
pub(super) fn fault_names(fault: &FaultRef, attributes: &mut Attributes) {
    attributes.text("tapewright.fault.name", fault.name.as_str());
    attributes.text("tapewright.fault.kind", fault.kind.name());
}

/// The token of an enum's variant.
pub(super) fn token(one: impl serde::Serialize) -> String {
    let word = serde_json::to_value(one).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}
