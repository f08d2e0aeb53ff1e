//! From events to rows.

use std::collections::{BTreeMap, HashMap};

use tapewright_models::calls::{CallStep, Calls};
use tapewright_models::listing;
use tapewright_models::prices::Prices;
use tapewright_schemas::conversation::{Conversation, Does, ExchangeRow, ModelRow, Step};
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::{Event, EventBody, Finding, SessionKey};
use tapewright_schemas::summary::Introduction;
use tapewright_schemas::tape::{Header, VERSION};

use crate::entry::About;
use crate::names::TapeName;

/// Which tape rows are of.
#[derive(Clone, Debug)]
pub struct Tape {
    /// Its name in the store.
    pub name: TapeName,
    /// What it is of.
    pub about: About,
}

impl Tape {
    /// A header by which lines behind the first are read.
    pub(super) fn header(&self) -> Header {
        Header {
            tape: VERSION.to_owned(),
            created: self.about.created.clone(),
            ..Header::default()
        }
    }
}

/// An exchange that was settled, and who took part.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    pub(super) row: ExchangeRow,
    pub(super) server: Option<(String, String)>,
    pub(super) revision: Option<String>,
}

/// A finding that stands on the tape.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) seq: u64,
    pub(super) at_us: u64,
    pub(super) session: u32,
    pub(super) finding: Finding,
    pub(super) server: Option<(String, String)>,
    pub(super) tool: Option<String>,
}

/// What is told of a range.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) exchanges: Vec<Settled>,
    pub(super) findings: Vec<Found>,
    pub(super) calls: Vec<ModelRow>,
}

/// Follows a conversation, and keeps what is told of it until somebody takes it.
#[derive(Debug, Default)]
pub(super) struct Fold {
    conversation: Conversation<()>,
    // Who speaks in each session. What belongs to none is of one server as well.
    sides: HashMap<SessionKey, Introduction>,
    // Which tool the messages at these places are about, for findings about them.
    tools: BTreeMap<u64, String>,
    calls: Calls,
    prices: Prices,
    told: Told,
}

/// How many sessions are remembered by who speaks in them.
const SESSIONS: usize = 16_384;
/// How many messages are remembered by the tool that they are about.
const TOOLS: usize = 4_096;

impl Fold {
    /// With the prices that this build knows.
    pub(super) fn new() -> Self {
        Self {
            prices: Prices::built_in(),
            ..Self::default()
        }
    }

    pub(super) fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        let mut said = Vec::new();
        let side = self.sides.get(&event.session);
        let is_known = side.is_some_and(|side| side.server.is_some());
        let mut tool = None;
        self.conversation.observe(event, message, |step| {
            said.extend(Said::of(&step, is_known));
            tool = step.exchange.and_then(|exchange| {
                let is_of_tool = exchange.method.starts_with("tools/");
                exchange.name.clone().filter(|_| is_of_tool)
            });
        });
        if let Some(tool) = tool {
            self.tools.insert(event.seq, tool);
            if self.tools.len() > TOOLS {
                self.tools.pop_first();
            }
        }
        for one in said {
            self.introduce(event.session, &one);
        }
        if let EventBody::Finding(finding) = &event.body {
            self.found(event, finding);
        }
        let step = self.calls.follow(event);
        self.called(step);
        self.collect();
    }

    fn found(&mut self, event: &Event, finding: &Finding) {
        let side = self.sides.get(&event.session);
        let server = side.and_then(|side| side.server.as_ref());
        let evidence = finding.evidence.first();
        let tool = evidence.and_then(|place| self.tools.get(&place.seq));
        self.told.findings.push(Found {
            seq: event.seq,
            at_us: event.at.0,
            session: event.session.0,
            server: server.map(|server| (server.name.clone(), server.version.clone())),
            tool: tool.cloned(),
            finding: finding.clone(),
        });
    }

    fn called(&mut self, step: CallStep) {
        if let CallStep::Ended(call, _) = step {
            let row = listing::row(*call, None, &self.prices);
            self.told.calls.push(row);
        }
    }

    fn introduce(&mut self, session: SessionKey, said: &Said) {
        if self.sides.len() >= SESSIONS && !self.sides.contains_key(&session) {
            return;
        }
        let side = self.sides.entry(session).or_default();
        match said {
            Said::Asked { method, params } => side.request(method, Some(params)),
            Said::Answered { method, result } => side.answer(method, result),
        }
    }

    fn collect(&mut self) {
        while let Some(over) = self.conversation.poll() {
            let row = ExchangeRow::of(&over);
            let side = self.sides.get(&SessionKey(row.session));
            let server = side.and_then(|side| side.server.as_ref());
            self.told.exchanges.push(Settled {
                server: server.map(|server| (server.name.clone(), server.version.clone())),
                revision: side.and_then(|side| side.protocol_version().map(str::to_owned)),
                row,
            });
        }
        while self.conversation.poll_kept().is_some() {}
    }

    /// Nothing more will come.
    pub(super) fn finish(&mut self) {
        self.conversation.finish();
        while let Some(step) = self.calls.end_one() {
            self.called(step);
        }
        self.collect();
    }

    /// What was told so far is no longer wanted.
    pub(super) fn forget(&mut self) {
        drop(self.take());
    }

    /// What was told since somebody took it.
    pub(super) fn take(&mut self) -> Told {
        std::mem::take(&mut self.told)
    }
}

/// What a message says of its side.
enum Said {
    Asked { method: String, params: Vec<u8> },
    Answered { method: String, result: Vec<u8> },
}

/// The longest message that is looked at for who its sender is, in bytes. An introduction is short.
const INTRODUCTION: usize = 64 << 10;

impl Said {
    /// Of a message, unless it can say nothing that is not known of its side.
    fn of(step: &Step<'_, ()>, is_known: bool) -> Option<Self> {
        if is_known || step.text.len() > INTRODUCTION {
            return None;
        }
        match (&step.envelope.kind, step.what) {
            (Kind::Request { method, params, .. }, Does::Asks) => Some(Self::Asked {
                method: method.to_string(),
                params: params.map(<[u8]>::to_vec)?,
            }),
            (Kind::Response { result, .. }, Does::Answers) => Some(Self::Answered {
                method: step.exchange?.method.clone(),
                result: result.map(<[u8]>::to_vec)?,
            }),
            _ => None,
        }
    }
}
