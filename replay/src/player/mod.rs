//! One session that is played: what the client says in, what the recorded server says out.
//!
//! A [`Player`] has no IO and no clock. It is told what arrived and what time it is, and
//! asked what is to be sent and when to ask again: drain [`Player::poll`] until it
//! yields nothing, then wait for input or for [`Player::poll_timeout`].
//!
//! # How a recording is played
//!
//! - A request starts a *scene*: its take's cues in order, then its response. A request of
//!   the server is asked again, and the scene waits for the live reply where the recorded
//!   one stood. A recorded cancellation is waited for as well.
//! - *Asides*, messages that belong to no request, follow the last thing that the client
//!   had said before them.
//! - Every recorded wait is multiplied by the pace; order holds at every pace.
//! - Ids and tokens of this session are rewritten on the way out:
//!   [`names`].
//!
//! # Elsewhere
//!
//! Which take a request gets is decided in `matcher`. Carrying the bytes is
//! [`CassetteUpstream`](crate::CassetteUpstream).

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

/// A session that is played.
#[derive(Debug)]
pub struct Player {
    index: Arc<Index>,
    tally: Arc<Tally>,
    matcher: Matcher,
    // What all sessions share: requests that belong to none.
    sessionless: Sessionless,
    names: Names,
    asides: Asides,
    scenes: HashMap<u64, Scene>,
    next_scene: u64,
    // What each scene says next, and when.
    agenda: BinaryHeap<Reverse<Due>>,
    // The same moments by place in the recording, for asides that come after them.
    pending: BTreeSet<(Moment, u64)>,
    // Scenes that wait for the client to have said what stands here.
    held: BTreeSet<(Moment, u64)>,
    // The scenes of live requests, which their client may give up.
    asked: Pairing<u64>,
    // What is said at once: misses, and what has no recording.
    ready: VecDeque<Output>,
    // The furthest thing that the client said, and when it said it now.
    reached: Option<(Moment, Duration)>,
    ended: bool,
    falls_through: bool,
    // The paths that were mapped in the message at hand.
    mapped: Vec<PathMap>,
    // That message as it came.
    unmapped: Option<Bytes>,
    // The last message held a request that another server has to answer.
    fell: bool,
}

/// Which recordings were played to requests of the stateless era. They belong to no
/// session: over HTTP any link may get them.
#[derive(Clone, Debug)]
pub struct Sessionless(Arc<Mutex<Matcher>>);

impl Sessionless {
    /// Nothing was played yet.
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
    /// A session in which nothing was said yet.
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

    /// Leaves requests that it cannot answer to another server instead of refusing them:
    /// [`offer`](Self::offer) tells which.
    pub fn fall_through(&mut self) {
        self.falls_through = true;
        self.mint_all_ids();
    }

    /// As [`handle`](Self::handle), for one message; false when it is a request that
    /// another server has to answer.
    pub fn offer(&mut self, now: Duration, message: &Bytes) -> bool {
        self.fell = false;
        self.handle(now, message);
        !std::mem::replace(&mut self.fell, false)
    }

    /// Makes every request of the recorded server go by an id that no other server uses,
    /// for when a live one talks with the same client.
    pub fn mint_all_ids(&mut self) {
        self.names.mint_all = true;
    }

    /// The client sent a message: one, or a batch.
    pub fn handle(&mut self, now: Duration, message: &Bytes) {
        let envelope = Envelope::parse(message);
        match envelope.kind {
            Kind::Batch { members } if members > 0 => {
                let before = self.ready.len();
                for_each_message(message, |one| {
                    let envelope = Envelope::of_json(one);
                    self.one(now, one, &envelope);
                });
                // Answers to a batch that are there at once go back as one.
                while let Some(output) = self.play_due(now) {
                    self.ready.push_back(output);
                }
                output::join(&mut self.ready, before);
            }
            _ => self.one(now, message.trim_ascii(), &envelope),
        }
    }

    /// The client gave up a request by closing the stream of its answer, which is how
    /// revision 2026-07-28 cancels over HTTP. `id` is source text.
    pub fn handle_cancel(&mut self, now: Duration, id: &[u8]) {
        self.cancel(now, id);
    }

    /// The client sends no more.
    pub fn handle_end_of_input(&mut self) {
        self.ended = true;
    }

    /// What is to be sent next.
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

    /// When [`poll`](Self::poll) will have something, if the client says nothing more.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        if !self.ready.is_empty() {
            return Some(Duration::ZERO);
        }
        let scene = self.agenda.peek().map(|Reverse(due)| due.at);
        scene.into_iter().chain(self.next_aside()).min()
    }

    /// How many messages wait to be sent, or for their time.
    #[must_use]
    pub fn backlog(&self) -> usize {
        self.ready.len() + self.agenda.len()
    }

    /// Whether nothing will be sent any more: the client sends no more, and nothing is
    /// under way that does not wait for it.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.ended && self.poll_timeout().is_none()
    }

    /// One message, with the client's paths turned into the recorded ones.
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

    /// The client said something that stands here in the recording.
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

    /// The next thing whose time has come, of scenes and asides.
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
        // All requests of this id were cancelled before.
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
