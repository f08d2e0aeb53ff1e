//! -32002 for a missing resource.

use tapewright_schemas::event::Side;

use super::super::case::{Case, Kind, Severity};
use super::super::fold::{Fold, Out, Seen, What};
use crate::missing_resource::{Answer, Verdict, judge_missing_resource};

pub(crate) static LEGACY_ERROR_CODE: Case = Case {
    id: "legacy-error-code-32002",
    kind: Kind::LegacyErrorCode,
    severity: Severity::Low,
    spec_version: super::TARGET,
    summary: "a missing resource is answered with -32002",
    old_contract: "`resources/read` of a missing resource should be answered with -32002",
    new_contract: "it must be answered with -32602, and never with empty `contents`",
    detection_signal: "the error -32002, or a result with empty `contents`, as the answer to `resources/read`",
    replacement: "answer with -32602 (Invalid params); clients still accept -32002",
    doc_link: "https://modelcontextprotocol.io/specification/2026-07-28/server/resources",
    sep: "SEP-2164",
    begin: || Box::<ErrorCode>::default(),
};

#[derive(Debug, Default)]
struct ErrorCode {
    // The last inconclusive answer.
    unclear: Option<String>,
}

impl Fold for ErrorCode {
    fn message(&mut self, seen: &Seen<'_>, out: &mut Out) {
        let answer = match &seen.what {
            What::Result { asked, result } if asked.method == "resources/read" => {
                Answer::of(Some(result), None)
            }
            What::Error { asked, error, .. } if asked.method == "resources/read" => {
                Answer::of(None, Some(error))
            }
            _ => return,
        };
        let Some(answer) = answer else { return };
        let judgement = judge_missing_resource(super::TARGET, answer);
        let (seq, pointer) = (seen.seq, judgement.pointer);
        match judgement.verdict {
            Verdict::Fail => out.fail(Side::Server, seq, pointer, &judgement.detail),
            Verdict::Pass => out.pass(
                Side::Server,
                seq,
                pointer,
                "a missing resource is answered with -32602",
            ),
            Verdict::Note | Verdict::Inconclusive => {
                if let Answer::Error(_) = answer {
                    self.unclear = Some(judgement.detail);
                }
            }
        }
    }

    fn undecided(&self) -> String {
        match &self.unclear {
            Some(why) => format!("inconclusive: {why}"),
            None => "no missing resource was requested".to_owned(),
        }
    }
}
