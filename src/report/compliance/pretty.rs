//! Verdicts for people.

use tapewright_compliance::Outcome;
use tapewright_compliance::finding::Status;
use tapewright_compliance::table;

use super::sentence;
use crate::command::compliance::{Expectations, Server, Verdicts};
use crate::report::safe;

/// The verdicts as text.
pub(crate) fn pretty(verdicts: &Verdicts) -> String {
    let mut out = String::from("Session invariants\n");
    for server in &verdicts.servers {
        session(server, &mut out);
    }
    if verdicts.servers.len() > 1 || !verdicts.hazards.is_empty() {
        line(&mut out, "");
        line(&mut out, "Composition");
        if verdicts.hazards.is_empty() {
            line(
                &mut out,
                "  PASS  the servers do not stand in each other's way",
            );
        }
        for (hazard, expected) in verdicts.hazards() {
            let word = if expected { "EXPECTED" } else { "FAIL" };
            line(
                &mut out,
                &format!("  {word}  [{}] {}", hazard.kind, safe(&hazard.detail)),
            );
        }
    }
    if let Some(expectations) = &verdicts.expectations {
        stale(expectations, &mut out);
    }
    line(&mut out, "");
    line(&mut out, &format!("Result: {}", result(verdicts)));
    out
}

/// What has to be taken out of the baseline.
fn stale(expectations: &Expectations, out: &mut String) {
    if !expectations.is_stale() {
        return;
    }
    line(out, "");
    line(out, "Stale in the baseline: it does not fail any more");
    for (label, code) in &expectations.stale {
        line(out, &format!("  {code}  {}", safe(label)));
    }
    for hazard in &expectations.stale_hazards {
        line(out, &format!("  {}", safe(hazard)));
    }
}

fn session(server: &Server, out: &mut String) {
    line(out, "");
    let session = if server.session.0 > 0 {
        format!(", session {}", server.session.0)
    } else {
        String::new()
    };
    line(out, &format!("Server: {}{session}", safe(&server.label)));
    for outcome in &server.outcomes {
        let property = table::find(outcome.code).map_or("", |rule| rule.property);
        let word = if server.expected.contains(&outcome.code) {
            "EXPECTED".to_owned()
        } else {
            word(outcome.status)
        };
        line(out, &format!("  {word:<12}  {}  {property}", outcome.code));
        for one in &outcome.findings {
            line(out, &format!("      {}", sentence(server, one)));
        }
        if outcome.more > 0 {
            line(out, &format!("      and {} more", outcome.more));
        }
        doubts(outcome, out);
    }
}

fn word(status: Status) -> String {
    status.name().to_ascii_uppercase()
}

fn doubts(outcome: &Outcome, out: &mut String) {
    if outcome.status != Status::Inconclusive {
        return;
    }
    for doubt in outcome.doubts.each() {
        line(out, &format!("      {}", doubt.words()));
    }
}

/// How many invariants fared how.
pub(super) fn result(verdicts: &Verdicts) -> String {
    let mut parts = Vec::new();
    for (status, words) in [
        (Status::Fail, "failed"),
        (Status::Pass, "passed"),
        (Status::Race, "raced"),
        (Status::Inconclusive, "inconclusive"),
        (Status::Vacuous, "never put to the test"),
    ] {
        let count = verdicts.count(status);
        if count > 0 || status == Status::Fail {
            parts.push(format!("{count} {words}"));
        }
    }
    if let Some(expectations) = &verdicts.expectations {
        parts.push(format!("{} of them expected", expectations.expected));
    }
    if !verdicts.hazards.is_empty() {
        let count = verdicts.hazards.len();
        let word = if count == 1 { "hazard" } else { "hazards" };
        parts.push(format!("{count} composition {word}"));
    }
    parts.join(", ")
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}
