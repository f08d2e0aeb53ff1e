//! A server of the suite, and the conversation with it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tapewright_assertions::{Answer, Ask, Headers, Json};
use tapewright_config::suite::server::Server;
use tapewright_proxy::client::{Client, ClientError, Opening, Passed, Reply, Revision, Settings};
use tapewright_proxy::clock::Clock;
use tapewright_schemas::envelope::{Envelope, Kind, RequestId, is_error_of_ours};
use tapewright_schemas::event::Direction;
use tapewright_schemas::json as scan;

use super::agents::wire::gateway::Faulty;
use super::record::{self, Taped};
use super::servers::{self, Reach};
use super::{Options, worker};
use crate::report::{self, Mistake};

/// A connected server.
pub(super) struct Connection {
    name: String,
    reach: Reach,
    taped: Option<Taped>,
    client: Option<Client>,
    opening: Opening,
    settings: Settings,
    // Time limit for each step of an opening.
    patience: Duration,
    clock: Clock,
    // The envelope of the answer to the opening, for the check `initialize`.
    greeting: Option<ServerAnswer>,
    notes: Vec<String>,
    /// The gateway in front of the server, which ends after the conversation.
    gateway: Option<Faulty>,
}

/// An answer of a server.
#[derive(Clone)]
pub(super) struct ServerAnswer {
    pub(super) envelope: Json,
    /// How long it took now.
    pub(super) took: Duration,
    /// How long the server took, if known: for a recording, when it was recorded.
    pub(super) judged: Option<Duration>,
    pub(super) headers: Fields,
    /// Whether a recording answered it for other UUIDs or times.
    pub(super) otherwise: bool,
}

/// The headers of a response.
#[derive(Clone, Debug)]
pub(super) enum Fields {
    Known(Vec<(String, String)>),
    NotHttp,
    /// A recording does not have them.
    NotKept,
}

impl Fields {
    /// The headers in the form for tests.
    pub(super) fn known(&self) -> Headers<'_> {
        match self {
            Self::Known(fields) => Headers::Known(fields),
            Self::NotHttp => Headers::NotHttp,
            Self::NotKept => Headers::NotKept,
        }
    }
}

/// Why there is no answer that can be judged, in words for the report of the test.
pub(super) enum NoAnswer {
    /// There is no answer.
    Failed(String),
    /// The recording does not have it.
    Unknown(String),
}

impl From<String> for NoAnswer {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

/// Why a server is not connected.
pub(super) enum NotConnected {
    /// It does not support the requested revision.
    Revision(String),
    /// It cannot be reached at all.
    Other(anyhow::Error),
}

impl From<anyhow::Error> for NotConnected {
    fn from(error: anyhow::Error) -> Self {
        Self::Other(error)
    }
}

impl Connection {
    /// Connects to a server, and opens the conversation.
    pub(super) fn open(
        server: &Server,
        revision: Revision,
        options: &Options,
        version: Option<&str>,
    ) -> Result<Self, NotConnected> {
        let mut connection = Self::prepare(server, revision, options, version)?;
        match connection.connect() {
            Ok(()) => Ok(connection),
            // A server that cannot be started has no wrong revision.
            Err(error)
                if version.is_some()
                    && !matches!(error, ClientError::Open(_) | ClientError::Thread(_)) =>
            {
                connection.abandon();
                Err(NotConnected::Revision(report::causes(&error)))
            }
            Err(error) => {
                let what = format!(
                    "cannot connect to the server `{}`: {}",
                    report::safe(&connection.name),
                    report::causes(&error)
                );
                let hint = connection.reach.hint();
                connection.abandon();
                Err(NotConnected::Other(Mistake::new(what, hint).into()))
            }
        }
    }

    /// Adds the gateway in front of it.
    pub(super) fn behind(mut self, gateway: Option<Faulty>) -> Self {
        self.gateway = gateway;
        self
    }

    /// Everything before the first message.
    fn prepare(
        server: &Server,
        revision: Revision,
        options: &Options,
        version: Option<&str>,
    ) -> anyhow::Result<Self> {
        let clock = Clock::start();
        let reach = servers::reach(server, options, clock)?;
        let taped = options
            .record
            .as_ref()
            .filter(|_| !reach.is_replay())
            .map(|folder| {
                let file = record::file(folder, &server.name, version);
                let target = record::target(&file, &server.name, options.times, clock)?;
                let settings =
                    record::settings(target, &server.name, "stdio", &options.rules, clock);
                Taped::start(file, settings, reach.upstream(), clock)
            })
            .transpose()?;
        if let Some(taped) = &taped {
            reach.tell_heads(taped.heads());
        }
        Ok(Self {
            name: server.name.clone(),
            reach,
            taped,
            client: None,
            opening: Opening {
                revision,
                ..Opening::default()
            },
            settings: Settings {
                stop: Some(Arc::clone(&options.interrupted)),
                ..Settings::new(Arc::clone(&options.rules))
            },
            patience: options.patience,
            clock,
            greeting: None,
            notes: Vec::new(),
            gateway: None,
        })
    }

    /// Finishes the recording of a failed attempt.
    fn abandon(self) {
        if let Some(taped) = self.taped {
            taped.finish();
        }
    }

    fn connect(&mut self) -> Result<(), ClientError> {
        let settings = self.settings.clone();
        let mut client = match &self.taped {
            Some(taped) => Client::open(taped.upstream(), settings, self.clock)?,
            None => Client::open(self.reach.upstream().as_ref(), settings, self.clock)?,
        };
        let timeout = self
            .reach
            .timeout()
            .map_or(self.patience, |limit| limit.min(self.patience));
        let asked = match &self.opening.revision {
            Revision::Handshake(version) => Some(version.clone()),
            _ => None,
        };
        let greeting = client.greet(&self.opening, timeout)?;
        if let Some(asked) = asked
            && asked != greeting.revision
        {
            return Err(ClientError::Refused {
                method: "initialize",
                code: None,
                error: format!(
                    "requested {asked}, but the server negotiated {}",
                    greeting.revision
                ),
            });
        }
        self.greeting = greeting
            .reply
            .as_ref()
            .and_then(|reply| self.asked(reply, None).ok());
        self.reach.forget();
        self.client = Some(client);
        Ok(())
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The version that the server declared in the handshake.
    pub(super) fn server_version(&self) -> Option<String> {
        let result = self.greeting.as_ref()?.envelope.get("result")?;
        let stateless = || {
            result
                .get("_meta")?
                .get("io.modelcontextprotocol/serverInfo")
        };
        let told = result.get("serverInfo").or_else(stateless)?;
        Some(told.get("version")?.as_str()?.to_owned())
    }

    /// Whether a recording answers.
    pub(super) fn is_replay(&self) -> bool {
        self.reach.is_replay()
    }

    /// Sends a request.
    pub(super) fn ask(&mut self, ask: &Ask, timeout: Duration) -> Result<ServerAnswer, NoAnswer> {
        if let Ask::Check { method } = ask
            && (method == "initialize" || method == "server/discover")
            && let Some(greeting) = &self.greeting
        {
            return Ok(greeting.clone());
        }
        if self.client.is_none() {
            self.connect()
                .map_err(|error| format!("the server had exited: {}", report::causes(&error)))?;
            let note = format!(
                "`{}` exited or did not answer, and was restarted",
                self.name
            );
            self.notes.push(note);
        }
        let Some(client) = &mut self.client else {
            return Err("the server is not connected".to_owned().into());
        };
        let limit = self
            .reach
            .timeout()
            .map_or(timeout, |limit| limit.min(timeout));
        let params = worker::text(&ask.params());
        self.reach.forget();
        let reply = client.request(ask.method(), Some(&params), limit);
        let reply = reply.map_err(|error| {
            if !self.stays(&error) {
                self.client = None;
            }
            match error {
                ClientError::TimedOut { between, .. } => {
                    let limit = limit.as_millis();
                    format!("no answer within {limit} ms{}", strays(&between))
                }
                other => report::causes(&other),
            }
        })?;
        if let Some(miss) = self.reach.miss() {
            return Err(format!("replay: {miss}").into());
        }
        self.asked(&reply, Some(ask))
    }

    /// Every tool that the server lists, within bounds.
    pub(super) fn list_tools(&mut self, timeout: Duration) -> Result<Vec<Value>, String> {
        let Some(client) = &mut self.client else {
            return Err("the server is not connected".to_owned());
        };
        let mut all = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..TOOL_PAGES {
            let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
            let reply = client.request("tools/list", Some(&params.to_string()), timeout);
            let reply = reply.map_err(|error| report::causes(&error))?;
            if let Some(miss) = self.reach.miss() {
                return Err(format!("replay: {miss}"));
            }
            let Some(result) = reply.result() else {
                let error = String::from_utf8_lossy(reply.error().unwrap_or_default());
                return Err(format!("the server answered with the error {error}"));
            };
            let mut page: Value = serde_json::from_slice(result)
                .map_err(|error| format!("cannot parse the answer: {error}"))?;
            if let Some(Value::Array(tools)) = page.get_mut("tools").map(Value::take) {
                all.extend(tools);
            }
            let next = page.get("nextCursor").and_then(Value::as_str);
            cursor = next.map(str::to_owned);
            if cursor.is_none() || all.len() >= TOOLS {
                break;
            }
        }
        all.truncate(TOOLS);
        Ok(all)
    }

    /// An answer with its details; the answer to the opening has no `ask`.
    fn asked(&self, reply: &Reply, ask: Option<&Ask>) -> Result<ServerAnswer, NoAnswer> {
        let took = reply.took();
        let (mut judged, mut otherwise) = (Some(took), false);
        let mut headers = self.reach.headers();
        if self.is_replay() {
            let recorded = self.reach.recorded();
            if let Some(why) = recorded.as_ref().and_then(|one| one.unanswered.as_ref()) {
                let why = format!("no answer in the recording: {why}");
                return Err(NoAnswer::Unknown(why));
            }
            if reply.error().is_some_and(is_error_of_ours) {
                let why = "the server did not answer when it was recorded";
                return Err(NoAnswer::Unknown(why.to_owned()));
            }
            judged = recorded.as_ref().and_then(|one| one.took);
            let params = recorded.as_ref().and_then(|one| one.params.as_deref());
            otherwise = ask
                .zip(params)
                .is_some_and(|(ask, params)| !is_asked_by(ask, params));
            if let Some(head) = recorded.and_then(|one| one.head) {
                let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
                headers = Fields::Known(head.fields.iter().map(owned).collect());
            }
        }
        Ok(ServerAnswer {
            envelope: envelope(&reply.message)?,
            took,
            judged,
            headers,
            otherwise,
        })
    }

    /// Whether the conversation continues after this error. A process that did not answer one
    /// request is not asked again; an HTTP server that reports an error still has its session,
    /// unless it does not know it (2025-11-25, Transports, Session Management).
    fn stays(&self, error: &ClientError) -> bool {
        match error {
            ClientError::TimedOut { .. } => !self.reach.is_process(),
            ClientError::Bridge { status, .. } => *status != Some(404),
            _ => false,
        }
    }

    /// Ends the conversation in order, and returns notes about it.
    pub(super) fn close(self) -> Vec<String> {
        let mut notes = self.notes;
        if let Some(client) = self.client {
            client.close();
        }
        if let Some(taped) = self.taped {
            notes.extend(taped.finish());
        }
        drop(self.gateway);
        notes
    }
}

/// The envelope of a server's message, for targets.
fn envelope(message: &[u8]) -> Result<Json, String> {
    let read =
        |text: &[u8]| Json::read(text).map_err(|error| format!("cannot parse the answer: {error}"));
    match Envelope::of_json(message).kind {
        Kind::Response {
            error: Some(error), ..
        } => Ok(Answer::of_error(read(error)?)),
        Kind::Response {
            result: Some(result),
            ..
        } => Ok(Answer::of_result(read(result)?)),
        _ => Err("the answer has neither a result nor an error".to_owned()),
    }
}

/// What came in place of an answer, for the end of a sentence; only the first few.
fn strays(between: &[Passed]) -> String {
    let came = between.iter().filter(|one| one.dir == Direction::ToClient);
    let told = came.filter_map(|one| match Envelope::parse(&one.message).kind {
        Kind::Response { id, .. } => {
            let word = match id {
                RequestId::Text(_) => "a string",
                _ => "which was never requested",
            };
            let id = scan::find(&one.message, &["id"]).unwrap_or_default();
            let id = String::from_utf8_lossy(id);
            Some(format!("an answer came with the id {id}, {word}"))
        }
        Kind::Request { .. } | Kind::Notification { .. } => None,
        _ => {
            let text = String::from_utf8_lossy(&one.message);
            let text: String = text.trim().chars().take(STRAY_CHARS).collect();
            Some(format!("received something that is not a message: {text}"))
        }
    });
    told.take(STRAYS).fold(String::new(), |mut all, one| {
        all.push_str("; ");
        all.push_str(&one);
        all
    })
}

/// Whether recorded parameters match those of a request, as far as the recording has them.
fn is_asked_by(ask: &Ask, params: &[u8]) -> bool {
    Json::read(params).is_ok_and(|params| params.hides() || ask.is_asked_by(&params))
}

/// How many pages of tools are requested, and how many tools are kept.
const TOOL_PAGES: usize = 100;
const TOOLS: usize = 2_000;

/// How many strays are shown, and how much of each.
const STRAYS: usize = 3;
const STRAY_CHARS: usize = 120;

/// A value that one thread passes to another.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot<T>(Arc<Mutex<Option<T>>>);

impl<T> Slot<T> {
    pub(super) fn put(&self, value: T) {
        *self.lock() = Some(value);
    }

    pub(super) fn take(&self) -> Option<T> {
        self.lock().take()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
