//! The sessions of a recording, one by one.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::era::Era;
use crate::event::{Direction, Event, EventBody, Head, SessionEnd, SessionMark, SessionStart};

/// The summary of one session.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SessionSummary {
    /// Its number; 0 for exchanges without a session.
    pub session: u32,
    /// The eras that were seen in it, in order.
    pub eras: Vec<&'static str>,
    /// HTTP exchanges.
    pub exchanges: u64,
    /// Messages to the server.
    pub to_server: u64,
    /// Messages to the client.
    pub to_client: u64,
    /// How it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<SessionStart>,
    /// When it was first seen; `None` when the file has no times.
    pub began_ms: Option<f64>,
    /// Why it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<SessionEnd>,
    /// When it was last seen; `None` when the file has no times.
    pub ended_ms: Option<f64>,
}

/// Follows sessions by their numbers.
#[derive(Debug, Default)]
pub(super) struct SessionsFold {
    sessions: BTreeMap<u32, SessionSummary>,
    // A process over stdio has a single session, which the rest of the report describes.
    telling: bool,
}

/// The maximum number of sessions that are listed.
const LIMIT: usize = 1_000;

impl SessionsFold {
    pub(super) fn observe(&mut self, event: &Event) {
        match &event.body {
            EventBody::Session(SessionMark::Began(how)) => {
                self.telling = true;
                self.seen(event, |session| session.began = Some(*how));
            }
            EventBody::Session(SessionMark::Ended(why)) => {
                self.telling = true;
                self.seen(event, |session| session.ended = Some(*why));
            }
            EventBody::Head(head) if matches!(**head, Head::Request(_)) => {
                self.telling = true;
                self.seen(event, |session| session.exchanges += 1);
            }
            EventBody::Message { .. } => self.seen(event, |session| match event.dir {
                Direction::ToServer => session.to_server += 1,
                Direction::ToClient => session.to_client += 1,
            }),
            EventBody::Closed(_) | EventBody::Sse(_)
                if self.sessions.contains_key(&event.session.0) =>
            {
                self.seen(event, |_| {});
            }
            _ => {}
        }
    }

    /// Records the era of a message in a session.
    pub(super) fn era(&mut self, session: u32, era: Era) {
        if let Some(session) = self.sessions.get_mut(&session)
            && !session.eras.contains(&era.name())
        {
            session.eras.push(era.name());
        }
    }

    /// The sessions by their numbers; none for a recording without HTTP.
    pub(super) fn finish(self, timed: bool) -> Vec<SessionSummary> {
        if !self.telling && self.sessions.len() < 2 {
            return Vec::new();
        }
        let mut sessions: Vec<SessionSummary> = self.sessions.into_values().collect();
        if !timed {
            for session in &mut sessions {
                (session.began_ms, session.ended_ms) = (None, None);
            }
        }
        sessions
    }

    fn seen(&mut self, event: &Event, what: impl FnOnce(&mut SessionSummary)) {
        let number = event.session.0;
        if self.sessions.len() >= LIMIT && !self.sessions.contains_key(&number) {
            return;
        }
        let session = self
            .sessions
            .entry(number)
            .or_insert_with(|| SessionSummary {
                session: number,
                began_ms: Some(event.at.millis()),
                ..SessionSummary::default()
            });
        session.ended_ms = Some(event.at.millis());
        what(session);
    }
}
