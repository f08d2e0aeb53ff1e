//! The common model of all reports, which `formats` write.
//!
//! Suites, invariants, drift and mistakes in suites are mapped to it. Its texts contain no secrets;
//! each format escapes them for its terminal or page.

use std::ops::Range;
use std::time::Duration;

/// The report of a run.
#[derive(Debug)]
pub(crate) struct Report {
    /// The name of the kind of run.
    pub(crate) title: &'static str,
    pub(crate) groups: Vec<Group>,
    /// One line about the whole run.
    pub(crate) result: Option<String>,
}

/// Rows that belong together: a suite, a session, a recording.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) title: String,
    pub(crate) rows: Vec<Row>,
    /// Notes next to the rows.
    pub(crate) notes: Vec<String>,
    /// One line about the group.
    pub(crate) summary: Option<String>,
    pub(crate) took: Option<Duration>,
}

/// One result.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) status: Status,
    /// The word for the status, for people.
    pub(crate) word: String,
    /// Its code in a list, such as `INV-016`.
    pub(crate) code: Option<String>,
    pub(crate) name: String,
    /// The heading of its annotations.
    pub(crate) heading: String,
    /// The kind of result.
    pub(crate) class: String,
    /// The kind of failure.
    pub(crate) failure: String,
    /// Why it did not pass, if its problems do not say so.
    pub(crate) why: Option<String>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) spot: Option<Spot>,
    pub(crate) took: Option<Duration>,
}

/// The status of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// It could not be judged.
    Error,
    Fail,
    /// It passed after a failure.
    Flaky,
    /// It is unknown, or was not exercised although it should have been. Formats without a word for
    /// it report it as skipped.
    Inconclusive,
    Pass,
    Skipped,
}

/// One problem of a row.
#[derive(Debug)]
pub(crate) struct Problem {
    /// The level of its annotation; `None` if it is not a failure.
    pub(crate) level: Option<Level>,
    /// The problem in one line.
    pub(crate) headline: String,
    /// More about it.
    pub(crate) lines: Vec<String>,
    /// Its place; otherwise it has the place of its row.
    pub(crate) spot: Option<Spot>,
}

/// The level of an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Error,
    Notice,
    Warning,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) file: String,
    /// Counted from 1.
    pub(crate) line: Option<u64>,
    /// Counted from 1, in characters.
    pub(crate) columns: Option<Range<usize>>,
}

impl Row {
    /// A row without details.
    pub(crate) fn new(status: Status, word: impl Into<String>, name: impl Into<String>) -> Self {
        let (word, name) = (word.into(), name.into());
        Self {
            status,
            heading: name.clone(),
            class: String::new(),
            failure: word.clone(),
            code: None,
            why: None,
            problems: Vec::new(),
            spot: None,
            took: None,
            word,
            name,
        }
    }

    /// Its code and its name.
    pub(crate) fn full_name(&self) -> String {
        match &self.code {
            Some(code) => format!("{code} {}", self.name),
            None => self.name.clone(),
        }
    }

    /// Why it did not pass, in a line.
    pub(crate) fn reason(&self) -> String {
        if let Some(why) = &self.why {
            return why.clone();
        }
        match self.problems.as_slice() {
            [] => self.word.clone(),
            [one] => one.headline.clone(),
            [first, more @ ..] => format!("{} (and {} more)", first.headline, more.len()),
        }
    }

    /// All details of its problems, line by line.
    pub(crate) fn details(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for problem in &self.problems {
            lines.push(problem.headline.clone());
            lines.extend(problem.lines.iter().cloned());
            let spot = problem.spot.as_ref().filter(|spot| spot.line.is_some());
            lines.extend(spot.map(|spot| format!("  at {}", spot.shown())));
        }
        lines
    }

    /// The place of the problem.
    pub(crate) fn spot(&self) -> Option<&Spot> {
        let first = self.problems.iter().find_map(|one| one.spot.as_ref());
        first.or(self.spot.as_ref())
    }
}

impl Status {
    /// Whether it needs attention.
    pub(crate) fn is_told(self) -> bool {
        !matches!(self, Self::Flaky | Self::Pass | Self::Skipped)
    }
}

impl Problem {
    /// A problem whose text may have several lines.
    pub(crate) fn new(level: Option<Level>, text: &str) -> Self {
        let mut lines = text.lines().map(str::to_owned);
        Self {
            level,
            headline: lines.next().unwrap_or_default(),
            lines: lines.collect(),
            spot: None,
        }
    }
}

impl Spot {
    /// A whole file.
    pub(crate) fn file(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            line: None,
            columns: None,
        }
    }

    /// `file:line:column`, as far as known.
    pub(crate) fn shown(&self) -> String {
        let mut text = self.file.clone();
        let column = self.columns.as_ref().map(|columns| columns.start as u64);
        for number in [self.line, column].into_iter().flatten() {
            text.push(':');
            text.push_str(&number.to_string());
        }
        text
    }
}
