//! The reports of `compliance`.

pub(crate) mod doctor;
pub(crate) mod json;
pub(crate) mod official;
mod sarif;

use tapewright_compliance::Outcome;
use tapewright_compliance::composition::Hazard;
use tapewright_compliance::finding::{Doubt, Finding, Severity, Side, Status as Verdict};
use tapewright_compliance::table;

use super::formats::Reportable;
use super::model::{Group, Level, Problem, Report, Row, Spot, Status};
use crate::command::compliance::{Expectations, Server, Verdicts};
use crate::report::safe;

pub(crate) use self::sarif::sarif;

impl Reportable for Verdicts {
    fn report(&self) -> Report {
        let mut groups: Vec<Group> = self.servers.iter().map(session).collect();
        if self.servers.len() > 1 || !self.hazards.is_empty() {
            groups.push(composition(self));
        }
        let stale = self.expectations.as_ref().filter(|one| one.is_stale());
        groups.extend(stale.map(stale_entries));
        Report {
            title: "Session invariants",
            groups,
            result: Some(result(self)),
        }
    }

    fn json(&self) -> anyhow::Result<String> {
        json::json(self)
    }
}

fn session(server: &Server) -> Group {
    let session = match server.session.0 {
        0 => String::new(),
        number => format!(", session {number}"),
    };
    Group {
        title: format!("{}{session}", server.label),
        rows: server.outcomes.iter().map(|one| row(server, one)).collect(),
        ..Group::default()
    }
}

fn row(server: &Server, outcome: &Outcome) -> Row {
    let rule = table::find(outcome.code);
    let (status, word, why) = match outcome.status {
        Verdict::Pass => (Status::Pass, "pass", None),
        Verdict::Fail if server.fails(outcome) => (Status::Fail, "fail", None),
        Verdict::Fail => {
            let why = "expected by the baseline".to_owned();
            (Status::Skipped, "expected", Some(why))
        }
        Verdict::Race => (Status::Inconclusive, "race", Some("race".to_owned())),
        Verdict::Vacuous => {
            let why = "never exercised".to_owned();
            (Status::Skipped, "vacuous", Some(why))
        }
        Verdict::Inconclusive => {
            let doubts: Vec<&str> = outcome.doubts.each().map(Doubt::words).collect();
            (
                Status::Inconclusive,
                "inconclusive",
                Some(doubts.join("; ")),
            )
        }
    };
    let mut row = Row::new(status, word, rule.map_or("", |rule| rule.property));
    row.code = Some(outcome.code.to_string());
    row.heading = format!("{} {}", outcome.code, server.label);
    rule.map_or("", |rule| rule.category)
        .clone_into(&mut row.class);
    row.failure = outcome.code.to_string();
    row.why = why;
    row.spot = Some(Spot::file(&server.path.display().to_string()));
    row.problems = problems(server, outcome);
    row
}

fn problems(server: &Server, outcome: &Outcome) -> Vec<Problem> {
    let told = server.fails(outcome);
    let found = outcome.findings.iter().map(|finding| {
        // A race, or a finding on the recorder's side, is not a failure.
        let level = (told && finding.status == Verdict::Fail).then_some(match finding.severity {
            Severity::Must => Level::Error,
            Severity::Should => Level::Warning,
            Severity::Derived => Level::Notice,
        });
        let mut problem = Problem::new(level, &sentence(server, finding));
        let first = finding.evidence.first();
        let line = first.and_then(|place| server.line(place.seq));
        problem.spot = Some(Spot {
            line,
            ..Spot::file(&server.path.display().to_string())
        });
        problem
    });
    let mut problems: Vec<Problem> = found.collect();
    if outcome.more > 0 {
        let more = format!("and {} more", outcome.more);
        problems.push(Problem::new(None, &more));
    }
    if outcome.status == Verdict::Inconclusive {
        let doubts = outcome.doubts.each();
        problems.extend(doubts.map(|doubt| Problem::new(None, doubt.words())));
    }
    problems
}

/// The hazards between several servers.
fn composition(verdicts: &Verdicts) -> Group {
    let mut rows: Vec<Row> = verdicts
        .hazards()
        .map(|(hazard, expected)| hazard_row(hazard, expected))
        .collect();
    if rows.is_empty() {
        let name = "the servers do not interfere with each other";
        rows.push(Row::new(Status::Pass, "pass", name));
    }
    Group {
        title: "Composition".to_owned(),
        rows,
        ..Group::default()
    }
}

fn hazard_row(hazard: &Hazard, expected: bool) -> Row {
    let name = format!("{}: {}", hazard.kind, hazard.servers.join(", "));
    let (status, word, level) = if expected {
        (Status::Skipped, "expected", None)
    } else {
        (Status::Fail, "fail", Some(Level::Error))
    };
    let mut row = Row::new(status, word, name);
    hazard.kind.clone_into(&mut row.failure);
    hazard.kind.clone_into(&mut row.heading);
    row.problems.push(Problem::new(level, &hazard.detail));
    row
}

/// The stale entries of the baseline.
fn stale_entries(expectations: &Expectations) -> Group {
    let listed = expectations.stale.iter();
    let listed = listed.map(|(label, code)| format!("{code} of {label}"));
    let names = listed.chain(expectations.stale_hazards.iter().cloned());
    let row = |name: String| {
        let text = format!("{name}: no longer fails; remove it from the baseline");
        let mut row = Row::new(Status::Fail, "stale", name);
        "stale".clone_into(&mut row.heading);
        row.problems.push(Problem::new(Some(Level::Error), &text));
        row
    };
    Group {
        title: "Stale in the baseline".to_owned(),
        rows: names.map(row).collect(),
        ..Group::default()
    }
}

/// How many invariants have each status.
fn result(verdicts: &Verdicts) -> String {
    let mut parts = Vec::new();
    for (status, words) in [
        (Verdict::Fail, "failed"),
        (Verdict::Pass, "passed"),
        (Verdict::Race, "raced"),
        (Verdict::Inconclusive, "inconclusive"),
        (Verdict::Vacuous, "never exercised"),
    ] {
        let count = verdicts.count(status);
        if count > 0 || status == Verdict::Fail {
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

/// The side that is responsible for a finding, in words.
fn culprit(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Recorder => "our own fault",
        Side::Server => "server",
    }
}

/// A finding in one line: who, what, and where the evidence is.
fn sentence(server: &Server, finding: &Finding) -> String {
    let race = if finding.status == Verdict::Race {
        "race, "
    } else {
        ""
    };
    let text = format!("{race}{}: {}", culprit(finding.side), safe(&finding.detail));
    let places: Vec<String> = finding
        .evidence
        .iter()
        .map(|place| match server.origin(place.seq) {
            Some(origin) => format!("{}{}", origin.pointer(), safe(&place.pointer)),
            None if place.pointer.is_empty() => format!("event {}", place.seq),
            None => format!("event {} {}", place.seq, safe(&place.pointer)),
        })
        .collect();
    if places.is_empty() {
        return text;
    }
    format!("{text} ({})", places.join(", "))
}
