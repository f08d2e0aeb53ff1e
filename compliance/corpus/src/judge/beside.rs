//! `notification_stream` and `server_request`: messages between a call and its answer.

use serde_json::Value;
use tapewright_schemas::event::Direction;

use super::compare::same;
use super::reply::{all, of_schema};
use crate::observation::Observation;
use crate::rule::{NotificationStream, RuleExpect, ServerRequest};
use crate::schema::Schema;
use crate::verdict::{Expectation, FailureReason, ShortValue, Untested, Verdict};

/// Notifications that a server must send when they are requested (2026-07-28,
/// basic/patterns/subscriptions).
const NEEDED: [&str; 1] = ["notifications/subscriptions/acknowledged"];

/// Notifications that come, or do not come.
pub(super) fn notifications(expect: &RuleExpect, seen: &Observation) -> Verdict {
    let Some(wanted) = &expect.notification_stream else {
        return Verdict::Pass;
    };
    let fail = |why| Verdict::fail(Expectation::NotificationStream, why);
    let all: Vec<&Value> = from_server(seen, &wanted.method)
        .filter(|message| message.get("id").is_none())
        .collect();
    if wanted.absent {
        return match all.first() {
            None => Verdict::Pass,
            Some(_) => fail(FailureReason::Came(wanted.method.clone())),
        };
    }
    if all.is_empty() {
        return if NEEDED.contains(&wanted.method.as_str()) {
            fail(FailureReason::NeverCame(wanted.method.clone()))
        } else {
            Verdict::Untested(Untested::NoneCame(wanted.method.clone()))
        };
    }
    correlated(wanted, &all, seen).and(|| rises(wanted, &all))
}

/// Checks that each has the token of the call.
fn correlated(wanted: &NotificationStream, all: &[&Value], seen: &Observation) -> Verdict {
    if !wanted.correlate_token {
        return Verdict::Pass;
    }
    let params = seen.sent.params.as_ref();
    let token = params.and_then(|params| params.get("_meta")?.get("progressToken"));
    let Some(token) = token else {
        return Verdict::Untested(Untested::NotAsked);
    };
    let named = |message: &Value| {
        let named = message.pointer("/params/progressToken");
        named.cloned().unwrap_or(Value::Null)
    };
    match all
        .iter()
        .map(|one| named(one))
        .find(|named| !same(named, token))
    {
        None => Verdict::Pass,
        Some(found) => Verdict::fail_at(
            Expectation::NotificationStream,
            "/params/progressToken".to_owned(),
            FailureReason::Token {
                method: wanted.method.clone(),
                expected: ShortValue::of(token),
                found: ShortValue::of(&found),
            },
        ),
    }
}

/// `progress` does not fall.
fn rises(wanted: &NotificationStream, all: &[&Value]) -> Verdict {
    if !wanted.progress_non_decreasing {
        return Verdict::Pass;
    }
    let fail = |why| {
        let pointer = "/params/progress".to_owned();
        Verdict::fail_at(Expectation::NotificationStream, pointer, why)
    };
    let mut before: Option<f64> = None;
    for message in all {
        let progress = message.pointer("/params/progress").and_then(Value::as_f64);
        let Some(progress) = progress else {
            return fail(FailureReason::Missing);
        };
        if let Some(before) = before.filter(|before| progress < *before) {
            return fail(FailureReason::Falls {
                before: ShortValue::text(&before.to_string()),
                after: ShortValue::text(&progress.to_string()),
            });
        }
        before = Some(progress);
    }
    Verdict::Pass
}

/// Why a rule about requests of the server is untested: it sent none, and other rules judge the
/// outcome of the call.
pub(super) fn nothing_asked(expect: &RuleExpect, seen: &Observation) -> Option<Untested> {
    let wanted = expect.server_request.as_ref()?;
    let asked = requests(wanted, seen).next().is_some();
    (!asked).then(|| Untested::NoneCame(wanted.method.clone()))
}

fn requests<'o>(
    wanted: &'o ServerRequest,
    seen: &'o Observation,
) -> impl Iterator<Item = &'o Value> {
    from_server(seen, &wanted.method)
        .filter(|message| message.get("id").is_some_and(|id| !id.is_null()))
}

/// Checks the requests that the server sends during the call.
pub(super) fn server_request(expect: &RuleExpect, seen: &Observation) -> Verdict {
    let Some(wanted) = &expect.server_request else {
        return Verdict::Pass;
    };
    let asked: Vec<&Value> = requests(wanted, seen).collect();
    let params = parameters(wanted, &asked);
    if !wanted.content_matches_requested_schema || params.is_fail() {
        return params;
    }
    let each = asked.into_iter().map(|request| answered(request, seen));
    each.fold(params, |all, one| all.and(|| one))
}

/// Checks that the parameters of each request match the schema.
fn parameters(wanted: &ServerRequest, asked: &[&Value]) -> Verdict {
    let Some(schema) = wanted.schema.clone().map(Schema::new) else {
        return Verdict::Pass;
    };
    all(asked.iter().map(|request| {
        let params = request.get("params").unwrap_or(&Value::Null);
        of_schema(&schema, params, Expectation::ServerRequest)
    }))
}

/// The client's answer matches the schema that the request asks for.
fn answered(request: &Value, seen: &Observation) -> Verdict {
    let fail =
        |pointer: &str, why| Verdict::fail_at(Expectation::ServerRequest, pointer.to_owned(), why);
    let Some(schema) = request.pointer("/params/requestedSchema") else {
        return fail("/params/requestedSchema", FailureReason::Missing);
    };
    let id = request.get("id").unwrap_or(&Value::Null);
    let answers = seen
        .between
        .iter()
        .filter(|one| one.dir == Direction::ToServer);
    let answer = answers
        .map(|one| &one.message)
        .find(|message| message.get("id").is_some_and(|one| one == id));
    let Some(result) = answer.and_then(|answer| answer.get("result")) else {
        return Verdict::Untested(Untested::Declined);
    };
    if result.get("action").and_then(Value::as_str) != Some("accept") {
        return Verdict::Untested(Untested::Declined);
    }
    match result.get("content") {
        None => fail("/result/content", FailureReason::Missing),
        Some(content) => {
            let schema = Schema::new(schema.clone());
            of_schema(&schema, content, Expectation::ServerRequest)
        }
    }
}

/// Messages of the server with a method.
fn from_server<'o>(seen: &'o Observation, method: &'o str) -> impl Iterator<Item = &'o Value> {
    let came = seen
        .between
        .iter()
        .filter(|one| one.dir == Direction::ToClient);
    came.map(|one| &one.message)
        .filter(move |message| message.get("method").and_then(Value::as_str) == Some(method))
}
