//! The lists of a cassette, as in its file.

use std::collections::VecDeque;

use tapewright_schemas::cassette::Course;
use tapewright_schemas::era::Era;
use tapewright_schemas::event::Direction;
use tapewright_schemas::json::Span;

use crate::script::{MethodId, Response, Words};
use crate::takes::{Numbers, Packed};

/// The lists, in the order of the file.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) exchanges: Exchanges,
    pub(super) unanswered: Vec<Draft>,
    pub(super) probes: Vec<Draft>,
    pub(super) messages: Vec<Entry>,
    pub(super) meta: Vec<(String, String)>,
    pub(super) incomplete: Option<String>,
    pub(super) incomplete_detail: Option<String>,
}

/// The exchanges, in order. Most are just a request and its answer, and are stored as numbers.
#[derive(Default)]
pub(super) struct Exchanges {
    pub(super) packed: VecDeque<Packed>,
    pub(super) others: Vec<Draft>,
}

impl Exchanges {
    pub(super) fn len(&self) -> usize {
        self.packed.len()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Appends an exchange.
    pub(super) fn push(&mut self, draft: Draft) {
        if let Some(packed) = draft.packed() {
            self.packed.push_back(packed);
        } else {
            self.packed.push_back(Packed::other(self.others.len()));
            self.others.push(draft);
        }
    }

    /// The method and the request of each exchange.
    #[cfg(test)]
    pub(super) fn requests(&self) -> impl Iterator<Item = (MethodId, Span)> + '_ {
        self.packed.iter().map(|packed| {
            let other = packed.is_other().and_then(|at| self.others.get(at));
            other.map_or_else(
                || (packed.method, packed.request()),
                |draft| (draft.method, draft.request),
            )
        })
    }

    /// Moves all exchanges, which were read from a part of the file, to the position of that part.
    pub(super) fn move_to(&mut self, base: usize, methods: &[MethodId]) {
        let part = std::mem::take(self);
        self.append(part, base, methods);
    }

    /// Replaces the exchange at a place by the one in `part`. Exchanges that are not packed must be
    /// replaced in order.
    pub(super) fn replace(&mut self, at: usize, part: Self) {
        let Self { mut packed, others } = part;
        let (Some(place), Some(mut one)) = (self.packed.get_mut(at), packed.pop_front()) else {
            return;
        };
        if one.is_other().is_some() {
            one = Packed::other(self.others.len());
            self.others.extend(others);
        }
        *place = one;
    }

    /// Appends the exchanges of a part of the file, which begins at `base` and has its own
    /// `methods`.
    pub(super) fn append(&mut self, mut part: Self, base: usize, methods: &[MethodId]) {
        let here = |there: MethodId| methods.get(there.0 as usize).copied().unwrap_or(there);
        let before = self.others.len();
        for mut packed in part.packed {
            if let Some(place) = packed.is_other() {
                packed = Packed::other(before + place);
            } else {
                packed.shift(base);
                packed.method = here(packed.method);
            }
            self.packed.push_back(packed);
        }
        for draft in &mut part.others {
            draft.shift_from(0, base);
            draft.method = here(draft.method);
        }
        self.others.append(&mut part.others);
    }
}

/// A request, its response if any, and the messages in between.
pub(super) struct Draft {
    pub(super) request: Span,
    pub(super) id: Option<Span>,
    pub(super) method: MethodId,
    pub(super) params: Option<Span>,
    pub(super) response: Option<Response>,
    pub(super) sent_us: Option<u64>,
    pub(super) took_us: Option<u64>,
    /// The number of messages from the client in between, in a cassette without times.
    pub(super) seen: Option<u64>,
    pub(super) head: Option<Span>,
    pub(super) stream: Vec<Entry>,
    pub(super) era: Option<Era>,
    pub(super) session: u32,
    pub(super) after: Option<usize>,
    pub(super) why: String,
    /// The answer was an HTTP error, possibly not from an MCP server.
    pub(super) http_error: bool,
}

impl Draft {
    /// The packed form, if there is only a request and its answer.
    fn packed(&self) -> Option<Packed> {
        if self.head.is_some() || !self.stream.is_empty() || self.http_error {
            return None;
        }
        Packed::new(&Numbers {
            request: self.request,
            id: self.id,
            params: self.params,
            response: self.response?,
            method: self.method,
            session: self.session,
            sent_us: self.sent_us,
            took_us: self.took_us,
            seen: self.seen,
        })
    }

    /// Whether any part of it has a time.
    fn tells_times(&self) -> bool {
        let mut moments = self.stream.iter().map(|entry| entry.at_us);
        self.sent_us.is_some() || self.took_us.is_some() || moments.any(|at| at.is_some())
    }

    /// Assigns steps in a cassette without times, in the order of answers, and returns the step of
    /// the answer.
    pub(super) fn place(&mut self, course: &mut Course) -> u64 {
        let (asked, mut step) = course.ask();
        self.sent_us = Some(asked);
        let early = self.stream.iter_mut().filter(|entry| !entry.late);
        for entry in early {
            entry.at_us = Some(course.entry(&mut step, entry.dir, entry.seen));
        }
        let answered = step.heard(self.seen);
        for entry in self.stream.iter_mut().filter(|entry| entry.late) {
            entry.at_us = Some(course.entry(&mut step, entry.dir, entry.seen));
        }
        answered
    }

    /// Moves positions after reading a part of a file: what was at `from` is at `to`.
    pub(super) fn shift_from(&mut self, from: usize, to: usize) {
        shift(&mut self.request, from, to);
        let response = self.response.as_mut();
        let (response, id) = response.map(|one| (&mut one.span, &mut one.id)).unzip();
        let spans = [&mut self.id, &mut self.params, &mut self.head];
        let spans = spans.into_iter().chain(id).filter_map(Option::as_mut);
        for span in spans.chain(response) {
            shift(span, from, to);
        }
        for entry in &mut self.stream {
            entry.shift_from(from, to);
        }
    }
}

fn shift(span: &mut Span, from: usize, to: usize) {
    span.start = (span.start + to).saturating_sub(from);
    span.end = (span.end + to).saturating_sub(from);
}

impl Entry {
    /// Moves positions after reading a part of a file: what was at `from` is at `to`.
    pub(super) fn shift_from(&mut self, from: usize, to: usize) {
        if let Some(Words::Span(span)) = &mut self.words {
            shift(span, from, to);
        }
    }
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            request: Span { start: 0, end: 0 },
            id: None,
            method: MethodId::NONE,
            params: None,
            response: None,
            sent_us: None,
            took_us: None,
            seen: None,
            head: None,
            stream: Vec::new(),
            era: None,
            session: 0,
            after: None,
            why: String::new(),
            http_error: false,
        }
    }
}

/// One message of a stream, or outside of all exchanges.
pub(super) struct Entry {
    pub(super) dir: Direction,
    /// Its content; `None` if it is not a message.
    pub(super) words: Option<Words>,
    pub(super) at_us: Option<u64>,
    /// The number of messages from the client before it, in a cassette without times.
    pub(super) seen: Option<u64>,
    /// It followed the response.
    pub(super) late: bool,
    /// The number of unanswered requests before it, if the file has it.
    pub(super) unanswered_before: Option<usize>,
    pub(super) session: u32,
    pub(super) after: Option<usize>,
}

impl Default for Entry {
    fn default() -> Self {
        Self {
            dir: Direction::ToClient,
            words: None,
            at_us: None,
            seen: None,
            late: false,
            unanswered_before: None,
            session: 0,
            after: None,
        }
    }
}

impl Parts {
    /// Whether any part has a time.
    pub(super) fn tells_times(&self) -> bool {
        let Exchanges { packed, others } = &self.exchanges;
        packed.iter().any(Packed::tells_times)
            || others
                .iter()
                .chain(&self.unanswered)
                .any(Draft::tells_times)
            || self.messages.iter().any(|entry| entry.at_us.is_some())
    }
}
