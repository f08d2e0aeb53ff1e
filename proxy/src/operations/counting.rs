//! Counts the operations and sessions of one tape.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tapewright_schemas::conversation::{Conversation, Outcome, Over};
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{Event, EventBody, Offset, SessionMark};
use tapewright_schemas::tape::Header;

use super::Operations;
use crate::behind::Observer;

/// The maximum number of concurrent sessions of one tape.
const SESSIONS: usize = 100_000;
/// The network transport of a client over HTTP, and of one over stdio.
const TCP: &str = "tcp";
const PIPE: &str = "pipe";

/// A finished exchange to count.
#[derive(Debug)]
pub(super) struct Operation<'o> {
    pub(super) method: &'o str,
    pub(super) tool: Option<&'o str>,
    pub(super) error: Option<String>,
    /// The time from the request to the end of the wait, and the receiver's part of it.
    pub(super) waited: Offset,
    pub(super) theirs: Offset,
}

impl<'o> Operation<'o> {
    fn of<T>(over: &'o Over<T>) -> Self {
        let one = &over.exchange;
        let answer = one.answer.as_ref();
        let error = match over.outcome {
            Outcome::Answered => {
                let is_failure = answer.is_some_and(|answer| answer.tool_error);
                is_failure.then(|| "tool_error".to_owned())
            }
            Outcome::Error => {
                let code = answer.and_then(|answer| answer.error.flatten());
                code.map(|code| code.to_string())
            }
            outcome => {
                let token = serde_json::to_value(outcome).unwrap_or_default();
                token.as_str().map(str::to_owned)
            }
        };
        let waited = over.at.since(one.at);
        let took = answer.map(|answer| answer.at.since(one.at));
        let theirs = one.ours_us.zip(took);
        let theirs = theirs.map_or(waited, |(ours, took)| took.since(Offset(ours)));
        Self {
            method: &one.method,
            tool: one
                .name
                .as_deref()
                .filter(|_| one.method.starts_with("tools/")),
            error,
            waited,
            theirs,
        }
    }
}

/// Counts the operations and sessions of one tape.
#[derive(Debug)]
pub struct Counting {
    operations: Arc<Operations>,
    conversation: Conversation<()>,
    transport: &'static str,
    // When sessions started.
    sessions: HashMap<u32, Offset>,
    // The session of a tape without session events: the times of its first message and its last
    // event.
    first: Option<Offset>,
    last: Offset,
}

impl Counting {
    /// Counts a tape with this header.
    #[must_use]
    pub fn new(operations: Arc<Operations>, header: &Header) -> Self {
        let is_http = header.transport == "http";
        Self {
            operations,
            conversation: Conversation::default(),
            transport: if is_http { TCP } else { PIPE },
            sessions: HashMap::new(),
            first: None,
            last: Offset::default(),
        }
    }

    /// Handles the next event; `message` is its parsed message, if known.
    pub fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        self.last = self.last.max(event.at);
        match event.body {
            EventBody::Message { .. } => {
                self.first.get_or_insert(event.at);
            }
            EventBody::Session(SessionMark::Began(_)) if self.sessions.len() < SESSIONS => {
                self.sessions.entry(event.session.0).or_insert(event.at);
            }
            EventBody::Session(SessionMark::Ended(_)) => {
                if let Some(began) = self.sessions.remove(&event.session.0) {
                    self.operations
                        .add_session(event.at.since(began), self.transport);
                }
            }
            _ => {}
        }
        self.conversation.hear(event, message);
        self.count();
    }

    /// Called after a time without events: everything up to this time was observed.
    pub fn tick(&mut self, now: Offset) {
        self.last = self.last.max(now);
        self.conversation.tick(now);
        self.count();
    }

    /// Called after the last event.
    pub fn finish(&mut self) {
        self.conversation.finish();
        self.count();
        if let (PIPE, Some(first)) = (self.transport, self.first.take()) {
            self.operations.add_session(self.last.since(first), PIPE);
        }
    }

    fn count(&mut self) {
        while let Some(over) = self.conversation.poll() {
            self.operations.add(&Operation::of(&over), self.transport);
        }
    }
}

/// Counts a tape while it is read.
#[derive(Debug)]
pub struct Reading {
    counting: Counting,
    // Wall time of offset zero.
    began: SystemTime,
}

impl Reading {
    /// Counts a tape that started at this time, in nanoseconds since 1970.
    #[must_use]
    pub fn new(counting: Counting, began_nanos: u64) -> Self {
        Self {
            counting,
            began: UNIX_EPOCH + Duration::from_nanos(began_nanos),
        }
    }
}

impl Observer for Reading {
    fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        self.counting.observe(event, message);
    }

    fn tick(&mut self, now: SystemTime) {
        let since = now.duration_since(self.began).unwrap_or_default();
        let since = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        self.counting.tick(Offset(since));
    }

    fn finish(&mut self) {
        self.counting.finish();
    }
}
