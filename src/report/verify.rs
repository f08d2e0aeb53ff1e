//! The report of `verify`.

use std::path::Path;
use std::time::Duration;

use tapewright_replay::verify::{Check, Verdict};

use super::diff::{definition, difference};
use super::formats::{Reportable, json};
use super::model::{Group, Level, Problem, Report, Row, Spot, Status};
use crate::exit::Exit;

/// The result for one recording.
#[derive(Debug)]
pub(crate) struct Verified<'v> {
    /// The recording.
    pub(crate) tape: &'v Path,
    /// One check for each recorded request.
    pub(crate) checks: &'v [Check],
}

impl Verified<'_> {
    /// The exit status: a comparison of nothing is not a success.
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

    fn group(&self) -> Group {
        let tape = self.tape.display().to_string();
        Group {
            rows: self.checks.iter().map(|check| row(check, &tape)).collect(),
            title: tape,
            ..Group::default()
        }
    }

    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "tape": self.tape.display().to_string(),
            "drifted": self.drifted(),
            "same": self.same(),
            "skipped": self.checks.len() - self.drifted() - self.same(),
            "checks": self.checks,
        })
    }
}

/// The results for a recording, or those of a folder.
#[derive(Debug)]
pub(crate) struct AllVerified<'v> {
    /// Whether they are from a folder.
    pub(crate) is_folder: bool,
    /// One for each recording.
    pub(crate) all: Vec<Verified<'v>>,
}

impl AllVerified<'_> {
    /// The worst exit status.
    pub(crate) fn exit(&self) -> Exit {
        let exits: Vec<Exit> = self.all.iter().map(Verified::exit).collect();
        Exit::worst(&exits)
    }

    fn summary(&self) -> String {
        let drifted: usize = self.all.iter().map(Verified::drifted).sum();
        let same: usize = self.all.iter().map(Verified::same).sum();
        let checks: usize = self.all.iter().map(|one| one.checks.len()).sum();
        let skipped = match checks - drifted - same {
            0 => String::new(),
            count => format!(", {count} not sent"),
        };
        format!("{drifted} drifted, {same} the same{skipped}")
    }
}

impl Reportable for AllVerified<'_> {
    fn report(&self) -> Report {
        Report {
            title: "Drift",
            groups: self.all.iter().map(Verified::group).collect(),
            result: Some(self.summary()),
        }
    }

    fn json(&self) -> anyhow::Result<String> {
        let all: Vec<_> = self.all.iter().map(Verified::json).collect();
        match all.as_slice() {
            [one] if !self.is_folder => json::text(one),
            all => json::text(&all),
        }
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

/// The request, in words.
fn name(check: &Check) -> String {
    match &check.target {
        Some(target) => format!("{} {target}", check.method),
        None => check.method.clone(),
    }
}

/// Why a check failed, line by line; empty if it passed.
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
