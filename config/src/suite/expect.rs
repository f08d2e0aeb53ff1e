//! `expect`: what must hold for an answer.

use std::time::Duration;

use serde_json::Value;

use super::matcher;
use crate::issue::Code;
use crate::read::{Cursor, Fields};
use crate::source::Place;

/// What must hold.
#[derive(Clone, Debug, Default)]
pub struct Expect {
    /// All of them.
    pub assertions: Vec<Assertion>,
    /// The longest that the call may take.
    pub max_duration: Option<Duration>,
    /// The longest that the answer may be.
    pub max_response_tokens: Option<TokenBudget>,
    /// Headers that the response must have.
    pub response_headers: Vec<HeaderCheck>,
    /// Headers that it must not have.
    pub response_headers_absent: Vec<String>,
}

/// One assertion. What its target and its matcher mean is the business of `assertions`.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// `target`, `matcher`, `message` and `transform`, as written, with variables replaced.
    pub value: Value,
    /// The program of `transform`, as its words.
    pub transform: Option<Vec<String>>,
    /// Where it stands.
    pub place: Place,
}

/// The longest that an answer may be, in tokens of a model.
#[derive(Clone, Debug)]
pub struct TokenBudget {
    /// So many at most.
    pub budget: u64,
    /// How they are counted.
    pub tokenizer: &'static str,
    /// Whether to warn only.
    pub warn_only: bool,
    /// What an image counts.
    pub image_cost: u64,
    /// Where it stands.
    pub place: Place,
}

/// A header that the response must have.
#[derive(Clone, Debug)]
pub struct HeaderCheck {
    /// Its name; case does not matter.
    pub name: String,
    /// What its value must be.
    pub value: HeaderMatch,
    /// Where it stands.
    pub place: Place,
}

/// What the value of a header must be.
#[derive(Clone, Debug)]
pub enum HeaderMatch {
    /// This, case aside.
    Literal(String),
    /// It contains this.
    Contains(String),
    /// It matches this regular expression.
    Regex(String),
    /// It fits this JSON Schema, as a string.
    Schema(Value),
    /// Anything.
    Exists,
}

/// How tokens can be counted, the default first.
pub const TOKENIZERS: &[&str] = &["cl100k_base", "o200k_base", "gpt2", "claude", "whitespace"];

impl Expect {
    /// Reads either form: a list, or an object with `assertions`.
    pub(crate) fn optional(at: Option<Cursor<'_>>) -> Self {
        let Some(at) = at else { return Self::default() };
        if at.is_object() {
            return Self::long(&at);
        }
        if !at.is_array() {
            at.wrong_type("an array of assertions or an object with `assertions`");
        }
        Self {
            assertions: at
                .items_if_array()
                .unwrap_or_default()
                .iter()
                .map(Assertion::read)
                .collect(),
            ..Self::default()
        }
    }

    fn long(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        let expect = Self {
            assertions: fields
                .optional("assertions")
                .map(|at| assertions(&at))
                .unwrap_or_default(),
            max_duration: fields
                .optional("max_duration_ms")
                .map(|at| at.milliseconds()),
            max_response_tokens: fields
                .optional("max_response_tokens")
                .map(|at| TokenBudget::read(&at)),
            response_headers: fields
                .optional("response_headers")
                .map(|at| headers(&at))
                .unwrap_or_default(),
            response_headers_absent: fields
                .optional("response_headers_absent")
                .map(|at| at.names())
                .unwrap_or_default(),
        };
        fields.finish_with(|key| match key {
            "target" | "matcher" | "message" => Some("put assertions into the list `assertions`"),
            _ => None,
        });
        expect
    }
}

/// A list of assertions and nothing else.
pub(crate) fn assertions(at: &Cursor<'_>) -> Vec<Assertion> {
    at.items().iter().map(Assertion::read).collect()
}

impl Assertion {
    pub(crate) fn read(at: &Cursor<'_>) -> Self {
        let mut fields = at.fields();
        if let Some(target) = fields.optional("target") {
            target.text();
        }
        if let Some(message) = fields.optional("message") {
            message.text();
        }
        let transform = fields.optional("transform").map(|at| at.command_line());
        if let Some(matcher) = fields.required("matcher") {
            matcher::check(&matcher);
        }
        fields.finish_with(|key| {
            let is_matcher = matcher::is_known(key);
            is_matcher.then_some("put it into `matcher`: `matcher: {…}`")
        });
        Self {
            value: at.node().to_value(),
            transform,
            place: at.place(),
        }
    }
}

impl TokenBudget {
    fn read(at: &Cursor<'_>) -> Self {
        let mut found = Self {
            budget: 1,
            tokenizer: TOKENIZERS.first().copied().unwrap_or_default(),
            warn_only: false,
            image_cost: 1000,
            place: at.place(),
        };
        if !at.is_object() {
            found.budget = at.integer(1);
            return found;
        }
        let mut fields = at.fields();
        if let Some(budget) = fields.required("budget") {
            found.budget = budget.integer(1);
        }
        if let Some(name) = fields.optional("tokenizer") {
            found.tokenizer = name.word(TOKENIZERS).unwrap_or_default();
        }
        if let Some(mode) = fields.optional("mode") {
            found.warn_only = mode.word(&["fail", "warn"]) == Some("warn");
        }
        if let Some(cost) = fields.optional("image_cost") {
            found.image_cost = cost.integer(0);
        }
        fields.finish();
        found
    }
}

fn headers(at: &Cursor<'_>) -> Vec<HeaderCheck> {
    let check = |(name, value): (&str, Cursor<'_>)| HeaderCheck {
        name: name.to_owned(),
        value: HeaderMatch::read(&value),
        place: value.place(),
    };
    at.entries().into_iter().map(check).collect()
}

impl HeaderMatch {
    fn read(at: &Cursor<'_>) -> Self {
        if at.is_text() {
            return Self::Literal(at.text());
        }
        if !at.is_object() {
            at.wrong_type("a string or an object");
            return Self::Exists;
        }
        let mut fields = at.fields();
        let found = fields.exactly_one(&["regex", "schema", "exists", "contains"]);
        let found = found.map_or(Self::Exists, |(key, at)| Self::operator(key, &at));
        Fields::finish(fields);
        found
    }

    fn operator(key: &str, at: &Cursor<'_>) -> Self {
        match key {
            "regex" => Self::Regex(at.text()),
            "contains" => Self::Contains(at.text()),
            "schema" => Self::Schema(Value::Object(at.object())),
            _ => {
                if !at.boolean() && at.is_boolean() {
                    let help = "list the header in `response_headers_absent`".to_owned();
                    at.error(Code::Value, "`exists` can only be `true`", help);
                }
                Self::Exists
            }
        }
    }
}
