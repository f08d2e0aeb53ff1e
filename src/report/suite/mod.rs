//! The report of `run`: one view of the results, and each format's text.

mod cut;
mod hide;
mod json;
mod judgement;
pub(crate) mod list;
mod pretty;
mod view;

use std::time::Duration;

use self::view::{Excerpt, Problem as Failed, RowView};
use super::formats::{Format, Reportable};
use super::model::{Group, Level, Problem, Report, Row, Status};
use crate::suite::result::Status as Result;

pub(crate) use self::view::{Redaction, Unusable, View};

/// The results of several suites as text.
pub(crate) fn text(views: &[View], format: Format) -> anyhow::Result<String> {
    Views(views).text(format)
}

/// Like `text`, for standard output: with colours on a terminal.
pub(crate) fn printed(views: &[View], format: Format) -> anyhow::Result<String> {
    let text = text(views, format)?;
    let is_plain = format != Format::Pretty || !super::terminal::has_colours();
    Ok(if is_plain {
        text
    } else {
        pretty::coloured(&text)
    })
}

struct Views<'a>(&'a [View]);

impl Reportable for Views<'_> {
    fn report(&self) -> Report {
        Report {
            title: "tapewright",
            groups: self.0.iter().map(group).collect(),
            result: None,
        }
    }

    fn json(&self) -> anyhow::Result<String> {
        Ok(json::text(self.0))
    }

    fn pretty(&self) -> String {
        pretty::text(self.0)
    }
}

fn group(view: &View) -> Group {
    Group {
        title: view.suite.clone(),
        rows: view.rows.iter().map(row).collect(),
        notes: view.notes.iter().chain(&view.skipped).cloned().collect(),
        summary: Some(pretty::summary(view)),
        took: Some(Duration::from_micros(view.took_us)),
    }
}

fn row(view: &RowView) -> Row {
    let (status, level) = match view.status {
        Result::Pass if view.flaky => (Status::Flaky, Some(Level::Warning)),
        Result::Pass => (Status::Pass, None),
        Result::Deferred | Result::Skip | Result::Known => (Status::Skipped, None),
        Result::NotExercised => (Status::Inconclusive, Some(Level::Warning)),
        Result::Inconclusive => (Status::Error, Some(Level::Warning)),
        Result::Fail => (Status::Fail, Some(Level::Error)),
        Result::Error => (Status::Error, Some(Level::Error)),
    };
    let replay = if view.replay { " [replay]" } else { "" };
    let flaky = if view.flaky { " (flaky)" } else { "" };
    let cost = view.cost.map_or(String::new(), |cost| format!(" ({cost})"));
    let mut row = Row::new(status, view.status.name().replace('_', " "), &view.title);
    row.word.extend([flaky, replay, cost.as_str()]);
    view.status.name().clone_into(&mut row.failure);
    let server = view.server.as_deref().unwrap_or("tapewright");
    row.class = format!("{server}.{}", view.kind);
    row.took = view.took_us.map(Duration::from_micros);
    row.spot = view.spot.as_ref().map(Excerpt::plain);
    let spots = view.reason_spots.iter().map(Option::as_ref);
    let spots = spots.chain(std::iter::repeat(None));
    let reasons = view.reasons.iter().zip(spots).map(|(one, spot)| Problem {
        spot: spot.map(Excerpt::plain),
        ..Problem::new(level, one)
    });
    let failed = view.problems.iter().map(|one| problem(one, level));
    let flaky = view.warnings.iter().filter(|_| view.flaky);
    let flaky = flaky.map(|one| Problem::new(level, one));
    let judged = view
        .judgements
        .iter()
        .map(|one| Problem::new(None, &one.text));
    row.problems = failed.chain(reasons).chain(flaky).chain(judged).collect();
    row
}

fn problem(failed: &Failed, level: Option<Level>) -> Problem {
    let own = failed.message.as_deref();
    let own = own.map_or(String::new(), |message| format!("{message}: "));
    let (matcher, target, note) = (&failed.matcher, &failed.target, &failed.note);
    let mut problem = Problem::new(level, &format!("{own}{matcher} on `{target}`: {note}"));
    for (name, value) in [("expected", &failed.expected), ("actual", &failed.actual)] {
        let told = value.as_ref();
        let told = told.map(|(kind, text)| format!("  {name} ({kind}): {text}"));
        problem.lines.extend(told);
    }
    let exchange = failed.exchange.as_ref();
    let exchange = exchange.map(|exchange| format!("  recorded: {exchange}"));
    problem.lines.extend(exchange);
    problem.spot = failed.spot.as_ref().map(Excerpt::plain);
    problem
}
