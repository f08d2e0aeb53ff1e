//! What is told of a run, whatever was run: the one shape that `formats` write.
//!
//! Suites, invariants, drift and mistakes in suites are mapped to it. Its texts hold no
//! secrets; making them harmless for a terminal or a page is up to each format.

use std::ops::Range;
use std::time::Duration;

/// What is told of a run.
#[derive(Debug)]
pub(crate) struct Report {
    /// What was run.
    pub(crate) title: &'static str,
    pub(crate) groups: Vec<Group>,
    /// One line about all of it.
    pub(crate) result: Option<String>,
}

/// Rows that belong together: a suite, a session, a recording.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) title: String,
    pub(crate) rows: Vec<Row>,
    /// What is said beside the rows.
    pub(crate) notes: Vec<String>,
    /// One line about the group.
    pub(crate) summary: Option<String>,
    pub(crate) took: Option<Duration>,
}

/// One thing that was looked at.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) status: Status,
    /// The word that people read for the status.
    pub(crate) word: String,
    /// What it is called in a list, such as `INV-016`.
    pub(crate) code: Option<String>,
    pub(crate) name: String,
    /// What its annotations are headed with.
    pub(crate) heading: String,
    /// What sort of thing it is.
    pub(crate) class: String,
    /// What sort of failure it is.
    pub(crate) failure: String,
    /// Why it did not pass, where its problems do not say it.
    pub(crate) why: Option<String>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) spot: Option<Spot>,
    pub(crate) took: Option<Duration>,
}

/// How a row came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// It could not be judged.
    Error,
    Fail,
    /// It passed after it had failed.
    Flaky,
    /// It cannot be known, or was not exercised where it should have been. Formats
    /// that have no word for it call it skipped.
    Inconclusive,
    Pass,
    Skipped,
}

/// One thing that is wrong with a row.
#[derive(Debug)]
pub(crate) struct Problem {
    /// The level of its annotation; `None` if it is not a failure.
    pub(crate) level: Option<Level>,
    /// It, in a line.
    pub(crate) headline: String,
    /// More about it.
    pub(crate) lines: Vec<String>,
    /// Where it is; else it is where its row is.
    pub(crate) spot: Option<Spot>,
}

/// How loud an annotation is.
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
    /// From 1 on.
    pub(crate) line: Option<u64>,
    /// From 1 on, in characters.
    pub(crate) columns: Option<Range<usize>>,
}

impl Row {
    /// A row of which nothing more is known.
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

    /// Everything about its problems, line by line.
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

    /// Where it went wrong.
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
    /// A problem whose text is more than a line.
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

    /// `file:line:column`, as far as it is known.
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
