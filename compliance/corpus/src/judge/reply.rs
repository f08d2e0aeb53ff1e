//! `result`, `error`, `schema`, and that an answer comes.

use serde_json::Value;

use super::compare::differs;
use super::results as results_of;
use crate::observation::{Answer, Observation, Reply};
use crate::rule::{ErrorExpect, MatchMode, RuleExpect};
use crate::schema::{Schema, Validity};
use crate::verdict::{Expectation, FailureReason, ShortValue, Untested, Verdict};

/// Every answer is a result.
pub(super) fn results(seen: &Observation) -> Verdict {
    if seen.answers.is_empty() {
        return Verdict::fail(Expectation::Answer, FailureReason::NoAnswer);
    }
    let each = seen.answers.iter().map(|answer| match &answer.reply {
        Reply::Result(_) => Verdict::Pass,
        Reply::Unreadable => Verdict::Untested(Untested::TooMuch),
        Reply::None => no_answer(answer),
        Reply::Error(error) if seen.chosen => {
            Verdict::Untested(Untested::Refused(ShortValue::of(error)))
        }
        Reply::Error(error) => Verdict::fail(
            Expectation::Answer,
            FailureReason::ErrorCame(ShortValue::of(error)),
        ),
    });
    all(each)
}

/// The status of an HTTP response to a notification that was accepted (2025-03-26,
/// basic/transports).
const ACCEPTED: u16 = 202;

/// Checks that nothing answers, except for the head of an HTTP response.
pub(super) fn silence(seen: &Observation) -> Verdict {
    let each = seen.answers.iter().map(|answer| match &answer.reply {
        Reply::Result(value) | Reply::Error(value) => Verdict::fail(
            Expectation::Answer,
            FailureReason::Answered(ShortValue::of(value)),
        ),
        Reply::Unreadable => Verdict::Untested(Untested::TooMuch),
        Reply::None => match &answer.head {
            Some(head) if head.status == ACCEPTED => Verdict::Pass,
            Some(head) if matches!(head.status, 401 | 403) => {
                Verdict::Untested(Untested::Unauthorized(head.status))
            }
            Some(head) => {
                Verdict::fail(Expectation::Answer, FailureReason::NotAccepted(head.status))
            }
            None => Verdict::Pass,
        },
    });
    all(each)
}

/// Checks that every answer is the expected error.
pub(super) fn error(expect: &RuleExpect, schema: Option<&Schema>, seen: &Observation) -> Verdict {
    let Some(wanted) = &expect.error else {
        return Verdict::Pass;
    };
    if seen.answers.is_empty() {
        return Verdict::fail(Expectation::Answer, FailureReason::NoAnswer);
    }
    let each = seen.answers.iter().map(|answer| match &answer.reply {
        Reply::Error(error) => is_error(wanted, error).and(|| match schema {
            Some(schema) => of_schema(schema, error, Expectation::Error),
            None => Verdict::Pass,
        }),
        Reply::Result(result) => Verdict::fail(
            Expectation::Error,
            FailureReason::ResultCame(ShortValue::of(result)),
        ),
        Reply::Unreadable => Verdict::Untested(Untested::TooMuch),
        Reply::None => match &answer.head {
            // An error without a body: HTTP allows that (2025-06-18, basic/transports).
            Some(head) if head.status >= 400 && is_any(wanted) => match schema {
                None => Verdict::Pass,
                Some(_) => Verdict::Untested(Untested::Inconclusive(format!(
                    "the HTTP response with status {} has no error to look into",
                    head.status
                ))),
            },
            _ => no_answer(answer),
        },
    });
    all(each)
}

/// Checks that every result equals the expectation, or contains it.
pub(super) fn result(expect: &RuleExpect, seen: &Observation) -> Verdict {
    let Some(wanted) = &expect.result else {
        return Verdict::Pass;
    };
    let each = results_of(seen).map(|found| match differs(wanted, found, expect.match_mode) {
        None => Verdict::Pass,
        Some((pointer, why)) => Verdict::fail_at(Expectation::Result, pointer, why),
    });
    all(each)
}

/// Checks that every result matches the schema.
pub(super) fn schema(schema: Option<&Schema>, seen: &Observation) -> Verdict {
    let Some(schema) = schema else {
        return Verdict::Pass;
    };
    all(results_of(seen).map(|found| of_schema(schema, found, Expectation::Schema)))
}

/// A value by a schema.
pub(super) fn of_schema(schema: &Schema, found: &Value, expectation: Expectation) -> Verdict {
    match schema.validate(found) {
        Validity::Valid => Verdict::Pass,
        Validity::Unknown => Verdict::Untested(Untested::TooMuch),
        Validity::Invalid { pointer, why } => Verdict::fail_at(
            expectation,
            pointer,
            FailureReason::Schema(ShortValue::text(&why)),
        ),
    }
}

fn no_answer(answer: &Answer) -> Verdict {
    let why = match &answer.head {
        Some(head) if matches!(head.status, 401 | 403) => {
            return Verdict::Untested(Untested::Unauthorized(head.status));
        }
        Some(head) => FailureReason::NoMessage(head.status),
        None => FailureReason::NoAnswer,
    };
    Verdict::fail(Expectation::Answer, why)
}

/// Whether only the presence and the shape of the error matter.
fn is_any(wanted: &ErrorExpect) -> bool {
    wanted.code.is_none()
        && wanted.message.is_none()
        && wanted.message_contains.is_none()
        && wanted.data.is_none()
}

fn is_error(wanted: &ErrorExpect, error: &Value) -> Verdict {
    let code = error.get("code").unwrap_or(&Value::Null);
    if let Some(expected) = wanted.code
        && code.as_i64() != Some(expected)
    {
        let found = ShortValue::of(code);
        let why = FailureReason::Code { expected, found };
        return Verdict::fail_at(Expectation::Error, "/code".to_owned(), why);
    }
    message(wanted, error).and(|| data(wanted, error))
}

/// Checks the message of an error: all of it, or a part.
fn message(wanted: &ErrorExpect, error: &Value) -> Verdict {
    let fail = |why| Verdict::fail_at(Expectation::Error, "/message".to_owned(), why);
    let found = error.get("message").unwrap_or(&Value::Null);
    let text = found.as_str().unwrap_or_default();
    if let Some(expected) = &wanted.message
        && found.as_str() != Some(expected.as_str())
    {
        return fail(FailureReason::Differs {
            expected: ShortValue::text(expected),
            found: ShortValue::of(found),
        });
    }
    match &wanted.message_contains {
        Some(part) if !text.contains(part.as_str()) => fail(FailureReason::Message {
            expected: ShortValue::text(part),
            found: ShortValue::text(text),
        }),
        _ => Verdict::Pass,
    }
}

/// Checks that the expectation is contained in the `data` of an error.
fn data(wanted: &ErrorExpect, error: &Value) -> Verdict {
    let Some(expected) = &wanted.data else {
        return Verdict::Pass;
    };
    let differs = match error.get("data") {
        Some(found) => differs(expected, found, MatchMode::Subset),
        None => Some((String::new(), FailureReason::Missing)),
    };
    match differs {
        None => Verdict::Pass,
        Some((pointer, why)) => {
            Verdict::fail_at(Expectation::Error, format!("/data{pointer}"), why)
        }
    }
}

/// Combines verdicts: all of them must hold.
pub(super) fn all(each: impl Iterator<Item = Verdict>) -> Verdict {
    each.fold(Verdict::Pass, |all, one| all.and(|| one))
}
