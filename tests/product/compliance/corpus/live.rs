//! Testing a live server.

use super::{VERSIONS, failed, judged, report, run, untested};

#[test]
fn a_server_that_keeps_the_rules_of_a_version_breaks_none_of_them() {
    for version in VERSIONS {
        let (report, status) = judged(version, &[]);
        assert_eq!(
            failed(&report),
            std::collections::BTreeMap::new(),
            "{version}"
        );
        assert_eq!(status, 0, "{version}: {report:#}");
        assert_eq!(report["spec_version"], version);
        assert!(
            report["rules_tested"].as_u64() > Some(0),
            "{version}: {report:#}"
        );
    }
}

#[test]
fn the_revision_that_a_server_speaks_chooses_the_rules() {
    let peer = crate::support::peer().display().to_string();
    let (report, _) = report(&["--", &peer, "corpus"]);
    assert_eq!(report["spec_version"], "v2025-11-25");
    assert_eq!(report["revision"], "2025-11-25");
}

#[test]
fn a_server_that_dies_leaves_the_rest_untested() {
    let (report, _) = judged("v2025-11-25", &["die"]);
    let why = untested(&report);
    let ended = why
        .values()
        .filter(|why| why.contains("the server had ended"))
        .count();
    assert!(ended > 0 || !failed(&report).is_empty(), "{report:#}");
    let notes = report["notes"].to_string();
    assert!(
        notes.contains("the server exited before all tests were done"),
        "{notes}"
    );
}

#[test]
fn a_server_that_cannot_be_started_cannot_be_judged() {
    let output = run(&["--", "/nowhere/at/all"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

#[test]
fn capabilities_that_a_server_does_not_declare_do_not_count() {
    let broken = ["drop", "initialize", "/capabilities/prompts"];
    let (report, status) = judged("v2024-11-05", &broken);
    assert_eq!(status, 0, "{report:#}");
    let named: Vec<&str> = report["results"]
        .as_array()
        .expect("results")
        .iter()
        .filter_map(|row| row["rule_id"].as_str())
        .filter(|id| id.starts_with("PROMPT-"))
        .collect();
    assert_eq!(named, [""; 0], "{report:#}");
}
