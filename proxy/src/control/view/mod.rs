//! Shows a recording while it is made: sessions, pending requests, hangs, findings, and events.
//!
//! A [`View`] acts as a [`Judge`]: it gets the numbered and redacted events of the tape, on the
//! judge's thread. Without a control there is none, and it costs nothing; with one, the writer pays
//! the cost of a judge, and the traffic nothing.
//!
//! # Bounded memory
//!
//! The numbers of sessions, requests, hangs and findings are bounded, and dropped ones are counted.
//! Each listener has a bounded backlog; one that is slower than the traffic loses the oldest
//! events, and gets their number.

mod events;
mod judge;
mod session;
mod summary;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tapewright_schemas::conversation::Over;
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::{Direction, Event, EventBody, Finding, Offset, SessionMark};
use tapewright_schemas::waits::{Change, HangReported, Waits};
use tokio::sync::broadcast;

use self::session::SessionView;
use crate::clock::Clock;

pub(super) use self::events::Events;

/// The current state of a recording.
#[derive(Debug)]
pub struct View {
    clock: Clock,
    state: Mutex<State>,
    tape: Mutex<Option<String>>,
    listeners: broadcast::Sender<Arc<str>>,
}

#[derive(Debug)]
struct State {
    waits: Waits,
    sessions: BTreeMap<u32, SessionView>,
    forgotten: u64,
    // The last hangs that ended, and the last findings, as JSON.
    hangs: VecDeque<Value>,
    hangs_count: u64,
    findings: VecDeque<Value>,
    findings_count: u64,
    // The number of events sent.
    told: u64,
}

/// Time after which a request hangs by default, in microseconds.
const LONG: Offset = Offset(30_000_000);
/// The maximum number of sessions.
const SESSIONS: usize = 4_096;
/// The maximum number of listed requests, the oldest first.
const PENDING: usize = 1_000;
/// The maximum numbers of ended hangs and of findings.
const HANGS: usize = 1_000;
const FINDINGS: usize = 1_000;
/// The backlog of a listener, beyond which it loses the oldest events.
const BACKLOG: usize = 1_024;

impl View {
    /// An empty view. A request that is pending for `long` is a hang; 30 seconds by default.
    #[must_use]
    pub fn new(clock: Clock, long: Option<Offset>) -> Arc<Self> {
        let state = State {
            waits: Waits::new(long.unwrap_or(LONG)),
            sessions: BTreeMap::new(),
            forgotten: 0,
            hangs: VecDeque::new(),
            hangs_count: 0,
            findings: VecDeque::new(),
            findings_count: 0,
            told: 0,
        };
        Arc::new(Self {
            clock,
            state: Mutex::new(state),
            tape: Mutex::new(None),
            listeners: broadcast::Sender::new(BACKLOG),
        })
    }

    /// Sets the tape of the recording, where clients find the messages.
    pub fn stands_on(&self, tape: &Path) {
        // A path that is not UTF-8 is of no use to clients.
        let path = std::path::absolute(tape).ok();
        let path = path.and_then(|path| path.to_str().map(str::to_owned));
        *self.tape.lock().unwrap_or_else(PoisonError::into_inner) = path;
    }

    /// The recording and its tape.
    pub(super) fn recording(&self) -> Value {
        let tape = self.tape.lock().unwrap_or_else(PoisonError::into_inner);
        let long = self.lock().waits.long().0 / 1_000;
        json!({
            "tape": *tape,
            "pid": std::process::id(),
            "now_ms": self.clock.now().millis(),
            "hang_after_ms": long,
        })
    }

    /// The sessions, in the order of their numbers.
    pub(super) fn sessions(&self) -> Value {
        self.sessions_at(self.clock.now())
    }

    /// The sessions at a given time of the recording.
    pub(crate) fn sessions_at(&self, now: Offset) -> Value {
        let state = self.lock();
        let mut pending: BTreeMap<u32, u64> = BTreeMap::new();
        for wait in state.waits.pending() {
            *pending.entry(wait.session.0).or_default() += 1;
        }
        let sessions = state.sessions.iter().map(|(number, session)| {
            let pending = pending.get(number).copied().unwrap_or_default();
            session.shown(*number, pending)
        });
        let sessions: Vec<Value> = sessions.collect();
        json!({ "now_ms": now.millis(), "sessions": sessions, "forgotten": state.forgotten })
    }

    /// The pending requests, the oldest first.
    pub(super) fn pending(&self) -> Value {
        self.pending_at(self.clock.now())
    }

    /// The pending requests at a given time of the recording.
    pub(crate) fn pending_at(&self, now: Offset) -> Value {
        let state = self.lock();
        let long = state.waits.long();
        let pending: Vec<Value> = state
            .waits
            .pending()
            .take(PENDING)
            .map(|wait| summary::pending(wait, now, long))
            .collect();
        let count = state.waits.pending().count() as u64;
        json!({ "now_ms": now.millis(), "pending": pending, "count": count })
    }

    /// The last hangs, ended or not.
    pub(super) fn hangs(&self) -> Value {
        self.hangs_at(self.clock.now())
    }

    /// The hangs at a given time of the recording.
    pub(crate) fn hangs_at(&self, now: Offset) -> Value {
        let state = self.lock();
        let long = state.waits.long();
        let mut hangs: Vec<Value> = state.hangs.iter().cloned().collect();
        let open = state.waits.pending();
        let open = open.filter(|wait| wait.is_kept() || now.since(wait.at) >= long);
        let mut count = state.hangs_count;
        for wait in open {
            count += 1;
            if hangs.len() < HANGS + PENDING {
                hangs.push(summary::hang(wait, now, None));
            }
        }
        json!({ "now_ms": now.millis(), "hangs": hangs, "count": count })
    }

    /// The last findings of judges.
    pub(super) fn findings(&self) -> Value {
        let state = self.lock();
        let findings: Vec<Value> = state.findings.iter().cloned().collect();
        json!({ "findings": findings, "count": state.findings_count })
    }

    /// Subscribes to all events from now on.
    pub(super) fn listen(&self) -> broadcast::Receiver<Arc<str>> {
        self.listeners.subscribe()
    }

    /// Handles an event of the tape.
    fn observe(&self, event: &Event, message: Option<&Envelope<'_>>) {
        let mut state = self.lock();
        let listens = self.listeners.receiver_count() > 0;
        let mut told = Vec::new();
        let State {
            waits, sessions, ..
        } = &mut *state;
        let known = sessions.contains_key(&event.session.0);
        if known || opens(event) {
            let session = sessions
                .entry(event.session.0)
                .or_insert_with(|| SessionView::new(event.at));
            session.event(event);
            waits.observe(event, message, |step| {
                session.message(event, &step);
                if listens {
                    told.push(summary::message(event, &step));
                }
            });
        } else {
            waits.observe(event, message, |_| {});
        }
        if listens {
            told.extend(summary::beside(event));
        }
        state.forget();
        state.collect(&mut told, listens);
        self.tell(&mut state, told);
    }

    /// Handles an event of a tape whose reader has no judge.
    pub(crate) fn follow(&self, event: &Event, message: Option<&Envelope<'_>>) {
        self.observe(event, message);
        if let EventBody::Finding(finding) = &event.body {
            self.found(event, finding);
        }
    }

    /// Updates the time, also when there are no events.
    pub(crate) fn tick(&self, now: Offset) {
        let mut state = self.lock();
        let mut told = Vec::new();
        state.waits.tick(now);
        state.collect(&mut told, self.listeners.receiver_count() > 0);
        self.tell(&mut state, told);
    }

    /// Handles a judge's finding.
    fn found(&self, event: &Event, finding: &Finding) {
        let mut state = self.lock();
        state.findings_count += 1;
        if state.findings.len() >= FINDINGS {
            state.findings.pop_front();
        }
        let shown = summary::finding(event, finding);
        if let Some(session) = state.sessions.get_mut(&event.session.0) {
            session.found();
        }
        self.tell(&mut state, vec![shown.clone()]);
        state.findings.push_back(shown);
    }

    /// Notifies the listeners. A slow listener loses events; nothing waits for it.
    fn tell(&self, state: &mut State, told: Vec<Value>) {
        if self.listeners.receiver_count() == 0 {
            return;
        }
        for one in told {
            state.told += 1;
            let text = format!("id: {}\ndata: {one}\n\n", state.told);
            // The last listener may just have left.
            drop(self.listeners.send(text.into()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Notes hangs that started or ended, and reports finished exchanges if there are listeners.
    fn collect(&mut self, told: &mut Vec<Value>, listens: bool) {
        while let Some(change) = self.waits.poll() {
            match change {
                Change::Hangs(wait) => told.push(summary::hang_event(&wait, wait.at, None)),
                Change::Over { over, hung } => {
                    if hung {
                        self.hung(&over, told);
                    }
                    if listens {
                        told.push(summary::exchange(&over));
                    }
                }
            }
        }
    }

    fn hung(&mut self, over: &Over<HangReported>, told: &mut Vec<Value>) {
        self.hangs_count += 1;
        if self.hangs.len() >= HANGS {
            self.hangs.pop_front();
        }
        let how = Some(over.outcome.word());
        let shown = summary::hang(&over.exchange, over.at, how);
        self.hangs.push_back(shown);
        told.push(summary::hang_event(&over.exchange, over.at, how));
    }

    /// Drops a session when there are too many: one that has ended, or else the oldest.
    fn forget(&mut self) {
        if self.sessions.len() <= SESSIONS {
            return;
        }
        let mut ended = self.sessions.iter();
        let ended = ended.find(|(_, session)| session.has_ended());
        let number = ended.or_else(|| self.sessions.iter().next());
        if let Some(number) = number.map(|(number, _)| *number) {
            self.sessions.remove(&number);
            self.forgotten += 1;
        }
    }
}

/// Whether an event is about its session, and not just about an exchange.
fn opens(event: &Event) -> bool {
    match &event.body {
        EventBody::Message { .. } | EventBody::Exited(_) => true,
        EventBody::Opened(_) => event.dir == Direction::ToServer && event.conduit.0 == 0,
        EventBody::Session(mark) => matches!(mark, SessionMark::Began(_)),
        _ => false,
    }
}

/// Whether a message is a request.
fn is_request(envelope: &Envelope<'_>) -> bool {
    matches!(envelope.kind, Kind::Request { .. })
}

#[cfg(test)]
mod tests;
