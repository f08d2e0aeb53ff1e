//! A server's answer to `resources/read` of a resource that does not exist.
//!
//! Up to 2025-11-25 it should be -32002 (server/resources §Error Handling). From 2026-07-28 on it
//! must be -32602, and it must not be a result with empty `contents`; clients should continue to
//! accept -32002, and -32603 is for internal errors (SEP-2164).

use std::collections::VecDeque;

use tapewright_compliance::revision::{R5, Revisions};
use tapewright_schemas::conversation::{Conversation, Does, Exchange, shown};
use tapewright_schemas::envelope::{Envelope, Kind, RequestId};
use tapewright_schemas::era::own_version;
use tapewright_schemas::event::{Direction, Event, SessionKey};
use tapewright_schemas::json;

/// The code up to 2025-11-25.
pub const LEGACY_CODE: i64 = -32_002;
/// The code from 2026-07-28 on: the invalid parameters of JSON-RPC.
pub const CODE: i64 = -32_602;
/// The code of an internal error (JSON-RPC 2.0 §5.1).
pub const INTERNAL: i64 = -32_603;

/// A URI that no server has: `.invalid` never resolves (RFC 6761 §6.4).
pub const NO_SUCH_URI: &str =
    "tapewright://no-such-resource.invalid/6f1d2c1e-3a51-4f0e-9d0b-7c2b1a9e5d44";

/// A server's answer to `resources/read`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// An error; with its code, if that is an integer.
    Error(Option<i64>),
    /// A result with this many `contents`.
    Contents(usize),
    /// A result without an array `contents`.
    Shapeless,
}

/// The verdict on an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is what the revision requires.
    Pass,
    /// It violates a MUST of the revision.
    Fail,
    /// It does not follow a recommendation of the revision, which is not a failure.
    Note,
    /// It is inconclusive.
    Inconclusive,
}

/// A judgement on one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why; empty for a pass.
    pub detail: String,
    /// The position in the answer that shows it, as a JSON pointer.
    pub pointer: &'static str,
}

impl Answer {
    /// Classifies a result or an error, as source text; `None` if there is neither.
    #[must_use]
    pub fn of(result: Option<&[u8]>, error: Option<&[u8]>) -> Option<Self> {
        if let Some(error) = error {
            let code = json::find(error, &["code"]);
            let code = code.and_then(|code| std::str::from_utf8(code).ok()?.parse().ok());
            return Some(Self::Error(code));
        }
        let contents = json::find(result?, &["contents"]).unwrap_or_default();
        let mut count = 0;
        if contents.first() != Some(&b'[') {
            return Some(Self::Shapeless);
        }
        json::valid_elements(contents, |_| count += 1);
        Some(Self::Contents(count))
    }
}

/// Judges a server's answer to `resources/read` of a URI that cannot exist, by the `revision` in
/// force.
///
/// An unknown revision is judged like the one that was in force at its date.
#[must_use]
pub fn judge_missing_resource(revision: &str, answer: Answer) -> Judgement {
    let modern = is_modern(revision);
    let said = |verdict, detail: &str, pointer| Judgement {
        verdict,
        detail: detail.to_owned(),
        pointer,
    };
    match answer {
        Answer::Error(Some(CODE)) if modern => said(Verdict::Pass, "", "/error/code"),
        Answer::Error(Some(LEGACY_CODE)) if !modern => said(Verdict::Pass, "", "/error/code"),
        Answer::Error(Some(LEGACY_CODE)) => said(
            Verdict::Fail,
            "the server answers a missing resource with -32002; from 2026-07-28 on it must be -32602",
            "/error/code",
        ),
        Answer::Error(Some(CODE)) => said(
            Verdict::Note,
            "-32602 is what 2026-07-28 asks for; up to 2025-11-25 it should be -32002",
            "/error/code",
        ),
        Answer::Error(Some(INTERNAL)) => said(
            Verdict::Inconclusive,
            "-32603 is an internal error, which says nothing about the resource",
            "/error/code",
        ),
        Answer::Error(Some(code)) => said(
            Verdict::Inconclusive,
            &format!("{code} does not say that the resource is missing"),
            "/error/code",
        ),
        Answer::Error(None) => said(
            Verdict::Inconclusive,
            "the error has no integer code",
            "/error",
        ),
        Answer::Contents(0) if modern => said(
            Verdict::Fail,
            "a missing resource must not be answered with empty `contents`; it must be the error -32602",
            "/result/contents",
        ),
        Answer::Contents(0) => said(
            Verdict::Note,
            "a missing resource is answered with empty `contents`; it should be the error -32002",
            "/result/contents",
        ),
        Answer::Contents(_) => said(
            Verdict::Inconclusive,
            "the server has such a resource",
            "/result/contents",
        ),
        Answer::Shapeless => said(
            Verdict::Inconclusive,
            "the result has no array `contents`",
            "/result",
        ),
    }
}

fn is_modern(revision: &str) -> bool {
    match Revisions::named(revision.trim_start_matches('v')) {
        Some(known) => known == R5,
        // Revisions are dates, which compare in order in this form; `draft` is after them.
        None => revision.trim_start_matches('v') >= "2026-07-28",
    }
}

/// One read of a resource in a recording that shows how its server handles missing ones.
#[derive(Clone, Debug)]
pub struct MissingResourceRead {
    /// The number of the request's event.
    pub asked: u64,
    /// The number of the answer's event.
    pub answered: u64,
    /// The session.
    pub session: SessionKey,
    /// The requested URI, truncated if long.
    pub uri: String,
    /// The revision in force; empty if unknown.
    pub revision: String,
    /// The answer.
    pub answer: Answer,
    /// Its judgement by that revision.
    pub judgement: Judgement,
    /// The client sent the same request again after -32002: it does not treat it as final.
    pub client_goes_on: bool,
}

/// Finds the reads of missing resources in a recording: those that were answered with an error or
/// with empty contents.
///
/// Only answers to `resources/read` count.
#[derive(Debug, Default)]
pub struct MissingResources {
    conversation: Conversation<Option<String>>,
    reads: Reads,
}

/// The reads, and their revisions.
#[derive(Debug, Default)]
struct Reads {
    // The negotiated revisions of sessions, by their numbers.
    agreed: VecDeque<(SessionKey, String)>,
    found: Vec<MissingResourceRead>,
    more: u64,
}

/// The maximum number that are kept.
const MOST: usize = 1_000;
/// The maximum number of sessions whose revisions are remembered.
const SESSIONS: usize = 4_096;

impl MissingResources {
    /// Handles the next event; `message` is its parsed message, if known.
    pub fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        if event.is_made_by_us() {
            return;
        }
        let Self {
            conversation,
            reads,
        } = self;
        let mut versions = Vec::new();
        conversation.observe(event, message, |step| {
            match (step.what, &step.envelope.kind) {
                (Does::Asks, Kind::Request { method, params, .. })
                    if event.dir == Direction::ToServer =>
                {
                    let version = params.and_then(own_version).and_then(text);
                    if method == "resources/read" {
                        reads.asked(event, *params);
                    }
                    versions.extend(step.handle.zip(version));
                }
                (Does::Answers, Kind::Response { result, error, .. }) => {
                    if let Some(exchange) = step.exchange {
                        reads.answered(event, exchange, *result, *error);
                    }
                }
                _ => {}
            }
        });
        for (handle, version) in versions {
            if let Some(exchange) = conversation.get_mut(handle) {
                exchange.value = Some(version);
            }
        }
        while conversation.poll().is_some() {}
    }

    /// The findings, in order.
    #[must_use]
    pub fn found(&self) -> &[MissingResourceRead] {
        &self.reads.found
    }

    /// How many more there were than are kept.
    #[must_use]
    pub fn more(&self) -> u64 {
        self.reads.more
    }
}

impl Reads {
    /// Handles a read by a client, possibly a repeated one after it got an error.
    fn asked(&mut self, event: &Event, params: Option<&[u8]>) {
        let uri = params.and_then(|params| text(json::find(params, &["uri"])?));
        let Some(uri) = uri.map(|uri| shown(&uri)) else {
            return;
        };
        let told = self.found.iter_mut().rev().take(16).find(|one| {
            let same = one.uri == uri && one.session == event.session;
            same && one.answer == Answer::Error(Some(LEGACY_CODE))
        });
        if let Some(one) = told {
            one.client_goes_on = true;
        }
    }

    /// A server answers.
    fn answered(
        &mut self,
        event: &Event,
        exchange: &Exchange<Option<String>>,
        result: Option<&[u8]>,
        error: Option<&[u8]>,
    ) {
        if exchange.dir != Direction::ToServer {
            return;
        }
        if exchange.method == "initialize"
            && let Some(version) =
                result.and_then(|result| text(json::find(result, &["protocolVersion"])?))
        {
            if self.agreed.len() >= SESSIONS {
                self.agreed.pop_front();
            }
            self.agreed.push_back((event.session, version));
        }
        let answer = Answer::of(result, error).filter(|_| exchange.method == "resources/read");
        let Some(answer @ (Answer::Error(_) | Answer::Contents(0))) = answer else {
            return;
        };
        if self.found.len() >= MOST {
            self.more += 1;
            return;
        }
        let mut agreed = self.agreed.iter().rev();
        let agreed = agreed.find(|(session, _)| *session == event.session);
        let revision = exchange.value.clone();
        let revision = revision.or_else(|| Some(agreed?.1.clone()));
        let revision = revision.unwrap_or_default();
        self.found.push(MissingResourceRead {
            asked: exchange.seq,
            answered: event.seq,
            session: event.session,
            uri: exchange.name.clone().unwrap_or_default(),
            judgement: judge_missing_resource(&revision, answer),
            revision,
            answer,
            client_goes_on: false,
        });
    }
}

/// The value of a JSON string.
fn text(source: &[u8]) -> Option<String> {
    match RequestId::of_source(source) {
        RequestId::Text(text) => Some(text.into_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
