//! A suite as plain typed values, one file per block of the format.

pub mod agent;
pub mod auth;
pub mod compliance;
pub mod composition;
pub mod eval;
pub mod expect;
pub mod fault;
pub mod fixture;
pub mod http;
pub mod matcher;
mod merge;
pub mod metrics;
pub mod options;
pub(crate) mod rows;
pub mod rubric;
pub mod server;
pub mod settings;
pub mod test;
pub mod transform;
pub mod variable;

use crate::read::{Cursor, Fields};
use crate::secrets::Secrets;
use crate::source::SourceSpot;
use crate::yaml::Node;

use agent::Agent;
use compliance::Compliance;
use composition::Composition;
use eval::{Eval, Scorer};
use fault::Fault;
use fixture::Fixtures;
use rubric::Rubric;
use server::Server;
use settings::{Budget, Performance, Provider};
use test::{DefaultTest, PromptTest, ResourceTest, ToolTest};
use variable::Variable;

/// A suite, with its imports merged and its variables replaced.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// The servers, in order.
    pub servers: Vec<Server>,
    /// The variables.
    pub variables: Vec<Variable>,
    /// Tests of tools.
    pub tools: Vec<ToolTest>,
    /// Tests of resources.
    pub resources: Vec<ResourceTest>,
    /// Tests of prompts.
    pub prompts: Vec<PromptTest>,
    /// Checks of the protocol.
    pub compliance: Compliance,
    /// Compositions of calls.
    pub compositions: Vec<Composition>,
    /// Errors by name.
    pub fixtures: Fixtures,
    /// Tests of agents.
    pub agents: Vec<Agent>,
    /// Faults by name.
    pub faults: Vec<Fault>,
    /// Endpoints for models.
    pub providers: Vec<Provider>,
    /// The most that agents may cost.
    pub budget: Budget,
    /// Graded answers.
    pub evals: Vec<Eval>,
    /// Rubrics by name.
    pub rubrics: Vec<(String, Rubric)>,
    /// Programs that grade.
    pub scorers: Vec<Scorer>,
    /// Models for which the suite is intended. Metadata.
    pub model_compatibility: Vec<String>,
    /// Limits of time.
    pub performance: Performance,
    /// The revisions of the protocol to run against, in order; the runner's default if empty.
    pub target_versions: Vec<&'static str>,
    /// Defaults for every tool test.
    pub default_test: DefaultTest,
    /// Values that no report may show.
    pub secrets: Secrets,
    /// The documents, by file, with their variables replaced.
    pub(crate) documents: Vec<Node>,
}

impl Suite {
    /// The server of this name.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// The position of a value relative to another one, by a JSON pointer. If the pointer does not
    /// resolve, the last position on its path.
    #[must_use]
    pub fn place(&self, base: &SourceSpot, relative: &str) -> SourceSpot {
        let pointer = format!("{}{relative}", base.pointer);
        let document = self.documents.get(usize::from(base.file.0));
        let span = document.map_or(base.span, |root| root.nearest_span(&pointer));
        SourceSpot {
            file: base.file,
            pointer,
            span,
        }
    }

    /// The position of a key relative to another position.
    #[must_use]
    pub fn key_place(&self, base: &SourceSpot, relative: &str) -> SourceSpot {
        let place = self.place(base, relative);
        let document = self.documents.get(usize::from(base.file.0));
        let span = document.and_then(|root| root.key_span(&place.pointer));
        SourceSpot {
            span: span.unwrap_or(place.span),
            ..place
        }
    }
}

impl Suite {
    /// Reads the contents of one file.
    pub(crate) fn read(at: &Cursor<'_>, needs_servers: bool) -> Self {
        let mut fields = at.fields();
        let imports = fields
            .optional("imports")
            .map(|at| at.items())
            .unwrap_or_default();
        for import in &imports {
            import.name();
        }
        // A file may get its servers from its imports.
        let needs_servers = needs_servers && imports.is_empty();
        let servers = if needs_servers {
            fields.required("servers")
        } else {
            fields.optional("servers")
        };
        let mut suite = Self::default();
        if let Some(at) = servers {
            suite.servers = named(&at.some_entries(), Server::read);
        }
        if let Some(at) = fields.optional("variables") {
            suite.variables = named(&at.entries(), Variable::read);
        }
        suite.tests(&mut fields);
        suite.models(&mut fields);
        suite.settings(&mut fields);
        fields.finish_with(|key| match key {
            "server" => {
                Some("servers have names: `servers: {NAME: {…}}`, and every test says which one")
            }
            "auth" => Some("`auth` belongs to a server with `url`"),
            "hooks" | "setup" | "teardown" | "stepwise" => Some("it is not part of version 1"),
            _ => None,
        });
        suite
    }

    fn tests(&mut self, fields: &mut Fields<'_>) {
        self.tools = tests(fields, "tools", ToolTest::read);
        self.resources = tests(fields, "resources", ResourceTest::read);
        self.prompts = tests(fields, "prompts", PromptTest::read);
        self.compositions = list(fields, "compositions", Composition::read);
        if let Some(at) = fields.optional("compliance") {
            self.compliance = Compliance::read(&at);
        }
        if let Some(at) = fields.optional("fixtures") {
            self.fixtures = Fixtures::read(&at);
        }
        if let Some(at) = fields.optional("defaultTest") {
            self.default_test = DefaultTest::read(&at);
        }
    }

    fn models(&mut self, fields: &mut Fields<'_>) {
        self.agents = list(fields, "agents", Agent::read);
        self.faults = list(fields, "faults", Fault::read);
        self.evals = list(fields, "evals", Eval::read);
        self.scorers = list(fields, "scorers", Scorer::read);
        if let Some(at) = fields.optional("providers") {
            self.providers = named(&at.entries(), Provider::read);
        }
        if let Some(at) = fields.optional("rubrics") {
            self.rubrics = named(&at.entries(), |name, at| {
                (name.to_owned(), Rubric::read_named(at))
            });
        }
    }

    fn settings(&mut self, fields: &mut Fields<'_>) {
        if let Some(at) = fields.optional("budget") {
            self.budget = Budget::read(&at);
        }
        if let Some(at) = fields.optional("performance") {
            self.performance = Performance::read(&at);
        }
        if let Some(at) = fields.optional("model_compatibility") {
            self.model_compatibility = at.names();
        }
        if let Some(at) = fields.optional("target_versions") {
            self.target_versions = settings::target_versions(&at);
        }
    }
}

fn list<T>(fields: &mut Fields<'_>, key: &'static str, read: impl Fn(&Cursor<'_>) -> T) -> Vec<T> {
    let items = fields
        .optional(key)
        .map(|at| at.items())
        .unwrap_or_default();
    items.iter().map(read).collect()
}

/// A list of tests; a test with rows occurs once for each.
fn tests<T>(fields: &mut Fields<'_>, key: &'static str, read: impl Fn(&Cursor<'_>) -> T) -> Vec<T> {
    let lists = list(fields, key, |at| rows::each(at, &read));
    lists.into_iter().flatten().collect()
}

fn named<T>(entries: &[(&str, Cursor<'_>)], read: impl Fn(&str, &Cursor<'_>) -> T) -> Vec<T> {
    entries.iter().map(|(name, at)| read(name, at)).collect()
}
