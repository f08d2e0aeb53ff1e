//! The first pass over a cassette.

use std::io::{self, Read, Seek, SeekFrom};

use bytes::Bytes;

use super::plain::Plain;
use super::window::Window;
use super::{Moment, Reader};
use crate::cassette::finisher::Finisher;
use crate::cassette::read::{
    BareHttpExchange, Cassette, Entry, RecordedExchange, RecordedSession, Unanswered,
};
use crate::cassette::timeline::Timeline;
use crate::event::Event;
use crate::json::{Span, Text};
use crate::recording::{Element, NoPieces, Objects, Part, Pieces};

/// The members that are lists.
const LISTS: &[&str] = &["exchanges", "messages", "unanswered", "http", "sessions"];
/// The members that are not lists.
const MEMBERS: &[&str] = &["version", "meta", "incomplete"];

impl<S: Read + Seek> Reader<S> {
    /// Reads a cassette from its start. `None` if it is not a cassette, or not in tapewright's
    /// layout: [`Document::read`](crate::recording::Document::read), which reads all of it at once,
    /// also accepts those of other tools, or reports what is wrong.
    pub fn open(mut input: S) -> io::Result<Option<Self>> {
        input.seek(SeekFrom::Start(0))?;
        let mut noted = Noted::default();
        match noted.read(&mut input) {
            Ok(Some(())) if noted.version && noted.seen.contains(&"exchanges") => {}
            Err(NoPieces::Io(error)) => return Err(error),
            Ok(_) | Err(NoPieces::NoObject) => return Ok(None),
        }
        Ok(noted.arrange(input))
    }
}

/// What has been read of a cassette so far.
#[derive(Default)]
struct Noted {
    plain: Vec<Plain>,
    // Everything but the plain exchanges, and the number of plain ones before each exchange.
    rest: Cassette,
    before: Vec<usize>,
    version: bool,
    // The lists and other members that were met.
    seen: Vec<&'static str>,
}

impl Noted {
    /// `Ok(None)` if it needs the full parser.
    fn read(&mut self, input: impl Read) -> Result<Option<()>, NoPieces> {
        let (mut pieces, mut objects) = (Pieces::new(input, LISTS), Objects::default());
        let mut at = 0;
        while let Some(piece) = pieces.next_objects(&mut objects)? {
            let start: u64 = at;
            at += piece.text.len() as u64;
            if std::str::from_utf8(piece.text).is_err() {
                return Ok(None);
            }
            let noted = match piece.part {
                Part::Glue => Some(()),
                Part::Members => self.members(&[b"{", piece.text, b"}"].concat()),
                Part::Elements { list, first } => self.list(list, first == 0).and_then(|()| {
                    objects.iter().try_for_each(|(span, members)| {
                        let text = span.of(piece.text);
                        self.element(list, text, members, start + span.start as u64)
                    })
                }),
            };
            if noted.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    fn members(&mut self, text: &[u8]) -> Option<()> {
        let root = Element::root(text);
        if LISTS.iter().any(|list| root.source(list).is_some()) {
            return None;
        }
        // Of two members with the same name, the last one counts.
        let here = MEMBERS.iter().filter(|name| root.source(name).is_some());
        for name in here {
            if self.seen.contains(name) {
                return None;
            }
            self.seen.push(name);
        }
        self.version |= match root.source("version") {
            Some(b"\"1\"") => true,
            Some(_) => return None,
            None => false,
        };
        self.rest.members(&root);
        Some(())
    }

    /// Elements of a list follow, the first ones or more of them.
    fn list(&mut self, list: &'static str, new: bool) -> Option<()> {
        if new && self.seen.contains(&list) {
            return None;
        }
        if new {
            self.seen.push(list);
        }
        Some(())
    }

    fn element(
        &mut self,
        list: &str,
        text: &[u8],
        members: &[(Text, Span)],
        start: u64,
    ) -> Option<()> {
        if list == "exchanges"
            && let Some(plain) = Plain::read(text, members, start)
        {
            self.plain.push(plain);
            return Some(());
        }
        // A copy, so that it does not keep its whole piece alive.
        let text = &Bytes::copy_from_slice(text);
        let element = Element::root(text);
        let rest = &mut self.rest;
        match list {
            "exchanges" => {
                rest.exchanges
                    .push(RecordedExchange::read(text, element).ok()?);
                self.before.push(self.plain.len());
            }
            "messages" => {
                let after = after(&element);
                rest.messages
                    .push((after, Entry::read(text, element).ok()?));
            }
            "unanswered" => {
                let after = after(&element);
                rest.unanswered
                    .push((after, Unanswered::read(text, element).ok()?));
            }
            "http" => {
                let after = after(&element);
                let aside = BareHttpExchange::read(text, element).ok()?;
                rest.http.extend(aside.map(|aside| (after, aside)));
            }
            _ => rest.sessions.push(RecordedSession::read(&element)),
        }
        Some(())
    }

    /// Puts everything in the order in which it happened; `None` when there is too much of it.
    fn arrange<S>(self, input: S) -> Option<Reader<S>> {
        let Self {
            mut plain,
            mut rest,
            before,
            ..
        } = self;
        let tells = |one: &Plain| one.times().iter().any(Option::is_some);
        let mut timeline = Timeline::new(&rest, rest.tells_times() || plain.iter().any(tells));
        let timed = rest.exchanges.iter().any(|one| one.sent.is_some())
            || plain.iter().any(|one| one.times()[0].is_some());
        let exchanges = std::mem::take(&mut rest.exchanges);
        let mut others = before.into_iter().zip(exchanges).peekable();
        let mut order = Order::default();
        let count = plain.len() + others.len();
        let mut numbers = plain.iter_mut().enumerate().peekable();
        timeline.play(&rest, count, |timeline, _| {
            let here = numbers.peek().map_or(usize::MAX, |(place, _)| *place);
            if let Some((_, one)) = others.next_if(|(before, _)| *before <= here) {
                timeline.exchange(&one);
                return;
            }
            order.note(timeline.events());
            if let Some((place, one)) = numbers.next() {
                let moments = timeline.plain(one.session, one.times(), one.seen());
                [one.asked_us, one.answered_us] = moments.map(|at| at.0);
                order.exchange(place);
            }
        });
        order.note(timeline.events());
        let (ended, http) = (timeline.ended(), timeline.is_http());
        let untimed = timeline.is_untimed();
        let others = timeline.into_list();
        let order = order.sorted(&plain, &others)?;
        let foreign = rest.is_foreign(http);
        Some(Reader {
            input,
            header: rest.header(http),
            ending: rest.ending(ended, order.len()),
            timed,
            meta: std::mem::take(&mut rest.meta),
            plain,
            others: others.into_iter().map(Some).collect(),
            order,
            given: 0,
            finisher: Finisher::new(foreign, untimed),
            windows: [Window::default(), Window::default()],
        })
    }
}

/// The number of exchanges before something outside them.
fn after(element: &Element<'_>) -> usize {
    let after = element.member("after").and_then(|after| after.number());
    after.unwrap_or(usize::MAX)
}

/// The events in the order of the file.
#[derive(Default)]
struct Order {
    moments: Vec<Moment>,
    // The number of the other events among them.
    noted: usize,
    full: bool,
}

impl Order {
    /// Adds new other events.
    fn note(&mut self, events: usize) {
        for place in self.noted..events {
            let moment = Moment::other(place);
            self.full |= moment.is_none();
            self.moments.extend(moment);
        }
        self.noted = events;
    }

    fn exchange(&mut self, place: usize) {
        let request = Moment::request(place);
        self.full |= request.is_none();
        self.moments.extend(request);
        self.moments.extend(request.map(Moment::response));
    }

    /// In the order of their times; events with the same time keep the order of the file.
    fn sorted(mut self, plain: &[Plain], others: &[Event]) -> Option<Vec<Moment>> {
        if self.full {
            return None;
        }
        self.moments.sort_by_key(|moment| moment.at(plain, others));
        self.moments.shrink_to_fit();
        Some(self.moments)
    }
}
