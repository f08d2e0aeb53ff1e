//! A request in progress, cue by cue.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::conversation::{Handle, IdKey};
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::Direction;
use tapewright_schemas::json::{self, Span};
use tapewright_schemas::slices::Front as _;
use tapewright_schemas::slices::Part as _;

use super::asides::Awaited;
use super::names::splice;
use super::{Due, Output, OutputKind, Player};
use crate::json::compact;
use crate::options::{BREATH, Unanswered};
use crate::script::{InFlightMessage, Moment, Script, Take, TakePlace};

/// A request in progress.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) take: usize,
    /// Source text of the live id.
    pub(super) id: Bytes,
    /// The handle of the live request.
    asked: Handle,
    pub(super) cancelled: bool,
    // The next cue, counted within the take.
    next: usize,
    wait: Wait,
    // The reference for the time of the next cue: live, and in the recording.
    from: Duration,
    from_us: u64,
    // Requests of the server that were sent and answered, by their recorded ids.
    made: HashSet<IdKey>,
    replied: HashSet<IdKey>,
}

/// What a scene waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wait {
    /// The client's cancellation of the request.
    Cancel,
    /// A message of the client that precedes the next cue in the recording.
    Client,
    /// Nothing: no more messages were recorded.
    Ever,
    /// The reply to the server's request with this recorded id.
    Reply(IdKey),
    /// The time of the next cue, which is on the agenda.
    Time,
}

/// How far a scene proceeds without the client.
struct SceneProgress {
    stop: Stop,
    /// The last skipped message of the client.
    passed: Option<Moment>,
}

/// Where a scene stops.
#[derive(Clone, Copy)]
enum Stop {
    /// The next message has its time.
    At(Moment),
    /// A cue that waits until the client has reached a moment.
    Held { cue: Moment, after: Moment },
    /// A cue of the client, which the live client must send as well.
    Waits { cue: Moment },
    /// No more messages.
    Ever,
}

impl Scene {
    pub(super) fn new(
        take: usize,
        recorded: &Take,
        id: Bytes,
        asked: Handle,
        now: Duration,
    ) -> Self {
        Self {
            take,
            id,
            asked,
            cancelled: false,
            next: 0,
            wait: Wait::Time,
            from: now,
            from_us: recorded.asked.at_us,
            made: HashSet::new(),
            replied: HashSet::new(),
        }
    }

    /// Skips messages of the recorded client, up to one that the live client must send.
    ///
    /// `reached` is the moment that the client has reached in the recording; `hangs` is set if
    /// unanswered requests are left without an answer.
    fn advance(
        &mut self,
        script: &Script,
        take: &Take,
        reached: Option<Moment>,
        hangs: bool,
    ) -> SceneProgress {
        let cues = script.cues(take);
        let mut passed = None;
        let (wait, stop) = loop {
            let Some(cue) = cues.get(self.next) else {
                if take.response.is_some() {
                    break (Wait::Time, Stop::At(take.answered));
                }
                // An HTTP exchange or a process would stay open in the same way.
                break (Wait::Ever, Stop::Ever);
            };
            if cue.dir == Direction::ToClient {
                break match cue.after.filter(|after| reached < Some(*after)) {
                    Some(after) => (
                        Wait::Client,
                        Stop::Held {
                            cue: cue.when,
                            after,
                        },
                    ),
                    None => (Wait::Time, Stop::At(cue.when)),
                };
            }
            match wait(&script.words(&cue.words), self) {
                Some(Wait::Reply(key)) if !self.replied.contains(&key) => {
                    break (Wait::Reply(key), Stop::Waits { cue: cue.when });
                }
                Some(Wait::Cancel) if !self.cancelled && hangs => {
                    break (Wait::Cancel, Stop::Waits { cue: cue.when });
                }
                _ => {
                    passed = Some(cue.when);
                    self.next += 1;
                }
            }
        };
        self.wait = wait;
        SceneProgress { stop, passed }
    }

    pub(super) fn awaits_cancel(&self) -> bool {
        self.wait == Wait::Cancel
    }
}

/// The wait for a message without a time, among the cues or after them. In the recording a response
/// may have arrived together with the notification before it, or separately: sending it separately
/// is safe, as it is with times.
fn breath(cues: &[InFlightMessage], next: usize) -> Duration {
    let last = cues.last().filter(|_| next == cues.len());
    match last {
        Some(last) if last.dir == Direction::ToClient => BREATH,
        _ => Duration::ZERO,
    }
}

impl Player {
    /// Puts the next step of a scene on the agenda, or notes what it waits for.
    pub(super) fn schedule(&mut self, number: u64) {
        let script = std::sync::Arc::clone(&self.index.script);
        let Some(scene) = self.scenes.get_mut(&number) else {
            return;
        };
        let Some(take) = script.take(scene.take) else {
            return;
        };
        let reached = self.reached.map(|(moment, _)| moment);
        let hangs = self.index.options.unanswered == Unanswered::Hang;
        let SceneProgress { stop, passed } = scene.advance(&script, &take, reached, hangs);
        match stop {
            Stop::At(_) | Stop::Ever => {}
            Stop::Waits { cue } => {
                self.pending.insert((cue, number));
            }
            Stop::Held { cue, after } => {
                self.pending.insert((cue, number));
                self.held.insert((after, number));
            }
        }
        if let (Some(passed), from) = (passed, scene.from) {
            self.reach(from, passed);
        }
        let (Stop::At(moment), Some(scene)) = (stop, self.scenes.get_mut(&number)) else {
            return;
        };
        let wait = if script.tells_times() {
            let gap = moment.at_us.saturating_sub(scene.from_us);
            self.index.options.pace.wait(gap, scene.next > 0)
        } else {
            breath(script.cues(&take), scene.next)
        };
        let at = scene.from.saturating_add(wait);
        self.pending.insert((moment, number));
        self.agenda.push(Reverse(Due {
            at,
            moment,
            scene: number,
        }));
    }

    /// Plays a step that is due; returns `None` if it has no output.
    pub(super) fn play_scene(&mut self, due: Due) -> Option<Output> {
        let script = std::sync::Arc::clone(&self.index.script);
        let scene = self.scenes.get_mut(&due.scene)?;
        let take = script.take(scene.take)?;
        let Some(cue) = script.cues(&take).get(scene.next) else {
            let output = self.response(due.scene, &take);
            self.drop_scene(due.scene);
            return output;
        };
        scene.next += 1;
        scene.from = due.at;
        scene.from_us = cue.when.at_us;
        let output = self.say(cue, due.scene);
        self.schedule(due.scene);
        output
    }

    /// A message of the server in the middle of a scene.
    fn say(&mut self, cue: &InFlightMessage, number: u64) -> Option<Output> {
        let words = self.index.script.words(&cue.words);
        let message = on_one_line(words);
        let scene = self.scenes.get_mut(&number)?;
        let request = scene.id.clone();
        let (kind, id) = match Envelope::parse(&message).kind {
            Kind::Request { method, .. } => {
                let recorded = json::find(&message, &["id"])?;
                let key = IdKey::exact_of(recorded);
                scene.made.insert(key);
                scene.replied.remove(&key);
                let live = self.names.ask(recorded);
                let awaited = Awaited {
                    recorded: key,
                    method: method.into_owned(),
                    scene: Some((number, scene.take)),
                };
                self.asides.await_reply(IdKey::exact_of(&live), awaited);
                (OutputKind::Request, Some(live))
            }
            Kind::Response { .. } => {
                let recorded = json::find(&message, &["id"])?;
                (
                    OutputKind::Response,
                    Some(self.names.live_id(recorded)?.clone()),
                )
            }
            Kind::Notification { .. } => (OutputKind::Notification, None),
            _ => (OutputKind::Noise, None),
        };
        let parts = if kind == OutputKind::Noise {
            vec![message]
        } else {
            self.names.translate(&message, id.as_ref())?
        };
        Some(Output {
            parts,
            kind,
            request: Some(request),
            error_code: None,
            keeps_paths: false,
        })
    }

    /// The response of a scene, under the live id.
    fn response(&self, number: u64, take: &Take) -> Option<Output> {
        let scene = self.scenes.get(&number)?;
        let response = take.response?;
        let whole = self.index.script.source(response.span);
        let message = on_one_line(whole.clone());
        let span = if message.len() == whole.len() {
            response.id.map(|id| Span {
                start: id.start - response.span.start,
                end: id.end - response.span.start,
            })
        } else {
            id_span(&message)
        };
        let parts = match span {
            // The answers of only a few methods contain names other than the id.
            Some(_) if self.has_names(&message) => {
                self.names.translate(&message, Some(&scene.id))?
            }
            Some(span) => splice(&message, vec![(span, scene.id.clone())]),
            // A hand-written response without an id gets one, or the client could not assign it.
            None => {
                let inner = message.part(1..).trim_ascii_start();
                let comma = if inner.first() == Some(&b'}') {
                    ""
                } else {
                    ","
                };
                let head = [b"{\"id\":", scene.id.as_ref(), comma.as_bytes()].concat();
                vec![head.into(), message.slice(1.min(message.len())..)]
            }
        };
        Some(Output {
            parts,
            kind: OutputKind::Response,
            request: Some(scene.id.clone()),
            error_code: error_code(&message),
            keeps_paths: false,
        })
    }

    fn has_names(&self, message: &[u8]) -> bool {
        memchr::memmem::find(message, b"subscriptionId").is_some()
            || !self.names.aliases.is_empty() && memchr::memmem::find(message, b"taskId").is_some()
    }

    /// The recorded client's reply, during a take, to the server's request with this key.
    pub(super) fn recorded_reply(&self, take: usize, key: IdKey) -> Option<Bytes> {
        let script = &self.index.script;
        let cues = script.cues(&script.take(take)?).iter();
        cues.filter(|cue| cue.dir == Direction::ToServer)
            .map(|cue| script.words(&cue.words))
            .find(|words| json::find(words, &["id"]).is_some_and(|id| IdKey::exact_of(id) == key))
    }

    /// Handles the client's reply to a request of a scene: compares it with the recorded reply, if
    /// any.
    pub(super) fn replied(
        &mut self,
        now: Duration,
        number: u64,
        key: IdKey,
        recorded: Option<&[u8]>,
        live: &[u8],
    ) {
        let Some(scene) = self.scenes.get_mut(&number) else {
            return;
        };
        if let Some(recorded) = recorded {
            self.names.learn(recorded, live);
        }
        scene.replied.insert(key);
        if matches!(&scene.wait, Wait::Reply(awaited) if *awaited == key) {
            self.resume(now, number);
        }
    }

    /// Continues a scene after the client has reached the moment that the next cue waits for.
    pub(super) fn release(&mut self, now: Duration, number: u64) {
        let script = std::sync::Arc::clone(&self.index.script);
        let Some(scene) = self.scenes.get_mut(&number) else {
            return;
        };
        let take = script.take(scene.take);
        if let Some(cue) = take
            .as_ref()
            .and_then(|take| script.cues(take).get(scene.next))
        {
            self.pending.remove(&(cue.when, number));
            scene.from = now;
            scene.from_us = cue.after.map_or(cue.when.at_us, |after| after.at_us);
        }
        self.schedule(number);
    }

    /// Continues a scene after the event that it waited for.
    pub(super) fn resume(&mut self, now: Duration, number: u64) {
        let script = std::sync::Arc::clone(&self.index.script);
        let Some(scene) = self.scenes.get_mut(&number) else {
            return;
        };
        let take = script.take(scene.take);
        if let Some(cue) = take
            .as_ref()
            .and_then(|take| script.cues(take).get(scene.next))
        {
            self.pending.remove(&(cue.when, number));
            scene.from = now;
            scene.from_us = cue.when.at_us;
            scene.next += 1;
            self.reach(now, cue.when);
        }
        self.schedule(number);
    }

    /// Whether the recording has a later cancellation.
    pub(super) fn expects_cancel(&self, number: u64) -> bool {
        let script = &self.index.script;
        let Some(scene) = self.scenes.get(&number) else {
            return false;
        };
        let Some(take) = script.take(scene.take) else {
            return false;
        };
        let rest = script.cues(&take).part(scene.next..);
        rest.iter().any(|cue| {
            cue.dir == Direction::ToServer
                && wait(&script.words(&cue.words), scene) == Some(Wait::Cancel)
        }) && take.response.is_some()
    }

    /// Ends a scene.
    pub(super) fn drop_scene(&mut self, number: u64) {
        let Some(scene) = self.scenes.remove(&number) else {
            return;
        };
        self.asked.remove(scene.asked);
        let script = &self.index.script;
        let Some(take) = script.take(scene.take) else {
            return;
        };
        let next = script.cues(&take).get(scene.next);
        if let Some(after) = next.and_then(|cue| cue.after) {
            self.held.remove(&(after, number));
        }
        let next = next.map(|cue| cue.when);
        self.pending
            .remove(&(next.unwrap_or(take.answered), number));
    }

    /// The reason in the error for an unanswered request, unless the policy is to leave it
    /// unanswered.
    pub(super) fn unanswered(take: &Take) -> Option<&str> {
        match &take.place {
            TakePlace::Unanswered(_, why) => Some(why),
            TakePlace::Exchange(_) | TakePlace::Probe(_) => None,
        }
    }
}

/// What a message of the recorded client means for its scene.
fn wait(message: &[u8], scene: &Scene) -> Option<Wait> {
    match Envelope::parse(message).kind {
        Kind::Response { id, .. } => {
            let key = IdKey::exact(&id);
            scene.made.contains(&key).then_some(Wait::Reply(key))
        }
        Kind::Notification { method, .. } if method == "notifications/cancelled" => {
            Some(Wait::Cancel)
        }
        _ => None,
    }
}

/// The message without line breaks, shared if it has none.
pub(super) fn on_one_line(message: Bytes) -> Bytes {
    match compact(&message) {
        std::borrow::Cow::Borrowed(_) => message,
        std::borrow::Cow::Owned(text) => text.into(),
    }
}

fn id_span(message: &[u8]) -> Option<Span> {
    let id = json::find(message, &["id"])?;
    let start = (id.as_ptr() as usize).checked_sub(message.as_ptr() as usize)?;
    Some(Span {
        start,
        end: start + id.len(),
    })
}

/// The code of an error response.
fn error_code(message: &[u8]) -> Option<i64> {
    // Saves nearly all responses the search.
    let head = message.front(4_096);
    memchr::memmem::find(head, b"\"error\"")?;
    let code = json::find(message, &["error", "code"])?;
    std::str::from_utf8(code).ok()?.parse().ok()
}
