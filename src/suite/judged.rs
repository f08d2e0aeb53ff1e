//! Turns outcomes into rows, for recordings and live servers alike.

use std::collections::BTreeSet;
use std::sync::Arc;

use tapewright_assertions::{
    Answer, Ask, Headers, Json, Outcome, Phase, Test, TransformError, World as _,
};

use super::plan::Case;
use super::result::{ExchangeNumbers, Located, Row, Status};
use super::world::{SuiteWorld, TestWorld};

/// A row about a case, without findings.
pub(super) fn row(number: usize, case: &Case, status: Status) -> Row {
    Row {
        case: number,
        kind: case.kind,
        name: case.name.clone(),
        server: case.test().map(|test| test.server.clone()),
        revision: None,
        status,
        failures: Vec::new(),
        errors: Vec::new(),
        reasons: Vec::new(),
        warnings: Vec::new(),
        took: None,
        asked: 1,
        flaky: false,
        replay: false,
        stub: false,
        cost: None,
        models: BTreeSet::new(),
        judgements: Vec::new(),
        exercised: None,
        place: case.place.clone(),
    }
}

/// Why `run` does not run an evaluation.
pub(super) const EVAL: &str = "graded by a model; run it with `tapewright eval`";

/// A row for a case that is not run.
pub(super) fn skipped(number: usize, case: &Case, why: &str) -> Row {
    let mut row = row(number, case, Status::Skip);
    row.asked = 0;
    row.reasons.push(why.to_owned());
    row
}

/// The world of a case's test.
pub(super) fn world(case: &Case, test: &Test, shared: &Arc<SuiteWorld>) -> TestWorld {
    let tool = test.ask.subject().unwrap_or_default();
    TestWorld {
        shared: Arc::clone(shared),
        test_judge: shared.test_judge(case.kind, &case.name),
        variables: TestWorld::variables(&case.name, &test.server, tool),
        time: case.timeout,
    }
}

/// A request after its transform, which gets `{"name", "arguments"}`.
pub(super) fn rewritten(
    ask: &Ask,
    command: &[String],
    world: &TestWorld,
) -> Result<Ask, TransformError> {
    let params = world.transform(Phase::Request, command, &ask.params())?;
    let name = params.get("name").and_then(Json::as_str);
    match (ask, name) {
        (Ask::Tool { .. }, Some(name)) => Ok(Ask::Tool {
            name: name.to_owned(),
            arguments: params.get("arguments").cloned(),
        }),
        (Ask::Tool { .. }, None) => {
            let why = "request transform: the output has no tool `name`";
            Err(TransformError::Failed(why.to_owned()))
        }
        _ => Ok(ask.clone()),
    }
}

/// Judges an injected error.
pub(super) fn injected(
    number: usize,
    case: &Case,
    test: &Test,
    error: &Json,
    shared: &Arc<SuiteWorld>,
) -> Row {
    let envelope = Answer::of_error(error.clone());
    let answer = Answer {
        envelope: &envelope,
        took_us: None,
        headers: Headers::NotHttp,
        redacted: false,
    };
    let world = world(case, test, shared);
    // An injected error is expected.
    let outcome = test.expectation.judge_assertions(&answer, &world);
    let mut row = row(number, case, Status::Pass);
    settle(&mut row, case, &outcome);
    world.settle(&mut row);
    row
}

/// Gives a row the status of its only outcome.
pub(super) fn settle(row: &mut Row, case: &Case, outcome: &Outcome) {
    tell(row, case, outcome, None);
    row.reasons.extend(outcome.doubts.iter().cloned());
    row.reasons.extend(outcome.deferred.iter().cloned());
    row.status = if !outcome.errors.is_empty() {
        Status::Error
    } else if !outcome.failures.is_empty() {
        Status::Fail
    } else if !outcome.doubts.is_empty() {
        Status::Inconclusive
    } else if !outcome.deferred.is_empty() {
        Status::Deferred
    } else {
        Status::Pass
    };
}

/// Adds the findings of an outcome to a row, each with its place in the suite.
pub(super) fn tell(
    row: &mut Row,
    case: &Case,
    outcome: &Outcome,
    exchange: Option<ExchangeNumbers>,
) {
    for failure in &outcome.failures {
        let place = match failure.index {
            Some(index) => case.assertion(index),
            None => case.field(&failure.matcher),
        };
        row.failures.push(Located {
            what: failure.clone(),
            place: place.clone(),
            exchange,
        });
    }
    for error in &outcome.errors {
        row.errors.push(Located {
            what: error.clone(),
            place: case.assertion(error.index).clone(),
            exchange,
        });
    }
    row.warnings.extend(outcome.warnings.iter().cloned());
}
