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

/// When bytes are forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forward {
    /// Immediately, in the chunks in which they arrived.
    AtOnce,
    /// A message only after its event was handed out. A message that is unfinished for more than 50
    /// ms, or larger than 1 MiB, is forwarded in pieces after an [`EventBody::Part`] that counts
    /// them.
    Recorded,
}

/// How long an unfinished message is held under [`Forward::Recorded`]: a prompt without a line feed
/// must not get stuck.
pub(crate) const HOLD_TIME: Duration = Duration::from_millis(50);

/// How much of an unfinished message is held under [`Forward::Recorded`], in bytes.
pub(crate) const HOLD_SIZE: usize = 1024 * 1024;

/// The settings of a lane.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The conduit of the events.
    pub conduit: ConduitId,
    /// The session of the events.
    pub session: SessionKey,
    /// When bytes are forwarded.
    pub forward: Forward,
    /// The maximum length of a message that is recorded whole, in bytes; a longer one is forwarded
    /// whole, but recorded as [`Payload::Clipped`].
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
    // sent <= cleared <= input.end(): how much of the buffer was, and may be, forwarded.
    sent: usize,
    cleared: usize,
    // Whole lines whose events are still to be handed out.
    lines: Bytes,
    // Bytes to forward before the cleared input, which came later, and held bytes.
    outbox: Outbox,
    events: VecDeque<Event>,
    count: MessageCount,
    // The maker of the input.
    maker: Maker,
    now: Offset,
    // When the unfinished input started to be held.
    held_since: Option<Offset>,
    closed: Option<CloseReason>,
}

impl<P: Policy> Lane<P> {
    /// A lane without traffic so far.
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

    /// The space for the next read: only append to it.
    pub fn space(&mut self) -> &mut Vec<u8> {
        self.settle();
        self.input.space()
    }

    /// Sets the maker of the input from now on; a change in the middle of a line applies to the
    /// whole line.
    pub fn made_by(&mut self, maker: Maker) {
        self.maker = maker;
    }

    /// Handles bytes that were appended to [`space`](Self::space) at `now`.
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

    /// Handles the end of the sender's input at `now`.
    pub fn handle_eof(&mut self, now: Offset) {
        self.handle_close(now, CloseReason::EndOfInput);
    }

    /// Ends this direction for another reason: input so far is still reported, and nothing more is
    /// forwarded unless the sender itself ended.
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

    /// Handles the time from [`poll_timeout`](Self::poll_timeout).
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
                // A policy gets whole messages, regardless of how long they take.
                self.held_since = Some(now);
            }
        }
    }

    /// The next bytes to forward, in one write where possible. The caller reports with
    /// [`transmitted`](Self::transmitted) when all of them were forwarded.
    pub fn poll_transmit(&mut self) -> Option<&[u8]> {
        if let Some(bytes) = self.outbox.front() {
            return Some(bytes);
        }
        let part = self.input.between(self.sent, self.cleared);
        (!part.is_empty()).then_some(part)
    }

    /// Reports that the bytes of the last [`poll_transmit`](Self::poll_transmit) were forwarded.
    pub fn transmitted(&mut self) {
        if self.outbox.pop().is_none() {
            self.sent = self.cleared;
        }
    }

    /// The next side action.
    pub fn poll_aside(&mut self) -> Option<SideAction> {
        self.outbox.aside()
    }

    /// Whether reading from the sender is suspended, until [`handle_timeout`](Self::handle_timeout)
    /// is called.
    pub fn is_stalled(&self) -> bool {
        self.outbox.is_stalled() || self.outbox.is_playing() && self.input.outgrown()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        let line = next_line(&mut self.lines)?;
        let (payload, end) = message_of(line, self.settings.limit_bytes);
        Some(self.message(payload, end))
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Option<Offset> {
        let held = self.held_since.map(|since| after(since, HOLD_TIME));
        let outbox = self.outbox.timeout(self.now).filter(|_| !self.amid());
        outbox.into_iter().chain(held).min()
    }

    /// Why this direction has ended, if it has.
    pub fn closed(&self) -> Option<CloseReason> {
        self.closed
    }

    /// Whether input is forwarded before it is examined.
    fn flows(&self) -> bool {
        self.settings.forward == Forward::AtOnce && self.policy.is_idle() && self.outbox.is_empty()
    }

    /// Whether steps are in progress that the unfinished message must wait for.
    fn is_blocked(&self) -> bool {
        self.outbox.is_playing()
    }

    /// Whether the unfinished message is being forwarded in part, and no step blocks it.
    fn begun(&self) -> bool {
        self.amid() && !self.is_blocked()
    }

    /// Whether the unfinished message was forwarded in part, or must be because of its length.
    fn amid(&self) -> bool {
        self.sent > self.input.start() || self.input.outgrown() && !self.outbox.is_playing()
    }

    /// Splits input that is already being forwarded into lines, without changing what is forwarded.
    fn frame(&mut self) {
        while let Some(found) = self.input.take() {
            match found {
                Found::Lines { lines, old } => {
                    self.lines = lines;
                    if let Some(old) = old {
                        // The bytes after the lines leave in the same write.
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

    /// Frees what was taken, and the forwarded part of a message that is too long to be recorded.
    fn settle(&mut self) {
        if self.sent < self.input.start() {
            // The driver has not forwarded everything, which never happens in a loop that follows
            // the crate's rules.
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

    /// Splits input into lines before it is forwarded, and lets the policy decide.
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

    /// Forwards the available part of an unfinished message, and counts it.
    fn clear_part(&mut self) {
        self.held_since = None;
        self.cleared = self.input.end();
        let bytes = self.input.unfinished();
        self.events.push_back(self.event(EventBody::Part { bytes }));
    }

    /// Lets the policy decide about whole lines; `begun` bytes of the first one may already be
    /// forwarded.
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

    /// Forwards held messages that are due, but never in the middle of another message.
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

    /// Forwards everything still held, at the end of the stream.
    fn release_rest(&mut self) {
        let rest = Bytes::copy_from_slice(self.input.between(self.sent, self.input.end()));
        self.held_since = None;
        // A message that was forwarded in part is finished first.
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

    /// Records the effects of faults and the releases.
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

    /// Emits a message event, and returns the message's number.
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
