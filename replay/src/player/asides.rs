//! Messages that belong to no request, and replies to the server's requests.

use std::collections::HashMap;
use std::time::Duration;

use tapewright_schemas::conversation::{IdKey, Outstanding};
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::Direction;
use tapewright_schemas::json;
use tapewright_schemas::slices::Part as _;

use super::scene::on_one_line;
use super::{Output, OutputKind, Player};
use crate::index::AsideKind;

/// How far the asides of a session have been played.
#[derive(Debug)]
pub(super) struct Asides {
    next: usize,
    // Notifications of the recorded client that the live one has sent, by method: where to search
    // for the next.
    heard: HashMap<String, usize>,
    // Requests of the server without a reply so far, by the key of their live id.
    awaited: Outstanding<Awaited>,
}

/// A request of the server without a reply so far.
#[derive(Debug)]
pub(super) struct Awaited {
    /// Key of the recorded id.
    pub(super) recorded: IdKey,
    /// The method of the request.
    pub(super) method: String,
    /// The waiting scene, and its take; `None` for an aside.
    pub(super) scene: Option<(u64, usize)>,
}

/// The maximum number of unanswered requests of the server; later replies are dropped.
const AWAITED_LIMIT: usize = 65_536;

impl Default for Asides {
    fn default() -> Self {
        Self {
            next: 0,
            heard: HashMap::new(),
            awaited: Outstanding::new(AWAITED_LIMIT),
        }
    }
}

impl Asides {
    /// Starts again.
    pub(super) fn reset(&mut self) {
        self.next = 0;
        self.heard.clear();
    }

    /// Notes that a request of the server was sent.
    pub(super) fn await_reply(&mut self, live: IdKey, awaited: Awaited) {
        self.awaited.enter(live, awaited);
    }
}

impl Player {
    /// When to send the next aside; `None` if it waits for the client or for an earlier scene, or
    /// if there is none.
    pub(super) fn next_aside(&self) -> Option<Duration> {
        let script = &self.index.script;
        if self.asides.next >= script.asides.len() {
            return None;
        }
        // The session is only chosen after the client's first message.
        let several = script.sessions.len() > 1;
        let home = self.matcher.home();
        if several && home.is_none() {
            return None;
        }
        let rest = script.asides.part(self.asides.next..);
        let aside = rest.iter().find(|aside| {
            aside.dir == Direction::ToClient
                && (!several || home == Some(aside.session) || aside.session == 0)
        })?;
        let (after, reached) = match (aside.after, self.reached) {
            (None, _) => (aside.when.at_us, Duration::ZERO),
            (Some(_), None) => return None,
            (Some(after), Some((moment, _))) if moment < after => return None,
            (Some(_), Some((moment, at))) => (moment.at_us, at),
        };
        let earlier = self
            .pending
            .first()
            .is_some_and(|(moment, _)| *moment < aside.when);
        if earlier {
            return None;
        }
        if !script.tells_times() {
            return Some(reached);
        }
        let gap = aside.when.at_us.saturating_sub(after);
        Some(reached.saturating_add(self.index.options.pace.wait(gap, false)))
    }

    /// Plays the next aside; returns `None` if it has no output.
    pub(super) fn play_aside(&mut self) -> Option<Output> {
        let script = std::sync::Arc::clone(&self.index.script);
        let several = script.sessions.len() > 1;
        let home = self.matcher.home();
        let (aside, kind) = loop {
            let place = self.asides.next;
            self.asides.next += 1;
            let aside = script.asides.get(place)?;
            let ours = !several || home == Some(aside.session) || aside.session == 0;
            if aside.dir == Direction::ToClient && ours {
                break (aside, self.index.asides.get(place)?.clone());
            }
        };
        let message = script.words(&aside.words);
        let (kind, id) = match kind {
            AsideKind::Noise => return Some(Output::new(OutputKind::Noise, message)),
            AsideKind::Notification(_) => (OutputKind::Notification, None),
            AsideKind::Request(key) => {
                let live = self.names.ask(json::find(&message, &["id"])?);
                let awaited = Awaited {
                    recorded: key,
                    method: Envelope::parse(&message)
                        .method()
                        .unwrap_or_default()
                        .to_owned(),
                    scene: None,
                };
                self.asides.await_reply(IdKey::exact_of(&live), awaited);
                (OutputKind::Request, Some(live))
            }
            AsideKind::Response(_) => {
                let live = self.names.live_id(json::find(&message, &["id"])?)?;
                (OutputKind::Response, Some(live.clone()))
            }
        };
        let message = on_one_line(message);
        let parts = self.names.translate(&message, id.as_ref())?;
        Some(Output {
            parts,
            kind,
            request: None,
            error_code: None,
            keeps_paths: false,
        })
    }

    /// Handles a notification of the client: the recorded client reached the next moment with this
    /// method.
    pub(super) fn heard_notification(&mut self, now: Duration, method: &str) {
        let from = self.asides.heard.get(method).copied().unwrap_or_default();
        if let Some(place) = self.find_said(
            from,
            |kind| matches!(kind, AsideKind::Notification(known) if known == method),
        ) {
            self.asides.heard.insert(method.to_owned(), place + 1);
            if let Some(aside) = self.index.script.asides.get(place) {
                let when = aside.when;
                self.reach(now, when);
            }
        }
    }

    /// Handles the client's reply to a request of the server.
    pub(super) fn reply(&mut self, now: Duration, live: IdKey, message: &[u8]) {
        let Some(awaited) = self.asides.awaited.take(live) else {
            // An unexpected reply is ignored: a response is never answered.
            return;
        };
        let take = awaited.scene.map(|(_, take)| take);
        let mut recorded = take.and_then(|take| self.recorded_reply(take, awaited.recorded));
        if let Some((scene, _)) = awaited.scene {
            self.replied(now, scene, awaited.recorded, recorded.as_deref(), message);
        }
        let said = self.find_said(
            0,
            |kind| matches!(kind, AsideKind::Response(key) if *key == awaited.recorded),
        );
        if let Some(aside) = said.and_then(|place| self.index.script.asides.get(place)) {
            let (when, words) = (aside.when, self.index.script.words(&aside.words));
            self.names.learn(&words, message);
            recorded = recorded.or(Some(words));
            self.reach(now, when);
        }
        self.weigh_reply(&awaited.method, take, recorded.as_deref(), message);
    }

    /// The first aside of the recorded client of a kind, from an index on.
    fn find_said(&self, from: usize, is: impl Fn(&AsideKind) -> bool) -> Option<usize> {
        let script = &self.index.script;
        let several = script.sessions.len() > 1;
        let home = self.matcher.home();
        let asides = script.asides.iter().zip(&self.index.asides).enumerate();
        let mut said = asides.skip(from).filter(|(_, (aside, _))| {
            aside.dir == Direction::ToServer && (!several || home == Some(aside.session))
        });
        said.find(|(_, (_, kind))| is(kind)).map(|(place, _)| place)
    }
}
