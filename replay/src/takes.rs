//! The takes of a recording, stored compactly.
//!
//! A recording may have a million. Nearly all are just a request and its answer: these are stored
//! as a few numbers, the others in full.

use std::collections::VecDeque;

use tapewright_schemas::json::Span;

use crate::script::{MethodId, Moment, Response, Take, TakePlace};

/// All takes, in the order of playing.
#[derive(Debug, Default)]
pub(crate) struct Takes {
    packed: VecDeque<Packed>,
    // The takes that cannot be packed.
    others: Vec<Take>,
}

/// The parts of a take that is just a request and its answer.
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

/// A take as numbers; offsets are relative to the start of the request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packed {
    pub(crate) start: u64,
    pub(crate) asked_us: u64,
    // `UNKNOWN` if there is no time; with `COURSE`, how many steps after the request the answer
    // comes.
    took: u32,
    // Its length; for a take in `others`, its index there.
    request: u32,
    params: Near<u32>,
    // The maximum offset for a take in `others`.
    response: Near<u32>,
    id: Near<u16>,
    response_id: Near<u16>,
    pub(crate) method: MethodId,
    pub(crate) session: u32,
    element: u32,
    // Its place among the exchanges; before that is set, the number of client messages in between.
    place: u32,
}

/// What determines whether a take matches.
pub(crate) struct TakeQuery<'t> {
    pub(crate) method: MethodId,
    pub(crate) params: Option<Span>,
    pub(crate) session: u32,
    /// The whole take, if it is not packed.
    pub(crate) take: Option<&'t Take>,
}

pub(crate) const NONE: u64 = u64::MAX;
/// Marks a step count instead of a time. Takes that took longer than 35 minutes are in `others`.
const COURSE: u32 = 1 << 31;
const UNKNOWN: u32 = u32::MAX;
/// An absent number of messages.
const NOT_SAID: u32 = u32::MAX;

impl Packed {
    /// Packs a request and its answer; `None` if the numbers are too large.
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
            took: match of.took_us {
                Some(took) => u32::try_from(took).ok().filter(|took| *took < COURSE)?,
                None => UNKNOWN,
            },
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
        })
    }

    /// A reference to a take in `others`.
    pub(crate) fn other(place: usize) -> Self {
        Self {
            start: 0,
            asked_us: NONE,
            took: UNKNOWN,
            request: u32::try_from(place).unwrap_or(u32::MAX),
            params: Near::<u32>::NOWHERE,
            response: Near::<u32>::NOWHERE,
            id: Near::<u16>::NOWHERE,
            response_id: Near::<u16>::NOWHERE,
            method: MethodId::NONE,
            session: 0,
            element: 0,
            place: 0,
        }
    }

    /// The index in `others`, if it is such a reference.
    pub(crate) fn is_other(&self) -> Option<usize> {
        (self.response.at == u32::MAX).then_some(self.request as usize)
    }

    /// Moves its positions, after reading a part of the file.
    pub(crate) fn shift(&mut self, by: usize) {
        self.start += by as u64;
    }

    /// Whether any part of it has a time.
    pub(crate) fn tells_times(&self) -> bool {
        self.asked_us != NONE || self.took != UNKNOWN
    }

    /// The number of client messages in between, if recorded, and if its place is not set yet.
    pub(crate) fn seen(&self) -> Option<u64> {
        (self.place != NOT_SAID).then_some(self.place.into())
    }

    /// Sets the steps of the request and the answer in a recording without times.
    pub(crate) fn set_course(&mut self, asked: u64, answered: u64) {
        self.asked_us = asked;
        let far = answered.saturating_sub(asked);
        // No file has that many messages in between.
        self.took = COURSE
            | u32::try_from(far)
                .unwrap_or(COURSE)
                .min(UNKNOWN - COURSE - 1);
    }

    /// Sets the time of the request, and the place of the exchange.
    pub(crate) fn set(&mut self, asked: Moment, place: usize) {
        self.asked_us = asked.at_us;
        self.element = asked.element;
        // No list is longer than that.
        self.place = u32::try_from(place).unwrap_or(u32::MAX);
    }

    pub(crate) fn answered_us(&self) -> u64 {
        match self.took {
            UNKNOWN => self.asked_us,
            took => self.asked_us.saturating_add(u64::from(took & !COURSE)),
        }
    }

    /// The span of the request.
    pub(crate) fn request(&self) -> Span {
        let start = usize::try_from(self.start).unwrap_or(usize::MAX);
        Span {
            start,
            end: start.saturating_add(self.request as usize),
        }
    }

    fn sought(&self) -> TakeQuery<'static> {
        TakeQuery {
            method: self.method,
            params: self.params.span(self.request().start),
            session: self.session,
            take: None,
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
            took_us: (self.took & COURSE == 0).then_some(self.took.into()),
            head: None,
            session: self.session,
            place: TakePlace::Exchange(self.place as usize),
        }
    }
}

/// A part of a message, relative to the start of the message; absent if `at` has the maximum value.
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
    /// Takes that reuse the memory of their source: a caller moves each take from the front to the
    /// back, with up to `more` additional ones, so that little further memory is needed.
    pub(crate) fn made_of(mut packed: VecDeque<Packed>, more: usize) -> Self {
        packed.shrink_to(packed.len() + more);
        Self {
            packed,
            others: Vec::new(),
        }
    }

    /// Takes the next draft from the front.
    pub(crate) fn next_draft(&mut self) -> Option<Packed> {
        self.packed.pop_front()
    }

    /// Appends a packed take.
    pub(crate) fn push_packed(&mut self, packed: Packed) {
        self.packed.push_back(packed);
    }

    /// Appends a take.
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

    /// What determines whether a take matches.
    pub(crate) fn sought(&self, ordinal: usize) -> Option<TakeQuery<'_>> {
        let packed = self.packed.get(ordinal)?;
        let other = packed.is_other().and_then(|other| self.others.get(other));
        Some(other.map_or_else(
            || packed.sought(),
            |take| TakeQuery {
                method: take.method,
                params: take.params,
                session: take.session,
                take: Some(take),
            },
        ))
    }

    /// The takes that are not packed.
    pub(crate) fn others(&self) -> &[Take] {
        &self.others
    }

    fn open(&self, packed: &Packed) -> Take {
        let other = packed.is_other().and_then(|other| self.others.get(other));
        other.map_or_else(|| packed.take(), Clone::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(took_us: Option<u64>) -> Numbers {
        let span = |start, end| Span { start, end };
        Numbers {
            request: span(10, 90),
            id: Some(span(20, 21)),
            params: Some(span(40, 80)),
            response: Response {
                span: span(100, 150),
                id: None,
            },
            method: MethodId(3),
            session: 7,
            sent_us: Some(5),
            took_us,
            seen: None,
        }
    }

    #[test]
    fn a_take_in_numbers_is_small_and_says_the_same() {
        // A recording has a million of them.
        assert_eq!(size_of::<Packed>(), 64);
        for took in [None, Some(0), Some(1 << 20), Some(u64::from(COURSE) - 1)] {
            let of = numbers(took);
            let packed = Packed::new(&of).unwrap();
            assert_eq!(packed.is_other(), None);
            let take = packed.take();
            assert_eq!((take.request, take.id), (of.request, of.id));
            assert_eq!((take.params, take.took_us), (of.params, took));
            assert_eq!(take.response.unwrap().span, of.response.span);
            assert_eq!(take.answered.at_us, 5 + took.unwrap_or_default());
            let sought = packed.sought();
            assert_eq!((sought.method, sought.params), (take.method, take.params));
            assert_eq!((sought.session, sought.take.is_some()), (7, false));
        }
        assert!(Packed::new(&numbers(Some(COURSE.into()))).is_none());
        assert_eq!(Packed::other(9).is_other(), Some(9));
    }

    #[test]
    fn what_has_no_times_has_an_order() {
        let mut packed = Packed::new(&numbers(None)).unwrap();
        packed.set_course(40, 47);
        let take = packed.take();
        assert_eq!((take.asked.at_us, take.answered.at_us), (40, 47));
        assert_eq!(take.took_us, None);
    }
}
