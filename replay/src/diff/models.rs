//! Compares the model calls of two recordings.
//!
//! Calls are matched by the key that determines their answers, as in a replay; the rest on both
//! sides is paired by wire, model and shape, in order, and reported as changed.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use serde_json::{Value, json};
use tapewright_models::key::{self, Key};
use tapewright_models::recorded::ProviderExchange;
use tapewright_models::{Call, Operation};
use tapewright_schemas::redact::Redactor;

use super::{Change, Compared, DIFFERENCES, DiffOptions};
use crate::json::{Comparison, Difference, compare};
use crate::options::MatchMode;

/// A model call.
struct ComparedCall {
    seq: u64,
    wire: &'static str,
    model: String,
    key: Key,
    // The answer, as JSON.
    answer: String,
}

/// Compares the model calls of two recordings: those of the earlier one in its order, then the new
/// ones.
#[must_use]
pub fn models(
    before: &[ProviderExchange],
    after: &[ProviderExchange],
    options: &DiffOptions,
) -> Vec<Compared> {
    let mut redactor = Redactor::new(Arc::clone(&options.rules));
    let before = told(before, &mut redactor);
    let after = told(after, &mut redactor);
    let (paired, new) = pairs(&before, &after, options.exact);
    let mut comparing = Comparing {
        options,
        seen: HashSet::new(),
    };
    let mut all = Vec::with_capacity(before.len() + new.len());
    for (one, other) in before.iter().zip(paired) {
        let other = other.and_then(|at| after.get(at));
        all.push(comparing.compared(Some(one), other));
    }
    let new = new.into_iter().filter_map(|at| after.get(at));
    all.extend(new.map(|one| comparing.compared(None, Some(one))));
    all
}

/// The model calls among the exchanges, as far as they can be read.
fn told(exchanges: &[ProviderExchange], redactor: &mut Redactor) -> Vec<ComparedCall> {
    let calls = exchanges.iter().filter_map(|exchange| {
        let call = exchange.call()?;
        if call.operation != Operation::Generate {
            return None;
        }
        let body = redactor.body(&exchange.body);
        let request = call.wire.read_request(&call, &body).ok()?;
        let answer = answered(exchange, &call, &request, redactor);
        Some(ComparedCall {
            seq: exchange.seq,
            wire: call.wire.name(),
            model: request.model.clone(),
            key: Key::of(&request),
            answer: answer.to_string(),
        })
    });
    calls.collect()
}

fn answered(
    exchange: &ProviderExchange,
    call: &Call,
    request: &tapewright_models::conversation::Request,
    redactor: &mut Redactor,
) -> Value {
    let Some(answer) = &exchange.answer else {
        return Value::Null;
    };
    let said = answer.said(call).filter(|_| answer.status < 400);
    let unsaid = || {
        let body = answer.body();
        let text = || Value::from(String::from_utf8_lossy(&body).into_owned());
        let body = serde_json::from_slice(&body).unwrap_or_else(|_| text());
        json!({"status": answer.status, "body": body})
    };
    let mut value = said.map_or_else(unsaid, |said| key::answer(request, &said.response));
    if !answer.is_whole
        && let Value::Object(map) = &mut value
    {
        map.insert("broke_off".to_owned(), true.into());
    }
    let text = value.to_string();
    let hidden = redactor.body(text.as_bytes());
    serde_json::from_slice(&hidden).unwrap_or(value)
}

/// The later call for each earlier one, and the later calls without an earlier one.
fn pairs(
    before: &[ComparedCall],
    after: &[ComparedCall],
    exact: bool,
) -> (Vec<Option<usize>>, Vec<usize>) {
    let mut paired = vec![None; before.len()];
    let mut left: Vec<usize> = (0..after.len()).collect();
    let mut by = |print: &dyn Fn(&ComparedCall) -> String| {
        let mut waiting: HashMap<String, VecDeque<usize>> = HashMap::new();
        for (at, one) in before.iter().enumerate() {
            if paired.get(at) == Some(&None) {
                waiting.entry(print(one)).or_default().push_back(at);
            }
        }
        left.retain(|at| {
            let queue = after.get(*at).and_then(|one| waiting.get_mut(&print(one)));
            let Some(place) = queue.and_then(VecDeque::pop_front) else {
                return true;
            };
            if let Some(slot) = paired.get_mut(place) {
                *slot = Some(*at);
            }
            false
        });
    };
    by(&|one| one.key.text().to_owned());
    if !exact {
        by(&|one| one.key.masked());
    }
    by(&|one| one.key.outline());
    by(&|one| format!("{} {}", one.wire, one.model));
    by(&|one| one.wire.to_owned());
    (paired, left)
}

/// Compares calls.
struct Comparing<'c> {
    options: &'c DiffOptions,
    // The differences of earlier calls.
    seen: HashSet<(String, Option<String>, Option<String>)>,
}

impl Comparing<'_> {
    fn compared(
        &mut self,
        before: Option<&ComparedCall>,
        after: Option<&ComparedCall>,
    ) -> Compared {
        let told = before.or(after);
        let place = |one: &ComparedCall| format!("event {}", one.seq);
        let mut compared = Compared {
            before: before.map(place),
            after: after.map(place),
            method: told.map_or_else(String::new, |one| one.wire.to_owned()),
            target: told.map(|one| one.model.clone()),
            change: match (before, after) {
                (Some(_), None) => Change::Gone,
                (None, _) => Change::New,
                (Some(_), Some(_)) => Change::Same,
            },
            differences: Vec::new(),
            repeated: 0,
            listed: Vec::new(),
        };
        if let (Some(before), Some(after)) = (before, after) {
            let asked = (before.key.text(), after.key.text(), "request");
            let answered = (before.answer.as_str(), after.answer.as_str(), "answer");
            let found =
                [asked, answered].map(|(one, other, root)| self.differences(one, other, root));
            for one in found.into_iter().flatten() {
                let told = (one.path.clone(), one.recorded.clone(), one.live.clone());
                if self.seen.insert(told) {
                    compared.differences.push(one);
                } else {
                    compared.repeated += 1;
                }
            }
            if compared.repeated > 0 || !compared.differences.is_empty() {
                compared.change = Change::Changed;
            }
        }
        compared
    }

    fn differences(&self, before: &str, after: &str, root: &str) -> Vec<Difference> {
        if before == after {
            return Vec::new();
        }
        let mode = if self.options.exact {
            MatchMode::Strict
        } else {
            MatchMode::Semantic
        };
        let comparison = Comparison {
            mode,
            ignore: &self.options.ignore,
            aliases: None,
            skip_incidental: false,
            limit: DIFFERENCES,
        };
        compare(before.as_bytes(), after.as_bytes(), root, &comparison)
    }
}
