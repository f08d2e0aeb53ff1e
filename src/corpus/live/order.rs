//! How each assertion is tested, and in which order.

use tapewright_corpus::judge::Assertion;
use tapewright_corpus::rule::{Applies, TransportObservation};
use tapewright_proxy::client::Revision;

use super::{Asker, asking};

/// How an assertion is tested, in the order of execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProbeKind {
    /// By the handshake.
    Opening,
    /// By a request of the conversation.
    Plain,
    /// By calling tools until one asks its client for something.
    Asking,
    /// By several requests at once.
    Many,
    /// By a separate HTTP request, whose head and status are checked.
    Direct,
    /// By a separate opening.
    Fresh,
    /// By bytes that no client sends.
    Raw,
    /// By cancelling a request.
    Cancel,
    /// By everything that the server wrote.
    Framing,
}

/// The requests that open a conversation.
pub(super) const OPENINGS: [&str; 2] = ["initialize", "server/discover"];

impl Asker {
    pub(super) fn way(&self, assertion: &Assertion) -> ProbeKind {
        let expect = &assertion.written.expect;
        match expect.transport_observation {
            Some(TransportObservation::Cancellable) => return ProbeKind::Cancel,
            Some(_) => return ProbeKind::Framing,
            None => {}
        }
        let looks_at_head = !expect.headers.is_empty() || !expect.headers_absent.is_empty();
        let http = self.target.transport() == Applies::Http;
        let Some(call) = &assertion.written.call else {
            return if looks_at_head && http {
                ProbeKind::Direct
            } else {
                ProbeKind::Opening
            };
        };
        if call.raw.is_some() || assertion.is_notification() {
            return ProbeKind::Raw;
        }
        if expect.server_request.is_some() && asking::is_any_tool(call) {
            return ProbeKind::Asking;
        }
        if http && (looks_at_head || !call.headers.is_empty()) {
            return ProbeKind::Direct;
        }
        let method = call.method.as_deref().unwrap_or_default();
        let opens = match self.asked_for {
            Revision::Stateless { .. } => method == "initialize",
            _ => OPENINGS.contains(&method),
        };
        if assertion.wants() > 1 {
            return ProbeKind::Many;
        }
        match (
            opens,
            call.params.as_ref().is_none_or(serde_json::Map::is_empty),
        ) {
            (true, true) if method == self.opening_method() => ProbeKind::Opening,
            (true, _) if method == "initialize" => ProbeKind::Fresh,
            _ => ProbeKind::Plain,
        }
    }

    /// The request that opened the conversation.
    pub(super) fn opening_method(&self) -> &str {
        self.opening.sent.method.as_deref().unwrap_or("initialize")
    }
}
