//! Compiles a suite to cases.

mod agents;
mod compile;
mod compose;
mod embeds;
mod evals;
mod rubric;
mod targets;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use tapewright_assertions::{Ask, Assertion, Json, Test};
use tapewright_config::suite::options::TestOptions;
use tapewright_config::suite::settings::Budget;
use tapewright_config::suite::transform::Transform;
use tapewright_config::{Issue, SourceSpot, Suite};

pub(crate) use self::agents::{AgentCase, Wire};
use self::compile::Compiler;
pub(crate) use self::compose::{Graph, Node};
pub(crate) use self::evals::EvalCase;
pub(crate) use self::rubric::{By, Measure, Scoring, written};
use self::targets::Seen;

/// The cases of a suite, in the order of reports: tools, resources, prompts, compositions,
/// compliance, and agents.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) cases: Vec<Case>,
    /// The parts of the suite that are not run, a line each.
    pub(crate) skipped: Vec<String>,
}

impl Plan {
    /// Whether any test limits the time of an answer.
    pub(crate) fn limits_time(&self) -> bool {
        let mut fields = self.cases.iter().flat_map(|case| &case.fields);
        fields.any(|(name, _)| *name == "max_duration_ms")
    }
}

/// One test of the suite.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) tags: Vec<String>,
    /// Its time limit, or that of the suite.
    pub(crate) timeout: Option<Duration>,
    pub(crate) what: What,
    /// Its place.
    pub(crate) place: SourceSpot,
    /// The places of its assertions.
    pub(crate) assertions: Vec<SourceSpot>,
    /// The places of the fields next to them.
    pub(crate) fields: Vec<(&'static str, SourceSpot)>,
    /// The options for its run.
    pub(crate) options: TestOptions,
}

/// What to do for a case.
#[derive(Debug)]
pub(crate) enum What {
    /// Ask a server. A command may transform the request first.
    Ask {
        test: Arc<Test>,
        request_transform: Option<Vec<String>>,
    },
    /// Call several tools, with values from earlier calls.
    Compose(Graph),
    /// Judge an injected error.
    Inject { test: Arc<Test>, error: Json },
    /// Run an agent.
    Agent(Arc<AgentCase>),
    /// Run an agent, and grade its answer.
    Eval(Arc<EvalCase>),
}

/// The kind of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Agent,
    Compliance,
    Composition,
    Eval,
    Prompt,
    Resource,
    Tool,
}

impl Kind {
    /// Every kind.
    pub(crate) const ALL: [Self; 7] = [
        Self::Agent,
        Self::Compliance,
        Self::Composition,
        Self::Eval,
        Self::Prompt,
        Self::Resource,
        Self::Tool,
    ];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Compliance => "compliance",
            Self::Composition => "composition",
            Self::Eval => "eval",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Tool => "tool",
        }
    }
}

impl Case {
    /// The test, if the case is a single request.
    pub(crate) fn test(&self) -> Option<&Test> {
        match &self.what {
            What::Ask { test, .. } | What::Inject { test, .. } => Some(test),
            What::Agent(_) | What::Compose(_) | What::Eval(_) => None,
        }
    }

    /// Whether it needs a model.
    fn asks_models(&self) -> bool {
        let judged = |assertions: &[Arc<Assertion>]| assertions.iter().any(|one| one.asks_models());
        match &self.what {
            What::Agent(_) | What::Eval(_) => true,
            What::Compose(graph) => judged(&graph.assertions),
            What::Ask { test, .. } | What::Inject { test, .. } => {
                judged(&test.expectation.assertions)
            }
        }
    }

    /// The servers that must be connected for it.
    pub(crate) fn servers(&self) -> Vec<&str> {
        match &self.what {
            What::Ask { test, .. } => vec![test.server.as_str()],
            What::Compose(graph) => graph.servers(),
            What::Agent(agent) => agent.servers.iter().map(String::as_str).collect(),
            What::Eval(eval) => vec![eval.server()],
            What::Inject { .. } => Vec::new(),
        }
    }

    /// The servers that it names, whether they are asked or not.
    pub(crate) fn named_servers(&self) -> Vec<&str> {
        match &self.what {
            What::Inject { test, .. } => vec![test.server.as_str()],
            _ => self.servers(),
        }
    }

    /// The tools that it calls.
    pub(crate) fn tools(&self) -> Vec<&str> {
        match &self.what {
            What::Ask { test, .. } | What::Inject { test, .. } => match &test.ask {
                Ask::Tool { name, .. } => vec![name.as_str()],
                _ => Vec::new(),
            },
            What::Compose(graph) => graph.nodes.iter().map(|node| node.tool.as_str()).collect(),
            What::Agent(_) | What::Eval(_) => Vec::new(),
        }
    }

    /// The place of a field of `expect`; for anything else, the place of the case.
    pub(crate) fn field(&self, name: &str) -> &SourceSpot {
        let found = self.fields.iter().find(|(field, _)| *field == name);
        found.map_or(&self.place, |(_, place)| place)
    }

    /// The place of an assertion; beyond the last one, the place of the case.
    pub(crate) fn assertion(&self, index: usize) -> &SourceSpot {
        self.assertions.get(index).unwrap_or(&self.place)
    }
}

/// Compiles a suite. There is no plan if one of the issues is an error.
pub(crate) fn build(suite: &Suite) -> (Option<Plan>, Vec<Issue>) {
    let mut compiler = Compiler::new(suite);
    let mut cases = Vec::new();
    tools(suite, &mut compiler, &mut cases);
    questions(suite, &mut compiler, &mut cases);
    compositions(suite, &mut compiler, &mut cases);
    checks(suite, &mut compiler, &mut cases);
    agents::cases(suite, &mut compiler, &mut cases);
    evals::cases(suite, &mut compiler, &mut cases);
    // It is not run here, but its assertions must be valid.
    if let Some(check) = &suite.compliance.spec_version_check {
        compiler.assertions(&check.expect, Seen::Anything);
    }
    let skipped = skipped(suite, &cases);
    compiler.finish(Plan { cases, skipped })
}

fn questions(suite: &Suite, compiler: &mut Compiler<'_>, cases: &mut Vec<Case>) {
    for one in &suite.resources {
        let (expectation, assertions) = compiler.expectation(&one.expect, Seen::Answer);
        let uri = one.uri.clone();
        cases.push(Case {
            kind: Kind::Resource,
            name: one.name.clone(),
            tags: one.tags.clone(),
            timeout: suite.performance.default_timeout,
            what: ask(&one.server, Ask::Resource { uri }, expectation, None),
            place: one.place.clone(),
            assertions,
            fields: compiler.fields(&one.place),
            options: one.options.clone(),
        });
    }
    for one in &suite.prompts {
        let (expectation, assertions) = compiler.expectation(&one.expect, Seen::Answer);
        let arguments = one.args.clone().map(Value::Object).as_ref().map(Json::from);
        let name = one.prompt.clone();
        let question = Ask::Prompt { name, arguments };
        cases.push(Case {
            kind: Kind::Prompt,
            name: one.name.clone(),
            tags: one.tags.clone(),
            timeout: suite.performance.default_timeout,
            what: ask(&one.server, question, expectation, None),
            place: one.place.clone(),
            assertions,
            fields: compiler.fields(&one.place),
            options: one.options.clone(),
        });
    }
}

fn compositions(suite: &Suite, compiler: &mut Compiler<'_>, cases: &mut Vec<Case>) {
    for one in &suite.compositions {
        let seen = Seen::Composition(&one.nodes);
        let (assertions, places) = compiler.assertions(&one.expect, seen);
        cases.push(Case {
            kind: Kind::Composition,
            name: one.name.clone(),
            tags: Vec::new(),
            timeout: suite.performance.default_timeout,
            what: What::Compose(Graph::new(one, suite, assertions)),
            place: one.place.clone(),
            assertions: places,
            fields: compiler.fields(&one.place),
            options: one.options.clone(),
        });
    }
}

fn checks(suite: &Suite, compiler: &mut Compiler<'_>, cases: &mut Vec<Case>) {
    for one in &suite.compliance.tests {
        let (expectation, assertions) = compiler.expectation(&one.expect, Seen::Answer);
        let method = method(&one.check);
        cases.push(Case {
            kind: Kind::Compliance,
            name: one.name.clone(),
            tags: Vec::new(),
            timeout: suite.performance.default_timeout,
            what: ask(&one.server, Ask::Check { method }, expectation, None),
            place: one.place.clone(),
            assertions,
            fields: compiler.fields(&one.place),
            options: one.options.clone(),
        });
    }
}

fn tools(suite: &Suite, compiler: &mut Compiler<'_>, cases: &mut Vec<Case>) {
    for one in &suite.tools {
        let transform = one
            .transform
            .as_ref()
            .or(suite.default_test.transform.as_ref());
        let seen = Seen::after(transform);
        let (expectation, assertions) = compiler.with_default(&one.expect, seen);
        let arguments = one.args.clone().map(Value::Object).as_ref().map(Json::from);
        let question = Ask::Tool {
            name: one.tool.clone(),
            arguments,
        };
        let fixture = one.inject_error.as_ref().and_then(|name| {
            let mut errors = suite.fixtures.errors.iter();
            errors.find(|fixture| fixture.name == *name)
        });
        let what = match fixture {
            None => ask(&one.server, question, expectation, transform),
            Some(fixture) => What::Inject {
                test: Arc::new(Test {
                    server: one.server.clone(),
                    ask: question,
                    expectation,
                    response_transform: None,
                }),
                error: Json::object([
                    ("code", Json::Number(fixture.code.to_string().into())),
                    ("message", fixture.message.as_str().into()),
                ]),
            },
        };
        cases.push(Case {
            kind: Kind::Tool,
            name: one.name.clone(),
            tags: one.tags.clone(),
            timeout: one.timeout.or(suite.performance.default_timeout),
            what,
            place: one.place.clone(),
            assertions,
            fields: compiler.fields_with_default(&one.place),
            options: one.options.clone(),
        });
    }
}

fn ask(
    server: &str,
    ask: Ask,
    expectation: tapewright_assertions::Expectation,
    transform: Option<&Transform>,
) -> What {
    What::Ask {
        test: Arc::new(Test {
            server: server.to_owned(),
            ask,
            expectation,
            response_transform: transform.and_then(|one| one.response.clone()),
        }),
        request_transform: transform.and_then(|one| one.request.clone()),
    }
}

/// The method of a check. A few have a spelling without the slash.
fn method(check: &str) -> String {
    match check {
        "tools-list" => "tools/list",
        "resources-list" => "resources/list",
        "prompts-list" => "prompts/list",
        other => other,
    }
    .to_owned()
}

/// The parts that are validated but not run, one line each.
fn skipped(suite: &Suite, cases: &[Case]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut say = |count: usize, one: &str, many: &str, why: &str| {
        if count > 0 {
            let noun = if count == 1 { one } else { many };
            lines.push(format!("skipped: {count} {noun}: {why}"));
        }
    };
    if suite.agents.is_empty() && suite.evals.is_empty() {
        let graded = "only evaluations and agent tests are graded by them";
        say(suite.rubrics.len(), "rubric", "rubrics", graded);
    }
    let graded = "they grade nothing";
    say(suite.scorers.len(), "scorer", "scorers", graded);
    if suite.agents.is_empty() {
        let why = "only agent tests use them, and the suite has none";
        say(suite.faults.len(), "fault", "faults", why);
    }
    if !cases.iter().any(Case::asks_models) {
        let why = "only what asks models uses them, and the suite asks none";
        say(suite.providers.len(), "provider", "providers", why);
        let budget = usize::from(suite.budget != Budget::default());
        say(budget, "budget", "budgets", why);
    }
    let gate = usize::from(suite.compliance.spec_version_check.is_some());
    say(
        gate,
        "gate on another revision",
        "gates",
        "`compliance diff` compares revisions",
    );
    lines
}
