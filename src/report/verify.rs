//! The report of `verify`.

use std::path::Path;
use std::time::Duration;

use tapewright_replay::verify::{Check, Verdict};

use super::diff::{definition, difference};
use super::figures::plural;
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
    /// The exit status: a comparison of nothing, or of nothing but openings, is not a success.
    pub(crate) fn exit(&self) -> Exit {
        if self.drifted() > 0 {
            Exit::Fail
        } else {
            self.exit_without_drift()
        }
    }

    /// The exit status if no answer drifted, or every one that did was replaced.
    pub(crate) fn exit_without_drift(&self) -> Exit {
        match self.untold() {
            Some(_) => Exit::Inconclusive,
            None => Exit::Pass,
        }
    }

    /// Why the checks do not tell whether the server answers as recorded, if they do not: no request
    /// but an opening was sent.
    fn untold(&self) -> Option<String> {
        let others = || self.checks.iter().filter(|one| !one.is_opening());
        if others().any(Check::was_sent) {
            return None;
        }
        let after = self.after_opening();
        Some(match others().count() {
            0 => format!("the recording has no request{after}"),
            1 => format!("the one recorded request{after} was not sent"),
            count => format!("none of the {count} recorded requests{after} was sent"),
        })
    }

    /// Words for where the other requests are, if there is an opening.
    fn after_opening(&self) -> &'static str {
        if self.checks.iter().any(Check::is_opening) {
            " after the opening of the session"
        } else {
            ""
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
        let checks = self.checks.iter().map(|check| row(check, &tape));
        let untold = self.untold().map(|why| {
            let name = format!("requests{}", self.after_opening());
            untold_row(name, &why, &tape)
        });
        Group {
            rows: checks.chain(untold).collect(),
            title: tape,
            ..Group::default()
        }
    }

    fn json(&self) -> serde_json::Value {
        let mut document = serde_json::json!({
            "tape": self.tape.display().to_string(),
            "drifted": self.drifted(),
            "same": self.same(),
            "skipped": self.checks.len() - self.drifted() - self.same(),
            "checks": self.checks,
        });
        if let (Some(why), Some(members)) = (self.untold(), document.as_object_mut()) {
            let why = serde_json::json!({ "why": why, "hint": HINT });
            members.insert("inconclusive".to_owned(), why);
        }
        document
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
        let inconclusive = |one: &&Verified<'_>| one.exit() == Exit::Inconclusive;
        let inconclusive = match self.all.iter().filter(inconclusive).count() {
            0 => String::new(),
            _ if self.all.len() == 1 => "; inconclusive".to_owned(),
            count => {
                let recordings = plural(count as u64, "recording");
                format!("; {count} {recordings} inconclusive")
            }
        };
        format!("{drifted} drifted, {same} the same{skipped}{inconclusive}")
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

/// What to do if no request but an opening was sent.
const HINT: &str =
    "record a session with an answered request that has no redacted value, and verify that";

/// That none of these requests was sent, and what to do.
fn untold_row(name: String, why: &str, tape: &str) -> Row {
    let mut row = Row::new(Status::Inconclusive, "inconclusive", name);
    row.heading = format!("inconclusive: {}", row.name);
    tape.clone_into(&mut row.class);
    row.spot = Some(Spot::file(tape));
    let text = format!("{why}; {HINT}");
    row.problems.push(Problem::new(Some(Level::Warning), &text));
    row
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
