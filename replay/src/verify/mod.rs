//! Compares a recording with a live server: whether it still gives the same answers.
//!
//! Every recorded request is sent again, in recorded order, one at a time, with a separate link for
//! each recorded session; the answers are compared with the recorded ones. Requests of the server
//! get the recorded replies.
//!
//! Two things cannot be sent verbatim. A name that the *server* chose, such as a cursor, a
//! `requestState`, a task or any id that is new in every session, is replaced by the live server's
//! name (`names`). A value that a redaction rule hid is unknown: such a request is skipped and
//! reported.

mod answers;
pub(crate) mod judge;
pub(crate) mod names;
mod request;
mod update;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use tapewright_proxy::client::{Client, ClientError, Opening, Settings};
use tapewright_proxy::clock::Clock;
use tapewright_proxy::upstream::Upstream;
use tapewright_schemas::json::Span;
use tapewright_schemas::redact::{Redactor, Rules};

use crate::diff::{Listed, listed};
use crate::json::{Difference, Ignore};
use crate::options::MatchMode;
use crate::script::{Script, Take, TakePlace};

use self::answers::Recorded;
use self::names::Names;
use self::request::{Prepared, prepare};

pub use self::update::UpdateError;
pub(crate) use self::update::can_update;

/// How a live server is verified.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// When two answers are equal.
    pub mode: MatchMode,
    /// Places in answers that are ignored, as pointers into the answer: `/result/…`, `/error/…`.
    pub ignore: Ignore,
    /// The redaction rules; both sides are redacted before they are compared.
    pub rules: Arc<Rules>,
    /// The timeout for an answer.
    pub timeout: Duration,
}

/// The result for one recorded request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// Its place in its file, as a JSON pointer.
    pub place: String,
    /// Its method.
    pub method: String,
    /// The target, if the method has one: a tool, a prompt, a URI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The response time of the live answer, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<f64>,
    /// The result.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// The live server gives another answer.
    Drift {
        /// The differences.
        differences: Vec<Difference>,
        /// The definitions of tools, prompts and resources that changed.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        listed: Vec<Listed>,
    },
    /// The live server did not answer in time.
    NoAnswer {
        /// The timeout, in milliseconds.
        after_ms: u64,
    },
    /// The same answer.
    Same,
    /// It was not sent.
    Skipped {
        /// Why not.
        why: String,
    },
}

impl Check {
    /// Whether the request only opens a session: its answer says nothing about what the server does
    /// in one.
    #[must_use]
    pub fn is_opening(&self) -> bool {
        is_opening(&self.method)
    }

    /// Whether the request was sent.
    #[must_use]
    pub fn was_sent(&self) -> bool {
        !matches!(self.verdict, Verdict::Skipped { .. })
    }

    /// Whether the live server gives another answer, or none.
    #[must_use]
    pub fn has_drifted(&self) -> bool {
        matches!(
            self.verdict,
            Verdict::Drift { .. } | Verdict::NoAnswer { .. }
        )
    }
}

/// The result of a verification.
#[derive(Debug, Default)]
pub struct Findings {
    /// The checks, in the order in which they ran.
    pub checks: Vec<Check>,
    // The live server's answers that differ from recorded ones, redacted, by take.
    fresh: Vec<(usize, Bytes)>,
}

/// Why a verification was stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// Communication with the server failed.
    #[error("stopped at {place}")]
    Client {
        /// The place in the recording, as text.
        place: String,
        /// What went wrong.
        #[source]
        source: ClientError,
    },
}

/// Sends every recorded request to `upstream`, and passes each result to `each`.
pub fn verify(
    script: &Script,
    upstream: &dyn Upstream,
    options: &VerifyOptions,
    clock: Clock,
    mut each: impl FnMut(&Check),
) -> Result<Findings, VerifyError> {
    let mut findings = Findings::default();
    let mut redactor = Redactor::new(Arc::clone(&options.rules));
    // So that live secrets get numbers that the recording does not use.
    redactor.adopt(&script.text.whole());
    for takes in sessions(script) {
        let mut session = VerifiedSession {
            script,
            options,
            clock,
            client: None,
            answers: Recorded::default(),
            names: Names::default(),
            redactor: &mut redactor,
            unopened: false,
        };
        let greeted = session.greets_itself(&takes);
        for ordinal in takes {
            let Some(take) = script.take(ordinal) else {
                continue;
            };
            let check = session
                .check(upstream, &take, ordinal, greeted, &mut findings.fresh)
                .map_err(|source| VerifyError::Client {
                    place: format!("{} ({})", take.place.pointer(), script.method_of(&take)),
                    source,
                })?;
            each(&check);
            findings.checks.push(check);
        }
        if let Some(client) = session.client {
            client.close();
        }
    }
    Ok(findings)
}

/// The takes of each recorded session, in recorded order.
pub(crate) fn sessions(script: &Script) -> Vec<Vec<usize>> {
    let mut sessions: Vec<(u32, Vec<usize>)> = Vec::new();
    for (ordinal, take) in script.takes.iter().enumerate() {
        match sessions
            .iter_mut()
            .find(|(session, _)| *session == take.session)
        {
            Some((_, takes)) => takes.push(ordinal),
            None => sessions.push((take.session, vec![ordinal])),
        }
    }
    sessions.into_iter().map(|(_, takes)| takes).collect()
}

/// One recorded session, and its link to the live server.
struct VerifiedSession<'v> {
    script: &'v Script,
    options: &'v VerifyOptions,
    clock: Clock,
    client: Option<Client>,
    answers: Recorded,
    names: Names,
    redactor: &'v mut Redactor,
    /// Whether the server left `initialize` unanswered, so that no session was opened.
    unopened: bool,
}

impl VerifiedSession<'_> {
    /// Whether the recording starts with its own opening, or needs none.
    fn greets_itself(&self, takes: &[usize]) -> bool {
        takes
            .iter()
            .filter_map(|take| self.script.take(*take))
            .any(|take| {
                let params = take.params.map(|span| self.script.source(span));
                let method = self.script.method_of(&take);
                is_opening(&method)
                    || params.is_some_and(|params| {
                        tapewright_schemas::era::own_version(&params).is_some()
                    })
            })
    }

    fn check(
        &mut self,
        upstream: &dyn Upstream,
        take: &Take,
        ordinal: usize,
        greeted: bool,
        fresh: &mut Vec<(usize, Bytes)>,
    ) -> Result<Check, ClientError> {
        let mut check = Check {
            place: take.place.pointer(),
            method: self.script.method_of(take),
            target: self.script.target_of(take),
            took_ms: None,
            verdict: Verdict::Same,
        };
        let span = match self.answer_of(take) {
            Ok(span) => span,
            Err(why) => {
                check.verdict = Verdict::Skipped { why };
                return Ok(check);
            }
        };
        let client = match &mut self.client {
            Some(client) => client,
            None => self.client.insert(self.begin(upstream, greeted)?),
        };
        let recorded = self.script.source(span);
        let id = client.fresh_id();
        let request = match sendable(prepare(self.script, take, id, &self.names)) {
            Ok(request) => request,
            Err(why) => {
                check.verdict = Verdict::Skipped { why };
                return Ok(check);
            }
        };
        self.answers.expect(self.script, take);
        let reply = match client.exchange(&request, self.options.timeout) {
            Ok(reply) => reply,
            Err(ClientError::TimedOut { after, .. }) => {
                let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
                self.unopened = check.method == "initialize";
                check.verdict = Verdict::NoAnswer { after_ms };
                return Ok(check);
            }
            Err(error) => return Err(error),
        };
        if check.method == "initialize" && reply.result().is_some() {
            client.notify("notifications/initialized", None)?;
        }
        check.took_ms = Some(reply.took().as_secs_f64() * 1_000.0);
        self.names.learn(&recorded, &reply.message);
        check.verdict = self.verdict(&recorded, &reply.message);
        if check.has_drifted() {
            fresh.push((ordinal, judge::redacted(&reply.message, self.redactor)));
        }
        Ok(check)
    }

    /// The recorded answer, or why no live one is compared with it.
    fn answer_of(&self, take: &Take) -> Result<Span, String> {
        match take.response {
            Some(_) if self.unopened => Err("the server did not answer `initialize`".to_owned()),
            Some(response) => Ok(response.span),
            None => Err(unanswered(take)),
        }
    }

    /// The verdict about a live answer.
    fn verdict(&mut self, recorded: &[u8], live: &[u8]) -> Verdict {
        let comparison = judge::comparison(self.options.mode, &self.options.ignore);
        let differences = judge::compared(recorded, live, &comparison, self.redactor);
        if differences.is_empty() {
            return Verdict::Same;
        }
        Verdict::Drift {
            differences,
            listed: listed::of(recorded, live, self.redactor),
        }
    }

    fn begin(&self, upstream: &dyn Upstream, greeted: bool) -> Result<Client, ClientError> {
        let settings = Settings::new(Arc::clone(&self.options.rules));
        let mut client = Client::open(upstream, settings, self.clock)?;
        client.answer_with(self.answers.clone());
        if !greeted {
            match client.greet(&Opening::default(), self.options.timeout) {
                // No handshake was recorded, so this server may not need one.
                Ok(_) | Err(ClientError::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(client)
    }
}

/// Whether a request of this method opens a session.
fn is_opening(method: &str) -> bool {
    matches!(method, "initialize" | "server/discover")
}

/// Why a take without an answer is not verified.
fn unanswered(take: &Take) -> String {
    let why = match &take.place {
        TakePlace::Unanswered(_, why) => why,
        TakePlace::Exchange(_) | TakePlace::Probe(_) => "no answer",
    };
    format!("recorded without an answer ({why})")
}

/// The request, or why it cannot be sent.
fn sendable(prepared: Prepared) -> Result<Bytes, String> {
    match prepared {
        Prepared::Request(request) => Ok(request),
        Prepared::Hidden { path } => Err(format!("the recording has a placeholder at {path}")),
        Prepared::Strange => Err("the request has no id and cannot be sent".to_owned()),
    }
}
