//! A conversation line by line: what every view shows.
//!
//! A [`Listing`] takes events and yields [`Entry`]s: one for each exchange, the published
//! [`ExchangeRow`], and one for each other requested line. They are in the order in which things
//! began. Model calls are read elsewhere: the reader reports where they began and adds them where
//! they end.
//!
//! # Bounded memory
//!
//! An exchange is complete when it is over, and later lines wait for it within limits: once a
//! thousand lines wait, or their contents take too much memory, they are yielded first, and the
//! exchange follows where it ends.

mod entry;
mod keep;
mod note;
mod order;

#[cfg(test)]
mod tests;

pub use self::entry::{Body, Entry, Note, NoteContent, NoteRow};
pub use self::order::{Change, LinePosition};

use std::collections::{BTreeSet, HashMap};

use crate::conversation::{AskedBy, Conversation, Does, ExchangeRow, Handle, ModelRow, Over, Step};
use crate::envelope::{Envelope, Kind};
use crate::event::{Event, EventBody, Offset, Payload};
use crate::filter::{Filter, LineKind};

use self::keep::{KeptExchange, Room};
use self::order::{Key, Order};

/// Selects what to show of a conversation.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The filter for lines.
    pub filter: Filter,
    /// The kinds of lines, if the filter names none.
    pub kinds: BTreeSet<LineKind>,
    /// Whether to include message contents.
    pub bodies: bool,
    /// Whether the events have times.
    pub timed: bool,
}

/// Counts for a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Exchanges, shown or not.
    pub exchanges: u64,
    /// Exchanges that are shown.
    pub shown: u64,
    /// Model calls, shown or not.
    pub models: u64,
    /// Model calls that are shown.
    pub models_shown: u64,
    /// Other lines that are shown.
    pub beside: u64,
    /// Exchanges that were never answered, shown or not.
    pub unanswered: u64,
    /// Those of them that were given up.
    pub cancelled: u64,
    /// Messages of which only the beginning was recorded.
    pub clipped: u64,
    /// The number of gaps, and of the events and bytes in them.
    pub gaps: [u64; 3],
    /// When the last event was seen.
    pub last: Offset,
}

impl Counts {
    /// The sum for two parts of one recording.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let [count, events, bytes] = self.gaps;
        let [more, more_events, more_bytes] = other.gaps;
        Self {
            exchanges: self.exchanges + other.exchanges,
            shown: self.shown + other.shown,
            models: self.models + other.models,
            models_shown: self.models_shown + other.models_shown,
            beside: self.beside + other.beside,
            unanswered: self.unanswered + other.unanswered,
            cancelled: self.cancelled + other.cancelled,
            clipped: self.clipped + other.clipped,
            gaps: [
                count + more,
                events.saturating_add(more_events),
                bytes.saturating_add(more_bytes),
            ],
            last: self.last.max(other.last),
        }
    }
}

/// Follows a conversation line by line.
#[derive(Debug)]
pub struct Listing {
    wanted: Wanted,
    kinds: BTreeSet<LineKind>,
    conversation: Conversation<KeptExchange>,
    order: Order,
    room: Room,
    counts: Counts,
    asked: AskedFor,
}

/// The requests of models, by the tape number of the `tools/call` that carried each out, with its
/// tool: a batch has several.
pub type AskedFor = HashMap<u64, Vec<(String, AskedBy)>>;

/// The effect of a message, while the conversation is borrowed.
enum Seen {
    Asked(Handle, Key, Body),
    Answered(Handle, Body),
    Beside(Key, Box<Note>),
}

impl Wanted {
    /// Exchanges, model calls, and anomalies: answers to no request, invalid messages, gaps.
    pub const PLAIN: [LineKind; 6] = [
        LineKind::Exchange,
        LineKind::Model,
        LineKind::Late,
        LineKind::Orphan,
        LineKind::Noise,
        LineKind::Gap,
    ];
}

impl Listing {
    /// Follows a conversation from here on.
    #[must_use]
    pub fn new(wanted: Wanted) -> Self {
        let named = wanted.filter.kinds();
        let kinds = named.map_or_else(|| wanted.kinds.clone(), BTreeSet::from_iter);
        Self {
            wanted,
            kinds,
            conversation: Conversation::default(),
            order: Order::default(),
            room: Room::default(),
            counts: Counts::default(),
            asked: AskedFor::new(),
        }
    }

    /// Reports what happens as it happens, by [`Listing::poll_change`]: nothing waits until an
    /// exchange is over, and the reader must put lines in their places.
    #[must_use]
    pub fn followed(mut self) -> Self {
        self.order = Order::of_changes();
        self
    }

    /// Sets which tool use of a model each `tools/call` carried out.
    #[must_use]
    pub fn with_asked(mut self, asked: AskedFor) -> Self {
        self.asked = asked;
        self
    }

    /// Whether model calls are requested.
    #[must_use]
    pub fn wants_models(&self) -> bool {
        self.kinds.contains(&LineKind::Model)
    }

    /// Reports that a model call begins with this event.
    pub fn model_began(&mut self, seq: u64) {
        if self.wants_models() {
            self.order.opens((seq, MODEL), None);
        }
    }

    /// Reports that this event did not begin a model call.
    pub fn no_model(&mut self, seq: u64) {
        self.order.forget((seq, MODEL));
    }

    /// Adds a model call that had begun and is now over.
    pub fn model_ended(&mut self, row: ModelRow, request: Body, answer: Body) {
        self.counts.models += 1;
        let key = (row.request_seq, MODEL);
        let row = if self.wanted.timed {
            row
        } else {
            row.without_times()
        };
        let (request, answer) = (self.room.take(request), self.room.take(answer));
        let row = Box::new(row);
        let entry = Entry::Model {
            row,
            request,
            answer,
        };
        let is_wanted = self.wants_models();
        self.counts.models_shown += u64::from(self.add(key, entry, is_wanted));
    }

    /// Adds a line if it is requested; returns whether it is.
    fn add(&mut self, key: Key, entry: Entry, is_kind: bool) -> bool {
        let is_wanted = is_kind && entry.matches(&self.wanted.filter);
        if is_wanted {
            self.order.add(key, entry);
        } else {
            self.room.free_all(&entry);
            self.order.forget(key);
        }
        is_wanted
    }

    /// Handles the next event; `message` is its parsed message, if known.
    pub fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        self.counts.last = self.counts.last.max(event.at);
        let seen = self.steps(event, message);
        for one in seen {
            match one {
                Seen::Asked(handle, key, body) => self.asked(handle, key, body),
                Seen::Answered(handle, body) => {
                    let body = self.room.take(body);
                    if let Some(exchange) = self.conversation.get_mut(handle) {
                        exchange.value.answer = body;
                    } else {
                        self.room.free(&body);
                    }
                    self.told_again(handle);
                }
                Seen::Beside(key, note) => self.beside(key, note),
            }
        }
        self.count(event);
        if let Some(note) = note::of_event(event, &self.kinds) {
            self.beside((event.seq, 0), Box::new(note));
        }
        self.collect();
    }

    /// The exchanges that are not over, oldest first, as far as they are known; shown or not.
    pub fn open(&self) -> impl Iterator<Item = ExchangeRow> {
        let timed = self.wanted.timed;
        self.conversation.iter().map(move |(_, exchange)| {
            let row = ExchangeRow::so_far(exchange);
            if timed { row } else { row.without_times() }
        })
    }

    /// The session of each exchange that is not over, shown or not.
    pub fn open_sessions(&self) -> impl Iterator<Item = u32> {
        let open = self.conversation.iter();
        open.map(|(_, exchange)| exchange.session.0)
    }

    /// Sets the time to `now`, since there may have been no event for a while: a last answer has
    /// reached its receiver by then.
    pub fn tick(&mut self, now: Offset) {
        self.conversation.tick(now);
        self.collect();
    }

    /// Nothing more will come.
    pub fn finish(&mut self) {
        self.conversation.finish();
        self.collect();
        self.order.finish();
    }

    /// The next line.
    pub fn poll(&mut self) -> Option<Entry> {
        let entry = self.order.poll()?;
        self.room.free_all(&entry);
        Some(entry)
    }

    /// The next change, if the listing is [followed](Self::followed).
    pub fn poll_change(&mut self) -> Option<Change> {
        let change = self.order.poll_change()?;
        if let Change::Whole(_, entry) = &change {
            self.room.free_all(entry);
        }
        Some(change)
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The effect of each message of an event.
    fn steps(&mut self, event: &Event, message: Option<&Envelope<'_>>) -> Vec<Seen> {
        let mut seen = Vec::new();
        let (mut place, kinds, bodies) = (0, &self.kinds, self.wanted.bodies);
        self.conversation.observe(event, message, |step| {
            let key = (event.seq, place);
            place += 1;
            let body = |wanted: bool| {
                if wanted {
                    Body::of(step.text)
                } else {
                    Body::Unwanted
                }
            };
            match (step.what, step.handle) {
                (Does::Asks, Some(handle)) => seen.push(Seen::Asked(handle, key, body(bodies))),
                (Does::Answers, Some(handle)) if bodies || self.order.tells_changes() => {
                    seen.push(Seen::Answered(handle, body(bodies)));
                }
                (Does::Answers, _) => {}
                _ => {
                    let kind = kind_of(&step);
                    if kinds.contains(&kind) {
                        let note = note::of_step(
                            event,
                            &step,
                            kind,
                            body(bodies || kind == LineKind::Noise),
                        );
                        seen.push(Seen::Beside(key, Box::new(note)));
                    }
                }
            }
        });
        seen
    }

    fn asked(&mut self, handle: Handle, key: Key, body: Body) {
        if !self.kinds.contains(&LineKind::Exchange) {
            return;
        }
        let request = self.room.take(body);
        if let Some(exchange) = self.conversation.get_mut(handle) {
            exchange.value.key = Some(key);
            exchange.value.request = request;
            let is_told = self.order.tells_changes();
            let row = is_told.then(|| Box::new(ExchangeRow::so_far(exchange)));
            self.order.opens(key, row);
        } else {
            self.room.free(&request);
        }
    }

    fn beside(&mut self, key: Key, mut note: Box<Note>) {
        if !self.wanted.timed {
            note.at_ms = None;
        }
        if self.wanted.filter.matches(&note.subject()) {
            self.counts.beside += 1;
            self.order.add(key, Entry::Beside(note));
        }
    }

    fn count(&mut self, event: &Event) {
        match &event.body {
            EventBody::Gap(gap) => {
                let [count, events, bytes] = &mut self.counts.gaps;
                *count += 1;
                *events = events.saturating_add(gap.events);
                *bytes = bytes.saturating_add(gap.bytes);
            }
            EventBody::Message {
                payload: Payload::Clipped { .. },
                ..
            } => self.counts.clipped += 1,
            _ => {}
        }
    }

    /// Updates an exchange that is not over: it has an answer, or a fault holds it back.
    fn told_again(&mut self, handle: Handle) {
        if !self.order.tells_changes() {
            return;
        }
        if let Some(exchange) = self.conversation.get(handle)
            && let Some(key) = exchange.value.key
        {
            let row = ExchangeRow::so_far(exchange);
            self.order.opens(key, Some(Box::new(row)));
        }
    }

    fn collect(&mut self) {
        while let Some(handle) = self.conversation.poll_kept() {
            self.told_again(handle);
        }
        while let Some(over) = self.conversation.poll() {
            self.over(over);
        }
        self.order.settle(self.room.is_full());
    }

    fn over(&mut self, over: Over<KeptExchange>) {
        self.counts.exchanges += 1;
        if !over.outcome.is_answer() {
            self.counts.unanswered += 1;
            let gave_up = over.outcome == crate::conversation::Outcome::Cancelled;
            self.counts.cancelled += u64::from(gave_up);
        }
        let mut row = ExchangeRow::of(&over);
        row.asked_by = self.asked_by(&row);
        let row = if self.wanted.timed {
            row
        } else {
            row.without_times()
        };
        let KeptExchange {
            key,
            request,
            answer,
        } = over.exchange.value;
        let Some(key) = key else { return };
        let entry = Entry::Exchange {
            row: Box::new(row),
            request,
            answer,
        };
        self.counts.shown += u64::from(self.add(key, entry, true));
    }

    /// The tool use that a `tools/call` carried out.
    fn asked_by(&mut self, row: &ExchangeRow) -> Option<AskedBy> {
        let here = self.asked.get_mut(&row.request_seq)?;
        let is_tool = |(tool, _): &(String, AskedBy)| Some(tool) == row.tool.as_ref();
        let place = here.iter().position(is_tool)?;
        Some(here.remove(place).1)
    }
}

/// A model call follows the head of its request.
const MODEL: u32 = u32::MAX;

fn kind_of(step: &Step<'_, KeptExchange>) -> LineKind {
    match step.what {
        Does::Late | Does::Duplicate => LineKind::Late,
        Does::Orphan | Does::Refuses | Does::TypeChanged | Does::Asks | Does::Answers => {
            LineKind::Orphan
        }
        Does::Progress => LineKind::Progress,
        Does::Cancels => LineKind::Cancellation,
        Does::Nothing => match step.envelope.kind {
            Kind::Notification { .. } => LineKind::Notification,
            _ => LineKind::Noise,
        },
    }
}
