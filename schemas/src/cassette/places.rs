//! The positions of exchanges in the text of a cassette, collected while it is written: code that
//! projects a recording for its own use need not read it again.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Read, Seek, Write};

use foldhash::quality::RandomState;

use super::open::{Marks, Open};
use super::project::Entries;
use super::record::OPEN;
use crate::envelope::{Envelope, Kind, RequestId};
use crate::event::{Event, Offset};
use crate::json::Span;

/// An exchange on the first spool of a [`Projector`](super::Projector).
#[derive(Clone, Debug)]
pub struct Placed {
    /// Its text, with the white space before it.
    pub text: Span,
    /// The positions of its parts, unless it has others than these.
    pub plain: Option<Plain>,
}

/// A request and its answer with nothing in between. Positions are relative to the start of the
/// spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain {
    /// The request.
    pub request: Span,
    /// Its id, as JSON.
    pub id: Span,
    /// Its method: an index into [`Projector::methods`](super::Projector::methods).
    pub method: usize,
    /// Its parameters.
    pub params: Option<Span>,
    /// The answer.
    pub response: Span,
    /// Its id, as JSON.
    pub response_id: Span,
    /// The session of both.
    pub session: u32,
    /// When the request was sent.
    pub sent: Offset,
    /// How long the answer took.
    pub took: Offset,
}

/// The text between a request and its answer.
pub(super) const RESPONSE: &[u8] = b",\n      \"response\": ";

/// The parts of a request; positions are relative to its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskedParts {
    length: usize,
    id: Span,
    method: usize,
    params: Option<Span>,
    sent: Offset,
}

/// The parts of an answer; positions are relative to its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnsweredParts {
    length: usize,
    id: Span,
    took: Offset,
}

/// The known parts of an open exchange.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KnownParts {
    asked: Option<AskedParts>,
    answered: Option<AnsweredParts>,
}

impl KnownParts {
    /// The exchange whose request begins at `start`, and which ends at `end`.
    pub(super) fn placed(self, start: u64, end: u64, session: u32) -> Placed {
        let at = |place: u64| usize::try_from(place).unwrap_or(usize::MAX);
        let (start, end) = (at(start), at(end));
        let before = OPEN.len() - 1;
        Placed {
            text: Span {
                start: start.saturating_sub(before),
                end,
            },
            plain: self.plain(start, session),
        }
    }

    fn plain(self, start: usize, session: u32) -> Option<Plain> {
        let (asked, answered) = (self.asked?, self.answered?);
        let request = Span {
            start,
            end: start + asked.length,
        };
        let response = request.end + RESPONSE.len();
        let behind = |place: usize, span: Span| Span {
            start: place + span.start,
            end: place + span.end,
        };
        Some(Plain {
            request,
            id: behind(start, asked.id),
            method: asked.method,
            params: asked.params.map(|params| behind(start, params)),
            response: Span {
                start: response,
                end: response + answered.length,
            },
            response_id: behind(response, answered.id),
            session,
            sent: asked.sent,
            took: answered.took,
        })
    }
}

/// The methods that were met.
#[derive(Debug, Default)]
pub(super) struct MethodNames {
    pub(super) names: Vec<String>,
    known: HashMap<String, usize, RandomState>,
    // Mostly the same comes again.
    last: usize,
}

impl MethodNames {
    /// Locates the parts of a request, if possible.
    pub(super) fn asked(
        &mut self,
        text: &[u8],
        envelope: &Envelope<'_>,
        sent: Offset,
    ) -> Option<AskedParts> {
        let Kind::Request { id, method, params } = &envelope.kind else {
            return None;
        };
        let params = match params {
            Some(params) => Some(within(text, params)?),
            None => None,
        };
        Some(AskedParts {
            length: text.len(),
            id: id_within(text, id)?,
            method: self.index(method),
            params,
            sent,
        })
    }

    fn index(&mut self, method: &str) -> usize {
        if self.names.get(self.last).is_some_and(|last| last == method) {
            return self.last;
        }
        self.last = if let Some(index) = self.known.get(method) {
            *index
        } else {
            let index = self.names.len();
            self.names.push(method.to_owned());
            self.known.insert(method.to_owned(), index);
            index
        };
        self.last
    }
}

impl<S: Read + Write + Seek> Entries<S> {
    /// Sets the parts of a request that was opened.
    pub(super) fn tell_request(
        &mut self,
        event: &Event,
        ordinal: u64,
        text: &[u8],
        envelope: &Envelope<'_>,
    ) {
        if let Some(methods) = &mut self.methods {
            let asked = methods.asked(text, envelope, event.at);
            let tell = |parts: &mut KnownParts| parts.asked = asked;
            self.exchange_order.tell_parts(ordinal, tell);
        }
    }

    /// Locates the parts of an answer, if there are no others.
    pub(super) fn tell_answer(
        &mut self,
        event: &Event,
        open: &Open,
        text: &[u8],
        envelope: &Envelope<'_>,
    ) {
        let Kind::Response { id, .. } = &envelope.kind else {
            return;
        };
        if self.methods.is_none() || open.marks.has(Marks::HTTP_ERROR) {
            return;
        }
        // In a list that was written in lines, the id is not a part of the text.
        let answered = id_within(text, id).map(|id| AnsweredParts {
            length: text.len(),
            id,
            took: event.at.since(open.at),
        });
        let tell = |parts: &mut KnownParts| parts.answered = answered;
        self.exchange_order.tell_parts(open.ordinal, tell);
    }
}

/// The position of an id in its message, as JSON; `None` if it is unknown.
fn id_within(text: &[u8], id: &RequestId<'_>) -> Option<Span> {
    match id {
        RequestId::Number(source) => within(text, source.as_bytes()),
        RequestId::Text(Cow::Borrowed(meaning)) => {
            let Span { start, end } = within(text, meaning.as_bytes())?;
            // Including its quotes.
            let span = Span {
                start: start.checked_sub(1)?,
                end: end + 1,
            };
            let quoted = text.get(span.start) == Some(&b'"') && text.get(end) == Some(&b'"');
            quoted.then_some(span)
        }
        _ => None,
    }
}

/// The position of a part in its text; `None` if it is not a part of it.
fn within(text: &[u8], part: &[u8]) -> Option<Span> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let end = start + part.len();
    (end <= text.len()).then_some(Span { start, end })
}
