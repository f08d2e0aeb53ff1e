//! Several runs of the same model as one capture.

use std::collections::BTreeMap;

use crate::file::{Answer, Baseline, Exchange, canonical};

/// The maximum number of runs in a capture.
pub const MOST_RUNS: u64 = 100;

/// Merges several captures of the same model: the first of them, with the different answers of the
/// others. `None` if there are none.
#[must_use]
pub fn merge(captures: Vec<Baseline>) -> Option<Baseline> {
    let runs = captures.iter().map(|one| one.runs).sum::<u64>();
    let mut captures = captures.into_iter();
    let mut first = captures.next()?;
    if captures.len() == 0 {
        return Some(first);
    }
    let mut all: BTreeMap<String, (Exchange, u64)> = BTreeMap::new();
    let own = first.runs;
    for exchange in std::mem::take(&mut first.exchanges) {
        let seen = exchange.seen.unwrap_or(own);
        all.insert(exchange.id.clone(), (exchange, seen));
    }
    for capture in captures {
        for exchange in capture.exchanges {
            let seen = exchange.seen.unwrap_or(capture.runs);
            match all.get_mut(&exchange.id) {
                Some((known, count)) => {
                    *count += seen;
                    add(known, exchange);
                }
                None => {
                    all.insert(exchange.id.clone(), (exchange, seen));
                }
            }
        }
    }
    first.runs = runs;
    first.exchanges = all
        .into_values()
        .map(|(exchange, seen)| settled(exchange, seen, runs))
        .collect();
    Some(first)
}

/// Adds the answers of another run, each once.
fn add(known: &mut Exchange, other: Exchange) {
    for answer in std::iter::once(other.answer).chain(other.variants) {
        let all = std::iter::once(&mut known.answer).chain(&mut known.variants);
        let mut same = all.filter(|one| is_same(one, &answer));
        if let Some(one) = same.next() {
            // The slowest run counts.
            one.latency_ms = one.latency_ms.max(answer.latency_ms);
        } else {
            known.variants.push(answer);
        }
    }
}

fn is_same(one: &Answer, other: &Answer) -> bool {
    one.content == other.content
        && one.tool_calls == other.tool_calls
        && one.finish_reason == other.finish_reason
}

/// The same runs after the first make the same file in any order.
fn settled(mut exchange: Exchange, seen: u64, runs: u64) -> Exchange {
    let text = |answer: &Answer| canonical(&answer.to_value());
    exchange.variants.sort_by_cached_key(text);
    exchange.seen = (seen < runs).then_some(seen);
    exchange
}
