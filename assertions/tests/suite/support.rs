//! Suites in short: a result, an assertion, an outcome.

use std::collections::HashMap;
use std::sync::Mutex;

use serde_json::{Value, json};
use tapewright_assertions::{
    Answer, EvalError, Evidence, Failure, Json, Opinion, Phase, Question, Snapshot, TransformError,
    Verdict, World, compile,
};

/// The result of an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Out {
    Pass,
    Fail,
    /// It could not be judged.
    Error,
    /// A model did not decide.
    Undecided,
    /// No model could be asked.
    Deferred,
    /// It was refused when it was loaded.
    Load,
}

/// Snapshots in memory; transforms with a few commands.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    pub(crate) snapshots: Mutex<HashMap<String, Json>>,
}

impl World for Desk {
    fn transform(
        &self,
        _: Phase,
        command: &[String],
        value: &Json,
    ) -> Result<Json, TransformError> {
        match command.first().map(String::as_str) {
            Some("upcase") => Ok(value.stringified().to_uppercase().into()),
            Some(other) => Err(TransformError::Failed(format!("`{other}` failed"))),
            None => Err(TransformError::NotStarted("no command".to_owned())),
        }
    }

    fn snapshot(&self, key: &str, actual: &Json, update: bool) -> Result<Snapshot, EvalError> {
        let mut all = self.snapshots.lock().unwrap();
        match all.get(key) {
            Some(value) if !update => Ok(Snapshot::Known {
                value: value.clone(),
                file: format!("snapshots/{key}.json"),
            }),
            _ => {
                all.insert(key.to_owned(), actual.clone());
                Ok(Snapshot::Recorded)
            }
        }
    }

    /// The candidate determines its verdict.
    fn consult(&self, _: &Question<'_>, candidate: &str) -> Opinion {
        let why = || format!("so says `{candidate}`");
        match candidate {
            "good" => Opinion::Holds,
            "bad" => Opinion::Fails(why()),
            "odd" => Opinion::Undecided(why()),
            "keyless" => Opinion::Deferred(why()),
            _ => Opinion::Unknown(why()),
        }
    }
}

/// Judges `result` by a matcher at a target.
pub(crate) fn judge(result: &str, target: &str, matcher: &Value) -> Out {
    verdict(result, &json!({"target": target, "matcher": matcher})).0
}

/// Judges `result` by an assertion, and returns the failure.
pub(crate) fn verdict(result: &str, assertion: &Value) -> (Out, Option<Failure>) {
    let envelope = Answer::of_result(Json::read(result.as_bytes()).unwrap());
    outcome(&envelope, assertion)
}

/// Judges a whole value, such as the trace of an agent, by an assertion.
pub(crate) fn judge_at_root(value: &Json, assertion: &Value) -> Out {
    outcome(value, assertion).0
}

fn outcome(envelope: &Json, assertion: &Value) -> (Out, Option<Failure>) {
    let Ok(assertion) = compile(assertion) else {
        return (Out::Load, None);
    };
    let desk = Desk::default();
    let evidence = Evidence {
        envelope,
        world: &desk,
    };
    match assertion.judge(&evidence) {
        Verdict::Passed => (Out::Pass, None),
        Verdict::Failed(failure) => (Out::Fail, Some(*failure)),
        Verdict::Unjudged(_) => (Out::Error, None),
        Verdict::Undecided(_) => (Out::Undecided, None),
        Verdict::Deferred(_) => (Out::Deferred, None),
    }
}

/// The failure object of an assertion that fails.
pub(crate) fn failure(result: &str, assertion: &Value) -> Value {
    let (_, failure) = verdict(result, assertion);
    let failure = failure.expect("the assertion fails");
    serde_json::from_str(&failure.to_json("a test").to_string()).unwrap()
}
