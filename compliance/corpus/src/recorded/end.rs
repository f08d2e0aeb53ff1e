//! The end of a recording, of several, and properties of a whole conversation.

use std::time::Duration;

use tapewright_schemas::conversation::Conversation;

use super::memory::Memory;
use super::{Judged, Recorded, Source};
use crate::judge::judge;
use crate::observation::{Cancelled, Observation, Reply};
use crate::plan::AssertionIndex;
use crate::rule::Applies;

impl Recorded<'_> {
    /// Ends the recording; another one of the same server follows. `cut` means that it has no end,
    /// or lacks events at places that it does not show.
    ///
    /// The server's capabilities and lists remain known: conversations that were recorded
    /// separately are judged as one.
    pub fn next(&mut self, cut: bool, source: Source) {
        self.end(cut);
        // With another revision, the same request may be a different question.
        self.memory = Memory::default();
        self.revision = source.revision;
        self.timed = source.timed;
        self.conduits.next(source.transport);
        self.recording += 1;
    }

    /// Returns all results. `cut` means that the recording has no end, or lacks events at places
    /// that it does not show.
    #[must_use]
    pub fn finish(mut self, cut: bool) -> Judged {
        self.end(cut);
        self.wires();
        Judged {
            tally: self.tally,
            facts: self.facts,
            exchanges: self.exchanges,
            gaps: self.gaps,
        }
    }

    /// Requests that are open at the end of a recording have no answer.
    fn end(&mut self, cut: bool) {
        self.gaps += u64::from(cut);
        for conduit in self.conduits.drain() {
            for finished in conduit.held {
                self.finished(&finished);
            }
            if let Some(sent) = conduit.raw {
                self.raw_over(&sent, Reply::None, conduit.response, None, conduit.in_place);
            }
        }
        while let Some(exchange) = self.open.pop_oldest() {
            self.finish_exchange(exchange, None, false);
        }
        self.conversation = Some(Box::new(Conversation::of_handles()));
        for exchange in self.rounds.drain() {
            self.over(exchange, None, false, false);
        }
        for (at, seen) in self.groups.rest() {
            if let Some(assertion) = self.plan.assertion(at) {
                self.count(at, judge(assertion, &seen), Duration::ZERO);
            }
        }
        let cancelled = self.sessions.drain().map(|(_, session)| session);
        let went_on = cancelled
            .filter(|session| session.cancelled > 0)
            .map(|session| session.goes_on);
        self.went_on = went_on
            .chain(self.went_on)
            .reduce(|one, other| one || other);
        self.tokens.clear();
    }

    /// Judges properties of the whole conversation.
    fn wires(&mut self) {
        let goes_on = self.went_on;
        let transport = self.facts.transports.first().copied();
        let stdio = self.facts.transports.contains(&Applies::Stdio);
        let seen = Observation {
            transport: if stdio {
                Some(Applies::Stdio)
            } else {
                transport
            },
            framing: Some(self.framing.clone()),
            cancelled: goes_on.map(|goes_on| Cancelled {
                answered: false,
                // There may have been no request after it.
                goes_on: goes_on.then_some(true),
            }),
            ..Observation::default()
        };
        let all = self.index.framing.iter().chain(&self.index.cancellable);
        let all: Vec<AssertionIndex> = all.copied().collect();
        for at in all {
            self.decide(at, &seen);
        }
    }
}
