//! The findings of a tape.

use tapewright_compliance::code::Code;
use tapewright_compliance::finding::{Side, Status};
use tapewright_compliance::{Checker, Facts, Outcome, Selection};
use tapewright_schemas::event::Sink as _;
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::tape::Reader;

/// One finding in its comparable form: without its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ComparedFinding {
    pub(crate) code: Code,
    status: Status,
    side: Side,
    detail: String,
}

/// The verdicts on a tape, by every rule.
pub(crate) fn outcomes(tape: &[u8]) -> Vec<Outcome> {
    let mut reader = Reader::open(tape).expect("a tape");
    let facts = Facts::of(FileKind::Tape, reader.header(), true);
    let mut checker = Checker::new(facts, Selection::all());
    while let Some(event) = reader.next_event().expect("an event") {
        checker.record(&event);
    }
    let judged = checker.finish(reader.ending());
    judged.into_iter().flat_map(|one| one.outcomes).collect()
}

/// The findings of a tape, by every rule.
pub(crate) fn found(tape: &[u8]) -> Vec<ComparedFinding> {
    let all = outcomes(tape);
    let findings = all.iter().flat_map(|one| &one.findings);
    let told = findings.map(|one| ComparedFinding {
        code: one.code,
        status: one.status,
        side: one.side,
        detail: one.detail.clone(),
    });
    told.collect()
}

/// The findings in `after` that are not in `before`.
pub(crate) fn added(before: &[ComparedFinding], after: &[ComparedFinding]) -> Vec<ComparedFinding> {
    let mut left = before.to_vec();
    let mut added = after.to_vec();
    added.retain(|one| match left.iter().position(|other| other == one) {
        Some(place) => {
            left.swap_remove(place);
            false
        }
        None => true,
    });
    added
}
