//! A server's answer to `resources/read` of a resource that does not exist: judged by its revision,
//! not only by the code.

use super::{Assertion, reply};
use crate::missing_resource::{
    Answer as Read, CODE, LEGACY_CODE, Verdict as Judged, judge_missing_resource,
};
use crate::observation::{Observation, Reply};
use crate::verdict::{Untested, Verdict};

/// The placeholder for a URI that no server has.
const UNKNOWN: &str = "${resource:unknown}";

/// The verdict on an assertion that expects the code of a missing resource; `None` for any other.
///
/// An inconclusive answer, such as an internal error, is neither a failure nor a pass.
pub(super) fn error(assertion: &Assertion, seen: &Observation) -> Option<Verdict> {
    let written = &assertion.written;
    let as_any = || reply::error(&written.expect, assertion.error_schema.as_ref(), seen);
    let call = written.call.as_ref()?;
    let uri = call.params.as_ref().and_then(|params| params.get("uri"));
    let unknown = uri.and_then(|uri| uri.as_str()) == Some(UNKNOWN);
    if call.method.as_deref() != Some("resources/read") || !unknown {
        return None;
    }
    let revision = match written.expect.error.as_ref()?.code? {
        LEGACY_CODE => "2025-11-25",
        CODE => "2026-07-28",
        _ => return None,
    };
    let each = seen.answers.iter().map(|answer| {
        let read = match &answer.reply {
            Reply::Error(error) => {
                Read::Error(error.get("code").and_then(serde_json::Value::as_i64))
            }
            Reply::Result(result) => match result.get("contents").and_then(|all| all.as_array()) {
                Some(contents) => Read::Contents(contents.len()),
                None => Read::Shapeless,
            },
            Reply::Unreadable | Reply::None => return as_any(),
        };
        let judgement = judge_missing_resource(revision, read);
        match judgement.verdict {
            Judged::Pass => Verdict::Pass,
            Judged::Fail => as_any(),
            Judged::Note | Judged::Inconclusive => {
                Verdict::Untested(Untested::Inconclusive(judgement.detail))
            }
        }
    });
    if seen.answers.is_empty() {
        return None;
    }
    Some(reply::all(each))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judge::judge;
    use crate::judge::tests::assertion;
    use crate::observation::Answer;

    fn verdict(code: i64, reply: Reply) -> Verdict {
        let assertion = assertion(&json!({
            "call": {"method": "resources/read", "params": {"uri": UNKNOWN}},
            "expect": {"error": {"code": code}},
        }));
        let seen = Observation {
            answers: vec![Answer {
                reply,
                ..Answer::default()
            }],
            ..Observation::default()
        };
        judge(&assertion, &seen)
    }

    #[test]
    fn an_answer_that_does_not_tell_is_neither_a_failure_nor_a_pass() {
        let error = |code: i64| Reply::Error(json!({"code": code, "message": "m"}));
        assert_eq!(verdict(-32_002, error(-32_002)), Verdict::Pass);
        assert_eq!(verdict(-32_602, error(-32_602)), Verdict::Pass);
        for (wanted, found) in [(-32_002, -32_602), (-32_002, 0), (-32_602, -32_603)] {
            let judged = verdict(wanted, error(found));
            assert!(
                matches!(judged, Verdict::Untested(Untested::Inconclusive(_))),
                "{judged:?}"
            );
        }
        assert!(matches!(verdict(-32_602, error(-32_002)), Verdict::Fail(_)));
        let nothing = Reply::Result(json!({"contents": []}));
        assert!(matches!(verdict(-32_602, nothing), Verdict::Fail(_)));
    }
}
