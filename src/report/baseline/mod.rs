//! How a model differs from its baseline.

mod json;
mod matrix;
mod words;

use serde_json::Value;
use tapewright_baselines::{Comparison, Entry, Field, IdentityChange, Outcome, Severity};

use super::figures::plural;
use super::formats::{Reportable, json as document, pretty};
use super::model::{Group, Level, Problem, Report, Row, Spot, Status};
pub(crate) use matrix::{Column, Matrix};

/// A comparison, and its inputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compared<'c> {
    /// The file of the baseline.
    pub(crate) baseline: &'c str,
    /// The file of the candidate, or its model.
    pub(crate) candidate: &'c str,
    /// The models of both.
    pub(crate) models: [&'c str; 2],
    /// How often each model was asked.
    pub(crate) runs: [u64; 2],
    pub(crate) found: &'c Comparison,
}

const TITLE: &str = "Model compatibility";

impl Reportable for Compared<'_> {
    fn report(&self) -> Report {
        Report {
            title: TITLE,
            groups: vec![self.captures(), self.exchanges()],
            result: Some(self.result()),
        }
    }

    fn json(&self) -> anyhow::Result<String> {
        document::text(&self.document())
    }

    fn pretty(&self) -> String {
        let mut report = self.report();
        let first = report.groups.first_mut();
        let notes = first.map(|group| std::mem::take(&mut group.notes));
        for note in notes.into_iter().flatten() {
            // People see differences between the captures first.
            let row = Row::new(Status::Inconclusive, "changed", note);
            if let Some(group) = report.groups.first_mut() {
                group.rows.push(row);
            }
        }
        for group in &mut report.groups {
            // Equal exchanges are only counted, below.
            group.rows.retain(|row| row.status != Status::Pass);
        }
        let told = report.groups.iter_mut();
        let notes: Vec<String> = told
            .flat_map(|group| std::mem::take(&mut group.notes))
            .collect();
        report.groups.retain(|group| !group.rows.is_empty());
        let mut text = pretty::text(&report);
        for note in notes {
            text.push_str(&super::safe(&note));
            text.push('\n');
        }
        text
    }
}

impl Compared<'_> {
    /// The differences between the captures, which come first.
    fn captures(&self) -> Group {
        let mut group = Group {
            title: "The captures".to_owned(),
            ..Group::default()
        };
        for change in &self.found.identity {
            if change.field == Field::ServerConfigHash && self.found.is_invalid {
                group.rows.push(self.invalid(change));
            } else {
                group.notes.push(words::identity(change));
            }
        }
        group
    }

    fn invalid(&self, change: &IdentityChange) -> Row {
        let mut row = Row::new(Status::Error, "invalid", change.field.name());
        let text = format!(
            "{}\nnothing was compared; capture the baseline again, or add `--ignore-config`",
            words::identity(change)
        );
        "the server's configuration differs".clone_into(&mut row.heading);
        self.baseline.clone_into(&mut row.class);
        row.spot = Some(Spot::file(self.baseline));
        row.problems.push(Problem::new(Some(Level::Error), &text));
        row
    }

    fn exchanges(&self) -> Group {
        let [before, after] = self.models;
        let title = if self.candidate == after {
            format!("{after} against {} ({before})", self.baseline)
        } else {
            format!(
                "{} ({after}) against {} ({before})",
                self.candidate, self.baseline
            )
        };
        let fingerprint =
            (!self.found.is_invalid).then(|| words::fingerprint(&self.found.fingerprint));
        let noise = self.found.summary().noise > 0;
        let noise = noise.then(|| words::noise(self.runs));
        Group {
            title,
            rows: self
                .found
                .entries
                .iter()
                .map(|entry| self.row(entry))
                .collect(),
            notes: fingerprint.into_iter().chain(noise).collect(),
            ..Group::default()
        }
    }

    fn row(&self, entry: &Entry) -> Row {
        let (status, word, level) = match entry.severity {
            _ if entry.is_noise => (Status::Skipped, "noise", Level::Notice),
            Severity::Pass => (Status::Pass, "pass", Level::Notice),
            Severity::Drift => (Status::Inconclusive, "drift", Level::Warning),
            Severity::Fail => (Status::Fail, "fail", Level::Error),
        };
        let mut row = Row::new(status, word, &entry.test_id);
        row.code = Some(entry.category.name().to_owned());
        row.heading = format!("{word}: {}", row.full_name());
        let (test, _) = test_of(&entry.test_id);
        test.clone_into(&mut row.class);
        let file = test
            .split_once("::")
            .map_or(self.baseline, |(file, _)| file);
        row.spot = Some(Spot::file(file));
        if entry.severity != Severity::Pass {
            let told = words::of(entry);
            row.problems.push(Problem::new(Some(level), &told));
        }
        row
    }

    /// The summary line.
    fn result(&self) -> String {
        let summary = self.found.summary();
        let count = |count: usize, word: &str| format!("{count} {}", plural(count as u64, word));
        let compared = count(self.found.paired, "exchange");
        let told = match self.found.outcome() {
            Outcome::Invalid => return "INVALID: the server's configuration differs".to_owned(),
            Outcome::Empty => return "nothing to compare: no exchange is in both".to_owned(),
            Outcome::Pass => "PASS",
            Outcome::Drift => "DRIFT",
            Outcome::Fail => "FAIL",
        };
        let (fail, drift) = (
            count(summary.fail, "failure"),
            count(summary.drift, "drift"),
        );
        let noise = match summary.noise {
            0 => String::new(),
            noise => format!(", {noise} of noise"),
        };
        format!(
            "{told}: {compared} compared, {} the same; {fail}, {drift}{noise}",
            summary.pass
        )
    }

    /// The object for programs.
    pub(crate) fn document(&self) -> Value {
        json::document(self)
    }
}

/// The test and the step in an id.
fn test_of(id: &str) -> (&str, &str) {
    id.rsplit_once("::").unwrap_or((id, ""))
}
