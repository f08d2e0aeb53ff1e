//! Results without secrets, with the suite's lines that they refer to.

use std::sync::Arc;

use tapewright_assertions::{Failure, Json};
use tapewright_config::{Issue, SourceSpot, Sources};
use tapewright_schemas::redact::{Redactor, Rules};

use super::judgement::{self, Judged};
use super::{cut, hide};
use crate::report::model;
use crate::suite::result::{Cost, ExchangeNumbers, Located, Results, Row, Status, Tool};

/// The results of one suite.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) suite: String,
    pub(crate) rows: Vec<RowView>,
    pub(crate) skipped: Vec<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) took_us: u64,
}

/// One test.
#[derive(Debug)]
pub(crate) struct RowView {
    pub(crate) kind: &'static str,
    pub(crate) title: String,
    pub(crate) name: String,
    pub(crate) server: Option<String>,
    pub(crate) revision: Option<String>,
    pub(crate) status: Status,
    pub(crate) took_us: Option<u64>,
    pub(crate) asked: usize,
    pub(crate) flaky: bool,
    pub(crate) replay: bool,
    pub(crate) stub: bool,
    pub(crate) cost: Option<Cost>,
    pub(crate) judgements: Vec<Judged>,
    pub(crate) exercised: Option<usize>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) reasons: Vec<String>,
    /// The places of the reasons, for a suite that cannot be used; otherwise empty.
    pub(crate) reason_spots: Vec<Option<Excerpt>>,
    pub(crate) warnings: Vec<String>,
    pub(crate) spot: Option<Excerpt>,
}

/// Why a suite cannot be used.
#[derive(Clone, Debug)]
pub(crate) struct Unusable {
    pub(crate) why: String,
    pub(crate) spot: Option<Excerpt>,
}

impl Unusable {
    /// A mistake in a suite; the line itself is not repeated.
    pub(crate) fn of(issue: &Issue, sources: &Sources) -> Self {
        let place = issue.place.as_ref();
        let spot = place.and_then(|place| {
            let excerpt = sources.excerpt(place)?;
            Some(Excerpt {
                file: sources.path(place.file).display().to_string(),
                line: excerpt.line,
                column: excerpt.column,
                width: excerpt.width,
                pointer: place.pointer.clone(),
                text: None,
            })
        });
        Self {
            why: issue.message.clone(),
            spot,
        }
    }

    /// A reason that is not at a place.
    pub(crate) fn plain(why: String) -> Self {
        Self { why, spot: None }
    }
}

/// A failed expectation, or one that could not be judged.
#[derive(Debug)]
pub(crate) struct Problem {
    /// Whether it was judged.
    pub(crate) judged: bool,
    pub(crate) target: String,
    pub(crate) matcher: String,
    /// Its author's message.
    pub(crate) message: Option<String>,
    /// The mismatch.
    pub(crate) note: String,
    /// Type and text of the expected and the actual value.
    pub(crate) expected: Option<(String, String)>,
    pub(crate) actual: Option<(String, String)>,
    pub(crate) diff: Option<String>,
    /// The documented object.
    pub(crate) object: Json,
    pub(crate) spot: Option<Excerpt>,
    pub(crate) exchange: Option<ExchangeNumbers>,
}

/// A place in the suite.
#[derive(Clone, Debug)]
pub(crate) struct Excerpt {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) width: usize,
    pub(crate) pointer: String,
    /// The line, unless hiding a secret in it would move the marked part.
    pub(crate) text: Option<String>,
}

impl Excerpt {
    /// Where it is, without the line itself.
    pub(super) fn plain(&self) -> model::Spot {
        model::Spot {
            file: self.file.clone(),
            line: Some(self.line as u64),
            columns: Some(self.column..self.column + self.width),
        }
    }
}

/// Removes secrets.
#[derive(Debug)]
pub(crate) struct Redaction(Redactor);

impl Redaction {
    pub(crate) fn new(rules: &Arc<Rules>) -> Self {
        Self(Redactor::new(Arc::clone(rules)))
    }

    pub(crate) fn text(&mut self, text: &str) -> String {
        String::from_utf8_lossy(&self.0.text(text.as_bytes())).into_owned()
    }

    pub(super) fn json(&mut self, value: &Json) -> Json {
        let text = value.to_string();
        let clean = self.0.json(text.as_bytes()).ok();
        clean
            .and_then(|text| Json::read(&text).ok())
            .unwrap_or(Json::Null)
    }
}

impl View {
    /// A view of results, whose secrets are removed by `redaction`.
    pub(crate) fn new(
        suite: String,
        results: Results,
        sources: &Sources,
        redaction: &mut Redaction,
    ) -> Self {
        let mut lines = |lines: Vec<String>| -> Vec<String> {
            lines.iter().map(|line| redaction.text(line)).collect()
        };
        let (skipped, notes) = (lines(results.skipped), lines(results.notes));
        let rows = results.rows.into_iter();
        Self {
            suite,
            rows: rows.map(|row| view(row, sources, redaction)).collect(),
            skipped,
            notes,
            tools: results.tools,
            took_us: micros(results.took),
        }
    }

    /// A suite that could not be run, with the reasons.
    pub(crate) fn unusable(suite: String, why: &[Unusable]) -> Self {
        let row = RowView {
            kind: "suite",
            title: suite.clone(),
            name: suite.clone(),
            server: None,
            revision: None,
            status: Status::Error,
            took_us: None,
            asked: 0,
            flaky: false,
            replay: false,
            stub: false,
            cost: None,
            judgements: Vec::new(),
            exercised: None,
            problems: Vec::new(),
            reasons: why.iter().map(|one| one.why.clone()).collect(),
            reason_spots: why.iter().map(|one| one.spot.clone()).collect(),
            warnings: Vec::new(),
            spot: why.iter().find_map(|one| one.spot.clone()),
        };
        Self {
            suite,
            rows: vec![row],
            skipped: Vec::new(),
            notes: Vec::new(),
            tools: Vec::new(),
            took_us: 0,
        }
    }

    /// How many rows passed only after a failure.
    pub(crate) fn flaky(&self) -> usize {
        self.rows.iter().filter(|row| row.flaky).count()
    }

    /// What the answers of models cost; `None` if no model was asked.
    pub(crate) fn cost(&self) -> Option<Cost> {
        let costs = self.rows.iter().filter_map(|row| row.cost);
        costs.reduce(Cost::and)
    }

    /// How many rows have this status.
    pub(crate) fn count(&self, status: Status) -> usize {
        self.rows.iter().filter(|row| row.status == status).count()
    }
}

fn view(row: Row, sources: &Sources, redaction: &mut Redaction) -> RowView {
    let title = row.title();
    let mut problems: Vec<Problem> = row
        .failures
        .iter()
        .map(|told| failure(told, &row.name, sources, redaction))
        .collect();
    for told in &row.errors {
        let note = redaction.text(&told.what.error.to_string());
        problems.push(Problem {
            judged: false,
            target: told.what.target.clone(),
            matcher: told.what.matcher.to_owned(),
            message: None,
            object: Json::object([
                ("test_name", Json::from(row.name.as_str())),
                ("target", told.what.target.as_str().into()),
                ("matcher", told.what.matcher.into()),
                ("note", note.as_str().into()),
            ]),
            note,
            expected: None,
            actual: None,
            diff: None,
            spot: spot(&told.place, sources, redaction),
            exchange: told.exchange,
        });
    }
    RowView {
        kind: row.kind.name(),
        title: redaction.text(&title),
        name: redaction.text(&row.name),
        server: row.server,
        revision: row.revision,
        status: row.status,
        took_us: row.took.map(micros),
        asked: row.asked,
        flaky: row.flaky,
        replay: row.replay,
        stub: row.stub,
        cost: row.cost,
        judgements: row
            .judgements
            .iter()
            .map(|one| judgement::view(one, redaction))
            .collect(),
        exercised: row.exercised,
        problems,
        reasons: row.reasons.iter().map(|one| redaction.text(one)).collect(),
        reason_spots: Vec::new(),
        warnings: row.warnings.iter().map(|one| redaction.text(one)).collect(),
        spot: spot(&row.place, sources, redaction),
    }
}

fn failure(
    told: &Located<Failure>,
    name: &str,
    sources: &Sources,
    redaction: &mut Redaction,
) -> Problem {
    let failure = &hide::failure(&told.what, redaction);
    let shown = |value: &Option<Json>| {
        let value = value.as_ref()?;
        Some((value.kind().to_owned(), value.to_string()))
    };
    let (mut expected, mut actual) = (shown(&failure.expected), shown(&failure.actual));
    match (&mut expected, &mut actual) {
        (Some((_, one)), Some((_, other))) => cut::pair(one, other),
        (Some((_, one)), None) | (None, Some((_, one))) => cut::alone(one),
        (None, None) => {}
    }
    let mut object = redaction.json(&failure.to_json(name));
    let text = |value: &Option<(String, String)>| value.as_ref().map(|(_, text)| text.clone());
    let texts = [text(&expected), text(&actual)];
    cut::object(&mut object, &texts);
    let note = match (&failure.note, &failure.missing) {
        (_, Some(stop)) => format!("no value: {stop}"),
        (Some(note), None) => match failure.path.as_deref() {
            None | Some("") => note.clone(),
            Some(path) => format!("at `{path}`: {note}"),
        },
        (None, None) => "it does not hold".to_owned(),
    };
    let note = match &failure.tool_error {
        Some(said) => format!("{note}\nthe tool says that it failed: {said}"),
        None => note,
    };
    Problem {
        judged: true,
        target: failure.target.clone(),
        matcher: failure.matcher.clone(),
        message: failure.message.clone(),
        note: cut::short(note),
        expected,
        actual,
        diff: failure.diff.clone().map(cut::short),
        object,
        spot: spot(&told.place, sources, redaction),
        exchange: told.exchange,
    }
}

fn spot(place: &SourceSpot, sources: &Sources, redaction: &mut Redaction) -> Option<Excerpt> {
    let excerpt = sources.excerpt(place)?;
    let clean = redaction.text(excerpt.text);
    Some(Excerpt {
        file: sources.path(place.file).display().to_string(),
        line: excerpt.line,
        column: excerpt.column,
        width: excerpt.width,
        pointer: place.pointer.clone(),
        text: (clean == excerpt.text).then_some(clean),
    })
}

fn micros(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
