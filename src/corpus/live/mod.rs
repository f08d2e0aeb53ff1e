//! Runs a corpus against a server.
//!
//! Well-formed requests share one conversation, as a client would send them. Bytes that no client
//! sends, and requests whose head or status is judged, have separate conversations. Each request is
//! sent once, regardless of the number of rules that need it. Every wait has a time limit.

mod access;
mod answers;
mod asking;
mod convert;
mod direct;
mod many;
mod opening;
mod order;
mod question;
mod raw;

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tapewright_corpus::judge::{Assertion, judge};
use tapewright_corpus::observation::{Framing, Observation};
use tapewright_corpus::plan::{AssertionIndex, Facts, Plan, Tally};
use tapewright_corpus::rule::Applies;
use tapewright_corpus::verdict::{Untested, Verdict};
use tapewright_proxy::client::{Client, Revision, Settings};
use tapewright_proxy::clock::Clock;
use tapewright_proxy::http::direct::Direct;
use tapewright_proxy::http::origin::Origin;
use tapewright_proxy::upstream::Upstream;
use tapewright_schemas::order::Order as _;
use tapewright_schemas::redact::Rules;

use self::direct::OwnSession;
use self::order::ProbeKind;
use super::Run;
use crate::command::upstream::{Field, UpstreamArguments};
use crate::command::verify::target;
use crate::report::Mistake;
use crate::report::progress::Progress;

/// A server, and how to reach it.
pub(crate) struct Target {
    upstream: Box<dyn Upstream>,
    // Only for a server on HTTP.
    origin: Option<(Arc<Origin>, Vec<Field>)>,
    hint: &'static str,
    rules: Arc<Rules>,
    timeout: Duration,
    limit: Duration,
}

/// How to ask a server.
#[derive(Clone, Debug)]
pub(crate) struct AskOptions {
    /// The rules for secrets.
    pub(crate) rules: Arc<Rules>,
    /// Time limit for each answer, if the corpus sets none.
    pub(crate) timeout: Duration,
    /// Time limit for the whole run.
    pub(crate) limit: Duration,
}

/// Conversations with a server, and what was learned in them.
pub(crate) struct Asker {
    target: Target,
    client: Option<Client>,
    // Why there is no client.
    ended: Option<String>,
    /// The revision in use.
    pub(crate) revision: String,
    asked_for: Revision,
    clock: Clock,
    facts: Facts,
    framing: Framing,
    tally: Tally,
    opening: Observation,
    seen: HashMap<String, Observation>,
    // Calls of tools that may ask their client for something.
    asked: Vec<asking::ToolCall>,
    // A conversation for bytes that no client sends.
    strange: Option<Client>,
    direct: Option<Direct>,
    session: Option<OwnSession>,
    next: u64,
}

impl Target {
    /// The server of a command line.
    pub(crate) fn of(
        server: &UpstreamArguments,
        command: &[OsString],
        manner: AskOptions,
    ) -> anyhow::Result<Self> {
        let (upstream, hint) = target::of(server, command)?;
        let origin = match server.url()? {
            None => None,
            Some(url) => {
                let origin = Origin::new(url, server.origin_settings(false)?);
                Some((origin, server.fields()?))
            }
        };
        Ok(Self::new(upstream, origin, hint, manner))
    }

    /// The server with this upstream.
    pub(crate) fn new(
        upstream: Box<dyn Upstream>,
        origin: Option<(Arc<Origin>, Vec<Field>)>,
        hint: &'static str,
        manner: AskOptions,
    ) -> Self {
        Self {
            upstream,
            origin,
            hint,
            rules: manner.rules,
            timeout: manner.timeout,
            limit: manner.limit,
        }
    }

    fn transport(&self) -> Applies {
        match self.origin {
            Some(_) => Applies::Http,
            None => Applies::Stdio,
        }
    }

    fn settings(&self) -> Settings {
        Settings::new(Arc::clone(&self.rules))
    }
}

impl Asker {
    /// Opens a conversation in a revision, or in the one that the server chooses.
    pub(crate) fn open(target: Target, revision: &Revision) -> anyhow::Result<Self> {
        let hint = target.hint;
        Self::begin(target, revision).context(Mistake::new("cannot query the server", hint))
    }

    /// Tests every rule of a plan.
    pub(crate) fn run(mut self, plan: Plan) -> Run {
        let mut all: Vec<(ProbeKind, AssertionIndex)> = Vec::new();
        for (at, assertion) in plan.each() {
            if plan.inapplicable(at.rule, &self.facts).is_none() {
                all.push((self.way(assertion), at));
            }
        }
        // Requests that may leave a server in a bad state come last.
        all.order();
        let mut progress = Progress::count(all.len());
        for (way, at) in all {
            let Some(assertion) = plan.assertion(at) else {
                continue;
            };
            progress.step("");
            let verdict = self.test(way, assertion);
            let answers = verdict.1.iter().flat_map(|seen| &seen.answers);
            let took = answers.filter_map(|answer| answer.took).sum();
            self.tally.add(at, verdict.0, took);
        }
        drop(progress);
        let notes = self.notes();
        self.close();
        let mut run = Run::new(plan, &self.tally, &self.facts, self.revision);
        run.notes = notes;
        run
    }

    fn test(&mut self, way: ProbeKind, assertion: &Assertion) -> (Verdict, Option<Observation>) {
        if let Some(wanted) = assertion.transport()
            && wanted != self.target.transport()
        {
            return (Verdict::Untested(Untested::Transport(wanted)), None);
        }
        if self.clock.elapsed() > self.target.limit {
            return (Verdict::Untested(Untested::OutOfTime), None);
        }
        let seen = match way {
            ProbeKind::Opening => Ok(self.opening.clone()),
            ProbeKind::Plain => self.plain(assertion),
            ProbeKind::Asking => self.asking(assertion),
            ProbeKind::Many => self.many(assertion),
            ProbeKind::Direct => self.directly(assertion),
            ProbeKind::Fresh => self.fresh(assertion),
            ProbeKind::Raw => self.raw(assertion),
            ProbeKind::Cancel => self.cancelled(assertion),
            ProbeKind::Framing => Ok(Observation {
                transport: Some(Applies::Stdio),
                framing: Some(self.framing.clone()),
                ..Observation::default()
            }),
        };
        match seen {
            Ok(seen) => match seen.untested(&assertion.written.expect) {
                Some(why) => (Verdict::Untested(why), Some(seen)),
                None => (judge(assertion, &seen), Some(seen)),
            },
            Err(why) => (Verdict::Untested(why), None),
        }
    }

    fn notes(&self) -> Vec<String> {
        let ended = self.ended.iter();
        ended
            .map(|why| format!("the server exited before all tests were done: {why}"))
            .collect()
    }

    fn close(&mut self) {
        for client in [self.client.take(), self.strange.take()]
            .into_iter()
            .flatten()
        {
            client.close();
        }
    }

    /// A unique name.
    fn fresh_name(&mut self) -> String {
        self.next += 1;
        format!("tapewright-{}", self.next)
    }
}
