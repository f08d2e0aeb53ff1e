//! The takes of a recording, in little memory.
//!
//! A recording may have a million. Nearly all are a request and its answer and nothing beside:
//! these are kept as a few numbers, and the others as they are.

use std::collections::VecDeque;

use tapewright_schemas::json::Span;

use crate::script::{MethodId, Moment, Response, Take, TakePlace};

/// All takes, in the order in which they are played.
#[derive(Debug, Default)]
pub(crate) struct Takes {
    packed: VecDeque<Packed>,
    // What does not fit.
    others: Vec<Take>,
}

/// What a take is made of that is a request and its answer.
#[derive(Clone)]
pub(crate) struct Numbers {
    pub(crate) request: Span,
    pub(crate) id: Option<Span>,
    pub(crate) params: Option<Span>,
    pub(crate) response: Response,
    pub(crate) method: MethodId,
    pub(crate) session: u32,
    pub(crate) sent_us: Option<u64>,
    pub(crate) took_us: Option<u64>,
    pub(crate) seen: Option<u64>,
}

/// A take in numbers; offsets count from the start of the request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packed {
    pub(crate) start: u64,
    pub(crate) asked_us: u64,
    // `NONE` when it is not known; with `COURSE`, how far behind the request the answer stands.
    pub(crate) took_us: u64,
    request: u32,
    params: Near<u32>,
    response: Near<u32>,
    id: Near<u16>,
    response_id: Near<u16>,
    pub(crate) method: MethodId,
    pub(crate) session: u32,
    element: u32,
    // Its place among the exchanges; until that is set, the messages of the client in between.
    place: u32,
    // Its place among the others.
    other: u32,
}

pub(crate) const NONE: u64 = u64::MAX;
/// Marks what is no time.
const COURSE: u64 = 1 << 63;
/// No number of messages.
const NOT_SAID: u32 = u32::MAX;
/// No other.
const HERE: u32 = u32::MAX;

impl Packed {
    /// The numbers of a request and its answer; `None` when they do not fit.
    pub(crate) fn new(of: &Numbers) -> Option<Self> {
        let Numbers {
            request,
            id,
            params,
            response,
            ..
        } = of.clone();
        let start = request.start;
        Some(Self {
            start: start as u64,
            asked_us: of.sent_us.unwrap_or(NONE),
            took_us: of.took_us.unwrap_or(NONE),
            request: u32::try_from(request.end - start).ok()?,
            params: params.map_or(Some(Near::<u32>::NOWHERE), |span| {
                Near::<u32>::new(start, span)
            })?,
            response: Near::<u32>::new(start, response.span)?,
            id: id.map_or(Some(Near::<u16>::NOWHERE), |span| {
                Near::<u16>::new(start, span)
            })?,
            response_id: response.id.map_or(Some(Near::<u16>::NOWHERE), |span| {
                Near::<u16>::new(response.span.start, span)
            })?,
            method: of.method,
            session: of.session,
            element: 0,
            place: match of.seen {
                Some(seen) => u32::try_from(seen).ok().filter(|seen| *seen != NOT_SAID)?,
                None => NOT_SAID,
            },
            other: HERE,
        })
    }

    /// One that stands among the others.
    pub(crate) fn other(place: usize) -> Self {
        Self {
            start: 0,
            asked_us: NONE,
            took_us: NONE,
            request: 0,
            params: Near::<u32>::NOWHERE,
            response: Near { at: 0, length: 0 },
            id: Near::<u16>::NOWHERE,
            response_id: Near::<u16>::NOWHERE,
            method: MethodId::NONE,
            session: 0,
            element: 0,
            place: 0,
            other: u32::try_from(place).unwrap_or(HERE - 1),
        }
    }

    /// Where it stands among the others, if it does.
    pub(crate) fn is_other(&self) -> Option<usize> {
        (self.other != HERE).then_some(self.other as usize)
    }

    /// Moves it, when it was read from a part of its file.
    pub(crate) fn shift(&mut self, by: usize) {
        self.start += by as u64;
    }

    /// Whether it says when anything of it happened.
    pub(crate) fn tells_times(&self) -> bool {
        self.asked_us != NONE || self.took_us != NONE
    }

    /// How many messages of the client came in between, where that is said and its place is not
    /// set.
    pub(crate) fn seen(&self) -> Option<u64> {
        (self.place != NOT_SAID).then_some(self.place.into())
    }

    /// Where the request and the answer stand in the order of a recording without times.
    pub(crate) fn set_course(&mut self, asked: u64, answered: u64) {
        self.asked_us = asked;
        self.took_us = COURSE | answered.saturating_sub(asked);
    }

    /// When it was asked, and where it stands.
    pub(crate) fn set(&mut self, asked: Moment, place: usize) {
        self.asked_us = asked.at_us;
        self.element = asked.element;
        // No list is longer than that.
        self.place = u32::try_from(place).unwrap_or(u32::MAX);
    }

    pub(crate) fn answered_us(&self) -> u64 {
        match self.took_us {
            NONE => self.asked_us,
            took => self.asked_us.saturating_add(took & !COURSE),
        }
    }

    /// Where the request stands.
    pub(crate) fn request(&self) -> Span {
        let start = usize::try_from(self.start).unwrap_or(usize::MAX);
        Span {
            start,
            end: start.saturating_add(self.request as usize),
        }
    }

    fn take(&self) -> Take {
        let request = self.request();
        let start = request.start;
        let response = self.response.span(start);
        let moment = |at_us, step| Moment {
            at_us,
            element: self.element,
            step,
        };
        Take {
            request,
            id: self.id.span(start),
            method: self.method,
            params: self.params.span(start),
            response: response.map(|span| Response {
                span,
                id: self.response_id.span(span.start),
            }),
            cues: 0..0,
            asked: moment(self.asked_us, 0),
            answered: moment(self.answered_us(), u32::MAX),
            took_us: Some(self.took_us).filter(|took| took & COURSE == 0),
            head: None,
            session: self.session,
            place: TakePlace::Exchange(self.place as usize),
        }
    }
}

/// A part of a message, counted from where the message begins; a length beside the largest
/// `at` is none.
#[derive(Clone, Copy, Debug)]
struct Near<N> {
    at: N,
    length: N,
}

impl Near<u32> {
    const NOWHERE: Self = Self {
        at: u32::MAX,
        length: 0,
    };

    fn new(from: usize, span: Span) -> Option<Self> {
        let at = u32::try_from(span.start.checked_sub(from)?).ok()?;
        let length = u32::try_from(span.end.checked_sub(span.start)?).ok()?;
        (at != u32::MAX).then_some(Self { at, length })
    }

    fn span(self, from: usize) -> Option<Span> {
        let start = from.saturating_add(self.at as usize);
        let end = start.saturating_add(self.length as usize);
        (self.at != u32::MAX).then_some(Span { start, end })
    }
}

impl Near<u16> {
    const NOWHERE: Self = Self {
        at: u16::MAX,
        length: 0,
    };

    fn new(from: usize, span: Span) -> Option<Self> {
        let Near { at, length } = Near::<u32>::new(from, span)?;
        let (at, length) = (u16::try_from(at).ok()?, u16::try_from(length).ok()?);
        (at != u16::MAX).then_some(Self { at, length })
    }

    fn span(self, from: usize) -> Option<Span> {
        let start = from.saturating_add(usize::from(self.at));
        let end = start.saturating_add(usize::from(self.length));
        (self.at != u16::MAX).then_some(Span { start, end })
    }
}

impl Takes {
    /// Takes that take over the room of what they are made of: whoever takes one from the front
    /// puts one at the back.
    pub(crate) fn made_of(packed: VecDeque<Packed>) -> Self {
        Self {
            packed,
            others: Vec::new(),
        }
    }

    /// The next one that is not a take yet.
    pub(crate) fn next_draft(&mut self) -> Option<Packed> {
        self.packed.pop_front()
    }

    /// Appends one that is numbers.
    pub(crate) fn push_packed(&mut self, packed: Packed) {
        self.packed.push_back(packed);
    }

    /// Appends one.
    pub(crate) fn push(&mut self, take: Take) {
        self.packed.push_back(Packed::other(self.others.len()));
        self.others.push(take);
    }

    pub(crate) fn len(&self) -> usize {
        self.packed.len()
    }

    pub(crate) fn get(&self, ordinal: usize) -> Option<Take> {
        self.packed.get(ordinal).map(|packed| self.open(packed))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Take> + '_ {
        self.packed.iter().map(|packed| self.open(packed))
    }

    /// Those that are more than numbers.
    pub(crate) fn others(&self) -> &[Take] {
        &self.others
    }

    fn open(&self, packed: &Packed) -> Take {
        let other = packed.is_other().and_then(|other| self.others.get(other));
        other.map_or_else(|| packed.take(), Clone::clone)
    }
}
