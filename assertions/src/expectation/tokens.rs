//! `max_response_tokens`.

use serde_json::Value;
use tapewright_schemas::near::did_you_mean;

use super::Outcome;
use crate::assertion::kind;
use crate::error::LoadError;
use crate::failure::Failure;
use crate::json::Json;
use crate::tokens::{Tokenizer, count};

/// The maximum number of tokens of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBudget {
    budget: u64,
    tokenizer: Tokenizer,
    mode: TokenMode,
    image_cost: u64,
}

/// What happens above the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenMode {
    /// The test fails.
    Fail,
    /// It is a warning.
    Warn,
}

const MEMBERS: [&str; 4] = ["budget", "tokenizer", "mode", "image_cost"];
/// The default number of tokens of an image.
const IMAGE_COST: u64 = 1_000;

impl TokenBudget {
    /// Reads a number, or an object with a `budget`.
    pub fn compile(value: &Value) -> Result<Self, LoadError> {
        if value.is_number() {
            return Ok(Self {
                budget: positive(value)?,
                tokenizer: Tokenizer::default(),
                mode: TokenMode::Fail,
                image_cost: IMAGE_COST,
            });
        }
        let Some(members) = value.as_object() else {
            return Err(LoadError::here(format!(
                "`max_response_tokens` is a whole number or an object, not {}",
                kind(value)
            )));
        };
        if let Some(name) = members
            .keys()
            .find(|name| !MEMBERS.contains(&name.as_str()))
        {
            let error = LoadError::here(format!("`max_response_tokens` has no member `{name}`"));
            let help = did_you_mean(name, MEMBERS)
                .unwrap_or_else(|| format!("it has `{}`", MEMBERS.join("`, `")));
            return Err(error.help(help).under(name));
        }
        let budget = members
            .get("budget")
            .ok_or_else(|| LoadError::here("`max_response_tokens` needs the member `budget`"))?;
        Ok(Self {
            budget: positive(budget).map_err(|error| error.under("budget"))?,
            tokenizer: members
                .get("tokenizer")
                .map_or(Ok(Tokenizer::default()), tokenizer)
                .map_err(|error| error.under("tokenizer"))?,
            mode: match members.get("mode").map(Value::as_str) {
                None | Some(Some("fail")) => TokenMode::Fail,
                Some(Some("warn")) => TokenMode::Warn,
                Some(_) => {
                    return Err(LoadError::here("`mode` is `fail` or `warn`").under("mode"));
                }
            },
            image_cost: match members.get("image_cost") {
                None => IMAGE_COST,
                Some(value) => Json::from(value).as_u64().ok_or_else(|| {
                    LoadError::here("`image_cost` is a whole number from 0 on").under("image_cost")
                })?,
            },
        })
    }

    pub(super) fn judge(&self, envelope: &Json, outcome: &mut Outcome) {
        let tokens = count(envelope, self.tokenizer, self.image_cost);
        let over = tokens.saturating_sub(self.budget);
        if over == 0 {
            return;
        }
        let note = format!(
            "max_response_tokens budget exceeded: {tokens} tokens ({over} tokens over budget of {})",
            self.budget
        );
        match self.mode {
            TokenMode::Warn => outcome.warnings.push(note),
            TokenMode::Fail => outcome.failures.push(Failure {
                expected: Some(self.budget.into()),
                actual: Some(tokens.into()),
                ..Failure::note("max_response_tokens", note)
            }),
        }
    }
}

fn positive(value: &Value) -> Result<u64, LoadError> {
    let number = Json::from(value).as_u64().filter(|number| *number > 0);
    number.ok_or_else(|| LoadError::here("a budget of tokens is a whole number from 1 on"))
}

fn tokenizer(value: &Value) -> Result<Tokenizer, LoadError> {
    let name = value.as_str().unwrap_or_default();
    Tokenizer::named(name).ok_or_else(|| {
        let known = Tokenizer::NAMES;
        LoadError::here(format!("unknown tokenizer {value}")).help(
            did_you_mean(name, known)
                .unwrap_or_else(|| format!("expected one of `{}`", known.join("`, `"))),
        )
    })
}
