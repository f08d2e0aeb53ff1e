//! `repeat` and `stable_keys`.

use serde_json::Value;

use super::compare::same;
use super::results;
use crate::observation::Observation;
use crate::rule::RuleExpect;
use crate::verdict::{Expectation, FailureReason, ShortValue, Untested, Verdict};

/// Checks that the question was asked as often as required.
pub(super) fn enough(wanted: usize, seen: &Observation) -> Verdict {
    let asked = seen.answers.len();
    if wanted > 1 && asked < wanted {
        return Verdict::Untested(Untested::TooFew { asked, wanted });
    }
    Verdict::Pass
}

/// Members that are equal in all answers.
pub(super) fn stable(expect: &RuleExpect, wanted: usize, seen: &Observation) -> Verdict {
    if expect.stable_keys.is_empty() {
        return Verdict::Pass;
    }
    let mut all = results(seen);
    let Some(first) = all.next() else {
        return Verdict::Untested(Untested::TooFew { asked: 0, wanted });
    };
    for other in all {
        for key in &expect.stable_keys {
            let (one, other) = (member(first, key), member(other, key));
            let is_same = match (one, other) {
                (Some(one), Some(other)) => same(one, other),
                (one, other) => one.is_none() && other.is_none(),
            };
            if !is_same {
                let shown = |value: Option<&Value>| {
                    value.map_or(ShortValue::text("nothing"), ShortValue::of)
                };
                let why = FailureReason::Unstable {
                    one: shown(one),
                    other: shown(other),
                };
                return Verdict::fail_at(Expectation::StableKeys, pointer(key), why);
            }
        }
    }
    Verdict::Pass
}

/// The member with this name, or at this JSON pointer.
fn member<'v>(result: &'v Value, key: &str) -> Option<&'v Value> {
    if key.starts_with('/') {
        result.pointer(key)
    } else {
        result.get(key)
    }
}

fn pointer(key: &str) -> String {
    if key.starts_with('/') {
        return key.to_owned();
    }
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}
