//! One direction of a conversation.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{
    CloseReason, ConduitId, Direction, Effect, Event, EventBody, Faulted, LineEnd, Maker,
    MessageCount, MessageNumber, Offset, Origin, Payload, SessionKey, What,
};

use crate::assembly::{Assembly, Found, message_of, next_line};
use crate::outbox::{Outbox, after};
use crate::policy::{Decision, Message, Policy, SideAction};

/// When bytes are passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forward {
    /// As they come, in the pieces in which they came.
    AtOnce,
    /// A message not before its event was handed out. One that stays unfinished for
    /// longer than 50 ms, or is larger than 1 MiB, is passed on in pieces
    /// after an [`EventBody::Part`] that counts them.
    Recorded,
}

/// How long an unfinished message is held under [`Forward::Recorded`]: a prompt without
/// a line feed must not get stuck.
pub(crate) const HOLD_TIME: Duration = Duration::from_millis(50);

/// How much of an unfinished message is held under [`Forward::Recorded`], in bytes.
pub(crate) const HOLD_SIZE: usize = 1024 * 1024;

/// What a lane needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Which conduit the events belong to.
    pub conduit: ConduitId,
    /// Which session the events belong to.
    pub session: SessionKey,
    /// When bytes are passed on.
    pub forward: Forward,
    /// The longest message that is kept whole, in bytes; a longer one is passed on all
    /// the same and kept as [`Payload::Clipped`].
    pub limit_bytes: usize,
}

/// One direction of a conversation. See the [crate documentation](crate) for how to
/// drive it.
#[derive(Debug)]
pub struct Lane<P: Policy> {
    dir: Direction,
    settings: Settings,
    policy: P,
    input: Assembly,
    // sent <= cleared <= input.end(): how much of the buffer has been, and may be, passed
    // on.
    sent: usize,
    cleared: usize,
    // Whole lines whose events were not handed out yet.
    lines: Bytes,
    // Bytes to be passed on before the cleared input, which came later, and what is held.
    outbox: Outbox,
    events: VecDeque<Event>,
    count: MessageCount,
    // Who makes what comes in.
    maker: Maker,
    now: Offset,
    // Since when unfinished input is held back.
    held_since: Option<Offset>,
    closed: Option<CloseReason>,
}

impl<P: Policy> Lane<P> {
    /// A lane on which nothing has passed yet.
    pub fn new(dir: Direction, settings: Settings, policy: P) -> Self {
        Self {
            dir,
            settings,
            policy,
            input: Assembly::new(settings.limit_bytes),
            sent: 0,
            cleared: 0,
            lines: Bytes::new(),
            outbox: Outbox::default(),
            events: VecDeque::new(),
            count: MessageCount::default(),
            maker: Maker::Peer,
            now: Offset::default(),
            held_since: None,
            closed: None,
        }
    }

    /// Room for the next read: append to it, and change nothing else.
    pub fn space(&mut self) -> &mut Vec<u8> {
        self.settle();
        self.input.space()
    }

    /// What comes in from now on was made by this one; a change amid a line is of the whole line.
    pub fn made_by(&mut self, maker: Maker) {
        self.maker = maker;
    }

    /// Bytes were appended to [`space`](Self::space) at `now`.
    pub fn handle_input(&mut self, now: Offset) {
        self.now = now;
        self.drain_lines();
        if self.flows() {
            self.held_since = None;
            self.cleared = self.input.end();
            self.frame();
        } else {
            self.cut_and_decide();
        }
    }

    /// The sender closed its end at `now`.
    pub fn handle_eof(&mut self, now: Offset) {
        self.handle_close(now, CloseReason::EndOfInput);
    }

    /// This direction is over for another reason: what arrived is still reported, and
    /// nothing more is passed on unless the sender itself came to its end.
    pub fn handle_close(&mut self, now: Offset, reason: CloseReason) {
        if self.closed.is_some() {
            return;
        }
        self.now = now;
        self.drain_lines();
        if reason == CloseReason::EndOfInput {
            self.release_rest();
        } else {
            self.outbox.clear(&self.policy);
        }
        if let Some((payload, end)) = self.input.finish() {
            self.push_message(payload, end);
        }
        self.sent = 0;
        self.cleared = 0;
        self.closed = Some(reason);
        self.events.push_back(self.event(EventBody::Closed(reason)));
    }

    /// The time that [`poll_timeout`](Self::poll_timeout) named has come.
    pub fn handle_timeout(&mut self, now: Offset) {
        self.now = now;
        self.release_due();
        if self.closed.is_some() {
            return;
        }
        if self.is_blocked() {
            self.held_since = None;
        } else if self.begun() && self.cleared < self.input.end() {
            self.clear_part();
        }
        if self
            .held_since
            .is_some_and(|since| after(since, HOLD_TIME) <= now)
        {
            if self.policy.is_idle() {
                self.clear_part();
            } else {
                // A policy gets whole messages, however long they take.
                self.held_since = Some(now);
            }
        }
    }

    /// The next bytes to be passed on, in one write where possible. Followed by
    /// [`transmitted`](Self::transmitted) once all of them are.
    pub fn poll_transmit(&mut self) -> Option<&[u8]> {
        if let Some(bytes) = self.outbox.front() {
            return Some(bytes);
        }
        let part = self.input.between(self.sent, self.cleared);
        (!part.is_empty()).then_some(part)
    }

    /// The bytes of the last [`poll_transmit`](Self::poll_transmit) have been passed on.
    pub fn transmitted(&mut self) {
        if self.outbox.pop().is_none() {
            self.sent = self.cleared;
        }
    }

    /// The next thing to be done beside this direction.
    pub fn poll_aside(&mut self) -> Option<SideAction> {
        self.outbox.aside()
    }

    /// Whether the sender is not to be read from, until
    /// [`handle_timeout`](Self::handle_timeout) was called.
    pub fn is_stalled(&self) -> bool {
        self.outbox.is_stalled() || self.outbox.is_playing() && self.input.outgrown()
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<Event> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        let line = next_line(&mut self.lines)?;
        let (payload, end) = message_of(line, self.settings.limit_bytes);
        Some(self.message(payload, end))
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called.
    pub fn poll_timeout(&self) -> Option<Offset> {
        let held = self.held_since.map(|since| after(since, HOLD_TIME));
        let outbox = self.outbox.timeout(self.now).filter(|_| !self.amid());
        outbox.into_iter().chain(held).min()
    }

    /// Why this direction is over, if it is.
    pub fn closed(&self) -> Option<CloseReason> {
        self.closed
    }

    /// Whether input is passed on before anything looks at it.
    fn flows(&self) -> bool {
        self.settings.forward == Forward::AtOnce && self.policy.is_idle() && self.outbox.is_empty()
    }

    /// Whether steps are under way that the unfinished message must wait for.
    fn is_blocked(&self) -> bool {
        self.outbox.is_playing()
    }

    /// Whether the unfinished message cannot wait any longer for its end.
    fn begun(&self) -> bool {
        self.amid() && !self.is_blocked()
    }

    /// Whether an unfinished message has been passed on in part.
    fn amid(&self) -> bool {
        self.sent > self.input.start() || self.input.outgrown() && !self.outbox.is_playing()
    }

    /// Cuts input that flows into lines, without changing what is to be passed on.
    fn frame(&mut self) {
        while let Some(found) = self.input.take() {
            match found {
                Found::Lines { lines, old } => {
                    self.lines = lines;
                    if let Some(old) = old {
                        // What came after the lines leaves in the same write.
                        self.outbox.send_first(old.slice(self.sent..self.cleared));
                        self.sent = self.input.end();
                        self.cleared = self.sent;
                    }
                }
                Found::Clipped(payload, end, _) => {
                    self.push_message(payload, end);
                }
            }
        }
    }

    /// Gives up what was taken, and what was passed on of a message that is too long to
    /// be kept.
    fn settle(&mut self) {
        if self.sent < self.input.start() {
            // The driver has not passed everything on: only then, and never in a loop that
            // follows the crate's rules.
            return;
        }
        let moved = self.input.compact();
        self.sent -= moved;
        self.cleared -= moved.min(self.cleared);
        if self.input.outgrown() && self.sent == self.input.end() {
            self.input.shed();
            self.sent = 0;
            self.cleared = 0;
        }
    }

    /// Cuts input into lines before it is passed on, and lets the policy decide.
    fn cut_and_decide(&mut self) {
        loop {
            let start = self.input.start();
            let Some(found) = self.input.take() else {
                break;
            };
            let begun = self.sent.saturating_sub(start);
            self.sent = self.input.start();
            self.cleared = self.sent;
            match found {
                Found::Lines { lines, .. } => self.decide_lines(lines, begun),
                Found::Clipped(payload, end, rest) => {
                    self.push_message(payload, end);
                    self.outbox.send(rest.slice(begun.min(rest.len())..));
                }
            }
        }
        self.release_due();
        if self.closed.is_some() {
            return;
        }
        let unfinished = self.input.end() - self.input.start();
        if unfinished == 0 || self.is_blocked() {
            self.held_since = None;
        } else if self.amid() || self.policy.is_idle() && unfinished > HOLD_SIZE {
            self.clear_part();
        } else {
            self.held_since.get_or_insert(self.now);
        }
    }

    /// Passes on what there is of an unfinished message, and counts it.
    fn clear_part(&mut self) {
        self.held_since = None;
        self.cleared = self.input.end();
        let bytes = self.input.unfinished();
        self.events.push_back(self.event(EventBody::Part { bytes }));
    }

    /// Lets the policy decide on whole lines, the first of which may have been passed on
    /// in part: `begun` bytes of it.
    fn decide_lines(&mut self, mut lines: Bytes, begun: usize) {
        if self.policy.is_idle() {
            self.outbox.send(lines.slice(begun.min(lines.len())..));
            self.lines = lines;
            return self.drain_lines();
        }
        let mut begun = begun;
        while self.closed.is_none()
            && let Some(whole) = next_line(&mut lines)
        {
            let (payload, end) = message_of(whole.clone(), self.settings.limit_bytes);
            let undecided = begun > 0 || matches!(payload, Payload::Clipped { .. });
            let decision = if undecided {
                Decision::PASS
            } else {
                let envelope = Envelope::parse(payload.kept());
                let message = Message {
                    envelope: &envelope,
                    line: &whole,
                };
                self.policy.decide(self.now, self.dir, &message)
            };
            let number = self.push_message(payload, end);
            let rest = whole.slice(std::mem::take(&mut begun).min(whole.len())..);
            let releases = decision.releases;
            self.outbox.take(self.now, number, decision, rest);
            self.tell();
            if releases {
                self.release_due();
            }
        }
    }

    fn close(&mut self, reason: CloseReason) {
        self.closed = Some(reason);
        self.events.push_back(self.event(EventBody::Closed(reason)));
    }

    /// Passes on what was held and whose time has come, but never amid another message.
    fn release_due(&mut self) {
        if self.closed.is_some() {
            return;
        }
        if !self.amid() {
            self.outbox.release(self.now, &self.policy);
        }
        let over = self.outbox.advance(self.now, &self.policy);
        self.tell();
        if over {
            self.close(CloseReason::Policy);
        }
    }

    /// Passes on whatever is still held, at the end of the stream.
    fn release_rest(&mut self) {
        let rest = Bytes::copy_from_slice(self.input.between(self.sent, self.input.end()));
        self.held_since = None;
        // A message that was passed on in part is finished first.
        let amid = self.amid();
        if amid {
            self.outbox.send_first(rest.clone());
        }
        let lost = self.outbox.finish(self.now, &self.policy);
        self.tell();
        if !amid && lost == 0 {
            self.outbox.send(rest);
        }
        if lost > 0 {
            let count = lost as u64;
            self.push_faulted(Effect::plain(What::Lost { count }).about(None));
        }
    }

    /// Tells the tape what was done, and what was let go.
    fn tell(&mut self) {
        while let Some(faulted) = self.outbox.told() {
            self.push_faulted(faulted);
        }
    }

    /// Turns the remaining whole lines into events.
    fn drain_lines(&mut self) {
        while let Some(line) = next_line(&mut self.lines) {
            let (payload, end) = message_of(line, self.settings.limit_bytes);
            self.push_message(payload, end);
        }
    }

    /// Hands out a message; its number.
    fn push_message(&mut self, payload: Payload, end: LineEnd) -> Option<MessageNumber> {
        let event = self.message(payload, end);
        self.events.push_back(event);
        self.count.last()
    }

    fn push_faulted(&mut self, faulted: Box<Faulted>) {
        let event = self.event(EventBody::Faulted(faulted));
        self.events.push_back(event);
    }

    fn message(&mut self, payload: Payload, end: LineEnd) -> Event {
        let origin = Origin {
            maker: self.maker,
            ..Origin::line(self.count.advance())
        };
        self.event(EventBody::Message {
            payload,
            end,
            origin,
        })
    }

    fn event(&self, body: EventBody) -> Event {
        Event {
            conduit: self.settings.conduit,
            seq: 0,
            at: self.now,
            session: self.settings.session,
            dir: self.dir,
            era: None,
            body,
        }
    }
}

impl<P: Policy> Drop for Lane<P> {
    fn drop(&mut self) {
        self.outbox.clear(&self.policy);
    }
}
