//! A recording prepared for playing: who sends what, and what must come before.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::envelope::RequestId;
use tapewright_schemas::event::{Direction, ResponseHead};
use tapewright_schemas::json::{self, Span};
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::tape::Incomplete;

use crate::source::Source;
use crate::takes::Takes;

/// A loaded recording. Immutable, and shared by all sessions that play it.
#[derive(Debug)]
pub struct Script {
    pub(crate) text: Source,
    pub(crate) kind: FileKind,
    /// Whether the file has times. Without them, moments only express an order.
    pub(crate) timed: bool,
    pub(crate) takes: Takes,
    pub(crate) cues: Vec<InFlightMessage>,
    pub(crate) asides: Vec<UnrelatedMessage>,
    pub(crate) methods: Methods,
    /// The recorded sessions, in the order of their first request.
    pub(crate) sessions: Vec<u32>,
    /// Why the recording is incomplete.
    pub(crate) incomplete: Option<Incomplete>,
    /// The members of `meta` with string values.
    pub(crate) meta: Vec<(String, String)>,
}

/// A moment of the recording: microseconds, and the position in the file for simultaneous events
/// and those without a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    pub(crate) at_us: u64,
    pub(crate) element: u32,
    pub(crate) step: u32,
}

/// One request of the client, with its outcome.
#[derive(Clone, Debug)]
pub(crate) struct Take {
    pub(crate) request: Span,
    pub(crate) id: Option<Span>,
    pub(crate) method: MethodId,
    pub(crate) params: Option<Span>,
    pub(crate) response: Option<Response>,
    /// The messages in between, as a range of the script's cues.
    pub(crate) cues: Range<usize>,
    pub(crate) asked: Moment,
    /// When the response came; the maximum if there was none.
    pub(crate) answered: Moment,
    /// The time from request to response in microseconds, if recorded.
    pub(crate) took_us: Option<u64>,
    /// The head of the HTTP response, if only its lines were recorded.
    pub(crate) head: Option<Span>,
    pub(crate) session: u32,
    pub(crate) place: TakePlace,
}

/// The details of a recorded request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The time from the request to its response, if recorded.
    pub took: Option<Duration>,
    /// Why there was no response, if there was none.
    pub unanswered: Option<String>,
    /// The head of its HTTP response, if recorded.
    pub head: Option<ResponseHead>,
    /// Its recorded parameters.
    pub params: Option<Bytes>,
}

/// The place of a take in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TakePlace {
    /// At this index of `exchanges`.
    Exchange(usize),
    /// At this index of `probes`.
    Probe(usize),
    /// At this index of `unanswered`, for this reason.
    Unanswered(usize, Box<str>),
}

impl TakePlace {
    /// JSON pointer to it.
    pub(crate) fn pointer(&self) -> String {
        match self {
            Self::Exchange(at) => format!("/exchanges/{at}"),
            Self::Probe(at) => format!("/probes/{at}"),
            Self::Unanswered(at, _) => format!("/unanswered/{at}"),
        }
    }
}

/// The response of a take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Response {
    pub(crate) span: Span,
    pub(crate) id: Option<Span>,
}

/// One message that was sent while a request was in flight.
#[derive(Clone, Debug)]
pub(crate) struct InFlightMessage {
    pub(crate) when: Moment,
    pub(crate) dir: Direction,
    pub(crate) words: Words,
    /// It may not belong to its request.
    pub(crate) loose: bool,
    /// For a loose message, the client's last message before it.
    pub(crate) after: Option<Moment>,
}

/// One message that belongs to no request.
#[derive(Clone, Debug)]
pub(crate) struct UnrelatedMessage {
    pub(crate) when: Moment,
    pub(crate) dir: Direction,
    pub(crate) words: Words,
    pub(crate) session: u32,
    /// The client's last message before it, in its session.
    pub(crate) after: Option<Moment>,
}

/// The text of a message.
#[derive(Clone, Debug)]
pub(crate) enum Words {
    /// Stored in memory, since the file has it in another form.
    Kept(Bytes),
    /// JSON, in the file.
    Span(Span),
}

/// Names a method of the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct MethodId(pub(crate) u32);

impl MethodId {
    /// A request without a method, which no live request can be.
    pub(crate) const NONE: Self = Self(u32::MAX);
}

/// The methods of a script.
#[derive(Debug, Default)]
pub(crate) struct Methods {
    ids: HashMap<Vec<u8>, MethodId>,
    names: Vec<Vec<u8>>,
    // The last one that was admitted, since methods tend to repeat.
    last: Option<MethodId>,
}

impl Methods {
    /// The id of a method, which is added if it is new.
    pub(crate) fn admit(&mut self, method: &[u8]) -> MethodId {
        if let Some(last) = self.last.filter(|last| self.name(*last) == method) {
            return last;
        }
        let id = self.admit_any(method);
        self.last = Some(id);
        id
    }

    fn admit_any(&mut self, method: &[u8]) -> MethodId {
        if let Some(id) = self.ids.get(method) {
            return *id;
        }
        let id = MethodId(u32::try_from(self.ids.len()).unwrap_or(u32::MAX));
        self.ids.insert(method.to_vec(), id);
        self.names.push(method.to_vec());
        id
    }

    /// Admits all methods of `other`, and returns their ids here in the order of their ids there.
    pub(crate) fn admit_all(&mut self, other: &Self) -> Vec<MethodId> {
        other.names.iter().map(|name| self.admit(name)).collect()
    }

    /// The names of all methods, in the order of their ids.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(Vec::as_slice)
    }

    /// The name of a method; empty for an unknown one.
    pub(crate) fn name(&self, method: MethodId) -> &[u8] {
        let name = self.names.get(method.0 as usize);
        name.map(Vec::as_slice).unwrap_or_default()
    }

    /// The id of a method, if the script has it.
    pub(crate) fn find(&self, method: &str) -> Option<MethodId> {
        self.ids.get(method.as_bytes()).copied()
    }
}

impl Script {
    /// The kind of file that it was loaded from.
    #[must_use]
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// The number of requests, with or without an answer.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.takes.len()
    }

    /// Whether the recording has times.
    #[must_use]
    pub fn tells_times(&self) -> bool {
        self.timed
    }

    /// Why the recording is incomplete, if it is.
    #[must_use]
    pub fn incomplete(&self) -> Option<&Incomplete> {
        self.incomplete.as_ref()
    }

    /// The time from the start to the last event; zero without times.
    #[must_use]
    pub fn length(&self) -> Duration {
        if !self.timed {
            return Duration::ZERO;
        }
        let takes = self.takes.iter().map(|take| match take.response {
            Some(_) => take.answered.at_us,
            None => take.asked.at_us,
        });
        let others = self.cues.iter().map(|cue| cue.when.at_us);
        let asides = self.asides.iter().map(|aside| aside.when.at_us);
        let last = takes.chain(others).chain(asides).max();
        Duration::from_micros(last.unwrap_or_default())
    }

    /// A string member of `meta`.
    #[must_use]
    pub fn meta(&self, name: &str) -> Option<&str> {
        let mut members = self.meta.iter().rev();
        let (_, value) = members.find(|(known, _)| known == name)?;
        Some(value)
    }

    /// The details of a request, by its ordinal.
    #[must_use]
    pub fn recorded(&self, ordinal: u32) -> Option<Recorded> {
        let take = self.take(ordinal as usize)?;
        Some(Recorded {
            took: take.took_us.map(Duration::from_micros),
            unanswered: match &take.place {
                TakePlace::Unanswered(_, why) => Some(why.to_string()),
                TakePlace::Exchange(_) | TakePlace::Probe(_) => None,
            },
            head: take
                .head
                .and_then(|span| serde_json::from_slice(&self.source(span)).ok()),
            params: take.params.map(|span| self.source(span)),
        })
    }

    pub(crate) fn take(&self, ordinal: usize) -> Option<Take> {
        self.takes.get(ordinal)
    }

    /// The bytes of a span: shared, or read from the file.
    pub(crate) fn source(&self, span: Span) -> Bytes {
        self.text.read(span)
    }

    /// The bytes of a message, shared.
    pub(crate) fn words(&self, words: &Words) -> Bytes {
        match words {
            Words::Kept(bytes) => bytes.clone(),
            Words::Span(span) => self.source(*span),
        }
    }

    pub(crate) fn cues(&self, take: &Take) -> &[InFlightMessage] {
        self.cues.get(take.cues.clone()).unwrap_or_default()
    }

    /// The method of a take, as text.
    pub(crate) fn method_of(&self, take: &Take) -> String {
        String::from_utf8_lossy(self.method_name(take.method)).into_owned()
    }

    /// The target of a take, if its method has one: a tool, a prompt, a URI.
    pub(crate) fn target_of(&self, take: &Take) -> Option<String> {
        let params = self.source(take.params?);
        let name = json::find(&params, &["name"]).or_else(|| json::find(&params, &["uri"]))?;
        match RequestId::of_source(name) {
            RequestId::Text(name) => Some(name.into_owned()),
            _ => None,
        }
    }

    /// Checks that [`verify`](crate::verify) can update this kind of recording.
    pub fn check_update(&self) -> Result<(), crate::verify::UpdateError> {
        crate::verify::can_update(self)
    }

    /// The name of a method; empty for an unknown one.
    pub(crate) fn method_name(&self, method: MethodId) -> &[u8] {
        self.methods.name(method)
    }
}
