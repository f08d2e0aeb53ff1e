//! Turns the run of an agent into rows of a report.

use std::sync::Arc;
use std::time::Duration;

use tapewright_agents::{Finished, Recovery, Stub};
use tapewright_assertions::{Answer, Failure, Headers, Json};
use tapewright_config::{SourceSpot, Suite};
use tapewright_models::agent_cassette::StopReason;

use super::measured;
use crate::suite::judged;
use crate::suite::judging::TestJudge;
use crate::suite::plan::{AgentCase, Case};
use crate::suite::result::{Located, Row, Status};
use crate::suite::world::{SuiteWorld, TestWorld};

/// What a run is judged by.
pub(super) struct Evidence<'e> {
    pub(super) finished: &'e Finished,
    /// Why the stub was used.
    pub(super) stub: Option<&'e str>,
    pub(super) replay: bool,
    pub(super) took: Duration,
    /// Its judging.
    pub(super) test_judge: Option<Arc<TestJudge>>,
}

/// The rows of a run: for its expectations, for its recovery, and one for each metric. An
/// evaluation only has the row of its rubric.
pub(super) fn rows(
    number: usize,
    case: &Case,
    agent: &AgentCase,
    suite: &Suite,
    evidence: &Evidence<'_>,
    shared: &Arc<SuiteWorld>,
) -> Vec<Row> {
    let finished = evidence.finished;
    let stub = evidence.stub.map(str::to_owned).or_else(|| {
        let why = "the cassette was made without a model";
        Stub::made(&finished.trace).then(|| why.to_owned())
    });
    let evidence = &Evidence {
        stub: stub.as_deref(),
        test_judge: evidence.test_judge.clone(),
        ..*evidence
    };
    let measured = || measured::rows(number, case, agent, suite, evidence);
    if agent.is_eval {
        return measured();
    }
    if let Some(row) = stubbed(number, case, evidence) {
        return std::iter::once(row).chain(measured()).collect();
    }
    let own = expected(number, case, agent, suite, evidence, shared);
    let recovery = recovered(number, case, agent, suite, evidence);
    let own = std::iter::once(own).chain(recovery);
    own.chain(measured()).collect()
}

/// The row of a run's expectations.
fn expected(
    number: usize,
    case: &Case,
    agent: &AgentCase,
    suite: &Suite,
    evidence: &Evidence<'_>,
    shared: &Arc<SuiteWorld>,
) -> Row {
    let finished = evidence.finished;
    let envelope = Json::from(&finished.trace.view());
    let answer = Answer {
        envelope: &envelope,
        took_us: None,
        headers: Headers::NotHttp,
        redacted: evidence.replay,
    };
    let server = agent.servers.first().map_or("", String::as_str);
    let world = TestWorld {
        shared: Arc::clone(shared),
        test_judge: evidence.test_judge.clone(),
        variables: TestWorld::variables(&case.name, server, ""),
        time: case.timeout,
    };
    let outcome = agent.expectation.judge_assertions(&answer, &world);
    let mut row = begun(number, case, evidence);
    judged::settle(&mut row, case, &outcome);
    world.settle(&mut row);
    row.warnings.extend(finished.warnings.iter().cloned());
    if let Some((key, why)) = stopped(finished).filter(|_| !agent.expects_stop) {
        let place = suite.place(&case.place, &format!("/{key}"));
        failed(
            &mut row,
            "stop_reason",
            "conversation.stop_reason",
            why,
            place,
        );
    }
    row
}

/// The row of a run's recovery, if it is tested.
fn recovered(
    number: usize,
    case: &Case,
    agent: &AgentCase,
    suite: &Suite,
    evidence: &Evidence<'_>,
) -> Option<Row> {
    let gate = agent.gate.as_ref()?;
    let finished = evidence.finished;
    let recovery = Recovery::score(&finished.trace, finished.hung, gate.max_detection);
    let mut row = begun(number, case, evidence);
    row.name = format!("{} (recovery)", case.name);
    row.took = None;
    for (key, why) in recovery.misses(gate) {
        let below = if key == "recovery" { "" } else { key };
        let pointer = format!("/recovery/{below}");
        let place = suite.place(&case.place, pointer.trim_end_matches('/'));
        failed(&mut row, key, "recovery", why, place);
    }
    row.reasons.push(told(&recovery, !agent.wires.is_empty()));
    Some(row)
}

pub(super) fn begun(number: usize, case: &Case, evidence: &Evidence<'_>) -> Row {
    let mut row = judged::row(number, case, Status::Pass);
    row.took = Some(evidence.took);
    row.replay = evidence.replay;
    row
}

/// A row for a run of the stub, which does not show anything about a model.
fn stubbed(number: usize, case: &Case, evidence: &Evidence<'_>) -> Option<Row> {
    let why = evidence.stub?;
    let mut row = begun(number, case, evidence);
    row.status = Status::Skip;
    row.stub = true;
    row.reasons.push(if evidence.replay {
        format!("[STUB] {why}, and nothing is judged; record it with a key")
    } else {
        format!("[STUB] {why}: no model was asked, and nothing is judged")
    });
    Some(row)
}

/// The cap that stopped the run, and a sentence about it.
fn stopped(finished: &Finished) -> Option<(&'static str, String)> {
    if let Some(trip) = &finished.trip {
        return Some((trip.key(), format!("the run was stopped by {trip}")));
    }
    let reason = finished.trace.conversation.stop_reason;
    let key = match reason {
        StopReason::Completed => return None,
        StopReason::TurnBudget => "max_turns",
        StopReason::TokenBudget => "token_budget",
        StopReason::ToolCallBudget => "max_tool_calls",
        StopReason::TimeBudget => "time_budget",
    };
    Some((key, format!("the recorded run was stopped by `{key}`")))
}

fn failed(row: &mut Row, matcher: &str, target: &str, why: String, place: SourceSpot) {
    // A run that could not be judged stays so.
    if row.status != Status::Error {
        row.status = Status::Fail;
    }
    row.failures.push(Located {
        what: Failure {
            matcher: matcher.to_owned(),
            target: target.to_owned(),
            note: Some(why),
            ..Failure::default()
        },
        place,
        exchange: None,
    });
}

/// How a run recovered, in one line. Faults on the wire take real time, for which only an upper
/// bound is known.
fn told(recovery: &Recovery, on_wire: bool) -> String {
    let (calls, within, most) = if on_wire {
        ("calls that failed by a fault", "within", "at most ")
    } else {
        ("calls without an answer", "after", "")
    };
    let time = |ms: Option<u64>| ms.map_or("never".to_owned(), |ms| format!("{within} {ms} ms"));
    format!(
        "{calls}: {}; given up: {}; recovered: {}; the user saw nothing for {most}{} ms",
        recovery.hung,
        time(recovery.time_to_detection_ms),
        time(recovery.time_to_recovery_ms),
        recovery.user_visible_hang_ms
    )
}
