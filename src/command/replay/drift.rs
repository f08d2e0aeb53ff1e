//! The misses of a replay so far, and the recorded requests that never came, for its page.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tapewright_proxy::page::Drift;
use tapewright_replay::{Difference, Index, Miss, Tally};

/// The state of a replay.
#[derive(Debug)]
struct SoFar {
    tally: Arc<Tally>,
    index: Arc<Index>,
}

/// The state of the replay of an index.
pub(super) fn so_far(tally: &Arc<Tally>, index: &Arc<Index>) -> Arc<dyn Drift> {
    Arc::new(SoFar {
        tally: Arc::clone(tally),
        index: Arc::clone(index),
    })
}

/// How many misses are shown, the last ones.
const TOLD: usize = 200;

impl Drift for SoFar {
    fn told(&self, bodies: bool) -> Map<String, Value> {
        let so_far = self.tally.so_far(&self.index, TOLD);
        let misses = so_far.misses.iter();
        let drift: Vec<Value> = misses.map(|(id, miss)| missed(id, miss, bodies)).collect();
        let first: Vec<Value> = so_far
            .first
            .iter()
            .map(|(place, method)| json!({"place": place, "method": method}))
            .collect();
        let mut told = Map::new();
        told.insert("drift".to_owned(), drift.into());
        told.insert("missed".to_owned(), so_far.missed.into());
        told.insert(
            "unused".to_owned(),
            json!({"count": so_far.unused, "of": so_far.recorded, "first": first}),
        );
        told
    }
}

/// A request without a recorded answer, as the page shows it.
fn missed(id: &str, miss: &Miss, bodies: bool) -> Value {
    let nearest = miss.nearest.first();
    let differences = nearest.map_or(&[][..], |near| near.differences.as_slice());
    let paths: Vec<Value> = differences.iter().map(|one| differs(one, bodies)).collect();
    json!({
        "id": id,
        "method": miss.method,
        "name": miss.target,
        "why": miss.message(),
        "paths": paths,
    })
}

/// One difference; its values are message contents.
fn differs(one: &Difference, bodies: bool) -> Value {
    if bodies {
        json!(one)
    } else {
        json!({ "path": one.path })
    }
}

#[cfg(test)]
mod tests {
    use tapewright_replay::{Near, Reason};

    use super::*;

    #[test]
    fn values_are_told_only_where_what_was_said_is() {
        let miss = Miss {
            method: "tools/call".to_owned(),
            target: Some("read".to_owned()),
            reason: Reason::NeverRecorded,
            recorded: 1,
            nearest: vec![Near {
                place: "/exchanges/0".to_owned(),
                used: false,
                differences: vec![Difference {
                    path: "$.params.arguments.path".to_owned(),
                    recorded: Some("\"a.rs\"".to_owned()),
                    live: Some("\"b.rs\"".to_owned()),
                    redacted: false,
                }],
            }],
            fitting_map: None,
        };
        let told = missed("7", &miss, true);
        assert_eq!(told["paths"][0]["recorded"], "\"a.rs\"");
        assert_eq!((&told["id"], &told["name"]), (&json!("7"), &json!("read")));
        let told = missed("7", &miss, false);
        assert_eq!(told["paths"], json!([{"path": "$.params.arguments.path"}]));
        assert!(!told.to_string().contains("b.rs"), "{told}");
    }
}
