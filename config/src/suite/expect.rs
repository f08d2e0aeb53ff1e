//! `expect`: the expectations about an answer.

use std::time::Duration;

use serde_json::Value;

use super::matcher;
use crate::issue::Code;
use crate::read::{Cursor, is_header_name};
use crate::source::SourceSpot;

/// The expectations.
#[derive(Clone, Debug, Default)]
pub struct Expect {
    /// The assertions, all of which must hold.
    pub assertions: Vec<Assertion>,
    /// The longest that the call may take.
    pub max_duration: Option<Duration>,
    /// The longest that the answer may be.
    pub max_response_tokens: Option<Written>,
    /// Required headers of the response: case-insensitive names, and the conditions for their
    /// values.
    pub response_headers: Vec<(String, Written)>,
    /// Headers that it must not have.
    pub response_headers_absent: Vec<String>,
}

/// One assertion. The meaning of its target and its matcher is defined by `assertions`.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// `target`, `matcher`, `message` and `transform`, as written, with variables replaced.
    pub value: Value,
    /// The program of `transform`, as its words.
    pub transform: Option<Vec<String>>,
    /// Its position.
    pub place: SourceSpot,
}

/// A value whose meaning is the business of `assertions`, as it was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// The value, with variables replaced.
    pub value: Value,
    /// Its position.
    pub place: SourceSpot,
}

/// The available tokenizers, the default first.
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
            max_response_tokens: fields.optional("max_response_tokens").map(|at| tokens(&at)),
            response_headers: fields
                .optional("response_headers")
                .map(|at| headers(&at))
                .unwrap_or_default(),
            response_headers_absent: fields.names("response_headers_absent"),
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

impl Written {
    fn of(at: &Cursor<'_>) -> Self {
        Self {
            value: at.node().to_value(),
            place: at.place(),
        }
    }
}

/// Reads a budget of tokens: a number, or an object with `budget`.
fn tokens(at: &Cursor<'_>) -> Written {
    if at.is_object() {
        let mut fields = at.fields();
        if let Some(budget) = fields.required("budget") {
            budget.integer(1);
        }
        if let Some(name) = fields.optional("tokenizer") {
            name.word(TOKENIZERS);
        }
        if let Some(mode) = fields.optional("mode") {
            mode.word(&["fail", "warn"]);
        }
        if let Some(cost) = fields.optional("image_cost") {
            cost.integer(0);
        }
        fields.finish();
    } else {
        at.integer(1);
    }
    Written::of(at)
}

fn headers(at: &Cursor<'_>) -> Vec<(String, Written)> {
    let header = |(name, value): (&str, Cursor<'_>)| {
        header_rule(name, &value);
        (name.to_owned(), Written::of(&value))
    };
    at.entries().into_iter().map(header).collect()
}

/// Checks the condition for a header's value: a string, or an object with one operator.
fn header_rule(name: &str, at: &Cursor<'_>) {
    if !is_header_name(name) {
        let message = format!("`{}` is not the name of a header", name.escape_debug());
        at.error_at_key(Code::Value, message, None);
    }
    if at.is_text() {
        return;
    }
    if !at.is_object() {
        at.wrong_type("a string or an object with a rule");
        return;
    }
    let mut fields = at.fields();
    match fields.exactly_one(&["regex", "schema", "exists", "contains"]) {
        Some(("regex" | "contains", text)) => drop(text.text()),
        Some(("schema", schema)) => drop(schema.object()),
        Some((_, exists)) if !exists.boolean() && exists.is_boolean() => {
            let help = "list the header in `response_headers_absent`".to_owned();
            exists.error(Code::Value, "`exists` can only be `true`", help);
        }
        _ => {}
    }
    fields.finish();
}
