//! Requests that are sent several times at once, and one that is cancelled.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tapewright_corpus::judge::Assertion;
use tapewright_corpus::observation::{Answer, Cancelled, Observation};
use tapewright_corpus::verdict::Untested;
use tapewright_proxy::client::{Client, Passed};
use tapewright_schemas::conversation::IdKey;
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::era::{Era, PROTOCOL_VERSION_KEY};

use super::{Asker, answers, convert};
use crate::report;

impl Asker {
    /// Sends a request as often as the assertion says, without waiting for answers.
    pub(super) fn many(&mut self, assertion: &Assertion) -> Result<Observation, Untested> {
        let filled = self.filled(assertion)?;
        let mut seen = Observation {
            transport: Some(self.target.transport()),
            sent: convert::sent(&filled.method, filled.params.as_ref()),
            chosen: filled.chosen,
            ..Observation::default()
        };
        let meta = if filled.own_meta {
            Map::new()
        } else {
            self.meta()
        };
        let Some(client) = &mut self.client else {
            let why = self.ended.clone().unwrap_or_default();
            return Err(Untested::Ended(why));
        };
        let count = assertion.wants();
        let mut open = Vec::new();
        for _ in 0..count {
            let id = client.fresh_id();
            let line = envelope(&json!(id), &filled.method, filled.params.clone(), &meta);
            if let Err(error) = client.send(line.as_bytes()) {
                let why = report::causes(&error);
                self.client = None;
                self.ended.get_or_insert(why.clone());
                return Err(Untested::Ended(why));
            }
            open.push(IdKey::exact_of(id.to_string().as_bytes()));
        }
        let started = self.clock.now();
        let mut left = open.clone();
        let heard = client.listen(filled.timeout, |passed| {
            left.retain(|id| !is_answer(passed, *id));
            left.is_empty()
        });
        let heard = heard.unwrap_or_default();
        convert::frame(&mut self.framing, &heard, 0);
        for id in open {
            let answer = heard.iter().find(|passed| is_answer(passed, id));
            seen.answers
                .push(answer.map_or_else(Answer::default, |passed| Answer {
                    reply: convert::reply(&passed.message),
                    took: Some(Duration::from_micros(passed.at.since(started).0)),
                    ..Answer::default()
                }));
        }
        seen.between = convert::between(&heard, started);
        Ok(seen)
    }

    /// Cancels a request right after it was sent, and checks whether the server still answers.
    pub(super) fn cancelled(&mut self, assertion: &Assertion) -> Result<Observation, Untested> {
        let mut filled = self.filled(assertion)?;
        if assertion.written.call.is_none() {
            "tools/list".clone_into(&mut filled.method);
        }
        let meta = self.meta();
        let mut client = self
            .another()
            .map_err(|error| Untested::Ended(report::causes(&error)))?;
        let id = client.fresh_id();
        let line = envelope(&json!(id), &filled.method, filled.params.clone(), &meta);
        let cancel = json!({ "requestId": id, "reason": "to see whether it can be" });
        let sent = client
            .send(line.as_bytes())
            .and_then(|()| client.notify("notifications/cancelled", Some(&cancel.to_string())));
        let goes_on = sent.is_ok() && self.is_there(&mut client);
        let heard = client.listen(Duration::ZERO, |_| false).unwrap_or_default();
        let key = IdKey::exact_of(id.to_string().as_bytes());
        convert::frame(&mut self.framing, &heard, 0);
        client.close();
        Ok(Observation {
            transport: Some(self.target.transport()),
            sent: convert::sent(&filled.method, filled.params.as_ref()),
            cancelled: Some(Cancelled {
                answered: heard.iter().any(|passed| is_answer(passed, key)),
                goes_on: Some(goes_on),
            }),
            ..Observation::default()
        })
    }

    /// Whether a server answers a request that every server answers.
    fn is_there(&self, client: &mut Client) -> bool {
        client
            .request(self.probe(), None, self.target.timeout)
            .is_ok()
    }

    /// The method that every server of the revision answers.
    pub(super) fn probe(&self) -> &'static str {
        match self.era() {
            Era::Handshake => "ping",
            Era::Stateless => "server/discover",
        }
    }

    pub(super) fn era(&self) -> Era {
        Era::of_revision(Some(&self.revision))
    }

    /// The `_meta` of a request of the stateless era (2026-07-28, basic/index §_meta).
    pub(super) fn meta(&self) -> Map<String, Value> {
        let mut meta = Map::new();
        if self.era() == Era::Stateless {
            let info = json!({ "name": "tapewright", "version": env!("CARGO_PKG_VERSION") });
            meta.insert(PROTOCOL_VERSION_KEY.to_owned(), json!(self.revision));
            meta.insert("io.modelcontextprotocol/clientInfo".to_owned(), info);
            let capabilities = "io.modelcontextprotocol/clientCapabilities".to_owned();
            let offered = serde_json::from_str(answers::STATELESS).unwrap_or_default();
            meta.insert(capabilities, offered);
        }
        meta
    }
}

/// A request as one line; `meta` is added to its `_meta`.
pub(super) fn envelope(
    id: &Value,
    method: &str,
    params: Option<Map<String, Value>>,
    meta: &Map<String, Value>,
) -> String {
    let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": method });
    let mut params = params;
    if !meta.is_empty() {
        let params = params.get_or_insert_default();
        let own = params.entry("_meta").or_insert_with(|| json!({}));
        if let Some(own) = own.as_object_mut() {
            for (name, value) in meta {
                own.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
    }
    if let (Some(params), Some(members)) = (params, request.as_object_mut()) {
        members.insert("params".to_owned(), Value::Object(params));
    }
    request.to_string()
}

/// Whether a message answers the request with an id.
pub(super) fn is_answer(passed: &Passed, wanted: IdKey) -> bool {
    match Envelope::parse(&passed.message).kind {
        Kind::Response { id, .. } => IdKey::exact(&id) == wanted,
        _ => false,
    }
}
