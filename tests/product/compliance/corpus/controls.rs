//! What a server breaks is found by the rules that forbid it, and by no others. Some rules overlap: noise on standard
//! output breaks one of the protocol and one of the transport.

use std::collections::BTreeSet;

use super::{failed, judged};

/// A rule that is broken: in which version, how, and by which rules that is found.
struct Control {
    version: &'static str,
    broken: &'static [&'static str],
    found_by: &'static [&'static str],
}

const CONTROLS: &[Control] = &[
    Control {
        version: "v2024-11-05",
        broken: &["drop", "initialize", "/capabilities"],
        found_by: &["PROTO-002", "RES-003", "TOOL-001"],
    },
    Control {
        version: "v2025-06-18",
        broken: &["set", "initialize", "/capabilities", "7"],
        found_by: &["PROTO-002"],
    },
    Control {
        version: "v2024-11-05",
        broken: &["noise"],
        found_by: &["PROTO-008", "TRANSPORT-001"],
    },
];

#[test]
fn what_is_broken_is_found_by_the_rules_that_forbid_it_and_by_no_others() {
    let mut wrong = Vec::new();
    for control in CONTROLS {
        let (report, _) = judged(control.version, control.broken);
        let found = failed(&report);
        let ids: BTreeSet<&str> = found.keys().map(String::as_str).collect();
        let expected: BTreeSet<&str> = control.found_by.iter().copied().collect();
        if ids != expected {
            wrong.push(format!(
                "{} {:?}: {found:#?}",
                control.version, control.broken
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
