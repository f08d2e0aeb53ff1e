//! Scorers: programs of the suite that grade. Their output is recorded like a judge's answer.

use std::sync::Arc;

use serde_json::json;
use tapewright_judges::scorer::{Graded, Task};
use tapewright_judges::{Answer, Call, Model, Opinion, Outcome, Reply, Subject};
use tapewright_schemas::redact::Redactor;
use tapewright_schemas::slices::Part as _;

use super::asking::Asking;
use super::{Judges, TestJudge, file};
use crate::suite::plan::Scoring;
use crate::suite::program::Program;

/// All kinds of scorers.
const KINDS: &[&str] = &["exec"];
/// The size limit of a scorer's output, in bytes.
const OUTPUT_BYTES: usize = 1 << 20;
/// How many characters of an invalid output are shown.
const SHOWN_CHARS: usize = 200;

impl TestJudge {
    /// Grades an answer by a program.
    pub(crate) fn scored(&self, by: &'static str, scoring: &Scoring, task: &Task<'_>) -> Opinion {
        let call = Call {
            model: Model::named(format!("scorer {}", scoring.scorer.name)),
            question: json!({"criteria": task.criteria, "input": task.input}).to_string(),
            subject: Subject::Scored,
            candidate: task.output.to_owned(),
            sample: 0,
        };
        self.carry_out(by, true, |asking| {
            let reply = asking.graded(scoring, &call, task);
            opinion(scoring, &call.model, reply)
        })
    }
}

/// The scorer's verdict decides, together with the rubric's threshold.
fn opinion(scoring: &Scoring, model: &Model, reply: Reply) -> Opinion {
    let threshold = scoring.threshold.unwrap_or(0.0);
    let told = |outcome, why: String| Opinion {
        reason: Some(why),
        model: model.to_string(),
        ..Opinion::new(outcome, threshold)
    };
    let (text, replayed) = match reply {
        Reply::Said { text, replayed } => (text, replayed),
        Reply::Deferred(why) => return told(Outcome::Deferred, why),
        Reply::Failed(why) => return told(Outcome::Error, why),
    };
    let graded = match Graded::read(text.as_bytes()) {
        Ok(graded) => graded,
        Err(why) => return told(Outcome::Error, format!("what is recorded: {why}")),
    };
    let score = graded.points();
    let least = if scoring.strict { 1.0 } else { threshold };
    Opinion {
        score: Some(score),
        strict: scoring.strict,
        reason: graded.reasoning,
        model: model.to_string(),
        replayed,
        ..Opinion::new(Outcome::of(graded.pass && score >= least), threshold)
    }
}

impl Asking<'_> {
    /// A scorer's output for an answer.
    fn graded(&mut self, scoring: &Scoring, call: &Call, task: &Task<'_>) -> Reply {
        let scorer = &scoring.scorer;
        if !KINDS.contains(&scorer.kind.as_str()) {
            let (name, kind) = (&scorer.name, &scorer.kind);
            return Reply::Failed(format!(
                "the scorer `{name}` is of type `{kind}`, and this build has: {}",
                KINDS.join(", ")
            ));
        }
        let key = file::key(call, &self.judges.rules);
        let miss = match self.known(&key, 0) {
            Ok(reply) => return reply,
            Err(miss) => miss,
        };
        if let Err(reply) = self.may_ask(&miss) {
            return reply;
        }
        match self.run(scoring, task) {
            Ok(graded) => {
                let text = graded.write();
                self.keep(key, vec![Answer::new(text.clone(), None)]);
                Reply::Said {
                    text,
                    replayed: false,
                }
            }
            Err(why) => Reply::Failed(self.judges.hidden(&why)),
        }
    }

    fn run(&mut self, scoring: &Scoring, task: &Task<'_>) -> Result<Graded, String> {
        if let Some(why) = &self.state.over {
            return Err(why.clone());
        }
        self.state.test_budget.may_spend()?;
        let scorer = &scoring.scorer;
        let name = &scorer.name;
        let program = Program {
            command: &scorer.command,
            variables: scorer.env.clone(),
            beside: &self.judges.beside,
            folder: scorer.cwd.as_ref().map(|cwd| self.judges.beside.join(cwd)),
            time: scorer.timeout,
            most: OUTPUT_BYTES,
            stop: Some(&self.judges.stop),
        };
        let output = program.run(task.to_value().to_string().into_bytes());
        let output = output.map_err(|why| format!("the scorer `{name}` {why}"))?;
        let graded = Graded::read(&output).map_err(|why| {
            let shown = shown(&self.judges.hidden(&String::from_utf8_lossy(&output)));
            format!("the scorer `{name}` gave no grade: {why}; received: {shown}")
        })?;
        if let Some(dollars) = graded.cost_usd
            && let Err(why) = self.state.test_budget.pay_dollars(dollars)
        {
            self.state.over = Some(why);
        }
        Ok(graded)
    }
}

impl Judges {
    /// A text without secrets.
    fn hidden(&self, text: &str) -> String {
        let mut redactor = Redactor::new(Arc::clone(&self.rules));
        String::from_utf8_lossy(&redactor.text(text.as_bytes())).into_owned()
    }
}

/// The beginning of the output, on one line.
fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((at, _)) => format!("`{}…`", line.part(..at)),
        None if line.is_empty() => "nothing".to_owned(),
        None => format!("`{line}`"),
    }
}
