//! `headers` and `headers_absent`.

use super::reply::all;
use crate::observation::{HttpHead, Observation};
use crate::rule::RuleExpect;
use crate::verdict::{Expectation, FailureReason, ShortValue, Untested, Verdict};

/// The pseudo-header field of a response in HTTP/2 (RFC 9113 §8.3.2).
const STATUS: &str = ":status";

/// Checks the required fields of the response.
pub(super) fn headers(expect: &RuleExpect, seen: &Observation) -> Verdict {
    each(seen, !expect.headers.is_empty(), |head| {
        all(expect
            .headers
            .iter()
            .map(|(name, wanted)| field(head, name, wanted)))
    })
}

/// Checks the fields that the response must not have.
pub(super) fn absent(expect: &RuleExpect, seen: &Observation) -> Verdict {
    each(seen, !expect.headers_absent.is_empty(), |head| {
        let there = expect
            .headers_absent
            .iter()
            .find(|name| head.all(name).next().is_some());
        match there {
            None => Verdict::Pass,
            Some(name) => Verdict::fail(
                Expectation::HeadersAbsent,
                FailureReason::HeaderThere(name.to_ascii_lowercase()),
            ),
        }
    })
}

fn each(seen: &Observation, asked: bool, judge: impl Fn(&HttpHead) -> Verdict) -> Verdict {
    if !asked {
        return Verdict::Pass;
    }
    if seen.answers.is_empty() {
        return Verdict::Untested(Untested::NoHead);
    }
    all(seen.answers.iter().map(|answer| match &answer.head {
        Some(head) => judge(head),
        None => Verdict::Untested(Untested::NoHead),
    }))
}

/// Compares a field by a part of its value, ignoring the case of its name; a status matches one of
/// several.
fn field(head: &HttpHead, name: &str, wanted: &str) -> Verdict {
    let fail = |why| Verdict::fail(Expectation::Headers, why);
    let differs = |found: &str| {
        fail(FailureReason::Header {
            name: name.to_ascii_lowercase(),
            expected: ShortValue::text(wanted),
            found: ShortValue::text(found),
        })
    };
    if name == STATUS {
        let status = head.status.to_string();
        let fits = wanted.split_whitespace().any(|one| one == status);
        return if fits {
            Verdict::Pass
        } else {
            differs(&status)
        };
    }
    let mut found = head.all(name).peekable();
    let Some(first) = found.peek().copied() else {
        return fail(FailureReason::NoHeader(name.to_ascii_lowercase()));
    };
    if found.any(|value| value.contains(wanted)) {
        Verdict::Pass
    } else {
        differs(first)
    }
}
