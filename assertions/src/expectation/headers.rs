//! `response_headers` and `response_headers_absent`.

use regex::Regex;
use serde_json::Value;
use tapewright_schemas::near::did_you_mean;
use tapewright_schemas::redact::hidden;

use super::{Answer, Expectation, Headers, Outcome};
use crate::assertion::kind;
use crate::error::LoadError;
use crate::failure::Failure;
use crate::json::Json;
use crate::matcher::{Judged, build_regex, schema::Schema};

/// A condition for one header.
#[derive(Debug)]
pub struct HeaderRule {
    name: String,
    rule: Rule,
}

#[derive(Debug)]
enum Rule {
    Contains(String),
    Exists,
    Literal(String),
    Regex(Regex),
    Schema(Box<Schema>),
}

const RULES: [&str; 4] = ["regex", "schema", "exists", "contains"];

impl HeaderRule {
    /// Reads a rule: a value, or an object with one of `regex`, `schema`, `exists`,
    /// `contains`.
    pub fn compile(name: &str, value: &Value) -> Result<Self, LoadError> {
        if http_name(name).is_none() {
            return Err(LoadError::here(format!("invalid header name `{name}`")));
        }
        let rule = match value {
            Value::String(text) => Rule::Literal(text.clone()),
            Value::Object(members) => {
                let mut each = members.iter();
                let (Some((rule, argument)), None) = (each.next(), each.next()) else {
                    return Err(LoadError::here(format!(
                        "a rule for a header has exactly one of `{}`",
                        RULES.join("`, `")
                    )));
                };
                rule_of(rule, argument).map_err(|error| error.under(rule))?
            }
            other => {
                return Err(LoadError::here(format!(
                    "a header is a string or an object with a rule, not {}",
                    kind(other)
                )));
            }
        };
        Ok(Self {
            name: name.to_owned(),
            rule,
        })
    }

    fn judge(&self, headers: &[(String, String)]) -> Option<Failure> {
        let values: Vec<&str> = values(headers, &self.name).collect();
        let failure = |expected: Json, note: String| Failure {
            target: self.name.clone(),
            expected: Some(expected),
            actual: values.first().map(|value| (*value).into()),
            ..Failure::note("response_headers", note)
        };
        if values.is_empty() {
            return Some(failure(self.shown(), format!("no header `{}`", self.name)));
        }
        let holds = values.iter().any(|value| self.holds(value));
        (!holds).then(|| failure(self.shown(), format!("the header `{}` differs", self.name)))
    }

    fn holds(&self, value: &str) -> bool {
        match &self.rule {
            Rule::Contains(part) => value.contains(part.as_str()),
            Rule::Exists => true,
            Rule::Literal(text) => value.trim().eq_ignore_ascii_case(text.trim()),
            Rule::Regex(pattern) => pattern.is_match(value),
            Rule::Schema(schema) => {
                matches!(schema.judge(Some(&Json::from(value))), Judged::Holds)
            }
        }
    }

    /// Whether it only requires the header's presence.
    fn is_there(&self) -> bool {
        matches!(self.rule, Rule::Exists)
    }

    fn shown(&self) -> Json {
        match &self.rule {
            Rule::Contains(part) => Json::object([("contains", Json::from(part.as_str()))]),
            Rule::Exists => Json::object([("exists", Json::Bool(true))]),
            Rule::Literal(text) => text.as_str().into(),
            Rule::Regex(pattern) => Json::object([("regex", Json::from(pattern.as_str()))]),
            Rule::Schema(schema) => Json::object([("schema", schema.source())]),
        }
    }
}

fn rule_of(rule: &str, argument: &Value) -> Result<Rule, LoadError> {
    let text = || match argument {
        Value::String(text) => Ok(text.clone()),
        other => Err(LoadError::here(format!(
            "`{rule}` takes a string, not {}",
            kind(other)
        ))),
    };
    match rule {
        "contains" => text().map(Rule::Contains),
        "exists" if argument == &Value::Bool(true) => Ok(Rule::Exists),
        "exists" => Err(LoadError::here("`exists` is only ever true")
            .help("list the header under `response_headers_absent`")),
        "regex" => build_regex(&text()?).map(Rule::Regex),
        "schema" => Schema::compile(argument).map(|schema| Rule::Schema(Box::new(schema))),
        _ => Err(
            LoadError::here(format!("unknown rule `{rule}` for headers")).help(
                did_you_mean(rule, RULES)
                    .unwrap_or_else(|| format!("the rules are `{}`", RULES.join("`, `"))),
            ),
        ),
    }
}

/// Judges the headers of an answer.
pub(super) fn judge(expectation: &Expectation, answer: &Answer<'_>, outcome: &mut Outcome) {
    let rules = &expectation.response_headers;
    let absent = &expectation.response_headers_absent;
    if rules.is_empty() && absent.is_empty() {
        return;
    }
    let headers = match answer.headers {
        Headers::Known(headers) => headers,
        Headers::NotHttp => {
            let note = "no response headers: the answer did not come over HTTP";
            return outcome
                .failures
                .push(Failure::note("response_headers", note));
        }
        Headers::NotKept => {
            let doubt = "the response headers were not recorded";
            return outcome.doubts.push(doubt.to_owned());
        }
    };
    for rule in rules {
        if answer.redacted && values(headers, &rule.name).any(is_hidden) && !rule.is_there() {
            let name = &rule.name;
            outcome
                .doubts
                .push(format!("the recording hides a part of the header `{name}`"));
        } else {
            outcome.failures.extend(rule.judge(headers));
        }
    }
    for name in absent {
        if let Some(value) = values(headers, name).next() {
            outcome.failures.push(Failure {
                target: name.clone(),
                actual: Some(value.into()),
                ..Failure::note(
                    "response_headers_absent",
                    format!("the header `{name}` is there"),
                )
            });
        }
    }
}

fn is_hidden(value: &str) -> bool {
    hidden::is_likely(value.as_bytes())
}

fn values<'h>(headers: &'h [(String, String)], name: &str) -> impl Iterator<Item = &'h str> {
    headers
        .iter()
        .filter(move |(found, _)| found.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
}

/// A name by RFC 9110, section 5.1.
fn http_name(name: &str) -> Option<&str> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (!name.is_empty() && name.bytes().all(token)).then_some(name)
}
