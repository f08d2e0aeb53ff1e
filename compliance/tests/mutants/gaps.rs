//! Tapes with gaps: never a finding, and inconclusive where it matters.

use tapewright_compliance::finding::{Doubt, Status};

use super::draft::Draft;
use super::judged::{added, found, outcomes};

pub(crate) const SESSIONS: [&str; 5] = [
    "handshake-http",
    "handshake-sse",
    "handshake-stdio",
    "stateless-http",
    "stateless-stdio",
];

/// The number of events that are removed from each session, one at a time.
const LOST: usize = 60;

#[test]
fn a_tape_whose_numbers_jump_leads_to_no_finding_and_is_inconclusive() {
    for name in SESSIONS {
        let base = Draft::recorded(name);
        let before = found(&base.tape());
        let step = (base.len() / LOST).max(1);
        // After the last event there is no later one whose number would jump.
        for place in (0..base.len() - 1).step_by(step) {
            let mut draft = base.clone();
            draft.lose(place);
            let tape = draft.tape();
            let added = added(&before, &found(&tape));
            assert!(added.is_empty(), "{name} without {place}: {added:#?}");
            let mut verdicts = outcomes(&tape).into_iter();
            let jumped = verdicts.all(|one| one.doubts.each().any(|doubt| doubt == Doubt::Gap));
            assert!(jumped, "{name} without {place}");
        }
    }
}

#[test]
fn a_tape_without_an_end_leads_to_no_finding() {
    for name in SESSIONS {
        let base = Draft::recorded(name);
        let before = found(&base.tape());
        let step = (base.len() / LOST).max(1);
        for length in (1..base.len()).step_by(step) {
            let mut draft = base.clone();
            draft.cut_short(length);
            let added = added(&before, &found(&draft.tape()));
            assert!(added.is_empty(), "{name} up to {length}: {added:#?}");
        }
    }
}

#[test]
fn what_a_missing_end_could_change_is_inconclusive() {
    // All calls of a capability so far failed, and a request is still pending.
    let mut draft = Draft::recorded("handshake-stdio");
    draft.step(r#"fail =tools/list {"code":-32603,"message":"starting"}"#);
    draft.cut_short(15);
    let verdicts = outcomes(&draft.tape());
    for code in ["INV-004", "INV-016"] {
        let verdict = verdicts.iter().find(|one| one.code.to_string() == code);
        let status = verdict.map(|one| one.status);
        assert_eq!(status, Some(Status::Inconclusive), "{code}");
    }
}
