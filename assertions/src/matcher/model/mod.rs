//! Matchers that ask models, and their common arguments.

mod judge;
mod jury;
mod similar;

use serde_json::{Map, Value};

pub(super) use self::judge::{answer_relevance, context_faithfulness, factuality, judge};
pub(super) use self::jury::jury;
pub(super) use self::similar::similar;
use super::{Judged, nothing_there, required};
use crate::assertion::kind;
use crate::error::LoadError;
use crate::failure::Failure;
use crate::json::Json;
use crate::judging::{Opinion, Question};
use crate::world::World;

/// The default minimum score to pass.
const THRESHOLD: f64 = 0.7;
/// What these matchers need, for the message of `not` and similar matchers.
pub(crate) const NEEDS: &str = "a model";

/// Asks about the value at the target.
fn consult(value: Option<&Json>, world: &dyn World, question: &Question<'_>) -> Judged {
    let Some(value) = value else {
        return nothing_there(None);
    };
    match world.consult(question, &value.stringified()) {
        Opinion::Holds => Judged::Holds,
        Opinion::Fails(note) => Judged::fails(Failure {
            note: Some(note),
            ..Failure::default()
        }),
        Opinion::Undecided(why) => Judged::Undecided(why),
        Opinion::Deferred(why) => Judged::Deferred(why),
        Opinion::Unknown(why) => Judged::unknown(why),
    }
}

/// A required member that is a non-empty string.
fn text(members: &Map<String, Value>, member: &str, name: &str) -> Result<String, LoadError> {
    required(members, member, name)?;
    optional_text(members, member).map(Option::unwrap_or_default)
}

/// A member that, if it is there, is a string with something in it.
fn optional_text(members: &Map<String, Value>, member: &str) -> Result<Option<String>, LoadError> {
    match members.get(member) {
        None => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text.clone())),
        Some(Value::String(_)) => {
            Err(LoadError::here(format!("`{member}` is empty")).under(member))
        }
        Some(other) => Err(
            LoadError::here(format!("`{member}` is a string, not {}", kind(other))).under(member),
        ),
    }
}

/// A member that, if it is there, is a number from 0 to 1.
fn fraction(members: &Map<String, Value>, member: &str) -> Result<Option<f64>, LoadError> {
    let Some(value) = members.get(member) else {
        return Ok(None);
    };
    match value.as_f64() {
        Some(number) if (0.0..=1.0).contains(&number) => Ok(Some(number)),
        Some(_) => {
            Err(LoadError::here(format!("`{member}` is a number from 0 to 1")).under(member))
        }
        None => Err(
            LoadError::here(format!("`{member}` is a number, not {}", kind(value))).under(member),
        ),
    }
}
