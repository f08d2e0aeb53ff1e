//! Every violation of a server is found by the rules that forbid it, and by no others. Some rules
//! overlap: noise on standard output violates one of the protocol and one of the transport, and a
//! list that is not a list has no cursors to judge.

mod handshake;
mod http;
mod stateless;
mod without;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::scripted::Scripted;
use super::{SILENCE, failed, judged, report, untested};

/// The violation, and the rules that find it.
type Control = (&'static [&'static str], &'static [&'static str]);

/// The token that the scripted server accepts, as a header field.
const TOKEN: &str = "Authorization: Bearer good-token-of-the-tests";

/// Every table, with its version.
const STDIO: &[(&str, &[Control])] = &[
    ("v2024-11-05", handshake::FIRST),
    ("v2025-06-18", handshake::CHANGED),
    ("v2025-11-25", handshake::LATEST),
    ("v2026-07-28", stateless::STATELESS),
];
const HTTP: &[(&str, &[Control])] = &[
    ("v2025-11-25", http::HANDSHAKE),
    ("v2026-07-28", http::STATELESS),
];

/// The report of a run against the scripted server over HTTP.
#[track_caller]
fn judged_over_http(version: &str, broken: &[&str], fields: &[&str]) -> Value {
    let server = Scripted::start(broken);
    let arguments = [
        "--spec-version",
        version,
        "--timeout",
        SILENCE,
        "--upstream",
    ];
    let (report, _) = report(&[&arguments, [server.url.as_str()].as_slice(), fields].concat());
    report
}

/// The number of controls that run at a time: most of a run is waiting for answers that do not
/// come.
const AT_A_TIME: usize = 8;

fn all_are_found(
    version: &str,
    controls: &[Control],
    judge: impl Fn(&'static [&'static str]) -> Value + Sync,
) {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some((broken, found_by)) =
                    controls.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let found = failed(&judge(broken));
                    let ids: BTreeSet<&str> = found.keys().map(String::as_str).collect();
                    if ids != found_by.iter().copied().collect() {
                        let line = format!("{version} {broken:?}: {found:#?}");
                        wrong.lock().expect("no panic").push(line);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn over_stdio(number: usize) {
    let (version, controls) = STDIO[number];
    all_are_found(version, controls, |broken| judged(version, broken).0);
}

#[test]
fn what_is_broken_in_the_first_revision_is_found_by_its_rules_alone() {
    over_stdio(0);
    over_stdio(1);
}

#[test]
fn what_is_broken_in_the_last_handshake_revision_is_found_by_its_rules_alone() {
    over_stdio(2);
}

#[test]
fn what_is_broken_in_the_stateless_revision_is_found_by_its_rules_alone() {
    over_stdio(3);
}

#[test]
fn what_is_broken_over_http_is_found_by_its_rules_alone() {
    for (version, controls) in HTTP {
        all_are_found(version, controls, |broken| {
            judged_over_http(version, broken, &[])
        });
    }
}

#[test]
fn what_is_broken_where_authorization_is_demanded_is_found_by_its_rules_alone() {
    for (version, controls) in http::ACCESS {
        all_are_found(version, controls, |broken| {
            judged_over_http(version, broken, &["--header", TOKEN])
        });
    }
}

#[test]
fn rules_of_authorization_count_only_where_it_is_demanded() {
    let is_told = |report: &Value| {
        let results = report["results"].as_array().expect("results").iter();
        let tested = results
            .filter_map(|row| row["rule_id"].as_str())
            .any(is_auth);
        tested || untested(report).keys().any(|id| is_auth(id))
    };
    let open = judged_over_http("v2025-11-25", &[], &[]);
    assert!(!is_told(&open), "{open:#}");
    let closed = judged_over_http("v2025-11-25", &["authorizes"], &["--header", TOKEN]);
    assert!(is_told(&closed), "{closed:#}");
    assert!(!closed.to_string().contains("good-token"), "{closed:#}");
}

fn is_auth(id: &str) -> bool {
    id.starts_with("AUTH-")
}

#[test]
fn every_rule_of_the_registry_has_a_control_or_a_reason_why_it_has_none() {
    let registry = std::fs::read_to_string("compliance/registry.yml").expect("the registry");
    let ids: BTreeSet<&str> = registry
        .lines()
        .filter_map(|line| line.strip_prefix("  - id: "))
        .collect();
    let tables = STDIO.iter().chain(HTTP).chain(http::ACCESS);
    let controlled: BTreeSet<&str> = tables
        .flat_map(|(_, controls)| controls.iter())
        .flat_map(|(_, found_by)| found_by.iter().copied())
        .collect();
    let excused: BTreeSet<&str> = without::REASONS.iter().map(|(id, _)| *id).collect();
    assert_eq!(excused.len(), without::REASONS.len(), "an id stands twice");
    let all: BTreeSet<&str> = controlled.union(&excused).copied().collect();
    let neither: Vec<_> = ids.difference(&all).collect();
    assert_eq!(neither, [""; 0].each_ref(), "no control and no reason");
    let stale: Vec<_> = all.difference(&ids).collect();
    assert_eq!(stale, [""; 0].each_ref(), "no such rule");
    let both: Vec<_> = controlled.intersection(&excused).collect();
    assert_eq!(both, [""; 0].each_ref(), "a control and a reason for none");
}
