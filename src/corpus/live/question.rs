//! A request within the conversation, and its answer.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tapewright_corpus::inventory::needs_arguments;
use tapewright_corpus::judge::Assertion;
use tapewright_corpus::observation::{Answer, Observation};
use tapewright_corpus::placeholder::{Unresolved, chooses, fill_object};
use tapewright_corpus::verdict::Untested;
use tapewright_proxy::client::{Client, ClientError, Reply};
use tapewright_schemas::era::Era;

use super::many::envelope;
use super::{Asker, convert};
use crate::command::init::arguments;
use crate::report;

/// How long to read a stream that does not end by itself (2026-07-28,
/// basic/patterns/subscriptions).
const LISTEN: Duration = Duration::from_millis(800);
const LASTING: &str = "subscriptions/listen";

/// The request of an assertion, with everything filled in.
pub(super) struct Filled {
    pub(super) method: String,
    pub(super) params: Option<Map<String, Value>>,
    pub(super) chosen: bool,
    pub(super) timeout: Duration,
    /// Whether `_meta` is sent as it is.
    pub(super) own_meta: bool,
}

impl Asker {
    /// Sends the request of an assertion.
    pub(super) fn plain(&mut self, assertion: &Assertion) -> Result<Observation, Untested> {
        let filled = self.filled(assertion)?;
        let key = key(&filled);
        if let Some(seen) = self.seen.get(&key) {
            let chosen = filled.chosen;
            return Ok(Observation {
                chosen,
                ..seen.clone()
            });
        }
        let mut seen = if filled.own_meta && self.era() == Era::Stateless {
            self.ask_as_it_stands(&filled)?
        } else {
            self.ask(&filled.method, filled.params.as_ref(), filled.timeout)?
        };
        self.seen.insert(key, seen.clone());
        seen.chosen = filled.chosen;
        Ok(seen)
    }

    /// The request of an assertion, filled in from what the server has.
    pub(super) fn filled(&mut self, assertion: &Assertion) -> Result<Filled, Untested> {
        let call = assertion.written.call.clone().unwrap_or_default();
        let method = call
            .method
            .unwrap_or_else(|| self.opening_method().to_owned());
        let known = &self.facts.known;
        let nothing = |Unresolved(name)| Untested::Placeholder(name);
        let written = call.params.as_ref();
        let mut params = match written {
            None => None,
            Some(params) => Some(fill_object(params, known).map_err(nothing)?),
        };
        if let (Some(written), Some(params)) = (written, &mut params) {
            self.arguments(&method, written, params)?;
        }
        let streams = assertion.written.expect.notification_stream.as_ref();
        if streams.is_some_and(|stream| stream.method == "notifications/progress" && !stream.absent)
        {
            token(params.get_or_insert_default());
        }
        let patience = self.patience(assertion);
        let lasting = method == LASTING && call.timeout_ms.is_none();
        Ok(Filled {
            own_meta: written.is_some_and(|written| written.contains_key("_meta")),
            chosen: written.is_some_and(|written| written.values().any(chooses)),
            timeout: if lasting { LISTEN } else { patience },
            method,
            params,
        })
    }

    /// Fills in the arguments of a tool that was chosen automatically.
    pub(super) fn arguments(
        &self,
        method: &str,
        written: &Map<String, Value>,
        params: &mut Map<String, Value>,
    ) -> Result<(), Untested> {
        let name = written
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let chosen = matches!(name, "${tool:first}" | "${tool:structured}");
        if method != "tools/call" || !chosen || params.contains_key("arguments") {
            return Ok(());
        }
        let called = params.get("name");
        let mut tools = self.facts.known.tools.items.iter();
        let tool = tools.find(|tool| tool.get("name") == called && needs_arguments(tool));
        let Some(tool) = tool else { return Ok(()) };
        match arguments::of(tool.get("inputSchema")) {
            Some(made) => {
                params.insert("arguments".to_owned(), made);
                Ok(())
            }
            None => Err(Untested::Placeholder(name.to_owned())),
        }
    }

    /// Sends one request, and adds nothing to its `_meta`.
    fn ask_as_it_stands(&mut self, filled: &Filled) -> Result<Observation, Untested> {
        let ask = |asker: &mut Self, params: Option<&Map<String, Value>>| {
            let own = |client: &mut Client| {
                let id = client.fresh_id();
                let line = envelope(&json!(id), &filled.method, params.cloned(), &Map::new());
                client.exchange(line.as_bytes(), filled.timeout)
            };
            asker.ask_by(&filled.method, params, own)
        };
        let seen = ask(self, filled.params.as_ref())?;
        self.with_input(seen, |asker, again| ask(asker, Some(again)))
    }

    /// Sends one request.
    pub(super) fn ask(
        &mut self,
        method: &str,
        params: Option<&Map<String, Value>>,
        timeout: Duration,
    ) -> Result<Observation, Untested> {
        let seen = self.ask_once(method, params, timeout)?;
        self.with_input(seen, |asker, again| {
            asker.ask_once(method, Some(again), timeout)
        })
    }

    fn ask_once(
        &mut self,
        method: &str,
        params: Option<&Map<String, Value>>,
        timeout: Duration,
    ) -> Result<Observation, Untested> {
        let text = convert::text(params);
        let asks = |client: &mut Client| client.request(method, text.as_deref(), timeout);
        self.ask_by(method, params, asks)
    }

    fn ask_by(
        &mut self,
        method: &str,
        params: Option<&Map<String, Value>>,
        asks: impl FnOnce(&mut Client) -> Result<Reply, ClientError>,
    ) -> Result<Observation, Untested> {
        let Some(client) = &mut self.client else {
            let why = self.ended.clone().unwrap_or_default();
            return Err(Untested::Ended(why));
        };
        let mut seen = Observation {
            transport: Some(self.target.transport()),
            sent: convert::sent(method, params),
            ..Observation::default()
        };
        match asks(client) {
            Ok(reply) => {
                convert::frame(&mut self.framing, &reply.between, 1);
                seen.between = convert::between(&reply.between, reply.sent);
                seen.answers.push(convert::answer(&reply));
            }
            Err(error) => self.without_answer(error, method, &mut seen)?,
        }
        Ok(seen)
    }

    /// The observation if no answer came.
    fn without_answer(
        &mut self,
        error: ClientError,
        method: &str,
        seen: &mut Observation,
    ) -> Result<(), Untested> {
        let why = report::causes(&error);
        match error {
            ClientError::TimedOut { between, .. } => {
                convert::frame(&mut self.framing, &between, 0);
                seen.between = convert::between(&between, tapewright_schemas::event::Offset(0));
                if method != LASTING {
                    seen.answers.push(Answer::default());
                }
            }
            ClientError::Bridge { status, .. } => {
                let head = status.map(|status| tapewright_corpus::observation::HttpHead {
                    status,
                    fields: Vec::new(),
                });
                if head.is_none() {
                    self.client = None;
                    self.ended.get_or_insert(why.clone());
                    return Err(Untested::Ended(why));
                }
                seen.answers.push(Answer {
                    head,
                    ..Answer::default()
                });
            }
            _ => {
                // The request that ended it has no answer; those after it are not sent.
                self.client = None;
                self.ended.get_or_insert(why);
                seen.answers.push(Answer::default());
            }
        }
        Ok(())
    }
}

fn key(filled: &Filled) -> String {
    let params = convert::text(filled.params.as_ref()).unwrap_or_default();
    format!("{} {params}", filled.method)
}

/// The token for progress; adds one if there is none.
fn token(params: &mut Map<String, Value>) {
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    if let Some(meta) = meta.as_object_mut()
        && !meta.contains_key("progressToken")
    {
        meta.insert("progressToken".to_owned(), json!("tapewright-progress"));
    }
}
