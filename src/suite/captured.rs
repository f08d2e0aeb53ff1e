//! Judging a suite by a recording: nothing is sent.

use std::borrow::Cow;
use std::path::Path;

use tapewright_assertions::World;
use tapewright_assertions::score::{Coverage, Question, Scored, Scorer};
use tapewright_config::Suite;
use tapewright_schemas::capture::Capture;
use tapewright_schemas::recording::Document;

use super::judged;
use super::plan::{Case, Plan, What};
use super::result::{Results, Row, Status, Tool};
use super::world::{Snapshots, TestWorld};
use crate::files::{Contents, Recording};
use crate::report;

/// A case that a recording can answer.
struct Asked<'p> {
    number: usize,
    case: &'p Case,
    question: Question<'p>,
    world: TestWorld<'p>,
}

/// Judges the chosen cases of a suite by a recording.
///
/// A session counts for the server whose name in the suite is its label. A suite with one
/// server and a recording of one belong together whatever they are called, which is said.
pub(crate) fn run(
    suite: &Suite,
    plan: &Plan,
    chosen: &[usize],
    file: &Path,
    snapshots: &Snapshots,
) -> anyhow::Result<Results> {
    let recording = Recording::open(file)?;
    let cases: Vec<(usize, &Case)> = chosen
        .iter()
        .filter_map(|number| Some((*number, plan.cases.get(*number)?)))
        .collect();
    let asked = asked(&cases, snapshots)?;
    let questions = asked.iter().map(|one| one.question.clone()).collect();
    let nobody = TestWorld {
        snapshots,
        variables: Vec::new(),
    };
    let worlds = |number: usize| {
        let world = asked.get(number).map_or(&nobody, |one| &one.world);
        world as &dyn World
    };
    let mut scorer = Scorer::new(questions);
    let timed = recording.timed();
    if let Contents::Document(Document::Capture(capture), _) = &recording.contents {
        let labels = capture.sessions.iter().map(|one| one.label.as_str());
        let servers = servers(suite, &labels.collect::<Vec<_>>());
        for (session, server) in capture.sessions.iter().zip(servers) {
            let alone = Capture {
                sessions: vec![session.clone()],
                array: false,
            };
            scorer.enter(server, timed, &worlds);
            for event in &alone.recording().events {
                scorer.observe(event, &worlds);
            }
        }
    } else {
        let label = recording.header().label;
        let servers = servers(suite, &[&label]);
        scorer.enter(servers.first().copied().flatten(), timed, &worlds);
        recording.events(|event| {
            scorer.observe(event, &worlds);
            Ok(())
        })?;
    }
    let (found, coverage) = scorer.finish(&worlds);
    Ok(results(&cases, &asked, &found, &coverage, snapshots))
}

/// The server of the suite that each session is with.
fn servers<'s>(suite: &'s Suite, labels: &[&str]) -> Vec<Option<&'s str>> {
    let mut distinct = labels.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let known = |label: &str| suite.server(label).map(|server| server.name.as_str());
    if let ([only], [label]) = (suite.servers.as_slice(), distinct.as_slice())
        && known(label).is_none()
    {
        let of = match *label {
            "" => "the recording names no server".to_owned(),
            label => format!("the recording is of `{}`", report::safe(label)),
        };
        report::note(&format!(
            "{of}, and counts as the suite's only server `{}`",
            report::safe(&only.name)
        ));
        return vec![Some(only.name.as_str()); labels.len()];
    }
    for label in distinct {
        if known(label).is_none() {
            report::note(&format!(
                "the suite has no server `{}`; what was recorded of it is passed over",
                report::safe(label)
            ));
        }
    }
    labels.iter().map(|label| known(label)).collect()
}

/// The cases that are one question each, with their requests rewritten as they would be.
fn asked<'p>(
    cases: &[(usize, &'p Case)],
    snapshots: &'p Snapshots,
) -> anyhow::Result<Vec<Asked<'p>>> {
    let mut asked = Vec::new();
    for (number, case) in cases {
        let What::Ask {
            test,
            request_transform,
        } = &case.what
        else {
            continue;
        };
        let world = judged::world(case, test, snapshots);
        let ask = match request_transform {
            None => Cow::Borrowed(&test.ask),
            Some(command) => {
                let rewritten = judged::rewritten(&test.ask, command, &world);
                Cow::Owned(rewritten.map_err(|why| {
                    let what = format!("`{}` cannot be compared: {why}", case.name);
                    report::Mistake::new(what, "see that the command works alone")
                })?)
            }
        };
        asked.push(Asked {
            number: *number,
            case,
            question: Question { ask, test },
            world,
        });
    }
    Ok(asked)
}

fn results(
    cases: &[(usize, &Case)],
    asked: &[Asked<'_>],
    scored: &[Scored],
    coverage: &Coverage,
    snapshots: &Snapshots,
) -> Results {
    let mut results = Results::default();
    let mut scored = asked.iter().zip(scored).peekable();
    for (number, case) in cases {
        let row = match (&case.what, scored.next_if(|(one, _)| one.number == *number)) {
            (What::Inject { test, error }, _) => {
                judged::injected(*number, case, test, error, snapshots)
            }
            (_, Some((_, scored))) => row(*number, case, scored, coverage),
            (_, None) => {
                let mut row = judged::row(*number, case, Status::Skip);
                let why = "a composition calls tools in its own order; a recording cannot tell";
                row.reasons.push(why.to_owned());
                row
            }
        };
        results.rows.push(row);
    }
    results.tools = tools(coverage, asked);
    if coverage.gaps > 0 {
        results.notes.push(format!(
            "the recording has gaps: {} of its messages are missing or were not kept whole",
            coverage.gaps
        ));
    }
    results
}

/// Folds what all exchanges of a test said into one row.
fn row(number: usize, case: &Case, scored: &Scored, coverage: &Coverage) -> Row {
    let mut row = judged::row(number, case, Status::Pass);
    row.exercised = Some(scored.exercised);
    row.took = scored.took_us.map(std::time::Duration::from_micros);
    for one in &scored.others {
        let exchange = Some((one.request, one.response));
        judged::tell(&mut row, case, &one.outcome, exchange);
        for doubt in &one.outcome.doubts {
            row.reasons.push(format!("event {}: {doubt}", one.request));
        }
    }
    if scored.more > 0 {
        row.warnings
            .push(format!("{} more exchanges did not hold", scored.more));
    }
    row.status = if scored.exercised == 0 && coverage.gaps > 0 {
        row.reasons
            .push("nothing that was recorded asks it, and the recording has gaps".to_owned());
        Status::Inconclusive
    } else if scored.exercised == 0 {
        row.reasons
            .push("nothing that was recorded asks it".to_owned());
        Status::NotExercised
    } else if !row.errors.is_empty() {
        Status::Error
    } else if !row.failures.is_empty() {
        Status::Fail
    } else if scored.passed < scored.exercised {
        Status::Inconclusive
    } else {
        Status::Pass
    };
    row
}

fn tools(coverage: &Coverage, asked: &[Asked<'_>]) -> Vec<Tool> {
    let name = |number: &usize| Some(asked.get(*number)?.case.name.clone());
    let tool = |((server, tool), used): (&(String, String), &_)| {
        let used: &tapewright_assertions::score::ToolUse = used;
        Tool {
            server: server.clone(),
            name: tool.clone(),
            calls: used.calls,
            listed: used.listed,
            tests: used.tests.iter().filter_map(name).collect(),
        }
    };
    coverage.tools.iter().map(tool).collect()
}
