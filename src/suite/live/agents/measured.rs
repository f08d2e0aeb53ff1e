//! Judges a run, metric by metric.

use tapewright_agents::Finished;
use tapewright_assertions::Failure;
use tapewright_config::Suite;
use tapewright_judges::scorer::Task;
use tapewright_judges::{Candidate, Opinion, Outcome, Samples, Subject, of_trace};

use super::rows::{Evidence, begun};
use crate::report::judgement::why;
use crate::suite::judging::{JudgingTask, TestJudge};
use crate::suite::plan::{AgentCase, By, Case, Measure};
use crate::suite::result::{Located, Row, Status};

/// A row for each measure of a run.
pub(super) fn rows(
    number: usize,
    case: &Case,
    agent: &AgentCase,
    suite: &Suite,
    evidence: &Evidence<'_>,
) -> Vec<Row> {
    let measures = agent.measures.iter();
    let row = |measure| one(number, case, agent, suite, evidence, measure);
    measures.map(row).collect()
}

fn one(
    number: usize,
    case: &Case,
    agent: &AgentCase,
    suite: &Suite,
    evidence: &Evidence<'_>,
    measure: &Measure,
) -> Row {
    let mut row = begun(number, case, evidence);
    let pointer = if agent.is_eval {
        "/rubric".to_owned()
    } else {
        row.name = format!("{} ({})", case.name, measure.name);
        row.took = None;
        format!("/eval/{}", measure.name)
    };
    row.place = suite.place(&case.place, &pointer);
    let no_answer = evidence.finished.trace.final_response.is_empty();
    let deferred = match (evidence.stub, &evidence.test_judge) {
        (Some(why), _) => Some(format!("{why}: no model was asked, and nothing is judged")),
        (None, None) => Some("nothing here asks a model".to_owned()),
        (None, Some(_)) if no_answer && agent.is_eval => {
            Some("the run gave no answer to grade".to_owned())
        }
        (None, Some(_)) => None,
    };
    if let Some(why) = deferred {
        row.status = Status::Deferred;
        row.reasons.push(why);
        return row;
    }
    if let Some(test_judge) = &evidence.test_judge {
        let opinion = opinion(test_judge, agent, evidence.finished, measure);
        settle(&mut row, &opinion);
        test_judge.settle(&mut row);
    }
    row
}

fn opinion(
    test_judge: &TestJudge,
    agent: &AgentCase,
    finished: &Finished,
    measure: &Measure,
) -> Opinion {
    let trace = &finished.trace;
    let asked = agent.user.prompt();
    let rubric = match &measure.by {
        By::Metric {
            metric,
            threshold,
            strict,
        } => metric.rubric(trace, *threshold, *strict),
        By::Rubric(rubric) => rubric.clone(),
        By::Scorer(scoring) => {
            let task = Task {
                input: &asked,
                output: &trace.final_response,
                criteria: &scoring.criteria,
                metadata: &[("test", &agent.agent), ("scorer", &scoring.scorer.name)],
            };
            return test_judge.scored(measure.name, scoring, &task);
        }
    };
    test_judge.judge(&JudgingTask {
        by: measure.name,
        rubric: &rubric,
        candidate: Candidate {
            subject: Subject::Run,
            text: &of_trace(trace, &asked),
        },
        model: None,
        samples: Samples::ONE,
    })
}

/// Gives a row the status of its only judgement.
fn settle(row: &mut Row, opinion: &Opinion) {
    let why = why(opinion);
    row.status = match opinion.outcome {
        Outcome::Pass => Status::Pass,
        Outcome::Fail => Status::Fail,
        Outcome::Undecided => Status::Inconclusive,
        Outcome::Deferred => Status::Deferred,
        Outcome::Error => Status::Error,
    };
    match opinion.outcome {
        Outcome::Pass => {}
        Outcome::Fail => row.failures.push(Located {
            what: Failure {
                matcher: "rubric".to_owned(),
                target: "conversation".to_owned(),
                note: Some(why),
                ..Failure::default()
            },
            place: row.place.clone(),
            exchange: None,
        }),
        _ => row.reasons.push(why),
    }
}
