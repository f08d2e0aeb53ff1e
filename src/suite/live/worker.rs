//! Runs the cases of one group in order.

use std::time::Duration;

use tapewright_assertions::score::ASKED_OTHERWISE;
use tapewright_assertions::{Answer, Failure, Json, Phase, Test, TransformError, World as _};

use super::connection::{Connection, NoAnswer};
use super::{Round, compose};
use crate::suite::judged;
use crate::suite::plan::{Case, What};
use crate::suite::result::{Located, Row, Status};

/// The connections of a group, and its cases by number.
pub(super) struct Worker {
    pub(super) connections: Vec<Connection>,
    pub(super) cases: Vec<usize>,
}

/// The default time limit of a test.
const TIMEOUT: Duration = Duration::from_secs(60);

impl Worker {
    /// Runs every case, and returns notes next to the rows.
    pub(super) fn work(mut self, round: &Round<'_>, mut each: impl FnMut(Row)) -> Vec<String> {
        for number in std::mem::take(&mut self.cases) {
            let Some(case) = round.plan.cases.get(number) else {
                continue;
            };
            let row = match round.stopped() {
                Some(why) => judged::skipped(number, case, why),
                None => self.repeated(number, case, round),
            };
            // Open requests have no answer because of the interruption.
            let row = match round.stopped().filter(|_| round.is_interrupted()) {
                Some(why) if row.status != Status::Pass => judged::skipped(number, case, why),
                _ => row,
            };
            round.over(&row);
            each(row);
        }
        self.connections
            .into_iter()
            .flat_map(Connection::close)
            .collect()
    }

    /// Runs a case as often as the suite says, until it fails.
    fn repeated(&mut self, number: usize, case: &Case, round: &Round<'_>) -> Row {
        let mut row = self.retried(number, case, round);
        for _ in 1..case.options.repeat {
            if row.status != Status::Pass || round.stopped().is_some() {
                break;
            }
            let before = row;
            row = self.retried(number, case, round);
            row.asked += before.asked;
            row.flaky |= before.flaky;
            row.took = row.took.max(before.took);
            row.warnings.extend(before.warnings);
        }
        row.warnings.sort_unstable();
        row.warnings.dedup();
        row
    }

    /// Repeats a failed case as often as allowed. The first failure is reported.
    fn retried(&mut self, number: usize, case: &Case, round: &Round<'_>) -> Row {
        let mut row = self.case(number, case, round);
        let first = first_failure(&row);
        let mut asked = 1;
        while row.status == Status::Fail
            && asked <= round.options.retry
            && round.stopped().is_none()
        {
            row = self.case(number, case, round);
            asked += 1;
        }
        row.asked = usize::try_from(asked).unwrap_or(usize::MAX);
        if asked > 1 && row.status == Status::Pass {
            row.flaky = true;
            let before = asked - 1;
            let times = if before == 1 {
                "once"
            } else {
                "more than once"
            };
            row.warnings.push(format!(
                "flaky: it failed {times} before it passed: {first}"
            ));
        }
        row
    }

    fn case(&mut self, number: usize, case: &Case, round: &Round<'_>) -> Row {
        match &case.what {
            What::Inject { test, error } => {
                judged::injected(number, case, test, error, round.shared)
            }
            What::Compose(graph) => compose::run(number, case, graph, &mut self.connections, round),
            What::Agent(_) | What::Eval(_) => {
                judged::skipped(number, case, "nothing here asks a model")
            }
            What::Ask {
                test,
                request_transform,
            } => self.ask(number, case, test, request_transform.as_deref(), round),
        }
    }

    fn ask(
        &mut self,
        number: usize,
        case: &Case,
        test: &Test,
        request_transform: Option<&[String]>,
        round: &Round<'_>,
    ) -> Row {
        let mut row = judged::row(number, case, Status::Fail);
        let world = judged::world(case, test, round.shared);
        let rewritten = request_transform
            .map(|command| judged::rewritten(&test.ask, command, &world))
            .transpose();
        let ask = match &rewritten {
            Ok(rewritten) => rewritten.as_ref().unwrap_or(&test.ask),
            Err(why) => return not_transformed(row, why),
        };
        let mut connections = self.connections.iter_mut();
        let Some(connection) = connections.find(|one| one.name() == test.server) else {
            return failed(row, "connection", "the server is not connected".to_owned());
        };
        row.replay = connection.is_replay();
        let asked = connection.ask(ask, timeout(case));
        row.took = asked.as_ref().ok().map(|asked| asked.took);
        let asked = match asked {
            Ok(asked) => asked,
            Err(NoAnswer::Failed(why)) => return failed(row, "answer", why),
            Err(NoAnswer::Unknown(why)) => return unknown(row, why),
        };
        let mut envelope = asked.envelope;
        if let Some(command) = &test.response_transform {
            if row.replay && envelope.hides() {
                let why = "the recording hides a secret that the transform needs";
                return unknown(row, why.to_owned());
            }
            match world.transform(Phase::Response, command, &envelope) {
                Ok(other) => envelope = other,
                Err(why) => return not_transformed(row, &why),
            }
        }
        let took = asked.judged.map(|took| took.as_micros());
        let answer = Answer {
            envelope: &envelope,
            took_us: took.and_then(|took| took.try_into().ok()),
            headers: asked.headers.known(),
            redacted: row.replay,
        };
        let mut outcome = test.expectation.judge(&answer, &world);
        if asked.judged.is_none() {
            test.expectation.note_untimed(&mut outcome);
        }
        if asked.otherwise {
            outcome.doubt_failures(ASKED_OTHERWISE);
        }
        judged::settle(&mut row, case, &outcome);
        world.settle(&mut row);
        row
    }
}

/// Why a row failed, on one line.
fn first_failure(row: &Row) -> String {
    let failure = row.failures.first().map(|told| &told.what);
    let note = failure.and_then(|failure| {
        let matcher = &failure.matcher;
        let note = failure.note.as_deref().unwrap_or("it does not hold");
        let line = note.lines().next().unwrap_or_default();
        Some(format!("{matcher}: {line}")).filter(|_| !matcher.is_empty())
    });
    note.unwrap_or_default()
}

/// The time limit of a case.
pub(super) fn timeout(case: &Case) -> Duration {
    case.timeout.unwrap_or(TIMEOUT)
}

/// A row that failed before an answer could be judged.
pub(super) fn failed(mut row: Row, matcher: &str, why: String) -> Row {
    row.status = Status::Fail;
    row.failures.push(Located {
        what: Failure {
            matcher: matcher.to_owned(),
            note: Some(why),
            ..Failure::default()
        },
        place: row.place.clone(),
        exchange: None,
    });
    row
}

/// A row without the output of a transform. A command that cannot be started is an error.
fn not_transformed(mut row: Row, why: &TransformError) -> Row {
    match why {
        TransformError::Failed(why) => failed(row, "transform", why.clone()),
        TransformError::NotStarted(why) => {
            row.status = Status::Error;
            row.reasons.push(why.clone());
            row
        }
    }
}

/// An undecided row, since a recording does not have the answer.
fn unknown(mut row: Row, why: String) -> Row {
    row.status = Status::Inconclusive;
    row.reasons.push(why);
    row
}

/// The parameters of a request as source text.
pub(super) fn text(params: &Json) -> String {
    params.to_string()
}
