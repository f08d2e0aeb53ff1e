//! Chooses the stream for each message of the server, without IO or a clock.
//!
//! On stdio all messages of a server come on one stream of lines; over HTTP each belongs on exactly
//! one of several streams (2025-11-25, basic/transports, "Multiple Connections"). Answers and
//! progress refer to a request. For other messages stdio does not show what they belong to, and
//! [`route`](super::route) decides.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::task::Waker;

use bytes::Bytes;
use tapewright_schemas::conversation::{IdKey, Outstanding};
use tapewright_schemas::envelope::{Envelope, Kind, RequestId, for_each_message};
use tapewright_schemas::json;

use super::delivery::AbnormalEnd;
use super::stream::{Next, Reader, Stream};
use crate::bridge::line::{id_source, text_of};

/// Identifies one stream of a conversation.
pub(crate) type StreamId = u64;

/// The stream that belongs to no request: of a GET, or of the older transport.
pub(crate) const GENERAL: StreamId = 0;

/// The protocol between a client and its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProtocolStyle {
    /// A session of streamable HTTP, 2025-03-26 to 2025-11-25.
    Session,
    /// Streamable HTTP without sessions, from 2026-07-28.
    Stateless,
    /// HTTP+SSE, 2024-11-05: all messages on one stream.
    Legacy,
}

/// The maximum size of events stored for readers that may resume, in bytes.
pub(crate) const KEEP_BYTES: usize = 4 << 20;
/// The maximum number of events stored for readers that may resume.
pub(crate) const KEEP_EVENTS: usize = 4_096;
/// The maximum number of ended streams that can be resumed.
const KEEP_STREAMS: usize = 256;
/// The maximum number of tracked requests and tokens.
pub(crate) const MOST: usize = 4_096;

/// The streams of one conversation.
#[derive(Debug)]
pub(crate) struct Switchboard {
    pub(super) manner: ProtocolStyle,
    pub(super) streams: BTreeMap<StreamId, Stream>,
    // The client's pending requests.
    pub(super) requests: Outstanding<StreamId>,
    pub(super) tokens: Outstanding<StreamId>,
    // The streams of the server's own requests.
    pub(super) asked: Outstanding<StreamId>,
    // Requests that were given up: an answer may still arrive, and is dropped.
    cancelled: HashSet<IdKey>,
    cancelled_order: VecDeque<IdKey>,
    pub(super) initialize: Option<IdKey>,
    pub(super) version: Option<String>,
    // The client has opened the general stream at least once.
    pub(super) heard: bool,
    next_stream: StreamId,
    next_reader: Reader,
    over: bool,
}

/// Why a message is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotAccepted {
    #[error("a request with this id is already pending")]
    Repeated,
    #[error("too many pending requests")]
    TooMany,
    #[error("the server has ended")]
    Over,
}

/// A stream that was opened, and its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) stream: StreamId,
    pub(crate) reader: Reader,
}

/// How the answer to a POST starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// It is one message.
    Whole(Bytes),
    /// It is a stream.
    Events,
    /// There is no answer, because of a fault.
    Ends(AbnormalEnd),
}

impl Switchboard {
    pub(crate) fn new(manner: ProtocolStyle) -> Self {
        let mut streams = BTreeMap::new();
        if manner != ProtocolStyle::Stateless {
            let mut general = Stream::new();
            general.numbered = manner == ProtocolStyle::Session;
            streams.insert(GENERAL, general);
        }
        Self {
            manner,
            streams,
            requests: Outstanding::new(MOST),
            tokens: Outstanding::new(MOST),
            asked: Outstanding::new(MOST),
            cancelled: HashSet::new(),
            cancelled_order: VecDeque::new(),
            initialize: None,
            version: None,
            heard: false,
            next_stream: 1,
            next_reader: 1,
            over: false,
        }
    }

    /// The protocol style of its client.
    pub(crate) fn manner(&self) -> ProtocolStyle {
        self.manner
    }

    /// The revision that the server chose in its answer to `initialize`.
    pub(crate) fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The number of the client's pending requests.
    pub(crate) fn under_way(&self) -> usize {
        self.requests.len()
    }

    /// Whether any stream has a reader.
    pub(crate) fn is_read(&self) -> bool {
        self.streams.values().any(Stream::is_read)
    }

    /// Whether the server has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Whether a request in this body would collide with one that is, or was, pending.
    pub(crate) fn collides(&self, body: &[u8]) -> bool {
        let mut collides = false;
        each_request(body, |id, params| {
            let key = IdKey::exact(id);
            collides |= self.requests.contains(key) || self.cancelled.contains(&key);
            let token = params.and_then(token_of);
            collides |= token.is_some_and(|token| self.tokens.contains(token));
        });
        collides
    }

    /// Opens the stream for the answers to a body with requests. A `quiet` reader only accepts the
    /// answers.
    pub(crate) fn open(&mut self, body: &[u8], quiet: bool) -> Result<Opened, NotAccepted> {
        if self.over {
            return Err(NotAccepted::Over);
        }
        let mut stream = Stream::new();
        stream.quiet = quiet;
        let mut tokens = Vec::new();
        each_request(body, |id, params| {
            stream.owed.push((IdKey::exact(id), id_source(id)));
            tokens.extend(params.and_then(token_of));
            stream.logs |= params.is_some_and(wants_logs);
        });
        if !self.requests.has_room_for(stream.owed.len()) {
            return Err(NotAccepted::TooMany);
        }
        let mut owed = stream.owed.iter();
        if owed.any(|(key, _)| self.requests.contains(*key)) {
            return Err(NotAccepted::Repeated);
        }
        let id = self.next_stream;
        self.next_stream += 1;
        for (key, _) in &stream.owed {
            self.cancelled.remove(key);
            self.requests.enter(*key, id);
        }
        for token in tokens {
            self.tokens.enter(token, id);
        }
        if let Kind::Request { id, method, .. } = Envelope::parse(body).kind
            && method == "initialize"
        {
            self.initialize = Some(IdKey::exact(&id));
        }
        let reader = self.reader();
        stream.attach(reader);
        self.streams.insert(id, stream);
        Ok(Opened { stream: id, reader })
    }

    /// Handles a message of the client that is not a request: a response settles the server's
    /// request, a cancellation ends the stream of its request.
    pub(crate) fn observe(&mut self, body: &[u8]) {
        for_each_message(body, |message| match Envelope::parse(message).kind {
            Kind::Response { id, .. } => {
                self.asked.take(&id);
            }
            Kind::Notification { method, params } if method == "notifications/cancelled" => {
                let id = params.and_then(|params| json::find(params, &["requestId"]));
                if let Some(id) = id {
                    self.cancel(IdKey::exact_of(id));
                }
            }
            _ => {}
        });
    }

    /// Takes the general stream; `None` if it already has a reader.
    pub(crate) fn open_general(&mut self) -> Option<Opened> {
        let general = self.streams.get(&GENERAL)?;
        if general.is_read() {
            return None;
        }
        self.attach(GENERAL)
    }

    /// Resumes a stream after its event of this number, even if its previous reader has not been
    /// detached yet, and returns how many events are lost; `None` if there is no such stream.
    pub(crate) fn resume(&mut self, stream: StreamId, after: u64) -> Option<(Opened, u64)> {
        let known = self.streams.get_mut(&stream)?;
        if !known.numbered || known.void {
            return None;
        }
        let missed = known.rewind(after);
        Some((self.attach(stream)?, missed))
    }

    /// Starts the response that carries a stream: its events get ids from now on. Returns its
    /// abnormal end, if that is already decided.
    pub(crate) fn begin(&mut self, stream: StreamId) -> Option<AbnormalEnd> {
        let stream = self.streams.get_mut(&stream)?;
        if let Some(fate @ AbnormalEnd::Status(..)) = &stream.fate {
            return Some(fate.clone());
        }
        stream.numbered = self.manner == ProtocolStyle::Session;
        stream.begun = true;
        None
    }

    /// Whether the response for a stream has started.
    pub(super) fn has_begun(&self, stream: StreamId) -> bool {
        self.streams.get(&stream).is_some_and(|stream| stream.begun)
    }

    /// Ends a stream in this way, after its reader has read everything before.
    pub(super) fn doom(&mut self, stream: StreamId, fate: AbnormalEnd) {
        if let Some(found) = self.streams.get_mut(&stream) {
            found.fate = Some(fate);
        }
        self.close(stream);
    }

    /// The next event for a reader.
    pub(crate) fn take(&mut self, opened: Opened, waker: &Waker) -> Next {
        match self.streams.get_mut(&opened.stream) {
            Some(stream) => stream.take(opened.reader, waker),
            None => Next::End,
        }
    }

    /// How the answer starts; `None` if nothing has arrived so far.
    pub(crate) fn form(&mut self, opened: Opened, waker: &Waker) -> Option<Form> {
        let Some(stream) = self.streams.get_mut(&opened.stream) else {
            return Some(Form::Events);
        };
        let ready = if stream.quiet {
            stream.ended
        } else {
            stream.is_ready()
        };
        if !ready {
            stream.watch(waker);
            return None;
        }
        Some(match (stream.fate(), stream.sole()) {
            (Some(fate), _) => Form::Ends(fate.clone()),
            (None, Some(line)) => Form::Whole(line.clone()),
            (None, None) => Form::Events,
        })
    }

    /// Detaches a reader. In the stateless era this cancels its pending requests: returns the
    /// source text of their ids (2026-07-28, basic/transports/streamable-http).
    pub(crate) fn detach(&mut self, opened: Opened) -> Vec<Vec<u8>> {
        let mut cancelled = Vec::new();
        let Some(stream) = self.streams.get_mut(&opened.stream) else {
            return cancelled;
        };
        if !stream.detach(opened.reader) {
            return cancelled;
        }
        if opened.stream != GENERAL && !stream.numbered {
            // A client cannot refer to its events.
            stream.void = true;
            stream.clear();
        }
        if self.manner == ProtocolStyle::Stateless {
            for (key, id) in std::mem::take(&mut stream.owed) {
                self.remember_cancelled(key);
                cancelled.push(id);
            }
            self.close(opened.stream);
        }
        self.tidy();
        cancelled
    }

    /// The number of unread bytes: while it is large, reading from the server pauses.
    pub(crate) fn backlog(&self) -> usize {
        let read = self.streams.values().filter(|stream| stream.is_read());
        read.map(Stream::unheard_bytes).sum()
    }

    /// Handles the end of the server: answers its unanswered requests, calling `note` with each
    /// answer first, and ends every stream.
    pub(crate) fn finish(&mut self, why: &str, mut note: impl FnMut(&Bytes)) {
        self.over = true;
        self.requests = Outstanding::new(MOST);
        for stream in self.streams.values_mut() {
            stream.answer_owed(why, &mut note);
            stream.end();
        }
    }

    /// Answers the only pending request, if there is exactly one, with an error.
    pub(crate) fn fail_sole(&mut self, why: &str, note: impl FnMut(&Bytes)) {
        let sole = {
            let mut under_way = self.requests.values().copied();
            under_way.next().filter(|_| under_way.next().is_none())
        };
        let Some(stream) = sole else { return };
        self.requests = Outstanding::new(MOST);
        if let Some(found) = self.streams.get_mut(&stream) {
            found.answer_owed(why, note);
        }
        self.close(stream);
    }

    /// Ends the general stream, since its reader has nothing more to wait for.
    pub(crate) fn end_general(&mut self) {
        if let Some(general) = self.streams.get_mut(&GENERAL) {
            general.end();
        }
    }

    /// Removes a request that was answered or given up.
    pub(super) fn settle(&mut self, key: IdKey) {
        let Some(stream) = self.requests.take(key) else {
            return;
        };
        if let Some(found) = self.streams.get_mut(&stream) {
            found.owed.retain(|(owed, _)| *owed != key);
            if found.owed.is_empty() {
                self.close(stream);
            }
        }
    }

    /// Frees space: delivered events, and those without a reader, go first. Returns the number of
    /// undelivered events that were lost.
    pub(super) fn tidy(&mut self) -> u64 {
        let rests =
            |id: StreamId, stream: &Stream| id != GENERAL && stream.ended && !stream.is_read();
        self.streams
            .retain(|id, stream| stream.numbered || !rests(*id, stream));
        let mut lost = 0;
        let resting = self
            .streams
            .iter()
            .filter(|(id, stream)| rests(**id, stream));
        let resting: Vec<StreamId> = resting.map(|(id, _)| *id).collect();
        let surplus = resting.len().saturating_sub(KEEP_STREAMS);
        for id in resting.into_iter().take(surplus) {
            lost += self.streams.remove(&id).map_or(0, |mut old| old.clear());
        }
        let mut bytes: usize = self.streams.values().map(Stream::bytes).sum();
        let mut events: usize = self.streams.values().map(Stream::events).sum();
        for stream in self.streams.values_mut() {
            while bytes > KEEP_BYTES || events > KEEP_EVENTS {
                let before = stream.bytes();
                let Some(unheard) = stream.give_up_oldest() else {
                    break;
                };
                lost += u64::from(unheard);
                bytes -= before - stream.bytes();
                events -= 1;
            }
        }
        lost
    }

    fn attach(&mut self, stream: StreamId) -> Option<Opened> {
        let reader = self.reader();
        self.heard |= stream == GENERAL;
        self.streams.get_mut(&stream)?.attach(reader);
        Some(Opened { stream, reader })
    }

    fn reader(&mut self) -> Reader {
        self.next_reader += 1;
        self.next_reader
    }

    /// Ends a stream.
    fn close(&mut self, stream: StreamId) {
        self.tokens.retain(|of| *of != stream);
        if let Some(stream) = self.streams.get_mut(&stream) {
            stream.end();
        }
    }

    fn cancel(&mut self, key: IdKey) {
        // `initialize` cannot be cancelled (2025-11-25, basic/utilities/cancellation).
        if self.initialize != Some(key) && self.requests.contains(key) {
            self.settle(key);
            self.remember_cancelled(key);
        }
    }

    fn remember_cancelled(&mut self, key: IdKey) {
        self.requests.take(key);
        if self.cancelled.insert(key) {
            self.cancelled_order.push_back(key);
        }
        while self.cancelled_order.len() > MOST
            && let Some(oldest) = self.cancelled_order.pop_front()
        {
            self.cancelled.remove(&oldest);
        }
    }
}

/// Calls `each` with the id and the parameters of every request in a body.
fn each_request(body: &[u8], mut each: impl FnMut(&RequestId<'_>, Option<&[u8]>)) {
    for_each_message(body, |message| {
        if let Kind::Request { id, params, .. } = Envelope::parse(message).kind {
            each(&id, params);
        }
    });
}

fn token_of(params: &[u8]) -> Option<IdKey> {
    let token = json::find(params, &["_meta", "progressToken"])?;
    Some(IdKey::exact_of(token))
}

fn wants_logs(params: &[u8]) -> bool {
    let level = json::find(params, &["_meta", "io.modelcontextprotocol/logLevel"]);
    level.and_then(text_of).is_some()
}

#[cfg(test)]
#[path = "switchboard_tests.rs"]
mod tests;
