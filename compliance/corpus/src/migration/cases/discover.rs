//! A server that does not support `server/discover`.

use tapewright_schemas::conversation::Outcome;
use tapewright_schemas::event::{Direction, Side};
use tapewright_schemas::json;

use super::super::case::{Case, Kind, Severity};
use super::super::fold::{Fold, Out, PendingRequest, Seen, What};

pub(super) static DISCOVER: Case = Case {
    id: "missing-server-discover",
    kind: Kind::StatelessTransport,
    severity: Severity::Medium,
    spec_version: super::TARGET,
    summary: "the server does not answer `server/discover`",
    old_contract: "capabilities and revision are agreed on by `initialize`",
    new_contract: "servers must implement `server/discover`, which reports revisions and capabilities",
    detection_signal: "an error as the answer to `server/discover`, or one that does not list 2026-07-28",
    replacement: "implement `server/discover`, with `supportedVersions` and `capabilities`",
    doc_link: "https://modelcontextprotocol.io/specification/2026-07-28/server/discover",
    sep: "SEP-2575",
    begin: || Box::<Discover>::default(),
};

const METHOD: &str = "server/discover";
/// `UnsupportedProtocolVersion` (2026-07-28, basic/index §Error Codes).
const UNSUPPORTED: i64 = -32_022;

#[derive(Debug, Default)]
struct Discover {
    asked: bool,
    // It was answered correctly. An invalid request is refused, which is inconclusive then.
    answered: bool,
    refused: Option<(u64, &'static str, String)>,
}

impl Fold for Discover {
    fn message(&mut self, seen: &Seen<'_>, out: &mut Out) {
        if seen.dir == Direction::ToServer {
            self.asked |= seen.method() == Some(METHOD);
            return;
        }
        if let Some(result) = seen.result_of(METHOD) {
            self.answered = true;
            answered(result, seen.seq, out);
        }
        let What::Error { asked, code, .. } = &seen.what else {
            return;
        };
        if asked.method != METHOD {
            return;
        }
        let what = match code {
            Some(UNSUPPORTED) => {
                "the server knows `server/discover`, but not the requested revision".to_owned()
            }
            Some(code) => format!("`server/discover` was answered with the error {code}"),
            None => "`server/discover` was answered with an error".to_owned(),
        };
        self.refused.get_or_insert((seen.seq, "/error/code", what));
    }

    fn unanswered(&mut self, asked: &PendingRequest, outcome: Outcome, status: u16, _: &mut Out) {
        // A client that is not authorized does not learn whether it exists.
        if asked.method == METHOD
            && outcome == Outcome::HttpError
            && !matches!(status, 0 | 401 | 403 | 429 | 500..)
        {
            let what = format!("`server/discover` was answered with the HTTP status {status}");
            self.refused.get_or_insert((asked.seq, "/method", what));
        }
    }

    fn end(&mut self, out: &mut Out) {
        if let (Some((seq, pointer, what)), false) = (&self.refused, self.answered) {
            out.fail(Side::Server, *seq, pointer, what);
        }
    }

    fn undecided(&self) -> String {
        if self.asked {
            "`server/discover` was sent, and its answer was not recorded".to_owned()
        } else {
            "`server/discover` was never sent".to_owned()
        }
    }
}

fn answered(result: &[u8], seq: u64, out: &mut Out) {
    let mut lists = false;
    let versions =
        json::find(result, &["supportedVersions"]).filter(|list| list.first() == Some(&b'['));
    if let Some(list) = versions {
        json::valid_elements(list, |one| {
            lists |= one.of(list) == b"\"2026-07-28\"";
        });
    }
    if lists {
        let what = "`server/discover` is answered, and lists 2026-07-28";
        out.pass(Side::Server, seq, "/result/supportedVersions", what);
    } else {
        let what = "the answer to `server/discover` does not list 2026-07-28";
        out.fail(Side::Server, seq, "/result/supportedVersions", what);
    }
}
