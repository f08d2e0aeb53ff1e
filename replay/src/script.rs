//! A recording as it is played: who says what, and what must come before.

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
    /// It says when things happened. Without that, moments are an order and nothing else.
    pub(crate) timed: bool,
    pub(crate) takes: Takes,
    pub(crate) cues: Vec<InFlightMessage>,
    pub(crate) asides: Vec<UnrelatedMessage>,
    pub(crate) methods: Methods,
    /// The sessions that are on it, in the order of their first request.
    pub(crate) sessions: Vec<u32>,
    /// Why it does not hold everything that crossed.
    pub(crate) incomplete: Option<Incomplete>,
    /// The members of `meta` that are strings.
    pub(crate) meta: Vec<(String, String)>,
}

/// A moment of the recording: microseconds, and the place in the file for what happened
/// at the same time or without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    pub(crate) at_us: u64,
    pub(crate) element: u32,
    pub(crate) step: u32,
}

/// One request of the client, and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Take {
    pub(crate) request: Span,
    pub(crate) id: Option<Span>,
    pub(crate) method: MethodId,
    pub(crate) params: Option<Span>,
    pub(crate) response: Option<Response>,
    /// What crossed in between, as a range of the script's cues.
    pub(crate) cues: Range<usize>,
    pub(crate) asked: Moment,
    /// When the response came; the end of time when none did.
    pub(crate) answered: Moment,
    /// From request to response in microseconds, where the recording says so.
    pub(crate) took_us: Option<u64>,
    /// The head of the HTTP response, where only its lines were recorded.
    pub(crate) head: Option<Span>,
    pub(crate) session: u32,
    pub(crate) place: TakePlace,
}

/// What a recording says about one of its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// From the request to its response, where that is known.
    pub took: Option<Duration>,
    /// Why there was no response, when there was none.
    pub unanswered: Option<String>,
    /// The head of the HTTP response that it came in, where that is known.
    pub head: Option<ResponseHead>,
    /// Its parameters, as they were recorded.
    pub params: Option<Bytes>,
}

/// Where a take stands in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TakePlace {
    /// At this place of `exchanges`.
    Exchange(usize),
    /// At this place of `probes`.
    Probe(usize),
    /// At this place of `unanswered`, for this reason.
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

/// One message that crossed while a request was in flight.
#[derive(Clone, Debug)]
pub(crate) struct InFlightMessage {
    pub(crate) when: Moment,
    pub(crate) dir: Direction,
    pub(crate) words: Words,
    /// It need not belong to its request.
    pub(crate) loose: bool,
    /// When it is loose, the last thing that the client had said before.
    pub(crate) after: Option<Moment>,
}

/// One message that belongs to no request.
#[derive(Clone, Debug)]
pub(crate) struct UnrelatedMessage {
    pub(crate) when: Moment,
    pub(crate) dir: Direction,
    pub(crate) words: Words,
    pub(crate) session: u32,
    /// The last thing that the client had said before, in its session.
    pub(crate) after: Option<Moment>,
}

/// Text of a message.
#[derive(Clone, Debug)]
pub(crate) enum Words {
    /// Kept beside the file: it stood there in another form.
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
    // The one that was admitted last: mostly it comes again.
    last: Option<MethodId>,
}

impl Methods {
    /// The id of a method, which is new when it was not known.
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

    /// The ids here of all methods there, in the order of their ids there.
    pub(crate) fn admit_all(&mut self, other: &Self) -> Vec<MethodId> {
        other.names.iter().map(|name| self.admit(name)).collect()
    }

    /// The names of all methods, in the order of their ids.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(Vec::as_slice)
    }

    /// The name of a method; empty for one that is not here.
    pub(crate) fn name(&self, method: MethodId) -> &[u8] {
        let name = self.names.get(method.0 as usize);
        name.map(Vec::as_slice).unwrap_or_default()
    }

    /// The id of a method, when it is on the script.
    pub(crate) fn find(&self, method: &str) -> Option<MethodId> {
        self.ids.get(method.as_bytes()).copied()
    }
}

impl Script {
    /// What kind of file it came from.
    #[must_use]
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// How many requests are on it, answered or not.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.takes.len()
    }

    /// Whether it says when things happened.
    #[must_use]
    pub fn tells_times(&self) -> bool {
        self.timed
    }

    /// Why the file does not hold everything that crossed, when it does not.
    #[must_use]
    pub fn incomplete(&self) -> Option<&Incomplete> {
        self.incomplete.as_ref()
    }

    /// When the last thing on it happened, since it began; nothing where it has no times.
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

    /// What is recorded of a request, by its number.
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

    /// What a take asks for, where its method has such a thing: a tool, a prompt, a URI.
    pub(crate) fn target_of(&self, take: &Take) -> Option<String> {
        let params = self.source(take.params?);
        let name = json::find(&params, &["name"]).or_else(|| json::find(&params, &["uri"]))?;
        match RequestId::of_source(name) {
            RequestId::Text(name) => Some(name.into_owned()),
            _ => None,
        }
    }

    /// Whether [`verify`](crate::verify) can bring it up to date.
    pub fn check_update(&self) -> Result<(), crate::verify::UpdateError> {
        crate::verify::can_update(self)
    }

    /// The name of a method; empty for none.
    pub(crate) fn method_name(&self, method: MethodId) -> &[u8] {
        self.methods.name(method)
    }
}
