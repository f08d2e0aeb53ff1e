//! Plays one session: takes the client's messages, and yields those of the recorded server.
//!
//! A [`Player`] has no IO and no clock. The caller passes in messages and the time, and asks what
//! to send and when to ask again: drain [`Player::poll`] until it yields nothing, then wait for
//! input or for [`Player::poll_timeout`].
//!
//! # How a recording is played
//!
//! - A request starts a *scene*: its take's cues in order, then its response. A request of the
//!   server is sent again, and the scene waits for the live reply in place of the recorded one. It
//!   also waits for a recorded cancellation.
//! - *Asides*, messages that belong to no request, follow the client's last message before them.
//! - Every recorded wait is multiplied by the pace; order holds at every pace.
//! - Ids and tokens of this session are rewritten in messages to the client: [`names`].
//!
//! # Elsewhere
//!
//! `matcher` chooses the take for a request. [`CassetteUpstream`](crate::CassetteUpstream)
//! transports the bytes.

mod asides;
mod names;
mod output;
mod replies;
mod requests;
mod scene;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::conversation::{IdKey, Pairing};
use tapewright_schemas::envelope::{Envelope, Kind, Malformed, for_each_message};
use tapewright_schemas::event::{Direction, Scope};
use tapewright_schemas::json;

use crate::index::Index;
use crate::matcher::Matcher;
use crate::paths::{Goal, PathMap};
use crate::script::Moment;
use crate::tally::Tally;

pub use output::{Output, OutputKind};

use asides::Asides;
use names::Names;

pub(crate) use names::splice;
use scene::Scene;

/// A session in progress.
#[derive(Debug)]
pub struct Player {
    index: Arc<Index>,
    tally: Arc<Tally>,
    matcher: Matcher,
    // Shared by all sessions: the matcher for sessionless requests.
    sessionless: Sessionless,
    names: Names,
    asides: Asides,
    scenes: HashMap<u64, Scene>,
    next_scene: u64,
    // The next step of each scene, and its time.
    agenda: BinaryHeap<Reverse<Due>>,
    // The same moments by place in the recording, for asides that come after them.
    pending: BTreeSet<(Moment, u64)>,
    // Scenes that wait until the client reaches this moment.
    held: BTreeSet<(Moment, u64)>,
    // The scenes of live requests, which their client may cancel.
    asked: Pairing<u64>,
    // Messages to send immediately: misses, and others without a recording.
    ready: VecDeque<Output>,
    // The last recorded moment that the client reached, and the time when it did so.
    reached: Option<(Moment, Duration)>,
    ended: bool,
    falls_through: bool,
    // The paths that were mapped in the current message.
    mapped: Vec<PathMap>,
    // The current message, verbatim.
    unmapped: Option<Bytes>,
    // The last message contained a request that another server must answer.
    fell: bool,
}

/// The takes played for requests of the stateless era. They belong to no session: over HTTP any
/// link may get them.
#[derive(Clone, Debug)]
pub struct Sessionless(Arc<Mutex<Matcher>>);

impl Sessionless {
    /// A state in which nothing was played.
    #[must_use]
    pub fn new(index: &Arc<Index>) -> Self {
        Self(Arc::new(Mutex::new(Matcher::new(Arc::clone(index)))))
    }

    fn lock(&self) -> MutexGuard<'_, Matcher> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Duration,
    moment: Moment,
    scene: u64,
}

impl Player {
    /// A session without messages.
    #[must_use]
    pub fn new(index: Arc<Index>, tally: Arc<Tally>, sessionless: Sessionless) -> Self {
        Self {
            matcher: Matcher::new(Arc::clone(&index)),
            sessionless,
            names: Names::default(),
            asides: Asides::default(),
            scenes: HashMap::new(),
            next_scene: 0,
            agenda: BinaryHeap::new(),
            pending: BTreeSet::new(),
            held: BTreeSet::new(),
            asked: Pairing::without_memory(),
            ready: VecDeque::new(),
            reached: None,
            ended: false,
            falls_through: false,
            fell: false,
            mapped: Vec::new(),
            unmapped: None,
            index,
            tally,
        }
    }

    /// Leaves requests without an answer to another server instead of refusing them:
    /// [`offer`](Self::offer) reports them.
    pub fn fall_through(&mut self) {
        self.falls_through = true;
        self.mint_all_ids();
    }

    /// Like [`handle`](Self::handle), for one message; returns false for a request that another
    /// server must answer.
    pub fn offer(&mut self, now: Duration, message: &Bytes) -> bool {
        self.fell = false;
        self.handle(now, message);
        !std::mem::replace(&mut self.fell, false)
    }

    /// Gives every request of the recorded server a new id that no other server uses, for clients
    /// that also talk to a live server.
    pub fn mint_all_ids(&mut self) {
        self.names.mint_all = true;
    }

    /// Handles a message from the client, or a batch.
    pub fn handle(&mut self, now: Duration, message: &Bytes) {
        let envelope = Envelope::parse(message);
        match envelope.kind {
            Kind::Batch { members } if members > 0 => {
                let before = self.ready.len();
                for_each_message(message, |one| {
                    let envelope = Envelope::of_json(one);
                    self.one(now, one, &envelope);
                });
                // Immediate answers to a batch are sent as one batch.
                while let Some(output) = self.play_due(now) {
                    self.ready.push_back(output);
                }
                output::join(&mut self.ready, before);
            }
            _ => self.one(now, message.trim_ascii(), &envelope),
        }
    }

    /// Handles a request that the client cancelled by closing the stream of its answer, as in
    /// revision 2026-07-28 over HTTP. `id` is source text.
    pub fn handle_cancel(&mut self, now: Duration, id: &[u8]) {
        self.cancel(now, id);
    }

    /// Handles the end of the client's messages.
    pub fn handle_end_of_input(&mut self) {
        self.ended = true;
    }

    /// The next message to send.
    pub fn poll(&mut self, now: Duration) -> Option<Output> {
        let output = self.ready.pop_front().or_else(|| self.play_due(now))?;
        if self.index.options.paths.is_empty() || output.keeps_paths {
            return Some(output);
        }
        let message = output.to_bytes();
        let turned = self.index.options.paths.turn(&message, Goal::Here);
        self.tally.told(&turned.used);
        Some(Output {
            parts: splice(&message, turned.edits),
            ..output
        })
    }

    /// When [`poll`](Self::poll) will yield a message, if the client sends no more.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        if !self.ready.is_empty() {
            return Some(Duration::ZERO);
        }
        let scene = self.agenda.peek().map(|Reverse(due)| due.at);
        scene.into_iter().chain(self.next_aside()).min()
    }

    /// The number of messages that wait to be sent, or for their time.
    #[must_use]
    pub fn backlog(&self) -> usize {
        self.ready.len() + self.agenda.len()
    }

    /// Whether no more messages will be sent: the client's input has ended, and everything in
    /// progress waits for it.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.ended && self.poll_timeout().is_none()
    }

    /// Handles one message, with the client's paths mapped to the recorded ones.
    fn one(&mut self, now: Duration, message: &[u8], envelope: &Envelope<'_>) {
        let turned = self.index.options.paths.turn(message, Goal::Recorded);
        if turned.edits.is_empty() {
            return self.heard(now, message, envelope);
        }
        self.mapped = turned.used;
        let came = Bytes::copy_from_slice(message);
        let message = splice(&came, turned.edits).concat();
        self.unmapped = Some(came);
        self.heard(now, &message, &Envelope::parse(&message));
        self.mapped.clear();
        self.unmapped = None;
    }

    fn heard(&mut self, now: Duration, message: &[u8], envelope: &Envelope<'_>) {
        match &envelope.kind {
            Kind::Request { method, params, .. } => {
                let id = json::find(message, &["id"]).unwrap_or(b"null");
                self.request(now, message, id, method, *params);
            }
            Kind::Notification { method, params } => {
                if method == "notifications/cancelled" {
                    let id = params.and_then(|params| json::find(params, &["requestId"]));
                    if let Some(id) = id {
                        self.cancel(now, id);
                    }
                }
                self.heard_notification(now, method);
            }
            Kind::Response { id, .. } => self.reply(now, IdKey::exact(id), message),
            Kind::Malformed(Malformed::Blank) => {}
            Kind::Malformed(Malformed::NotJson | Malformed::NotUtf8) => {
                self.ready.push_back(Output::parse_error());
            }
            _ => self.ready.push_back(Output::invalid_request()),
        }
    }

    /// Notes that the client reached a moment of the recording.
    fn reach(&mut self, now: Duration, moment: Moment) {
        if self.reached.is_none_or(|(known, _)| known < moment) {
            self.reached = Some((moment, now));
        }
        while let Some((_, scene)) = self.held.first().filter(|(after, _)| *after <= moment) {
            let scene = *scene;
            self.held.pop_first();
            self.release(now, scene);
        }
    }

    /// Plays the next scene or aside that is due.
    fn play_due(&mut self, now: Duration) -> Option<Output> {
        loop {
            if self.next_aside().is_some_and(|at| at <= now) {
                if let Some(output) = self.play_aside() {
                    return Some(output);
                }
                continue;
            }
            let Reverse(due) = self.agenda.peek().filter(|Reverse(due)| due.at <= now)?;
            let due = *due;
            self.agenda.pop();
            self.pending.remove(&(due.moment, due.scene));
            if let Some(output) = self.play_scene(due) {
                return Some(output);
            }
        }
    }

    fn cancel(&mut self, now: Duration, id: &[u8]) {
        let id = IdKey::exact_of(id);
        let asked = self.asked.cancel(Scope::default(), Direction::ToServer, id);
        let number = asked.and_then(|asked| self.asked.get(asked)).copied();
        let Some(number) = number else {
            return;
        };
        let Some(scene) = self.scenes.get_mut(&number) else {
            return;
        };
        // All requests with this id were already cancelled.
        if std::mem::replace(&mut scene.cancelled, true) {
            return;
        }
        if scene.awaits_cancel() {
            self.resume(now, number);
        } else if !self.expects_cancel(number) {
            self.drop_scene(number);
        }
    }
}
