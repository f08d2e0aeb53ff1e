//! The fold that passes the traffic to every case.

use tapewright_schemas::conversation::{Conversation, Does, Outcome};
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::era::{Era, own_version};
use tapewright_schemas::event::{ConduitId, Direction, Event, EventBody, Origin, Payload};
use tapewright_schemas::json;

use super::case::Case;
use super::cases::CASES;
use super::fold::{AskedHttp, Fold, HttpSeen, Out, PendingRequest, Seen, What};
use super::http::Exchanges;
use super::{Finding, finding};

/// Finds everything that must change, in the events of a recording or of a conversation with
/// tapewright as the client.
#[derive(Debug)]
pub struct Doctor {
    cases: Vec<(&'static Case, Box<dyn Fold>, Out)>,
    conversation: Conversation<Option<Era>>,
    http: Exchanges,
    // A message was too long to be recorded, or there is a gap: the missing part may have been the
    // proof.
    blind: bool,
}

/// The response to a request of 2026-07-28 that was sent over HTTP without `Mcp-Method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probed {
    /// The status of the response.
    pub status: u16,
    /// The code of the error in its body, if any.
    pub code: Option<i64>,
    /// Its body was a result.
    pub is_result: bool,
}

impl Doctor {
    /// Creates a doctor. If `client_is_ours`, the client's messages come from tapewright and are
    /// not reported as failures of a peer.
    #[must_use]
    pub fn new(client_is_ours: bool) -> Self {
        let begin = |case: &&'static Case| {
            let out = Out {
                client_is_ours,
                ..Out::default()
            };
            (*case, (case.begin)(), out)
        };
        Self {
            cases: CASES.iter().map(begin).collect(),
            conversation: Conversation::default(),
            http: Exchanges::default(),
            blind: false,
        }
    }

    /// Handles the next event; `message` is its parsed message, if known.
    pub fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        match &event.body {
            EventBody::Message {
                payload, origin, ..
            } => {
                self.blind |= matches!(payload, Payload::Clipped { .. });
                if !event.is_made_by_us() {
                    self.message(event, *origin, message);
                }
            }
            EventBody::Gap(_) => self.blind = true,
            EventBody::Opened(_)
            | EventBody::Head(_)
            | EventBody::Body { .. }
            | EventBody::Closed(_) => self.http(event),
            _ => {}
        }
        if !matches!(event.body, EventBody::Message { .. }) {
            self.conversation.observe(event, None, |_| {});
        }
        self.over();
    }

    /// Adds the response to a probe over HTTP, which is in no recording.
    pub fn probed(&mut self, probed: Probed) {
        for (_, fold, out) in &mut self.cases {
            fold.probed(probed, out);
        }
    }

    /// Adds a request that was refused by an HTTP status, which is in no recording of the messages.
    pub fn refused(&mut self, method: &str, status: u16) {
        let asked = PendingRequest {
            seq: 0,
            conduit: ConduitId::default(),
            method: method.to_owned(),
            era: Era::Stateless,
        };
        for (_, fold, out) in &mut self.cases {
            fold.unanswered(&asked, Outcome::HttpError, status, out);
        }
    }

    /// Adds a document that was fetched outside the conversation: metadata of an authorization
    /// server.
    pub fn fetched(&mut self, host: &str, path: &str, body: &[u8]) {
        let asked = AskedHttp {
            method: "GET".to_owned(),
            host: host.to_owned(),
            path: path.to_owned(),
            ..AskedHttp::default()
        };
        let seen = HttpSeen {
            seq: 0,
            dir: Direction::ToClient,
            asked: Some(&asked),
        };
        for (_, fold, out) in &mut self.cases {
            fold.body(&seen, body, out);
        }
    }

    /// The findings, in the order of the cases.
    #[must_use]
    pub fn finish(mut self) -> Vec<Finding> {
        let blind = self.blind;
        let end = |(case, mut fold, mut out): (&'static Case, Box<dyn Fold>, Out)| {
            fold.end(&mut out);
            finding(case, out, || {
                let why = fold.undecided();
                if blind {
                    return format!("{why}; something was not recorded");
                }
                why
            })
        };
        std::mem::take(&mut self.cases)
            .into_iter()
            .map(end)
            .collect()
    }

    fn message(&mut self, event: &Event, origin: Origin, message: Option<&Envelope<'_>>) {
        let Self {
            cases,
            conversation,
            http,
            ..
        } = self;
        let mut eras = Vec::new();
        conversation.observe(event, message, |step| {
            let asked = step.answers().map(|exchange| PendingRequest {
                seq: exchange.seq,
                conduit: exchange.conduit,
                method: exchange.method.clone(),
                era: exchange.value.unwrap_or(Era::Handshake),
            });
            let Some((era, what)) = what(step.envelope, asked.as_ref()) else {
                return;
            };
            if step.what == Does::Asks {
                eras.extend(step.handle.map(|handle| (handle, era)));
            }
            let seen = Seen {
                seq: event.seq,
                dir: event.dir,
                era,
                session: event.session,
                conduit: event.conduit,
                carrier: origin.carrier,
                head: http.get(event.conduit),
                what,
            };
            for (_, fold, out) in &mut *cases {
                fold.message(&seen, out);
            }
        });
        for (handle, era) in eras {
            if let Some(exchange) = conversation.get_mut(handle) {
                exchange.value = Some(era);
            }
        }
    }

    fn http(&mut self, event: &Event) {
        let Self { cases, http, .. } = self;
        http.observe(event, |seen, part| {
            for (_, fold, out) in &mut *cases {
                match part {
                    super::http::Part::Request(head) => fold.request(seen, head, out),
                    super::http::Part::Response(head) => fold.response(seen, head, out),
                    super::http::Part::Body(body) => fold.body(seen, body, out),
                }
            }
        });
    }

    /// Requests that are over without an answer.
    fn over(&mut self) {
        while let Some(over) = self.conversation.poll() {
            if over.outcome.is_answer() || over.exchange.fault.is_some() {
                continue;
            }
            let exchange = &over.exchange;
            let asked = PendingRequest {
                seq: exchange.seq,
                conduit: exchange.conduit,
                method: exchange.method.clone(),
                era: exchange.value.unwrap_or(Era::Handshake),
            };
            for (_, fold, out) in &mut self.cases {
                fold.unanswered(&asked, over.outcome, exchange.status, out);
            }
        }
    }
}

/// The kind of a message, and its era: a request shows it itself, and an answer has the era of its
/// request.
fn what<'a>(
    envelope: &'a Envelope<'a>,
    asked: Option<&'a PendingRequest>,
) -> Option<(Era, What<'a>)> {
    let own = |method: &str, params: Option<&[u8]>| {
        if method == "server/discover" || params.and_then(own_version).is_some() {
            Era::Stateless
        } else {
            Era::Handshake
        }
    };
    Some(match (&envelope.kind, asked) {
        (Kind::Request { method, params, .. }, _) => {
            let params = *params;
            (own(method, params), What::Request { method, params })
        }
        (Kind::Notification { method, params }, _) => {
            let params = *params;
            (own(method, params), What::Notification { method, params })
        }
        (
            Kind::Response {
                error: Some(error), ..
            },
            Some(asked),
        ) => {
            let code = json::find(error, &["code"]);
            let code = code.and_then(|code| std::str::from_utf8(code).ok()?.parse().ok());
            (asked.era, What::Error { asked, code, error })
        }
        (
            Kind::Response {
                result: Some(result),
                ..
            },
            Some(asked),
        ) => (asked.era, What::Result { asked, result }),
        _ => return None,
    })
}
