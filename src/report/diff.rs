//! The report of `diff`, and the text of a difference for all reports.

use std::path::Path;

use tapewright_assertions::lines;
use tapewright_replay::diff::{Change, Compared, Found, Listed, Moved};
use tapewright_replay::{Difference, Script};
use tapewright_schemas::tape::Incomplete;

use super::body::{self, Look};
use super::figures::{duration, plural};
use super::formats::{Reportable, json};
use super::in_place;
use super::model::{Group, Level, Problem, Report, Row, Spot, Status};
use crate::exit::Exit;

/// The result of a comparison.
#[derive(Debug)]
pub(crate) struct Differing<'d> {
    pub(crate) before: &'d Path,
    pub(crate) after: &'d Path,
    /// The compared parts: one for files, possibly several for agents' recordings.
    pub(crate) parts: Vec<Differences>,
    /// Whether both are recordings of agents.
    pub(crate) is_whole: bool,
}

/// The differences in one part of two recordings.
#[derive(Debug)]
pub(crate) struct Differences {
    pub(crate) of: Of,
    pub(crate) found: Found,
    /// Why either recording is incomplete.
    pub(crate) incomplete: [Option<IncompleteReason>; 2],
}

/// Why a compared part is incomplete.
#[derive(Clone, Debug)]
pub(crate) enum IncompleteReason {
    /// The recording is incomplete.
    Recording(Incomplete),
    /// This many exchanges with providers could not be kept whole.
    PassedOver(u64),
}

impl IncompleteReason {
    /// Why the recording of a script is incomplete.
    pub(crate) fn of(script: &Script) -> Option<Self> {
        script.incomplete().cloned().map(Self::Recording)
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Recording(lacks) => lacks.why.name(),
            Self::PassedOver(_) => "passed_over",
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Recording(lacks) => in_place::lacks(lacks),
            Self::PassedOver(count) => {
                format!("{count} exchanges with providers could not be kept whole")
            }
        }
    }
}

/// What a part contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// Model calls.
    Models,
    /// The messages of a client and a server; for agents, the label of the server.
    Server(String),
}

/// The longest definition whose text is compared, in bytes: the time grows with the square.
const TEXT_BYTES: usize = 64 << 10;
/// How many lines of a definition's difference are shown.
const TEXT_LINES: usize = 60;

/// One difference, in words; `now` is the name of the later side.
pub(super) fn difference(one: &Difference, before: &str, now: &str) -> String {
    let text = |value: Option<&String>| value.map_or("nothing", String::as_str).to_owned();
    format!(
        "{}: {before} {}, {now} {}",
        one.path,
        text(one.recorded.as_ref()),
        text(one.live.as_ref())
    )
}

impl Differences {
    /// Its members in JSON.
    fn members(&self) -> serde_json::Result<serde_json::Map<String, serde_json::Value>> {
        let name = |lacks: &Option<IncompleteReason>| lacks.as_ref().map(IncompleteReason::name);
        let [before, after] = self.incomplete.each_ref().map(name);
        let incomplete = serde_json::json!({ "before": before, "after": after });
        Ok([
            ("incomplete".to_owned(), incomplete),
            (
                "exchanges".to_owned(),
                serde_json::to_value(&self.found.exchanges)?,
            ),
            (
                "latency".to_owned(),
                serde_json::to_value(&self.found.latency)?,
            ),
        ]
        .into_iter()
        .collect())
    }
}

impl Differing<'_> {
    /// The exit status: a comparison of nothing is not a success.
    pub(crate) fn exit(&self) -> Exit {
        let incomplete = |part: &Differences| part.incomplete.iter().any(Option::is_some);
        if self.all().any(|one| one.change != Change::Same) {
            Exit::Fail
        } else if self.all().next().is_none() || self.parts.iter().any(incomplete) {
            Exit::Inconclusive
        } else {
            Exit::Pass
        }
    }

    fn all(&self) -> impl Iterator<Item = &Compared> {
        self.parts.iter().flat_map(|part| &part.found.exchanges)
    }

    /// How many exchanges have this change.
    pub(crate) fn count(&self, change: Change) -> usize {
        self.all().filter(|one| one.change == change).count()
    }

    /// The counts in words.
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

    /// The gaps on either side, and changes of latency.
    pub(crate) fn notes(&self) -> Vec<String> {
        let parts = self.parts.iter();
        parts.flat_map(|part| self.notes_of(part)).collect()
    }

    fn notes_of(&self, part: &Differences) -> Vec<String> {
        let files = [self.before, self.after];
        let incomplete = files.iter().zip(&part.incomplete);
        let mut notes: Vec<String> = incomplete
            .filter_map(|(file, why)| {
                let file = file.display();
                Some(format!("`{file}` is incomplete: {}", why.as_ref()?.words()))
            })
            .collect();
        notes.extend(part.found.latency.iter().map(moved));
        notes
    }

    /// The title of a group of rows.
    fn title(&self, part: &Differences) -> String {
        let files = format!("{} -> {}", self.before.display(), self.after.display());
        match &part.of {
            Of::Models => format!("{files}: models"),
            Of::Server(_) if !self.is_whole => files,
            Of::Server(label) => format!("{files}: {label}"),
        }
    }
}

impl Reportable for Differing<'_> {
    fn report(&self) -> Report {
        let spot = self.after.display().to_string();
        let groups = self.parts.iter().map(|part| {
            let rows = part.found.exchanges.iter();
            Group {
                rows: rows.map(|one| row(one, &spot)).collect(),
                title: self.title(part),
                notes: self.notes_of(part),
                ..Group::default()
            }
        });
        Report {
            title: "Differences",
            groups: groups.collect(),
            result: Some(self.summary()),
        }
    }

    fn json(&self) -> anyhow::Result<String> {
        let mut told = serde_json::Map::new();
        let files = [("before", self.before), ("after", self.after)];
        told.extend(files.map(|(name, file)| (name.into(), file.display().to_string().into())));
        let counts = [
            ("changed", Change::Changed),
            ("new", Change::New),
            ("gone", Change::Gone),
            ("same", Change::Same),
        ];
        told.extend(counts.map(|(name, change)| (name.into(), self.count(change).into())));
        let mut servers = Vec::new();
        for part in &self.parts {
            match &part.of {
                Of::Models => {
                    let calls = serde_json::to_value(&part.found.exchanges)?;
                    told.insert("model_calls".into(), calls);
                }
                Of::Server(label) if self.is_whole => {
                    let mut said = part.members()?;
                    said.insert("server".into(), label.as_str().into());
                    servers.push(serde_json::Value::Object(said));
                }
                Of::Server(_) => told.extend(part.members()?),
            }
        }
        if self.is_whole {
            told.insert("servers".into(), servers.into());
        }
        json::text(&told)
    }

    fn pretty(&self) -> String {
        let mut report = self.report();
        for group in &mut report.groups {
            // Equal exchanges are only counted, below.
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
            let text = format!("only in the {only} recording");
            row.problems.push(Problem::new(Some(Level::Error), &text));
        }
        Change::Changed => {
            let found = one.differences.iter();
            let mut lines: Vec<String> = found
                .map(|one| difference(one, "before", "after"))
                .collect();
            lines.extend(one.listed.iter().flat_map(definition));
            if one.repeated > 0 {
                let count = one.repeated as u64;
                let (places, are) = (
                    plural(count, "place"),
                    if count == 1 { "is" } else { "are" },
                );
                lines.push(format!(
                    "{count} more {places} {are} the same as in an earlier call"
                ));
            }
            let text = lines.join("\n");
            row.problems.push(Problem::new(Some(Level::Error), &text));
        }
    }
    row
}

/// The changes in a definition, line by line.
pub(super) fn definition(one: &Listed) -> Vec<String> {
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
    let told = lines::hunks(&before, &after, 2);
    let mut lines = vec![format!("{what}:")];
    lines.extend(told.iter().take(TEXT_LINES).map(|line| format!("  {line}")));
    let more = told.len().saturating_sub(TEXT_LINES);
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
