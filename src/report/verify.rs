//! What `verify` says.

use std::path::Path;
use std::time::Duration;

use tapewright_replay::verify::{Check, Verdict};

use super::diff::{definition, difference};
use super::formats::{Told, json};
use super::model::{Group, Level, Problem, Report, Row, Spot, Status};
use crate::exit::Exit;

/// What was found.
#[derive(Debug)]
pub(crate) struct Verified<'v> {
    /// The recording.
    pub(crate) tape: &'v Path,
    /// One check for each recorded request.
    pub(crate) checks: &'v [Check],
}

impl Verified<'_> {
    /// The exit status: nothing that could be compared is no success.
    pub(crate) fn exit(&self) -> Exit {
        if self.drifted() > 0 {
            Exit::Fail
        } else if self.same() == 0 {
            Exit::Inconclusive
        } else {
            Exit::Pass
        }
    }

    fn drifted(&self) -> usize {
        self.checks.iter().filter(|one| one.has_drifted()).count()
    }

    fn same(&self) -> usize {
        let same = |one: &&Check| one.verdict == Verdict::Same;
        self.checks.iter().filter(same).count()
    }

    fn skipped(&self) -> usize {
        self.checks.len() - self.drifted() - self.same()
    }

    fn summary(&self) -> String {
        let skipped = match self.skipped() {
            0 => String::new(),
            count => format!(", {count} not sent"),
        };
        format!(
            "{} drifted, {} the same{skipped}",
            self.drifted(),
            self.same()
        )
    }
}

impl Told for Verified<'_> {
    fn report(&self) -> Report {
        let tape = self.tape.display().to_string();
        Report {
            title: "Drift",
            groups: vec![Group {
                rows: self.checks.iter().map(|check| row(check, &tape)).collect(),
                title: tape,
                ..Group::default()
            }],
            result: Some(self.summary()),
        }
    }

    fn json(&self) -> anyhow::Result<String> {
        json::text(&serde_json::json!({
            "tape": self.tape.display().to_string(),
            "drifted": self.drifted(),
            "same": self.same(),
            "skipped": self.skipped(),
            "checks": self.checks,
        }))
    }
}

/// One recorded request.
fn row(check: &Check, tape: &str) -> Row {
    let (status, word) = match &check.verdict {
        Verdict::Same => (Status::Pass, "same"),
        Verdict::Skipped { .. } => (Status::Skipped, "skip"),
        _ => (Status::Fail, "drift"),
    };
    let mut row = Row::new(status, word, name(check));
    row.code = Some(check.place.clone());
    row.heading = format!("drift: {}", row.full_name());
    tape.clone_into(&mut row.class);
    row.spot = Some(Spot::file(tape));
    let took = check.took_ms;
    row.took = took.and_then(|ms| Duration::try_from_secs_f64(ms / 1_000.0).ok());
    if let Verdict::Skipped { why } = &check.verdict {
        row.problems.push(Problem::new(None, why));
    }
    let failures = failures(check);
    if !failures.is_empty() {
        let level = Some(Level::Error);
        row.problems.push(Problem::new(level, &failures.join("\n")));
    }
    row
}

/// What was asked, in words.
fn name(check: &Check) -> String {
    match &check.target {
        Some(target) => format!("{} {target}", check.method),
        None => check.method.clone(),
    }
}

/// Why a check failed, line by line; nothing for one that did not.
fn failures(check: &Check) -> Vec<String> {
    match &check.verdict {
        Verdict::Drift {
            differences,
            listed,
        } => differences
            .iter()
            .map(|one| difference(one, "recorded", "now"))
            .chain(listed.iter().flat_map(definition))
            .collect(),
        Verdict::NoAnswer { after_ms } => vec![format!("no answer within {after_ms} ms")],
        _ => Vec::new(),
    }
}
