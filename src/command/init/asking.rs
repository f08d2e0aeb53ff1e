//! Makes a suite from a server: lists what it has, and sends each call twice.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};
use tapewright_proxy::client::{Client, ClientError, Opening, Settings};
use tapewright_proxy::clock::Clock;
use tapewright_proxy::upstream::Upstream;
use tapewright_schemas::redact::Redactor;

use super::plan::{Plan, call};
use super::{Arguments, recorded};
use crate::command::record::config::label;
use crate::command::redaction;
use crate::command::verify::target;
use crate::report::{self, Mistake};
use crate::suite::write::call::{Asks, Call, Calls};
use crate::suite::write::server::{Reach, Server};
use crate::suite::write::{Draft, ServerDraft, Stub};

/// How many pages of a list to request.
const PAGES: usize = 20;
/// How many calls of each kind to send.
const EACH: usize = 200;

/// One conversation with the server.
struct AskedServer {
    client: Client,
    redactor: Redactor,
    timeout: Duration,
}

/// The suite of a server.
pub(super) fn draft(arguments: &Arguments, output: Option<&Path>) -> anyhow::Result<Draft> {
    let clock = Clock::start();
    let timeout = arguments.timeout;
    let mut settings = arguments.redaction.settings();
    settings.values.extend(arguments.server.secrets()?);
    let rules = Arc::new(redaction::rules(&settings)?);
    let (upstream, hint) = target::of(&arguments.server, &arguments.command)?;
    let open = || -> anyhow::Result<AskedServer> {
        let settings = Settings::new(Arc::clone(&rules));
        let redactor = Redactor::new(Arc::clone(&rules));
        AskedServer::open(&*upstream, settings, redactor, clock, timeout)
            .context(Mistake::new("cannot query the server", hint))
    };
    let mut session = open()?;
    let Plan { asked, mut stubs } = session.plan(arguments.all_tools)?;
    let mut calls = Calls::default();
    let refused = session.ask(&asked, &mut calls);
    session.client.close();
    stubs.extend(refused);
    // The second time, to a server that knows nothing of the first.
    let again: Vec<Call> = calls.all.iter().map(question).collect();
    let mut session = open()?;
    let lost = session.ask(&again, &mut calls);
    session.client.close();
    let lost: HashSet<String> = lost.iter().map(|one| one.call.name.clone()).collect();
    if !lost.is_empty() {
        report::note(&format!(
            "{} requests were answered only the first time; check their tests",
            lost.len()
        ));
    }
    if calls.all.is_empty() && stubs.is_empty() {
        return Err(Mistake::new(
            "the server has no tools, resources or prompts",
            "look at its messages with `tapewright record -o first.json -- COMMAND`",
        )
        .into());
    }
    Ok(Draft {
        about: recorded::about(
            "Written by `tapewright init`: what the server answered the same way twice.",
            output,
            None,
        ),
        servers: vec![ServerDraft {
            server: server(arguments, &rules)?,
            calls: calls.all,
            stubs,
        }],
    })
}

/// The server's entry in the suite, without secrets.
fn server(
    arguments: &Arguments,
    rules: &Arc<tapewright_schemas::redact::Rules>,
) -> anyhow::Result<Server> {
    let mut redactor = Redactor::new(Arc::clone(rules));
    let Some(url) = arguments.server.url()? else {
        let argv: Vec<Vec<u8>> = arguments
            .command
            .iter()
            .map(|word| word.to_string_lossy().into_owned().into_bytes())
            .collect();
        let text = |word: Vec<u8>| String::from_utf8_lossy(&word).into_owned();
        return Ok(Server {
            name: label(&arguments.command),
            reach: Reach::Command(redactor.argv(&argv).into_iter().map(text).collect()),
        });
    };
    let text = url.to_string();
    Ok(Server {
        name: url.host.clone(),
        reach: Reach::Url(redactor.url(&text), arguments.server.variables()),
    })
}

/// The call without its answers.
fn question(call: &Call) -> Call {
    Call {
        answers: Vec::new(),
        ..call.clone()
    }
}

impl AskedServer {
    fn open(
        upstream: &dyn Upstream,
        settings: Settings,
        redactor: Redactor,
        clock: Clock,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let mut client = Client::open(upstream, settings, clock)?;
        client.greet(&Opening::default(), timeout)?;
        Ok(Self {
            client,
            redactor,
            timeout,
        })
    }

    /// The calls to send, by the server's lists.
    fn plan(&mut self, all_tools: bool) -> anyhow::Result<Plan> {
        let mut plan = Plan {
            asked: Vec::new(),
            stubs: Vec::new(),
        };
        for tool in self.list("tools/list", "tools")? {
            plan.tool(&tool, all_tools);
        }
        for resource in self.list("resources/list", "resources")? {
            if let Some(uri) = resource.get("uri").and_then(Value::as_str) {
                plan.asked.push(call(Asks::Resource, uri, None));
            }
        }
        for prompt in self.list("prompts/list", "prompts")? {
            plan.prompt(&prompt);
        }
        Ok(plan)
    }

    /// All pages of a list; empty if the server does not have it.
    fn list(&mut self, method: &str, member: &str) -> anyhow::Result<Vec<Value>> {
        let mut all = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES {
            let params = match &cursor {
                None => json!({}),
                Some(cursor) => json!({ "cursor": cursor }),
            };
            let reply = self
                .client
                .request(method, Some(&params.to_string()), self.timeout)
                .with_context(|| format!("`{method}` was not answered"))?;
            let Some(result) = reply.result() else { break };
            let mut result: Value = serde_json::from_slice(result)?;
            if let Some(Value::Array(page)) = result.get_mut(member).map(Value::take) {
                all.extend(page);
            }
            cursor = result
                .get("nextCursor")
                .and_then(Value::as_str)
                .map(str::to_owned);
            if cursor.is_none() || all.len() >= EACH {
                break;
            }
        }
        if all.len() > EACH {
            report::note(&format!(
                "only the first {EACH} of `{method}` are in the suite"
            ));
            all.truncate(EACH);
        }
        Ok(all)
    }

    /// Sends every call in order. Returns those without an answer that a test could expect.
    fn ask(&mut self, asked: &[Call], calls: &mut Calls) -> Vec<Stub> {
        let mut refused = Vec::new();
        for call in asked {
            match self.answer(call) {
                Ok((envelope, bytes)) => calls.add(question(call), envelope, bytes),
                Err(why) => refused.push(Stub {
                    call: question(call),
                    why,
                }),
            }
        }
        refused
    }

    fn answer(&mut self, call: &Call) -> Result<(Value, usize), String> {
        let (method, params) = match call.asks {
            Asks::Resource => ("resources/read", json!({ "uri": call.name })),
            Asks::Tool | Asks::Prompt => {
                let mut params = json!({ "name": call.name });
                if let (Some(arguments), Some(members)) = (&call.arguments, params.as_object_mut())
                {
                    members.insert("arguments".to_owned(), arguments.clone());
                }
                let tool = call.asks == Asks::Tool;
                (if tool { "tools/call" } else { "prompts/get" }, params)
            }
        };
        let reply = self
            .client
            .request(method, Some(&params.to_string()), self.timeout)
            .map_err(|error| format!("It gave no answer: {}.", report::causes(&error)))?;
        // The server's text is written to a file.
        let text = self
            .redactor
            .json(&reply.message)
            .map_err(|_| "Its answer is not JSON.".to_owned())?;
        let envelope: Value =
            serde_json::from_slice(&text).map_err(|_| "Its answer is not JSON.".to_owned())?;
        let failed = envelope.get("error").is_some()
            || envelope.pointer("/result/isError").and_then(Value::as_bool) == Some(true);
        if failed {
            return Err("It refused these arguments, which were made from its schema.".to_owned());
        }
        Ok((envelope, text.len()))
    }
}
