//! Verdicts for people.

use std::fmt::Write as _;

use tapewright_compliance::Outcome;
use tapewright_compliance::finding::{Finding, Side, Status};
use tapewright_compliance::table;

use crate::command::compliance::{Server, Verdicts};
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
        for hazard in &verdicts.hazards {
            line(
                &mut out,
                &format!("  FAIL  [{}] {}", hazard.kind, safe(&hazard.detail)),
            );
        }
    }
    line(&mut out, "");
    line(&mut out, &format!("Result: {}", result(verdicts)));
    out
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
        let word = word(outcome.status);
        line(out, &format!("  {word:<12}  {}  {property}", outcome.code));
        for one in &outcome.findings {
            line(out, &format!("      {}", finding(server, one)));
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

fn finding(server: &Server, finding: &Finding) -> String {
    let side = match finding.side {
        Side::Client => "client",
        Side::Recorder => "our own fault",
        Side::Server => "server",
    };
    let race = if finding.status == Status::Race {
        "race, "
    } else {
        ""
    };
    let mut text = format!("{race}{side}: {}", safe(&finding.detail));
    let mut places = Vec::new();
    for place in &finding.evidence {
        places.push(match server.origin(place.seq) {
            Some(origin) => format!("{}{}", origin.pointer(), safe(&place.pointer)),
            None => format!(
                "event {}{}{}",
                place.seq,
                if place.pointer.is_empty() { "" } else { " " },
                safe(&place.pointer)
            ),
        });
    }
    if !places.is_empty() {
        // Writing to a string does not fail.
        let _never_fails = write!(text, " ({})", places.join(", "));
    }
    text
}

fn result(verdicts: &Verdicts) -> String {
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
