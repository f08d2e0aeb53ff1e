//! Assertions that need several answers to the same question.

use std::collections::HashMap;

use crate::observation::Observation;
use crate::plan::At;

/// Answers to the same question, until there are enough.
#[derive(Debug, Default)]
pub(super) struct Groups {
    waiting: HashMap<(At, String), Observation>,
}

/// How many questions wait for more answers at once.
const MOST: usize = 1_024;

impl Groups {
    /// Takes an answer; gives all of them once there are as many as are wanted.
    pub(super) fn add(&mut self, at: At, wanted: usize, seen: Observation) -> Option<Observation> {
        if self.waiting.len() >= MOST {
            self.waiting.clear();
        }
        let key = (at, key(&seen));
        let whole = match self.waiting.remove(&key) {
            None => seen,
            Some(mut group) => {
                group.answers.extend(seen.answers);
                group.between.extend(seen.between);
                group.gap |= seen.gap;
                group
            }
        };
        if whole.answers.len() < wanted {
            self.waiting.insert(key, whole);
            return None;
        }
        // The last answer is the first of the next comparison: a change is seen wherever it happens.
        let rest = Observation {
            transport: whole.transport,
            sent: whole.sent.clone(),
            answers: whole.answers.last().cloned().into_iter().collect(),
            chosen: whole.chosen,
            ..Observation::default()
        };
        self.waiting.insert(key, rest);
        Some(whole)
    }

    /// What never had enough answers.
    pub(super) fn rest(&mut self) -> Vec<(At, Observation)> {
        self.waiting
            .drain()
            .map(|((at, _), seen)| (at, seen))
            .collect()
    }
}

/// The question, without what every client adds to it.
fn key(seen: &Observation) -> String {
    let mut params = seen.sent.params.clone().unwrap_or_default();
    params.remove("_meta");
    serde_json::Value::Object(params).to_string()
}
