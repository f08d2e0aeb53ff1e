//! `agents`: a model that works with servers.

use std::time::Duration;

use super::expect::{Assertion, assertions};
use super::metrics::Metrics;
use crate::read::Cursor;
use crate::source::SourceSpot;

/// A model, or several, at work on a task.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its name in reports.
    pub name: String,
    /// The models; each has a separate row.
    pub models: Vec<Model>,
    /// The servers whose tools it may call.
    pub servers: Vec<String>,
    /// The user's prompt; `None` only if there are `turns`.
    pub prompt: Option<String>,
    /// The user's messages in several turns.
    pub turns: Option<Turns>,
    /// The model's instructions.
    pub system_prompt: Option<String>,
    /// The most rounds of tool use.
    pub max_turns: u64,
    /// The maximum number of tokens of one answer.
    pub max_tokens: u64,
    /// The maximum number of tokens of the whole run.
    pub token_budget: Option<u64>,
    /// The maximum number of calls of the whole run.
    pub max_tool_calls: Option<u64>,
    /// The longest that the run may take.
    pub time_budget: Option<Duration>,
    /// Faults by name.
    pub inject: Vec<String>,
    /// How it must recover from them.
    pub recovery: Option<Recovery>,
    /// The expectations about the trace.
    pub expect: Vec<Assertion>,
    /// Metrics that a model judges.
    pub eval: Option<Metrics>,
    /// The tags by which it is selected.
    pub tags: Vec<String>,
    /// Its position.
    pub place: SourceSpot,
}

/// A model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// The key of `providers`; `None` if the family follows from the name.
    pub provider: Option<String>,
    /// Its name.
    pub id: String,
}

/// The user's messages in several turns.
#[derive(Clone, Debug)]
pub enum Turns {
    /// These, in order.
    Scripted(Vec<String>),
    /// Messages that a model makes up.
    Simulated {
        /// The user's goal.
        goal: String,
        /// The user's persona.
        persona: Option<String>,
        /// The most turns.
        max_turns: u64,
    },
}

/// How an agent must recover from a fault.
#[derive(Clone, Debug)]
pub struct Recovery {
    /// The longest that one call may be waited for.
    pub max_detection: Duration,
    /// The longest that recovering may take.
    pub max_recovery: Option<Duration>,
    /// The call must have ended by a time-out.
    pub require_clean_timeout: bool,
}

impl Agent {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let name = fields.name("name");
        let models = match fields.exactly_one(&["model", "models"]) {
            Some(("models", list)) => list.some_items().iter().map(Model::read).collect(),
            Some((_, model)) => vec![Model {
                provider: None,
                id: model.name(),
            }],
            None => Vec::new(),
        };
        let servers = fields
            .required("servers")
            .map(|at| at.some_items())
            .unwrap_or_default();
        let turns = fields.optional("turns").map(|at| Turns::read(&at));
        let prompt = match &turns {
            Some(_) => fields.optional("prompt"),
            None => fields.required("prompt"),
        };
        let mut count = |key| fields.optional(key).map(|at| at.integer(1));
        let (max_turns, max_tokens) = (count("max_turns"), count("max_tokens"));
        let agent = Self {
            name,
            models,
            servers: servers.iter().map(Cursor::name).collect(),
            prompt: prompt.map(|at| at.name()),
            turns,
            max_turns: max_turns.unwrap_or(10),
            max_tokens: max_tokens.unwrap_or(1024),
            token_budget: count("token_budget"),
            max_tool_calls: count("max_tool_calls"),
            system_prompt: fields.optional("system_prompt").map(|at| at.text()),
            time_budget: fields.optional("time_budget").and_then(|at| at.duration()),
            inject: fields.names("inject"),
            recovery: fields.optional("recovery").map(|at| Recovery::read(&at)),
            expect: fields
                .optional("expect")
                .map(|at| assertions(&at))
                .unwrap_or_default(),
            eval: fields.optional("eval").map(|at| Metrics::read(&at)),
            tags: fields.names("tags"),
            place: at.place(),
        };
        fields.finish_with(|key| (key == "server").then_some("write `servers: [NAME]`"));
        agent
    }
}

impl Model {
    fn read(at: &Cursor<'_>) -> Self {
        if at.is_text() {
            return Self {
                provider: None,
                id: at.name(),
            };
        }
        if !at.is_object() {
            at.wrong_type("a string or an object with `provider` and `id`");
            return Self {
                provider: None,
                id: String::new(),
            };
        }
        let mut fields = at.fields();
        let model = Self {
            provider: fields.required("provider").map(|at| at.name()),
            id: fields.name("id"),
        };
        fields.finish();
        model
    }
}

impl Turns {
    fn read(at: &Cursor<'_>) -> Self {
        if at.is_array() {
            return Self::Scripted(at.some_items().iter().map(scripted).collect());
        }
        if !at.is_object() {
            at.wrong_type("an array of turns or an object with `simulate`");
            return Self::Scripted(Vec::new());
        }
        let mut fields = at.fields();
        let simulate = fields.required("simulate");
        fields.finish();
        let Some(simulate) = simulate else {
            return Self::Scripted(Vec::new());
        };
        let mut fields = simulate.fields();
        let turns = Self::Simulated {
            goal: fields.name("goal"),
            persona: fields.optional("persona").map(|at| at.text()),
            max_turns: fields.optional("max_turns").map_or(6, |at| at.integer(1)),
        };
        fields.finish();
        turns
    }
}

fn scripted(at: &Cursor<'_>) -> String {
    let mut fields = at.fields();
    let user = fields.name("user");
    fields.finish();
    user
}

impl Recovery {
    fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let recovery = Self {
            max_detection: Duration::from_millis(
                fields
                    .required("max_detection_ms")
                    .map_or(0, |at| at.integer(0)),
            ),
            max_recovery: fields
                .optional("max_recovery_ms")
                .map(|at| Duration::from_millis(at.integer(0))),
            require_clean_timeout: fields.flag("require_clean_timeout"),
        };
        fields.finish();
        recovery
    }
}
