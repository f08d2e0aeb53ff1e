//! -32002 for a missing resource.

use std::collections::VecDeque;

use tapewright_schemas::era::Era;
use tapewright_schemas::event::{Direction, SessionKey, Side};

use super::super::case::{Case, Kind, Severity};
use super::super::fold::{Fold, Out, PendingRequest, Seen, What};
use crate::missing_resource::{Answer, Verdict, judge_missing_resource};

pub(crate) static LEGACY_ERROR_CODE: Case = Case {
    id: "legacy-error-code-32002",
    kind: Kind::LegacyErrorCode,
    severity: Severity::Low,
    spec_version: super::TARGET,
    summary: "a missing resource is answered with -32002",
    old_contract: "`resources/read` of a missing resource should be answered with -32002",
    new_contract: "it must be answered with -32602, and never with empty `contents`",
    detection_signal: "the error -32002, or a result with empty `contents`, as the answer to `resources/read` after the handshake",
    replacement: "answer with -32602 (Invalid params); clients still accept -32002",
    doc_link: "https://modelcontextprotocol.io/specification/2026-07-28/server/resources",
    sep: "SEP-2164",
    begin: || Box::<ErrorCode>::default(),
};

/// The maximum number of sessions, and of answers before the first result, that are remembered.
const SESSIONS: usize = 4_096;
const EARLY: usize = 20;

#[derive(Debug, Default)]
struct ErrorCode {
    // The sessions whose handshake is complete, the latest last.
    greeted: VecDeque<SessionKey>,
    // A request without a handshake was answered by a result: the server supports such requests.
    supports_stateless: bool,
    // Answers without a handshake, until it is known whether the server supports such requests.
    // Servers that do not, refuse them all, many with -32602.
    early: Vec<(u64, Answer)>,
    was_early: bool,
    // The last inconclusive answer.
    unclear: Option<String>,
}

impl ErrorCode {
    /// An answer to `resources/read` of a server that serves requests.
    fn judge(&mut self, seq: u64, answer: Answer, out: &mut Out) {
        let judgement = judge_missing_resource(super::TARGET, answer);
        let pointer = judgement.pointer;
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

    /// A result, which may show that the server serves the requests of this session or era.
    fn served(&mut self, asked: &PendingRequest, seen: &Seen<'_>, out: &mut Out) {
        if asked.method == "initialize" {
            if self.greeted.len() >= SESSIONS {
                self.greeted.pop_front();
            }
            self.greeted.push_back(seen.session);
        } else if asked.era == Era::Stateless && seen.dir == Direction::ToClient {
            self.supports_stateless = true;
            for (seq, answer) in std::mem::take(&mut self.early) {
                self.judge(seq, answer, out);
            }
        }
    }
}

impl Fold for ErrorCode {
    fn message(&mut self, seen: &Seen<'_>, out: &mut Out) {
        let (asked, answer) = match &seen.what {
            What::Result { asked, result } => {
                self.served(asked, seen, out);
                (asked, Answer::of(Some(result), None))
            }
            What::Error { asked, error, .. } => (asked, Answer::of(None, Some(error))),
            _ => return,
        };
        let Some(answer) = answer.filter(|_| asked.method == "resources/read") else {
            return;
        };
        let is_served = match asked.era {
            Era::Stateless => self.supports_stateless,
            Era::Handshake => false,
        };
        if is_served || self.greeted.iter().rev().any(|one| *one == seen.session) {
            self.judge(seen.seq, answer, out);
            return;
        }
        self.was_early = true;
        if asked.era == Era::Stateless && self.early.len() < EARLY {
            self.early.push((seen.seq, answer));
        }
    }

    fn undecided(&self) -> String {
        match &self.unclear {
            Some(why) => format!("inconclusive: {why}"),
            None if self.was_early => {
                "`resources/read` was only answered before the handshake, which says nothing about the resource"
                    .to_owned()
            }
            None => "no missing resource was requested".to_owned(),
        }
    }
}
