//! Evaluations: prompts whose answer is graded.

use std::sync::Arc;

use tapewright_agents::{Limits, User};
use tapewright_assertions::Expectation;
use tapewright_config::Suite;
use tapewright_config::suite::eval::Eval;
use tapewright_config::suite::options::TestOptions;
use tapewright_judges::Model;
use tapewright_models::agent_cassette::file_names;

use super::agents::AgentCase;
use super::compile::Compiler;
use super::rubric::{By, Measure, written};
use super::{Case, Kind, What};

/// A prompt whose answer is graded.
#[derive(Debug)]
pub(crate) struct EvalCase {
    name: String,
    /// The server whose tools may be called.
    server: String,
    prompt: String,
    rubric: Option<By>,
    /// The name of its cassette, which is independent of the model.
    file: String,
}

pub(super) fn cases(suite: &Suite, compiler: &mut Compiler<'_>, cases: &mut Vec<Case>) {
    for one in &suite.evals {
        cases.push(Case {
            kind: Kind::Eval,
            name: one.name.clone(),
            tags: Vec::new(),
            timeout: suite.performance.default_timeout,
            what: What::Eval(Arc::new(case(suite, one))),
            place: one.place.clone(),
            assertions: Vec::new(),
            fields: compiler.fields(&one.place),
            options: TestOptions::default(),
        });
    }
}

fn case(suite: &Suite, eval: &Eval) -> EvalCase {
    EvalCase {
        name: eval.name.clone(),
        server: eval.server.clone(),
        prompt: eval.prompt.clone(),
        rubric: eval
            .rubric
            .as_ref()
            .map(|rules| written(suite, rules, eval.threshold)),
        file: file_names("eval", None, &eval.name).0,
    }
}

impl EvalCase {
    /// The server whose tools may be called.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// The name of its cassette.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The evaluation as an agent test with this model; `None` if there is nothing to grade by.
    pub(crate) fn agent(&self, model: Model) -> Option<AgentCase> {
        let rubric = self.rubric.clone()?;
        Some(AgentCase {
            agent: self.name.clone(),
            model,
            servers: vec![self.server.clone()],
            user: User::Prompt(self.prompt.clone()),
            system_prompt: None,
            limits: Limits {
                max_turns: MAX_TURNS,
                max_tokens: MAX_TOKENS,
                token_budget: None,
                max_tool_calls: None,
                time_budget: None,
            },
            faults: Vec::new(),
            wires: Vec::new(),
            gate: None,
            expectation: Expectation::default(),
            expects_stop: false,
            measures: vec![Measure {
                name: "rubric",
                by: rubric,
            }],
            is_eval: true,
            files: (self.file.clone(), None),
        })
    }
}

/// The limits of an agent that sets none.
const MAX_TURNS: u64 = 10;
const MAX_TOKENS: u64 = 1_024;
