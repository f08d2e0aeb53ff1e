//! The events of a cassette that stays in its file.
//!
//! The file is read twice: once from start to end, to check it and to note positions, and once more
//! to produce its events. In between, an exchange of only a request and its answer takes a few
//! numbers; anything more complex is kept whole.

mod open;
mod plain;
mod window;

use std::io::{self, Read, Seek};

use bytes::Bytes;

use self::plain::Plain;
use self::window::Window;
use super::finisher::Finisher;
use super::lines::on_one_line;
use crate::event::{ConduitId, Direction, Event, EventBody, LineEnd, Offset, Origin, Payload};
use crate::tape::{Ending, Header};

/// Yields the events of a cassette in the order of their times.
///
/// They are those of [`Cassette::recording`](super::Cassette::recording).
#[derive(Debug)]
pub struct Reader<S> {
    input: S,
    header: Header,
    ending: Ending,
    timed: bool,
    meta: Vec<(String, String)>,
    plain: Vec<Plain>,
    others: Vec<Option<Event>>,
    // The events in order, and how many of them have been yielded.
    order: Vec<Moment>,
    given: usize,
    finisher: Finisher,
    // The text that was read last: for requests, and for responses.
    windows: [Window; 2],
}

/// Names an event.
#[derive(Clone, Copy, Debug)]
struct Moment(u32);

/// What a [`Moment`] refers to.
enum Named {
    Request(usize),
    Response(usize),
    Other(usize),
}

/// The maximum number of exchanges, or of other events, in one reader.
const MOST: usize = 1 << 30;
const OTHER: u32 = 1 << 31;

impl Moment {
    fn request(place: usize) -> Option<Self> {
        let place = u32::try_from(place).ok().filter(|_| place < MOST)?;
        Some(Self(place << 1))
    }

    /// The answer to the request that this is.
    fn response(self) -> Self {
        Self(self.0 | 1)
    }

    fn other(place: usize) -> Option<Self> {
        let place = u32::try_from(place).ok().filter(|_| place < MOST)?;
        Some(Self(place | OTHER))
    }

    /// When it was, in microseconds.
    fn at(self, plain: &[Plain], others: &[Event]) -> u64 {
        let at = match self.named() {
            Named::Request(place) => plain.get(place).map(|one| one.asked_us),
            Named::Response(place) => plain.get(place).map(|one| one.answered_us),
            Named::Other(place) => others.get(place).map(|one| one.at.0),
        };
        at.unwrap_or_default()
    }

    fn named(self) -> Named {
        let place = (self.0 & !OTHER) as usize;
        match (self.0 & OTHER != 0, self.0 & 1 != 0) {
            (true, _) => Named::Other(place),
            (false, false) => Named::Request(place >> 1),
            (false, true) => Named::Response(place >> 1),
        }
    }
}

impl<S> Reader<S> {
    /// The header of an equivalent tape.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How it ends.
    #[must_use]
    pub fn ending(&self) -> &Ending {
        &self.ending
    }

    /// Whether its events have times.
    #[must_use]
    pub fn timed(&self) -> bool {
        self.timed
    }

    /// The string members of `meta`, in order.
    #[must_use]
    pub fn meta(&self) -> &[(String, String)] {
        &self.meta
    }
}

impl<S: Read + Seek> Reader<S> {
    /// The next event; `None` after the last one. Fails if the file has changed since it was
    /// opened.
    pub fn next_event(&mut self) -> io::Result<Option<Event>> {
        let Some(moment) = self.order.get(self.given) else {
            return Ok(None);
        };
        let event = match moment.named() {
            Named::Request(place) => self.message(place, Direction::ToServer)?,
            Named::Response(place) => self.message(place, Direction::ToClient)?,
            Named::Other(place) => self.others.get_mut(place).and_then(Option::take),
        };
        let Some(mut event) = event else {
            return Ok(None);
        };
        self.given += 1;
        self.finisher.finish(&mut event, self.given as u64);
        Ok(Some(event))
    }

    /// The request or the response of a plain exchange.
    fn message(&mut self, place: usize, dir: Direction) -> io::Result<Option<Event>> {
        let Some(plain) = self.plain.get(place) else {
            return Ok(None);
        };
        let [requests, responses] = &mut self.windows;
        let (at, span, window) = match dir {
            Direction::ToServer => (plain.asked_us, plain.request(), requests),
            Direction::ToClient => (plain.answered_us, plain.response(), responses),
        };
        let text = window.read(&mut self.input, span)?;
        let line = (dir == Direction::ToClient)
            .then(|| on_one_line(text))
            .flatten();
        let text = line.map_or_else(|| Bytes::copy_from_slice(text), Bytes::from);
        Ok(Some(Event {
            conduit: ConduitId(0),
            seq: 0,
            at: Offset(at),
            session: plain.session,
            dir,
            era: plain.era,
            body: EventBody::Message {
                payload: Payload::Whole(text),
                end: LineEnd::Lf,
                origin: Origin::default(),
            },
        }))
    }
}

#[cfg(test)]
mod tests;
