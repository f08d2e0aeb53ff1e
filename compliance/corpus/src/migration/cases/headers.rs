//! Requests over HTTP without the headers that mirror their bodies.

use std::collections::{BTreeMap, VecDeque};

use tapewright_schemas::era::Era;
use tapewright_schemas::event::{ConduitId, Side};

use super::super::case::{Case, Kind, Severity};
use super::super::doctor::Probed;
use super::super::fold::{AskedHttp, Fold, Out, Seen, What};

pub(super) static HEADERS: Case = Case {
    id: "mcp-headers-missing",
    kind: Kind::StatelessTransport,
    severity: Severity::Medium,
    spec_version: super::TARGET,
    summary: "requests lack `Mcp-Method` or `Mcp-Name`, or the server takes them without",
    old_contract: "only the body says what is requested",
    new_contract: "every POST of a request carries `MCP-Protocol-Version`, `Mcp-Method` and, where it names something, `Mcp-Name`; servers refuse one whose headers are missing or differ (-32020, status 400)",
    detection_signal: "a request of 2026-07-28 over HTTP without one of them, or a result for it",
    replacement: "clients send the headers; servers compare them with the body and answer -32020 with status 400",
    doc_link: "https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http",
    sep: "SEP-2243",
    begin: || Box::<Headers>::default(),
};

/// `HeaderMismatch` (2026-07-28, basic/index §Error Codes).
const MISMATCH: i64 = -32_020;

#[derive(Debug, Default)]
struct Headers {
    // Pending requests that lack a header, and which one.
    lacking: BTreeMap<ConduitId, &'static str>,
    order: VecDeque<ConduitId>,
    stateless: bool,
    http: bool,
}

/// The maximum number that are remembered.
const MOST: usize = 4_096;

impl Fold for Headers {
    fn message(&mut self, seen: &Seen<'_>, out: &mut Out) {
        let stateless = seen.era == Era::Stateless;
        self.stateless |= stateless;
        self.http |= seen.carrier.is_http();
        match &seen.what {
            What::Request { method, .. } if stateless && seen.carrier.is_post() => {
                let Some(head) = seen.head else { return };
                self.asked(seen, method, head, out);
            }
            What::Result { asked, .. } => {
                if let Some(name) = self.lacking.remove(&asked.conduit) {
                    let what = format!(
                        "the server answered a request without `{name}`, which it must refuse"
                    );
                    out.fail(Side::Server, seen.seq, "/result", &what);
                }
            }
            What::Error { asked, code, .. }
                if self.lacking.remove(&asked.conduit).is_some() && *code == Some(MISMATCH) =>
            {
                let what = "the server refused a request without its headers";
                out.pass(Side::Server, seen.seq, "/error/code", what);
            }
            _ => {}
        }
    }

    fn probed(&mut self, probed: Probed, out: &mut Out) {
        self.http = true;
        if probed.is_result {
            let what = "the server answered a request without `Mcp-Method`, which it must refuse";
            out.fail(Side::Server, 0, "Mcp-Method", what);
        } else if probed.code == Some(MISMATCH) {
            let what = "the server refused a request without `Mcp-Method`";
            out.pass(Side::Server, 0, "Mcp-Method", what);
        }
    }

    fn undecided(&self) -> String {
        match (self.http, self.stateless) {
            (false, _) => "these headers exist only over HTTP, and nothing was sent over it",
            (true, false) => "no request of 2026-07-28 crossed",
            (true, true) => "the request headers were not recorded, or the server refused them for another reason",
        }
        .to_owned()
    }
}

impl Headers {
    fn asked(&mut self, seen: &Seen<'_>, method: &str, head: &AskedHttp, out: &mut Out) {
        let named = matches!(method, "tools/call" | "prompts/get" | "resources/read");
        let wanted = ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"];
        let mut wanted = wanted
            .into_iter()
            .filter(|name| named || *name != "Mcp-Name");
        let Some(name) = wanted.find(|name| head.fields.get(name).is_none()) else {
            let what = "requests of 2026-07-28 carry their headers";
            return out.pass(Side::Client, head.seq, "Mcp-Method", what);
        };
        let what = format!("`{method}` was sent without `{name}`");
        out.fail(Side::Client, head.seq, name, &what);
        if self.order.len() >= MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.lacking.remove(&oldest);
        }
        self.order.push_back(seen.conduit);
        self.lacking.insert(seen.conduit, name);
    }
}
