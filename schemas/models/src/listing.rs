//! A conversation line by line, with the calls of models among the exchanges of MCP.

use tapewright_schemas::conversation::{ExchangeRow, ModelRow, Outcome, ToolUseRow, shown};
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{Event, Offset};
use tapewright_schemas::listing::{self, Change, Counts, Entry, Wanted};

use crate::calls::{CallBodies, CallEnd, CallStep, Calls, ModelCall};
use crate::links::PartLinks;
use crate::prices::Prices;

/// Follows a conversation line by line.
#[derive(Debug)]
pub struct Listing {
    lines: listing::Listing,
    // `None` if model calls are not requested.
    calls: Option<Calls>,
    prices: Prices,
    links: PartLinks,
}

impl Listing {
    /// Follows a conversation from here on. `links` are those of its tape.
    #[must_use]
    pub fn new(wanted: Wanted, prices: Prices, mut links: PartLinks) -> Self {
        let bodies = wanted.bodies;
        let asked = std::mem::take(&mut links.asked);
        let listing = listing::Listing::new(wanted).with_asked(asked);
        let calls = if bodies {
            Calls::default().with_bodies()
        } else {
            Calls::default()
        };
        Self {
            calls: listing.wants_models().then_some(calls),
            lines: listing,
            prices,
            links,
        }
    }

    /// Reports changes as they happen, by [`Listing::poll_change`].
    #[must_use]
    pub fn followed(mut self) -> Self {
        self.lines = self.lines.followed();
        self
    }

    /// Handles the next event; `message` is its parsed message, if known.
    pub fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        if let Some(calls) = &mut self.calls {
            let step = calls.follow(event);
            self.step(step);
        }
        self.lines.observe(event, message);
    }

    /// Like [`listing::Listing::open`]; without model calls.
    pub fn open(&self) -> impl Iterator<Item = ExchangeRow> {
        self.lines.open()
    }

    /// Like [`listing::Listing::open_sessions`].
    pub fn open_sessions(&self) -> impl Iterator<Item = u32> {
        self.lines.open_sessions()
    }

    /// It is `now`, and perhaps nothing has come for a while.
    pub fn tick(&mut self, now: Offset) {
        self.lines.tick(now);
    }

    /// Nothing more will come.
    pub fn finish(&mut self) {
        while let Some(step) = self.calls.as_mut().and_then(Calls::end_one) {
            self.step(step);
        }
        self.lines.finish();
    }

    /// The next line.
    pub fn poll(&mut self) -> Option<Entry> {
        self.lines.poll()
    }

    /// The next change, if the listing is [followed](Self::followed).
    pub fn poll_change(&mut self) -> Option<Change> {
        self.lines.poll_change()
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.lines.counts()
    }

    fn step(&mut self, step: CallStep) {
        match step {
            CallStep::Nothing => {}
            CallStep::Began(seq) => self.lines.model_began(seq),
            CallStep::WasNone(seq) => self.lines.no_model(seq),
            CallStep::Ended(call, CallBodies { request, answer }) => {
                let uses = self.links.uses.remove(&call.seq);
                let row = row(*call, uses, &self.prices);
                self.lines.model_ended(row, request, answer);
            }
        }
    }
}

/// The row of a call; `linked` are its tool uses, if their `tools/call` were searched for.
#[must_use]
pub fn row(call: ModelCall, linked: Option<Vec<ToolUseRow>>, prices: &Prices) -> ModelRow {
    let cost = call.model.as_deref().zip(call.usage.as_ref());
    let cost = cost.and_then(|(model, usage)| prices.cost(model, usage).ok());
    let outcome = outcome(&call);
    let tool_uses = linked.unwrap_or_else(|| unlinked(&call));
    let usage = call.usage.unwrap_or_default();
    let text = |text: Option<String>| text.map(|text| shown(&text));
    ModelRow {
        request_seq: call.seq,
        session: call.session,
        conduit: call.conduit,
        at_ms: Some(call.at.millis()),
        provider: text(call.provider),
        wire: call.wire.name(),
        model: text(call.model),
        id: text(call.id),
        outcome,
        end: call.end.name(),
        error: text(call.end.why()),
        http_status: call.status,
        stream: call.is_stream,
        input_tokens: usage.input,
        output_tokens: usage.output,
        cache_read_tokens: usage.cache_read,
        cache_write_tokens: usage.cache_write,
        reasoning_tokens: usage.reasoning,
        cost_usd_microcents: cost,
        finish: call.finish.as_ref().map(|finish| finish.reason.name()),
        finish_word: text(call.finish.map(|finish| finish.word)),
        tool_uses,
        first_token_ms: call.first_token.map(Offset::millis),
        waited_ms: call.took.map(Offset::millis),
        ..ModelRow::default()
    }
}

fn unlinked(call: &ModelCall) -> Vec<ToolUseRow> {
    let used = |one: &crate::calls::UseSeen| ToolUseRow {
        id: one.id.clone(),
        name: one.name.clone(),
        ..ToolUseRow::default()
    };
    call.uses.iter().map(used).collect()
}

/// How a call ended, as the outcome of an exchange.
fn outcome(call: &ModelCall) -> Outcome {
    match &call.end {
        CallEnd::Answered => Outcome::Answered,
        CallEnd::CutShort if call.took.is_none() => Outcome::StillPending,
        CallEnd::CutShort if call.status.is_none() => Outcome::NoResponse,
        CallEnd::CutShort => Outcome::PeerGone,
        CallEnd::Failed(_) if call.status.is_some_and(|status| status >= 400) => Outcome::HttpError,
        CallEnd::Failed(_) => Outcome::Error,
        CallEnd::Unreadable(_) => Outcome::Unknown,
    }
}
