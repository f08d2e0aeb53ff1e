//! Bytes that no client sends.

use std::time::Duration;

use bytes::Bytes;
use serde_json::json;
use tapewright_corpus::judge::Assertion;
use tapewright_corpus::observation::{Answer, Observation};
use tapewright_corpus::placeholder::{Unresolved, fill_text};
use tapewright_corpus::recorded::answers_raw;
use tapewright_corpus::rule::Applies;
use tapewright_corpus::verdict::Untested;
use tapewright_proxy::client::{Client, Passed};
use tapewright_schemas::conversation::IdKey;
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::Direction;

use super::many::{envelope, is_answer};
use super::{Asker, convert};
use crate::report;

/// How long an answer may come after the answer to the next request.
const GRACE: Duration = Duration::from_millis(250);

impl Asker {
    /// Sends bytes unchanged, and observes the reaction.
    pub(super) fn raw(&mut self, assertion: &Assertion) -> Result<Observation, Untested> {
        let call = assertion.written.call.clone().unwrap_or_default();
        let raw = match call.raw {
            Some(raw) => fill_text(&raw, &self.facts.known)
                .map_err(|Unresolved(name)| Untested::Placeholder(name))?,
            None => self.notification(assertion)?,
        };
        if self.target.transport() == Applies::Http {
            return self.raw_http(assertion, &raw, &call.headers);
        }
        let mut client = match self.strange.take() {
            Some(client) => client,
            None => self
                .another()
                .map_err(|error| Untested::Ended(report::causes(&error)))?,
        };
        let timeout = self.patience(assertion);
        let (answer, alive) = self.say(&mut client, &raw, timeout);
        if alive {
            self.strange = Some(client);
        }
        Ok(Observation {
            transport: Some(Applies::Stdio),
            answers: vec![answer],
            ..Observation::default()
        })
    }

    /// The notification of an assertion.
    fn notification(&mut self, assertion: &Assertion) -> Result<String, Untested> {
        let filled = self.filled(assertion)?;
        let mut message = json!({ "jsonrpc": "2.0", "method": filled.method });
        if let (Some(params), Some(members)) = (filled.params, message.as_object_mut()) {
            members.insert("params".to_owned(), params.into());
        }
        Ok(message.to_string())
    }

    /// Sends it and waits for an answer. Returns that, and whether the server still answers.
    ///
    /// It is unknown how long to wait for something that may have no answer. So a request that
    /// every server answers follows it: whatever is not answered by then counts as unanswered.
    fn say(&mut self, client: &mut Client, raw: &str, timeout: Duration) -> (Answer, bool) {
        let bytes = Bytes::copy_from_slice(raw.as_bytes());
        let is_request = matches!(Envelope::parse(&bytes).kind, Kind::Request { .. });
        let started = self.clock.now();
        let mark = self.fresh_name();
        let behind = envelope(&json!(mark), self.probe(), None, &self.meta());
        let marked = IdKey::exact_of(json!(mark).to_string().as_bytes());
        let mut lines = bytes
            .split(|byte| *byte == b'\n')
            .chain([behind.as_bytes()]);
        if lines.any(|line| client.send(line).is_err()) {
            return (Answer::default(), false);
        }
        let mut alive = false;
        let mut heard = client
            .listen(timeout, |passed| {
                alive |= is_answer(passed, marked);
                answers(passed, &bytes, marked) || (alive && !is_request)
            })
            .unwrap_or_default();
        if !heard.iter().any(|passed| answers(passed, &bytes, marked)) && alive && !is_request {
            let late = client.listen(GRACE, |passed| answers(passed, &bytes, marked));
            heard.extend(late.unwrap_or_default());
        } else if !alive {
            let rest = client.listen(timeout, |passed| {
                alive |= is_answer(passed, marked);
                alive
            });
            heard.extend(rest.unwrap_or_default());
        }
        convert::frame(&mut self.framing, &heard, 0);
        let answer = heard.iter().find(|passed| answers(passed, &bytes, marked));
        let answer = answer.map_or_else(Answer::default, |passed| Answer {
            reply: convert::reply(&passed.message),
            took: Some(Duration::from_micros(passed.at.since(started).0)),
            ..Answer::default()
        });
        (answer, alive)
    }
}

/// Whether a message of the server answers the bytes that were sent, rather than the request after
/// them.
fn answers(passed: &Passed, raw: &[u8], marked: IdKey) -> bool {
    passed.dir == Direction::ToClient
        && match Envelope::parse(&passed.message).kind {
            Kind::Response { id, .. } => IdKey::exact(&id) != marked && answers_raw(raw, &id),
            _ => false,
        }
}
