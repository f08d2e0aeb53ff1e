//! Turns events into rows.

use std::collections::{BTreeMap, HashMap};

use tapewright_models::calls::{CallStep, Calls};
use tapewright_models::listing;
use tapewright_models::prices::Prices;
use tapewright_schemas::conversation::{Conversation, Does, ExchangeRow, ModelRow, Step};
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::{Event, EventBody, Finding, SessionKey};
use tapewright_schemas::summary::Introduction;
use tapewright_schemas::tape::{Header, VERSION};

use super::check::{Check, Derived};
use super::tools::{Defined, Definitions, LIST_LIMIT};
use crate::entry::About;
use crate::names::TapeName;

/// The tape of rows.
#[derive(Clone, Debug)]
pub struct Tape {
    /// Its name in the store.
    pub name: TapeName,
    /// The facts in its header.
    pub about: About,
}

impl Tape {
    /// A header for reading lines after the first.
    pub(super) fn header(&self) -> Header {
        Header {
            tape: VERSION.to_owned(),
            created: self.about.created.clone(),
            ..Header::default()
        }
    }
}

/// An exchange that was settled, and its peers.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    pub(super) row: ExchangeRow,
    pub(super) server: Option<(String, String)>,
    pub(super) revision: Option<String>,
}

/// A finding on the tape, or derived from it.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Whether the recorder wrote it.
    pub(super) is_on_tape: bool,
    pub(super) seq: u64,
    pub(super) at_us: u64,
    pub(super) session: u32,
    pub(super) finding: Finding,
    pub(super) server: Option<(String, String)>,
    pub(super) tool: Option<String>,
}

/// The rows of a range.
#[derive(Debug, Default)]
pub(super) struct RangeRows {
    pub(super) exchanges: Vec<Settled>,
    pub(super) findings: Vec<Found>,
    pub(super) calls: Vec<ModelRow>,
    pub(super) tools: Vec<Defined>,
}

/// Follows a conversation, and collects rows until they are taken.
#[derive(Debug, Default)]
pub(super) struct Fold {
    conversation: Conversation<()>,
    // The peers of each session. Events without a session belong to one server as well.
    sides: HashMap<SessionKey, Introduction>,
    // The tools of the messages with these numbers, for findings about them.
    tools: BTreeMap<u64, String>,
    calls: Calls,
    prices: Prices,
    check: Option<Check>,
    definitions: Definitions,
    told: RangeRows,
}

/// For how many sessions the peers are kept.
const SESSIONS: usize = 16_384;
/// For how many messages the tool is kept.
const TOOLS: usize = 4_096;

impl Fold {
    /// With the built-in prices.
    pub(super) fn new() -> Self {
        Self {
            prices: Prices::built_in(),
            ..Self::default()
        }
    }

    /// Begins the tape. Nothing is checked before that.
    pub(super) fn begin(&mut self, header: &Header) {
        self.check = Some(Check::new(header));
    }

    pub(super) fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        let mut said = Vec::new();
        let side = self.sides.get(&event.session);
        let is_known = side.is_some_and(|side| side.server.is_some());
        let (mut tool, mut listed) = (None, None);
        self.conversation.observe(event, message, |step| {
            said.extend(SideStatement::of(&step, is_known));
            if let Some(result) = listed_tools(&step) {
                listed = Some(result);
            }
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
        if let Some(result) = listed {
            self.listed(event, &result);
        }
        self.check(event, message);
        let step = self.calls.follow(event);
        self.called(step);
        self.collect();
    }

    /// Takes the findings of the recorder, and derives others.
    fn check(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        if let EventBody::Finding(finding) = &event.body {
            let found = Derived {
                seq: event.seq,
                at_us: event.at.0,
                session: event.session,
                finding: finding.as_ref().clone(),
            };
            self.found(found, true);
        }
        let mut derived = Vec::new();
        if let Some(check) = &mut self.check {
            check.observe(event, message, &mut derived);
        }
        for one in derived {
            self.found(one, false);
        }
    }

    fn found(&mut self, found: Derived, is_on_tape: bool) {
        let evidence = found.finding.evidence.first();
        let tool = evidence.and_then(|place| self.tools.get(&place.seq));
        self.told.findings.push(Found {
            is_on_tape,
            seq: found.seq,
            at_us: found.at_us,
            session: found.session.0,
            server: self.server(found.session),
            tool: tool.cloned(),
            finding: found.finding,
        });
    }

    /// The name and the version of the server of a session.
    fn server(&self, session: SessionKey) -> Option<(String, String)> {
        let server = self.sides.get(&session)?.server.as_ref()?;
        Some((server.name.clone(), server.version.clone()))
    }

    fn listed(&mut self, event: &Event, result: &[u8]) {
        let server = self.server(event.session);
        let changed = self.definitions.listed(server.as_ref(), result);
        let row = |(tool, definition)| Defined {
            seq: event.seq,
            at_us: event.at.0,
            session: event.session.0,
            server: server.clone(),
            tool,
            definition,
        };
        self.told.tools.extend(changed.into_iter().map(row));
    }

    fn called(&mut self, step: CallStep) {
        if let CallStep::Ended(call, _) = step {
            let row = listing::row(*call, None, &self.prices);
            self.told.calls.push(row);
        }
    }

    fn introduce(&mut self, session: SessionKey, said: &SideStatement) {
        if self.sides.len() >= SESSIONS && !self.sides.contains_key(&session) {
            return;
        }
        let side = self.sides.entry(session).or_default();
        match said {
            SideStatement::Asked { method, params } => side.request(method, Some(params)),
            SideStatement::Answered { method, result } => side.answer(method, result),
        }
    }

    fn collect(&mut self) {
        while let Some(over) = self.conversation.poll() {
            let row = ExchangeRow::of(&over);
            let side = self.sides.get(&SessionKey(row.session));
            self.told.exchanges.push(Settled {
                server: self.server(SessionKey(row.session)),
                revision: side.and_then(|side| side.protocol_version().map(str::to_owned)),
                row,
            });
        }
    }

    /// Called at the end.
    pub(super) fn finish(&mut self) {
        self.conversation.finish();
        while let Some(step) = self.calls.end_one() {
            self.called(step);
        }
        self.collect();
        let found = self.check.take().map(Check::finish).unwrap_or_default();
        for one in found {
            self.found(one, false);
        }
    }

    /// Drops the collected rows.
    pub(super) fn forget(&mut self) {
        drop(self.take());
    }

    /// Takes the collected rows.
    pub(super) fn take(&mut self) -> RangeRows {
        std::mem::take(&mut self.told)
    }
}

/// The result of `tools/list`, if the step is one.
fn listed_tools(step: &Step<'_, ()>) -> Option<Vec<u8>> {
    match (&step.envelope.kind, step.what) {
        (Kind::Response { result, .. }, Does::Answers) if step.exchange?.method == "tools/list" => {
            let result = result.filter(|result| result.len() <= LIST_LIMIT);
            result.map(<[u8]>::to_vec)
        }
        _ => None,
    }
}

/// What a message declares about its sender.
enum SideStatement {
    Asked { method: String, params: Vec<u8> },
    Answered { method: String, result: Vec<u8> },
}

/// The longest message that is searched for the name of its sender, in bytes. Those messages are
/// short.
const INTRODUCTION: usize = 64 << 10;

impl SideStatement {
    /// From a message, unless it cannot add anything to what is known about its side.
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
