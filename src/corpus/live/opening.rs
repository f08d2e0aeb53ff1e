//! Opens conversations, and lists what a server has.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tapewright_corpus::inventory::LISTS;
use tapewright_corpus::judge::Assertion;
use tapewright_corpus::observation::{Answer, Framing, Observation};
use tapewright_corpus::plan::{Facts, Tally};
use tapewright_corpus::rule::Applies;
use tapewright_corpus::verdict::Untested;
use tapewright_proxy::client::{Client, ClientError, Opening, Revision};
use tapewright_proxy::clock::Clock;
use tapewright_schemas::era::Era;

use super::{Asker, Target, answers, convert};
use crate::report;

/// How many pages of a list to request.
const PAGES: usize = 20;

impl Asker {
    pub(super) fn begin(target: Target, revision: &Revision) -> Result<Self, ClientError> {
        let clock = Clock::start();
        let (client, opened) = connect(&target, revision, clock)?;
        let mut asker = Self {
            client: Some(client),
            ended: None,
            revision: opened.revision,
            asked_for: match opened.era {
                Era::Stateless => Revision::Stateless {
                    version: opened.version.clone(),
                    discover: false,
                },
                Era::Handshake => Revision::Handshake(opened.version.clone()),
            },
            clock,
            facts: Facts {
                transports: vec![target.transport()],
                ..Facts::default()
            },
            framing: opened.framing,
            tally: Tally::default(),
            opening: opened.seen,
            seen: std::collections::HashMap::new(),
            asked: Vec::new(),
            strange: None,
            direct: None,
            session: None,
            next: 0,
            target,
        };
        asker.learn_opening();
        asker.learn_lists();
        if asker.target.transport() == Applies::Http {
            asker.learn_access();
        }
        Ok(asker)
    }

    /// Sets capabilities in place of the server's.
    pub(crate) fn name_capabilities(&mut self, named: Option<Vec<String>>) {
        self.facts.named = named;
    }

    fn learn_opening(&mut self) {
        let method = self.opening_method().to_owned();
        if let Some(Answer {
            reply: tapewright_corpus::observation::Reply::Result(result),
            ..
        }) = self.opening.answers.first()
        {
            self.facts.known.learn(&method, result);
        }
    }

    /// Requests all lists of the server.
    fn learn_lists(&mut self) {
        for (method, ..) in LISTS {
            let root = method.split('/').next().unwrap_or_default();
            if self.facts.known.declares(root) == Some(false) {
                continue;
            }
            let mut cursor: Option<String> = None;
            for _ in 0..PAGES {
                let mut params = Map::new();
                if let Some(cursor) = &cursor {
                    params.insert("cursor".to_owned(), json!(cursor));
                }
                let Ok(seen) = self.ask(method, Some(&params), self.target.timeout) else {
                    return;
                };
                let mut results = seen
                    .answers
                    .iter()
                    .filter_map(|answer| match &answer.reply {
                        tapewright_corpus::observation::Reply::Result(result) => Some(result),
                        _ => None,
                    });
                let Some(result) = results.next_back() else {
                    break;
                };
                self.facts.known.learn(method, result);
                let next = result.get("nextCursor").and_then(Value::as_str);
                if next.is_none() || next == cursor.as_deref() {
                    break;
                }
                cursor = next.map(str::to_owned);
            }
        }
    }

    /// Sends a separate `initialize`, with the parameters of the assertion.
    pub(super) fn fresh(&mut self, assertion: &Assertion) -> Result<Observation, Untested> {
        let call = assertion.written.call.as_ref();
        let written = call.and_then(|call| call.params.as_ref());
        let mut params = initialize(&self.revision);
        for (name, value) in written.into_iter().flatten() {
            params.insert(name.clone(), value.clone());
        }
        let failed = |error: &ClientError| Untested::Ended(report::causes(error));
        let settings = self.target.settings();
        let client = Client::open(&*self.target.upstream, settings, self.clock);
        let mut client = client.map_err(|error| failed(&error))?;
        client.answer_with(answers::answer);
        let timeout = self.patience(assertion);
        let text = convert::text(Some(&params));
        let answer = match client.request("initialize", text.as_deref(), timeout) {
            Ok(reply) => convert::answer(&reply),
            Err(_) => Answer::default(),
        };
        client.close();
        Ok(Observation {
            transport: Some(self.target.transport()),
            sent: convert::sent("initialize", Some(&params)),
            answers: vec![answer],
            ..Observation::default()
        })
    }

    /// Time limit for the answer to an assertion.
    pub(super) fn patience(&self, assertion: &Assertion) -> Duration {
        let call = assertion.written.call.as_ref();
        let own = call
            .and_then(|call| call.timeout_ms)
            .map(Duration::from_millis);
        own.unwrap_or(self.target.timeout)
    }

    /// Another conversation in the same revision.
    pub(super) fn another(&self) -> Result<Client, ClientError> {
        let (client, _) = connect(&self.target, &self.asked_for, self.clock)?;
        Ok(client)
    }
}

/// A conversation after its opening.
struct Opened {
    revision: String,
    version: String,
    era: Era,
    seen: Observation,
    framing: Framing,
}

fn connect(
    target: &Target,
    revision: &Revision,
    clock: Clock,
) -> Result<(Client, Opened), ClientError> {
    let mut client = Client::open(&*target.upstream, target.settings(), clock)?;
    client.answer_with(answers::answer);
    let stateless = matches!(revision, Revision::Stateless { .. });
    let opening = Opening {
        revision: revision.clone(),
        capabilities: if stateless {
            answers::STATELESS
        } else {
            answers::CAPABILITIES
        }
        .to_owned(),
        ..Opening::default()
    };
    let greeting = client.greet(&opening, target.timeout)?.clone();
    let method = match greeting.era {
        Era::Handshake => "initialize",
        Era::Stateless => "server/discover",
    };
    let mut framing = Framing::default();
    let mut seen = Observation {
        transport: Some(target.transport()),
        sent: convert::sent(method, None),
        ..Observation::default()
    };
    if let Some(reply) = &greeting.reply {
        seen.answers.push(convert::answer(reply));
        seen.between = convert::between(&reply.between, reply.sent);
        convert::frame(&mut framing, &reply.between, 1);
    }
    let opened = Opened {
        version: match revision {
            Revision::Handshake(version) | Revision::Stateless { version, .. } => version.clone(),
            _ => greeting.revision.clone(),
        },
        revision: greeting.revision,
        era: greeting.era,
        seen,
        framing,
    };
    Ok((client, opened))
}

/// The parameters of an `initialize` request.
pub(super) fn initialize(revision: &str) -> Map<String, Value> {
    let capabilities: Value = serde_json::from_str(answers::CAPABILITIES).unwrap_or_default();
    let params = json!({
        "protocolVersion": revision,
        "capabilities": capabilities,
        "clientInfo": { "name": "tapewright", "version": env!("CARGO_PKG_VERSION") },
    });
    match params {
        Value::Object(params) => params,
        _ => Map::new(),
    }
}
