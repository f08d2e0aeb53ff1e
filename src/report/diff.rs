//! What `diff` says, and how a difference is told wherever there is one.

use std::path::Path;

use similar::TextDiff;
use tapewright_replay::Difference;
use tapewright_replay::diff::{Change, Compared, Found, Listed, Moved};

use super::body::{self, Look};
use super::figures::{duration, plural};
use super::formats::{Told, json};
use super::model::{Group, Level, Problem, Report, Row, Spot, Status};
use crate::exit::Exit;

/// What was found.
#[derive(Debug)]
pub(crate) struct Differing<'d> {
    pub(crate) before: &'d Path,
    pub(crate) after: &'d Path,
    pub(crate) found: &'d Found,
    /// Why either recording does not hold everything that crossed.
    pub(crate) incomplete: [Option<&'d str>; 2],
}

/// How long a definition may be whose text is compared, in bytes: the time goes with the
/// square.
const TEXT_BYTES: usize = 64 << 10;
/// How many lines of a definition's difference are told.
const TEXT_LINES: usize = 60;

/// One difference, in words; `now` is what the later side is called.
pub(super) fn difference(one: &Difference, before: &str, now: &str) -> String {
    let text = |value: Option<&String>| value.map_or("nothing", String::as_str).to_owned();
    format!(
        "{}: {before} {}, {now} {}",
        one.path,
        text(one.recorded.as_ref()),
        text(one.live.as_ref())
    )
}

impl Differing<'_> {
    /// The exit status: nothing that could be compared is no success.
    pub(crate) fn exit(&self) -> Exit {
        let differs = |one: &Compared| one.change != Change::Same;
        if self.found.exchanges.iter().any(differs) {
            Exit::Fail
        } else if self.found.exchanges.is_empty() || self.incomplete.iter().any(Option::is_some) {
            Exit::Inconclusive
        } else {
            Exit::Pass
        }
    }

    /// How many exchanges are new, gone, changed, the same.
    pub(crate) fn count(&self, change: Change) -> usize {
        let all = self.found.exchanges.iter();
        all.filter(|one| one.change == change).count()
    }

    /// The same in words.
    pub(crate) fn summary(&self) -> String {
        let mut all = Vec::new();
        for (change, word) in [
            (Change::Changed, "changed"),
            (Change::New, "new"),
            (Change::Gone, "gone"),
            (Change::Same, "the same"),
        ] {
            all.push(format!("{} {word}", self.count(change)));
        }
        all.join(", ")
    }

    /// What is missing on either side, and what takes longer or shorter.
    pub(crate) fn notes(&self) -> Vec<String> {
        let files = [self.before, self.after];
        let incomplete = files.iter().zip(self.incomplete);
        let mut notes: Vec<String> = incomplete
            .filter_map(|(file, why)| {
                let file = file.display();
                Some(format!("`{file}` does not hold everything: {}", why?))
            })
            .collect();
        notes.extend(self.found.latency.iter().map(moved));
        notes
    }
}

impl Told for Differing<'_> {
    fn report(&self) -> Report {
        let (before, after) = (self.before.display(), self.after.display());
        let spot = self.after.display().to_string();
        let rows = self.found.exchanges.iter();
        let group = Group {
            rows: rows.map(|one| row(one, &spot)).collect(),
            title: format!("{before} -> {after}"),
            notes: self.notes(),
            ..Group::default()
        };
        Report {
            title: "Differences",
            groups: vec![group],
            result: Some(self.summary()),
        }
    }

    fn json(&self) -> anyhow::Result<String> {
        let [before, after] = self.incomplete;
        json::text(&serde_json::json!({
            "before": self.before.display().to_string(),
            "after": self.after.display().to_string(),
            "changed": self.count(Change::Changed),
            "new": self.count(Change::New),
            "gone": self.count(Change::Gone),
            "same": self.count(Change::Same),
            "incomplete": { "before": before, "after": after },
            "exchanges": self.found.exchanges,
            "latency": self.found.latency,
        }))
    }

    fn pretty(&self) -> String {
        let mut report = self.report();
        for group in &mut report.groups {
            // What is the same is counted below.
            group.rows.retain(|row| row.status != Status::Pass);
        }
        let mut text = super::formats::pretty::text(&report);
        for note in self.notes() {
            text.push_str(&super::safe(&note));
            text.push('\n');
        }
        text
    }
}

/// One exchange, as lines.
pub(crate) fn lines(one: &Compared) -> String {
    let row = row(one, "");
    let mut lines = vec![super::safe(&row.heading)];
    for problem in &row.problems {
        lines.push(super::safe(&problem.headline));
        lines.extend(problem.lines.iter().map(|line| super::safe(line)));
    }
    lines.join("\n    ")
}

/// One exchange.
fn row(one: &Compared, file: &str) -> Row {
    let (status, word) = match one.change {
        Change::Changed => (Status::Fail, "changed"),
        Change::Gone => (Status::Fail, "gone"),
        Change::New => (Status::Fail, "new"),
        Change::Same => (Status::Pass, "same"),
    };
    let name = match &one.target {
        Some(target) => format!("{} {target}", one.method),
        None => one.method.clone(),
    };
    let mut row = Row::new(status, word, name);
    row.code = one.after.clone().or(one.before.clone());
    row.heading = format!("{word}: {}", row.full_name());
    file.clone_into(&mut row.class);
    row.spot = Some(Spot::file(file));
    match one.change {
        Change::Same => {}
        Change::Gone | Change::New => {
            let only = if one.change == Change::New {
                "later"
            } else {
                "earlier"
            };
            let text = format!("it is on the {only} recording only");
            row.problems.push(Problem::new(Some(Level::Error), &text));
        }
        Change::Changed => {
            let found = one.differences.iter();
            let mut lines: Vec<String> = found
                .map(|one| difference(one, "before", "after"))
                .collect();
            lines.extend(one.listed.iter().flat_map(definition));
            let text = lines.join("\n");
            row.problems.push(Problem::new(Some(Level::Error), &text));
        }
    }
    row
}

/// What became of a definition, line by line.
fn definition(one: &Listed) -> Vec<String> {
    let text = |source: &Option<String>| {
        let source = source.as_deref().unwrap_or_default();
        body::text(source.as_bytes(), Look::default())
    };
    let (before, after) = (text(&one.before), text(&one.after));
    let what = format!("{} `{}`", one.list, one.name);
    match (&one.before, &one.after) {
        (None, _) => return vec![format!("{what} is new")],
        (_, None) => return vec![format!("{what} is gone")],
        _ if before.len().max(after.len()) > TEXT_BYTES => return Vec::new(),
        _ => {}
    }
    let diff = TextDiff::from_lines(&before, &after);
    let mut told = diff.unified_diff();
    let told = told
        .context_radius(2)
        .missing_newline_hint(false)
        .to_string();
    let mut lines = vec![format!("{what}:")];
    lines.extend(
        told.lines()
            .take(TEXT_LINES)
            .map(|line| format!("  {line}")),
    );
    let more = told.lines().count().saturating_sub(TEXT_LINES);
    if more > 0 {
        lines.push(format!("  … {more} more lines"));
    }
    lines
}

fn moved(one: &Moved) -> String {
    let target = one.target.as_ref();
    let target = target.map_or(String::new(), |target| format!(" {target}"));
    let (count, spread) = (one.count as u64, duration(one.spread_ms));
    format!(
        "{}{target} took {} before and takes {} after: medians of {count} {}, spread {spread}",
        one.method,
        duration(one.before_ms),
        duration(one.after_ms),
        plural(count, "answer"),
    )
}
