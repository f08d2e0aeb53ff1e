//! Agent tests: a case for each model.

use std::collections::BTreeSet;
use std::sync::Arc;

use tapewright_agents::{Fault, FaultKind, Gate, Limits, User};
use tapewright_assertions::Expectation;
use tapewright_config::Suite;
use tapewright_config::suite::agent::{Agent, Model as Written, Turns};
use tapewright_config::suite::fault::FaultKind as WrittenKind;
use tapewright_config::suite::options::TestOptions;
use tapewright_config::suite::server::{Server, Target};
use tapewright_engine::fault::Fault as WireFault;
use tapewright_judges::Model;
use tapewright_models::agent_cassette::file_names;

use super::compile::Compiler;
use super::rubric::{Measure, measures};
use super::targets::Seen;
use super::{Case, Kind, What};

/// A run of an agent with one model.
#[derive(Debug)]
pub(crate) struct AgentCase {
    /// The name of the test, without that of the model.
    pub(crate) agent: String,
    pub(crate) model: Model,
    pub(crate) servers: Vec<String>,
    pub(crate) user: User,
    pub(crate) system_prompt: Option<String>,
    pub(crate) limits: Limits,
    /// Faults in virtual time.
    pub(crate) faults: Vec<Fault>,
    /// Faults on the wire, in real time.
    pub(crate) wires: Vec<Arc<Wire>>,
    pub(crate) gate: Option<Gate>,
    pub(crate) expectation: Expectation,
    /// Whether an assertion checks why the run stopped, so that a cap alone is not a failure.
    pub(crate) expects_stop: bool,
    /// What judges measure.
    pub(crate) measures: Vec<Measure>,
    /// Whether it is an evaluation, which only judges decide.
    pub(crate) is_eval: bool,
    /// The name of its cassette, and the name that other tools use.
    pub(crate) files: (String, Option<String>),
}

/// A fault on the wire.
#[derive(Debug)]
pub(crate) struct Wire {
    /// The fault as an argument of `--fault`.
    pub(crate) spec: String,
    pub(crate) fault: WireFault,
    /// Those of its servers that are URLs.
    remote: Vec<String>,
}

/// Faults that silence a whole session: a process is started again, but a session over HTTP is not.
const LASTING: [&str; 2] = ["wedged", "timeout"];

impl tapewright_agents::WireFault for Wire {
    fn may_meet(&self, server: &str, tool: &str) -> bool {
        self.fault.selector.may_meet_call(server, tool)
    }

    fn lasts_at(&self, server: &str) -> bool {
        LASTING.contains(&self.fault.kind.name) && self.remote.iter().any(|one| one == server)
    }
}

/// A case for every model of every agent test, in the order of the suite.
pub(super) fn cases(suite: &Suite, compiler: &mut Compiler<'_>, cases: &mut Vec<Case>) {
    for fault in &suite.faults {
        if let WrittenKind::Wire(spec) = &fault.kind
            && let Err(error) = WireFault::parse(spec)
        {
            let help = "see docs/faults.md";
            compiler.refuse(&fault.place, "/wire", error.to_string(), help);
        }
    }
    let mut files = BTreeSet::new();
    for agent in &suite.agents {
        let (assertions, places) = compiler.assertions(&agent.expect, Seen::Trace);
        for model in &agent.models {
            let (file, _) = file_names(&agent.name, model.provider.as_deref(), &model.id);
            if !files.insert(file.clone()) {
                let message = format!("another agent test has the same cassette, `{file}`");
                let help = "choose another name, or list the model once";
                compiler.refuse(&agent.place, "/name", message, help);
            }
            let expectation = Expectation {
                assertions: assertions.clone(),
                ..Expectation::default()
            };
            cases.push(Case {
                kind: Kind::Agent,
                name: name(agent, model),
                tags: agent.tags.clone(),
                timeout: suite.performance.default_timeout,
                what: What::Agent(Arc::new(case(suite, agent, model, expectation))),
                place: agent.place.clone(),
                assertions: places.clone(),
                fields: Vec::new(),
                options: TestOptions::default(),
            });
        }
    }
}

/// The name of the row: with the model, if there are several.
fn name(agent: &Agent, model: &Written) -> String {
    if agent.models.len() < 2 {
        return agent.name.clone();
    }
    let provider = model.provider.as_ref();
    let provider = provider.map_or(String::new(), |provider| format!("{provider}/"));
    format!("{} [{provider}{}]", agent.name, model.id)
}

fn case(suite: &Suite, agent: &Agent, model: &Written, expectation: Expectation) -> AgentCase {
    let looks_at_stop = |names: &[&str]| {
        let mut assertions = expectation.assertions.iter();
        assertions.any(|one| one.target().starts_with(names))
    };
    AgentCase {
        agent: agent.name.clone(),
        model: Model {
            provider: model.provider.clone(),
            id: model.id.clone(),
        },
        servers: agent.servers.clone(),
        user: user(agent),
        system_prompt: agent.system_prompt.clone(),
        limits: Limits {
            max_turns: agent.max_turns,
            max_tokens: agent.max_tokens,
            token_budget: agent.token_budget,
            max_tool_calls: agent.max_tool_calls,
            time_budget: agent.time_budget,
        },
        faults: agent
            .inject
            .iter()
            .filter_map(|name| fault(suite, name))
            .collect(),
        wires: agent
            .inject
            .iter()
            .filter_map(|name| wire(suite, name))
            .collect(),
        gate: agent.recovery.as_ref().map(|gate| Gate {
            max_detection: gate.max_detection,
            max_recovery: gate.max_recovery,
            require_clean_timeout: gate.require_clean_timeout,
        }),
        expects_stop: looks_at_stop(&["conversation", "stop_reason"]),
        expectation,
        measures: agent
            .eval
            .as_ref()
            .map(|metrics| measures(suite, metrics))
            .unwrap_or_default(),
        is_eval: false,
        files: file_names(&agent.name, model.provider.as_deref(), &model.id),
    }
}

/// The messages of the user. A prompt next to `turns` comes first.
fn user(agent: &Agent) -> User {
    let prompt = agent.prompt.clone();
    match &agent.turns {
        None => User::Prompt(prompt.unwrap_or_default()),
        Some(Turns::Scripted(turns)) => {
            User::Scripted(prompt.into_iter().chain(turns.iter().cloned()).collect())
        }
        Some(Turns::Simulated {
            goal,
            persona,
            max_turns,
        }) => User::Simulated {
            first: prompt,
            goal: goal.clone(),
            persona: persona.clone(),
            max_turns: *max_turns,
        },
    }
}

fn fault(suite: &Suite, name: &str) -> Option<Fault> {
    let fault = suite.faults.iter().find(|fault| fault.name == name)?;
    Some(Fault {
        name: fault.name.clone(),
        tool: fault.tool.clone(),
        server: fault.server.clone(),
        kind: match &fault.kind {
            WrittenKind::Wire(_) => return None,
            WrittenKind::Hang => FaultKind::Hang,
            WrittenKind::Wedged => FaultKind::Wedged,
            WrittenKind::Slow { delay, .. } => FaultKind::Slow(*delay),
            WrittenKind::RecoverAfter(failures) => FaultKind::RecoverAfter(*failures),
        },
    })
}

/// A fault on the wire; one that cannot be parsed was refused.
fn wire(suite: &Suite, name: &str) -> Option<Arc<Wire>> {
    let fault = suite.faults.iter().find(|fault| fault.name == name)?;
    let WrittenKind::Wire(spec) = &fault.kind else {
        return None;
    };
    let is_remote = |server: &&Server| matches!(server.target, Target::Url(_));
    let remote = suite.servers.iter().filter(is_remote);
    Some(Arc::new(Wire {
        spec: spec.clone(),
        fault: WireFault::parse(spec).ok()?,
        remote: remote.map(|server| server.name.clone()).collect(),
    }))
}
