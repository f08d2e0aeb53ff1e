//! Exchanges in the order of their requests, however late their responses come.
//!
//! A complete exchange goes to the *main* spool as soon as everything before it is settled.
//! Incomplete ones are held on a shelf; when the shelf becomes too large, its oldest request is
//! sent *away*: its text goes to the *side* spool, and its place, a byte offset in the main spool,
//! is remembered. [`Assembly`](super::Assembly) puts it back there.
//!
//! Before its first exchange the main spool holds the head of the file, as far as it is known by
//! then: if nothing needs to be put back, the spool becomes the file.
//!
//! The side spool is a log of records, `tag, link, length, bytes`. The records of one request form
//! a chain by their links, last to first; the records of messages outside the exchanges have a
//! count instead.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Seek, Write};

use foldhash::quality::RandomState;

use super::assemble::Remainder;
use super::draft::Draft;
use super::places::{KnownParts, Placed};
use super::record::{CLOSE, Late, NO_CHAIN, OPEN, Orphan, Rest, Run, SideRecord, Tag};
use super::spool::Spool;
use crate::slices::Part as _;

/// Puts exchanges in order.
#[derive(Debug)]
pub(crate) struct ExchangeOrder<S: Write> {
    main: Spool<S>,
    side: Spool<S>,
    // The text of the file before the exchanges, and its length on the main spool once it is there.
    head: Vec<u8>,
    begun: Option<u64>,
    // The exchanges from ordinal `first` on, settled or not. Its front is never settled.
    shelf: VecDeque<Slot>,
    first: u64,
    // Bytes on the shelf.
    held: usize,
    away: HashMap<u64, SentRequest, RandomState>,
    late: Vec<Late>,
    orphans: Vec<Orphan>,
    runs: Vec<Run>,
    messages: u64,
    asides: Vec<SideRecord>,
    // Buffers to use again.
    spare: Vec<Vec<u8>>,
    // The positions of exchanges on the main spool, if requested.
    places: Option<Vec<Placed>>,
}

#[derive(Debug)]
struct Slot {
    session: u32,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Open(Draft),
    Done(Vec<u8>, KnownParts),
    // Settled, with its text on the side spool.
    Chained(u64),
}

/// A request that was sent away and still awaits its response.
#[derive(Debug)]
struct SentRequest {
    session: u32,
    place: u64,
    chain: u64,
}

/// The size of the shelf above which its oldest request is sent away.
const SHELF_LIMIT_BYTES: usize = 4 << 20;
const SHELF_LIMIT: usize = 16_384;
/// How much of one stream is held in memory.
const STREAM_LIMIT_BYTES: usize = 64 << 10;
/// Buffers over this size are given back to the system.
const SPARE_LIMIT_BYTES: usize = 16 << 10;
const SPARE_LIMIT: usize = 64;

impl<S: Write + Seek> ExchangeOrder<S> {
    pub(crate) fn new(main: S, side: S) -> Self {
        Self {
            main: Spool::new(main),
            side: Spool::new(side),
            head: Vec::new(),
            begun: None,
            shelf: VecDeque::new(),
            first: 0,
            held: 0,
            away: HashMap::default(),
            late: Vec::new(),
            orphans: Vec::new(),
            runs: Vec::new(),
            messages: 0,
            asides: Vec::new(),
            spare: Vec::new(),
            places: None,
        }
    }

    /// Sets the text before the exchanges, unless the first exchange has already been written.
    pub(crate) fn set_head(&mut self, head: Vec<u8>) {
        if self.begun.is_none() {
            self.head = head;
        }
    }

    /// Whether it is too late to change the head.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// The number of requests that were opened, or added whole.
    pub(crate) fn count(&self) -> u64 {
        self.first + self.shelf.len() as u64
    }

    /// Opens an exchange with its request; its ordinal.
    pub(crate) fn open(&mut self, session: u32, request: &[u8]) -> io::Result<u64> {
        let ordinal = self.count();
        let mut head = self.buffer();
        head.extend_from_slice(request);
        self.held += head.len();
        let draft = Draft::new(head);
        self.shelf.push_back(Slot {
            session,
            body: Body::Open(draft),
        });
        self.lighten()?;
        Ok(ordinal)
    }

    /// Enters an exchange that has no response to wait for.
    pub(crate) fn enter(&mut self, session: u32, request: &[u8]) -> io::Result<()> {
        if self.shelf.is_empty() {
            self.first += 1;
            let parts = KnownParts::default();
            return self.write_main(session, parts, &[request, CLOSE]);
        }
        let ordinal = self.open(session, request)?;
        self.close(ordinal, Rest::default())
    }

    /// Appends an entry to the stream of an open exchange: text that begins with a comma.
    pub(crate) fn stream(&mut self, ordinal: u64, entry: &[u8]) -> io::Result<()> {
        if let Some(away) = self.away.get_mut(&ordinal) {
            away.chain = self.side.record(Tag::Stream, away.chain, &[entry])?;
            return Ok(());
        }
        let Some(Slot {
            body: Body::Open(draft),
            ..
        }) = slot(&mut self.shelf, self.first, ordinal)
        else {
            return Ok(());
        };
        draft.stream.extend_from_slice(entry);
        self.held += entry.len();
        if draft.stream.len() > STREAM_LIMIT_BYTES {
            self.held -= draft.stream.len();
            draft.chain = self
                .side
                .record(Tag::Stream, draft.chain, &[&draft.stream])?;
            draft.stream = Vec::new();
        }
        self.lighten()
    }

    /// Appends the text after the request of an open exchange and before its stream: the response,
    /// unless it closes the exchange.
    pub(crate) fn tail(&mut self, ordinal: u64, parts: &[&[u8]]) -> io::Result<()> {
        self.append(ordinal, Tag::Tail, parts)
    }

    /// Appends the text after the stream of an open exchange.
    pub(crate) fn extra(&mut self, ordinal: u64, text: &[u8]) -> io::Result<()> {
        self.append(ordinal, Tag::Extra, &[text])
    }

    /// Records the positions of exchanges on the main spool.
    pub(super) fn keep_places(&mut self) {
        self.places = Some(Vec::new());
    }

    /// The positions of the exchanges that were placed since the last call.
    pub(super) fn places(&mut self) -> impl Iterator<Item = Placed> + '_ {
        self.places.iter_mut().flat_map(|places| places.drain(..))
    }

    /// Sets the parts of an open exchange.
    pub(super) fn tell_parts(&mut self, ordinal: u64, tell: impl FnOnce(&mut KnownParts)) {
        if let Some(Slot {
            body: Body::Open(draft),
            ..
        }) = slot(&mut self.shelf, self.first, ordinal)
        {
            tell(&mut draft.parts);
        }
    }

    fn append(&mut self, ordinal: u64, tag: Tag, parts: &[&[u8]]) -> io::Result<()> {
        if let Some(away) = self.away.get_mut(&ordinal) {
            away.chain = self.side.record(tag, away.chain, parts)?;
            return Ok(());
        }
        let Some(Slot {
            body: Body::Open(draft),
            ..
        }) = slot(&mut self.shelf, self.first, ordinal)
        else {
            return Ok(());
        };
        let buffer = match tag {
            Tag::Tail => &mut draft.tail,
            _ => &mut draft.extra,
        };
        if buffer.capacity() == 0 {
            *buffer = self.spare.pop().unwrap_or_default();
        }
        let length = parts.iter().map(|part| part.len()).sum();
        buffer.reserve(length);
        for part in parts {
            buffer.extend_from_slice(part);
        }
        self.held += length;
        self.lighten()
    }

    /// Appends an entry to the text of something outside the exchanges.
    pub(crate) fn note(&mut self, chain: &mut u64, tag: Tag, text: &[u8]) -> io::Result<()> {
        *chain = self.side.record(tag, *chain, &[text])?;
        Ok(())
    }

    /// Adds something outside the exchanges.
    pub(crate) fn aside(&mut self, aside: SideRecord) {
        self.asides.push(aside);
    }

    /// Settles an exchange.
    pub(crate) fn close(&mut self, ordinal: u64, rest: Rest<'_>) -> io::Result<()> {
        if let Some(away) = self.away.remove(&ordinal) {
            let chain = self.chain_rest(away.chain, rest)?;
            self.late.push(Late {
                session: away.session,
                ordinal,
                place: away.place,
                chain,
            });
            return Ok(());
        }
        let Some(found) = slot(&mut self.shelf, self.first, ordinal) else {
            return Ok(());
        };
        let session = found.session;
        let open = std::mem::replace(&mut found.body, Body::Chained(NO_CHAIN));
        let Body::Open(mut draft) = open else {
            return Ok(());
        };
        self.held -= draft.len();
        if draft.chain != NO_CHAIN {
            let chain = self.chain_draft(&draft)?;
            let chain = self.chain_rest(chain, rest)?;
            self.settle(ordinal, Body::Chained(chain));
        } else if ordinal == self.first {
            self.write_first(session, draft, rest)?;
        } else {
            let mut text = std::mem::take(&mut draft.head);
            for part in draft.behind_head(&rest) {
                text.extend_from_slice(part);
            }
            self.held += text.len();
            self.settle(ordinal, Body::Done(text, draft.known_parts()));
        }
        self.advance()?;
        self.lighten()
    }

    /// Writes the exchange at the front of the shelf, which is settled now.
    fn write_first(&mut self, session: u32, draft: Draft, rest: Rest<'_>) -> io::Result<()> {
        self.shelf.pop_front();
        self.first += 1;
        let start = self.begin_run(session)?;
        self.main.put(&draft.head)?;
        for part in draft.behind_head(&rest) {
            self.main.put(part)?;
        }
        self.end_run(start, session, draft.known_parts());
        for buffer in [draft.head, draft.tail, draft.extra] {
            self.recycle(buffer);
        }
        Ok(())
    }

    /// Removes an open exchange from the order: its response will not come. It must be the oldest
    /// open one.
    pub(crate) fn abandon(&mut self, ordinal: u64, rest: Rest<'_>) -> io::Result<()> {
        while self.first <= ordinal && !self.shelf.is_empty() {
            self.send_away()?;
        }
        if let Some(away) = self.away.remove(&ordinal) {
            let chain = self.chain_rest(away.chain, rest)?;
            self.orphans.push(Orphan { ordinal, chain });
        }
        Ok(())
    }

    /// Adds a message that belongs to no exchange: the members of its object after `after`, which
    /// counts the requests before it.
    pub(crate) fn message(&mut self, members: &[u8]) -> io::Result<()> {
        self.messages += 1;
        let count = self.count();
        self.side
            .record(Tag::Message, count, &[members])
            .map(|_| ())
    }

    /// Ends the order. Every exchange must be settled or abandoned.
    pub(crate) fn finish(mut self) -> io::Result<super::Assembly<S>> {
        while !self.shelf.is_empty() {
            self.send_away()?;
        }
        self.late.sort_unstable_by_key(|late| late.ordinal);
        self.orphans.sort_unstable_by_key(|orphan| orphan.ordinal);
        self.asides.sort_unstable_by_key(|aside| aside.order);
        let head = self.begun.map_or_else(Vec::new, |_| self.head);
        Ok(super::Assembly {
            head,
            length: self.main.at,
            main: self.main.into_inner()?,
            late: self.late,
            runs: self.runs,
            requests: self.first,
            beside: Remainder {
                side: self.side.into_inner()?,
                orphans: self.orphans,
                messages: self.messages,
                timed: true,
                asides: self.asides,
            },
        })
    }

    fn settle(&mut self, ordinal: u64, body: Body) {
        if let Some(slot) = slot(&mut self.shelf, self.first, ordinal) {
            slot.body = body;
        }
    }

    /// Writes the settled exchanges at the front of the shelf.
    fn advance(&mut self) -> io::Result<()> {
        while let Some(Slot {
            body: Body::Done(..) | Body::Chained(_),
            ..
        }) = self.shelf.front()
        {
            let Some(slot) = self.shelf.pop_front() else {
                break;
            };
            let ordinal = self.first;
            self.first += 1;
            match slot.body {
                Body::Done(text, parts) => {
                    self.held -= text.len();
                    self.write_main(slot.session, parts, &[&text])?;
                    self.recycle(text);
                }
                Body::Chained(chain) => {
                    let place = self.main.at;
                    self.late.push(Late {
                        session: slot.session,
                        ordinal,
                        place,
                        chain,
                    });
                }
                Body::Open(_) => {}
            }
        }
        Ok(())
    }

    fn lighten(&mut self) -> io::Result<()> {
        while self.held > SHELF_LIMIT_BYTES || self.shelf.len() > SHELF_LIMIT {
            self.send_away()?;
        }
        Ok(())
    }

    /// Sends the front of the shelf away, and writes what was waiting for it.
    fn send_away(&mut self) -> io::Result<()> {
        if let Some(Slot {
            session,
            body: Body::Open(draft),
        }) = self.shelf.pop_front()
        {
            self.held -= draft.len();
            let chain = self.chain_draft(&draft)?;
            self.away.insert(
                self.first,
                SentRequest {
                    session,
                    place: self.main.at,
                    chain,
                },
            );
            self.first += 1;
            self.recycle(draft.head);
        }
        self.advance()
    }

    fn chain_draft(&mut self, draft: &Draft) -> io::Result<u64> {
        let mut chain = self.side.record(Tag::Head, draft.chain, &[&draft.head])?;
        let parts = [
            (Tag::Tail, &draft.tail),
            (Tag::Stream, &draft.stream),
            (Tag::Extra, &draft.extra),
        ];
        for (tag, text) in parts {
            if !text.is_empty() {
                chain = self.side.record(tag, chain, &[text])?;
            }
        }
        Ok(chain)
    }

    fn chain_rest(&mut self, chain: u64, rest: Rest<'_>) -> io::Result<u64> {
        let chain = self.side.record(Tag::Tail, chain, &rest.tail)?;
        self.side.record(Tag::End, chain, &[rest.end])
    }

    fn write_main(&mut self, session: u32, known: KnownParts, text: &[&[u8]]) -> io::Result<()> {
        let start = self.begin_run(session)?;
        for part in text {
            self.main.put(part)?;
        }
        self.end_run(start, session, known);
        Ok(())
    }

    /// Begins an exchange on the main spool, and a new run if it belongs to another session.
    /// Returns where the request of the exchange begins.
    fn begin_run(&mut self, session: u32) -> io::Result<u64> {
        let first = self.begun.is_none();
        if first {
            self.main.put(&self.head)?;
            self.begun = Some(self.main.at);
        }
        if self.runs.last().is_none_or(|run| run.session != session) {
            self.runs.push(Run {
                session,
                start: self.main.at,
                end: self.main.at,
            });
        }
        self.main.put(OPEN.part(usize::from(first)..))?;
        Ok(self.main.at)
    }

    fn end_run(&mut self, start: u64, session: u32, known: KnownParts) {
        if let Some(places) = &mut self.places {
            places.push(known.placed(start, self.main.at, session));
        }
        if let Some(run) = self.runs.last_mut() {
            run.end = self.main.at;
        }
    }

    fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    fn recycle(&mut self, mut buffer: Vec<u8>) {
        let is_useful = (1..=SPARE_LIMIT_BYTES).contains(&buffer.capacity());
        if is_useful && self.spare.len() < SPARE_LIMIT {
            buffer.clear();
            self.spare.push(buffer);
        }
    }
}

/// The slot of an ordinal that is still on the shelf.
fn slot(shelf: &mut VecDeque<Slot>, first: u64, ordinal: u64) -> Option<&mut Slot> {
    let index = usize::try_from(ordinal.checked_sub(first)?).ok()?;
    shelf.get_mut(index)
}
