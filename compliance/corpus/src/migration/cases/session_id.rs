//! A server that recognizes its clients by a session id.

use tapewright_schemas::era::Era;
use tapewright_schemas::event::{ResponseHead, Side};

use super::super::case::{Case, Kind, Severity};
use super::super::fold::{Fold, HttpSeen, Out, Seen, What};

pub(super) static SESSION_ID: Case = Case {
    id: "session-id-reliance",
    kind: Kind::StatelessTransport,
    severity: Severity::High,
    spec_version: super::TARGET,
    summary: "the server recognizes clients by a session id",
    old_contract: "the response to `initialize` may carry `Mcp-Session-Id`, and every later request must repeat it",
    new_contract: "sessions are removed: every request is independent, and session ids are neither issued nor used",
    detection_signal: "a response with the header `Mcp-Session-Id`, and no answer to a request of 2026-07-28",
    replacement: "answer each request from its own contents; keep lasting state under a handle that tools take as an argument",
    doc_link: "https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http",
    sep: "SEP-2567",
    begin: || Box::<SessionId>::default(),
};

#[derive(Debug, Default)]
struct SessionId {
    // The first response that issued an id, and whether its request was of the stateless era.
    given: Option<u64>,
    // The answer to a request that was self-contained.
    alone: Option<u64>,
    http: bool,
}

impl Fold for SessionId {
    fn message(&mut self, seen: &Seen<'_>, _: &mut Out) {
        self.http |= seen.carrier.is_http();
        // `server/discover` is a probe, and shows nothing about the rest.
        if let What::Result { asked, .. } = &seen.what
            && seen.era == Era::Stateless
            && asked.method != "server/discover"
        {
            self.alone.get_or_insert(seen.seq);
        }
    }

    fn response(&mut self, seen: &HttpSeen<'_>, head: &ResponseHead, out: &mut Out) {
        self.http = true;
        if head.fields.get("mcp-session-id").is_none() {
            return;
        }
        let version = seen
            .asked
            .and_then(|asked| asked.fields.get("mcp-protocol-version"));
        if version.is_some_and(|version| version >= super::TARGET) {
            let what = "a request of 2026-07-28 was answered with a session id";
            out.fail(Side::Server, seen.seq, "Mcp-Session-Id", what);
        } else {
            self.given.get_or_insert(seen.seq);
        }
    }

    fn end(&mut self, out: &mut Out) {
        match (self.alone, self.given) {
            (Some(seq), _) => {
                let what = "a request of 2026-07-28 was answered without a session";
                out.pass(Side::Server, seq, "/result", what);
            }
            (None, Some(seq)) => {
                let what =
                    "the server gives out a session id, and answered no request of 2026-07-28";
                out.fail(Side::Server, seq, "Mcp-Session-Id", what);
            }
            (None, None) => {}
        }
    }

    fn undecided(&self) -> String {
        if self.http {
            "no session id was given out, and no request of 2026-07-28 was answered".to_owned()
        } else {
            "stdio has no session ids, and no request of 2026-07-28 was answered".to_owned()
        }
    }
}
