//! The report of `compliance run`.

mod json;
mod sarif;

use std::fmt::Write as _;
use std::path::Path;

use tapewright_corpus::plan::{Broken, State};
use tapewright_corpus::rule::Severity;
use tapewright_corpus::score::{SECTIONS, Scorecard, SectionScore, section_name};
use tapewright_corpus::verdict::Untested;

use super::compliance::official;
use super::figures::plural;
use super::formats::Reportable;
use super::model::{Group, Level, Problem, Report, Row, Spot, Status};
use crate::command::compliance::run::{Gate, Judged, Other, Scored};

pub(crate) use self::sarif::sarif;

impl Reportable for Scored {
    fn report(&self) -> Report {
        let mut groups: Vec<Group> = SECTIONS
            .into_iter()
            .filter_map(|section| {
                let score = self
                    .card
                    .sections
                    .iter()
                    .find(|one| one.section == section)?;
                score.applicable.then(|| group(self, score))
            })
            .collect();
        if !self.others.is_empty() {
            groups.push(Group {
                title: "other results".to_owned(),
                rows: self.others.iter().map(|one| other(self, one)).collect(),
                ..Group::default()
            });
        }
        if !self.gates.is_empty() {
            groups.push(Group {
                title: "gates".to_owned(),
                rows: self.gates.iter().map(gate).collect(),
                ..Group::default()
            });
        }
        groups.extend(self.official.as_ref().map(official::group));
        groups.extend(self.stale());
        let notes = self.said();
        if let Some(last) = groups.last_mut() {
            last.notes.extend(notes);
        }
        Report {
            title: "Compliance",
            groups,
            result: Some(result(self)),
        }
    }

    fn json(&self) -> anyhow::Result<String> {
        json::json(self)
    }

    fn pretty(&self) -> String {
        let mut text = super::formats::pretty::text(&self.report());
        for note in self.said() {
            let _never_fails = writeln!(text, "Note: {}", super::safe(&note));
        }
        text
    }
}

impl Scored {
    /// The notes next to the rows.
    fn said(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        let inconclusive = self.inconclusive().count();
        if inconclusive > 0 {
            let rules = plural(inconclusive as u64, "rule");
            notes.push(format!(
                "{inconclusive} {rules} inconclusive, because evidence is missing: check a complete recording, or run again"
            ));
        }
        let untested = self.card.applicable - self.card.tested - inconclusive;
        if untested > 0 {
            let rules = if untested == 1 {
                "rule was"
            } else {
                "rules were"
            };
            notes.push(format!(
                "{untested} {rules} not exercised: neither failed nor passed, and not in the grade"
            ));
        }
        let lacking: Vec<String> = self
            .inapplicable()
            .map(|(one, why)| format!("{} ({why})", one.rule.id))
            .collect();
        if !lacking.is_empty() {
            notes.push(format!("not applicable: {}", lacking.join(", ")));
        }
        notes.extend(
            self.card
                .promotion_hint()
                .map(|hint| format!("for a better grade: {hint}")),
        );
        notes
    }

    /// The stale entries of the baseline.
    fn stale(&self) -> Option<Group> {
        let known = self.expectations.as_ref()?;
        let row = |id: &String| {
            let mut row = Row::new(Status::Fail, "stale", id.clone());
            let text = format!("{id} now passes; remove it from the baseline");
            row.problems.push(Problem::new(Some(Level::Error), &text));
            row
        };
        (!known.stale.is_empty()).then(|| Group {
            title: "stale in the baseline".to_owned(),
            rows: known.stale.iter().map(row).collect(),
            ..Group::default()
        })
    }
}

fn group(scored: &Scored, score: &SectionScore) -> Group {
    let rules = scored
        .applicable()
        .filter(|one| one.rule.section == score.section);
    let grade = score
        .grade
        .map_or("not tested".to_owned(), |grade| format!("grade {grade}"));
    Group {
        title: format!("{}: {grade}", section_name(score.section)),
        rows: rules.map(|one| row(scored, one)).collect(),
        summary: Some(format!(
            "{} of {} MUST, {} of {} SHOULD, {} of {} MAY hold; {} not tested",
            score.counts.must_passed,
            score.counts.must_total,
            score.counts.should_passed,
            score.counts.should_total,
            score.counts.may_passed,
            score.counts.may_total,
            score.untested,
        )),
        ..Group::default()
    }
}

fn row(scored: &Scored, judged: &Judged) -> Row {
    let rule = &judged.rule;
    let (status, word) = match &judged.state {
        State::Pass { .. } => (Status::Pass, "pass"),
        State::Fail(_) if scored.is_expected(&rule.id) => (Status::Skipped, "expected"),
        State::Fail(_) => (Status::Fail, "fail"),
        State::Untested(why) if why.is_gap() => (Status::Inconclusive, "inconclusive"),
        State::Untested(_) | State::Inapplicable(_) => (Status::Skipped, "untested"),
    };
    let name = format!("{} ({})", rule.name, level_name(rule.severity));
    let mut row = Row::new(status, word, name);
    row.code = Some(rule.id.clone());
    row.heading = format!("{} {}", rule.id, scored.server);
    section_name(rule.section).clone_into(&mut row.class);
    row.failure.clone_from(&rule.id);
    row.took = Some(judged.took);
    row.spot = scored.recordings.first().map(|path| Spot::file(path));
    match &judged.state {
        State::Fail(broken) => {
            let level = (status == Status::Fail).then_some(level(rule.severity));
            row.problems = broken
                .iter()
                .map(|one| problem(level, one, scored))
                .collect();
        }
        // The word for it says as much.
        State::Untested(why @ Untested::NotAsked) => row.why = Some(why.to_string()),
        State::Untested(why) => {
            let level = why.is_gap().then_some(Level::Warning);
            row.problems.push(Problem::new(level, &why.to_string()));
        }
        State::Inapplicable(why) => row.why = Some(why.to_string()),
        State::Pass { .. } => {}
    }
    row
}

fn problem(level: Option<Level>, broken: &Broken, scored: &Scored) -> Problem {
    let mut problem = Problem::new(level, &words(broken));
    if let (Some(path), Some(seq)) = (scored.recordings.get(broken.recording), broken.seq) {
        let is_tape = is_tape(path);
        problem.spot = Some(Spot {
            // Events follow the header.
            line: is_tape.then(|| seq.saturating_add(1)),
            ..Spot::file(path)
        });
    }
    problem
}

/// A failed expectation, in a line.
fn words(broken: &Broken) -> String {
    match &broken.about {
        Some(about) => format!("{about}: {}", broken.what),
        None => broken.what.clone(),
    }
}

fn other(scored: &Scored, other: &Other) -> Row {
    let expected = scored.is_expected(&other.id);
    let (status, word) = match other.passed {
        true => (Status::Pass, "pass"),
        false if expected => (Status::Skipped, "expected"),
        false => (Status::Fail, "fail"),
    };
    let mut row = Row::new(status, word, other.id.clone());
    row.took = Some(other.took);
    if let Some(message) = other.message.as_ref().filter(|_| !other.passed) {
        let level = (!expected).then_some(Level::Error);
        row.problems.push(Problem::new(level, message));
    }
    row
}

fn gate(gate: &Gate) -> Row {
    let (status, word) = if gate.passed {
        (Status::Pass, "pass")
    } else {
        (Status::Fail, "fail")
    };
    let mut row = Row::new(status, word, gate.name);
    if gate.passed {
        row.why = Some(gate.text.clone());
    } else {
        row.problems
            .push(Problem::new(Some(Level::Error), &gate.text));
    }
    row
}

fn result(scored: &Scored) -> String {
    let Scorecard {
        tested, applicable, ..
    } = scored.card;
    let by = scored
        .version
        .as_ref()
        .map_or(String::new(), |version| format!(" by {version}"));
    let percent = scored.card.completeness * 100.0;
    let complete = format!("{tested} of {applicable} rules tested ({percent:.0} % complete)");
    let grade = match (scored.card.grade, scored.card.numeric) {
        (Some(grade), Some(numeric)) => format!("grade {grade}, {numeric:.1} of 100"),
        _ => "no grade: nothing was tested".to_owned(),
    };
    let mut text = format!("{}{by}: {grade}; {complete}", scored.server);
    if !scored.card.failed_must.is_empty() {
        let failed = scored.card.failed_must.join(", ");
        let _never_fails = write!(text, "; MUST failed: {failed}");
    }
    let inconclusive: Vec<&str> = scored.inconclusive().collect();
    if !inconclusive.is_empty() {
        let _never_fails = write!(text, "; inconclusive: {}", inconclusive.join(", "));
    }
    text
}

/// The level of a rule.
fn level_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Must => "MUST",
        Severity::Should => "SHOULD",
        Severity::May => "MAY",
    }
}

fn level(severity: Severity) -> Level {
    match severity {
        Severity::Must => Level::Error,
        Severity::Should => Level::Warning,
        Severity::May => Level::Notice,
    }
}

/// Whether a file is a tape, in which every event has a line.
fn is_tape(path: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|one| one == "jsonl")
}
