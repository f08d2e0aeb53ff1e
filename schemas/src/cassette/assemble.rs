//! The file, from its spools.

use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

use super::near::Near;
use super::record::{
    CLOSE, Late, NO_CHAIN, OPEN, Orphan, RECORD_HEAD, Run, STREAM_CLOSE, STREAM_OPEN, SideRecord,
    Tag,
};
use crate::json::push_number;
use crate::slices::Part as _;

/// The output of an [`ExchangeOrder`](super::ExchangeOrder).
#[derive(Debug)]
pub(crate) struct Assembly<S> {
    pub(super) main: S,
    /// The text on the main spool before its first exchange; empty if there is none.
    pub(super) head: Vec<u8>,
    /// Bytes of the main spool.
    pub(super) length: u64,
    // By ordinal.
    pub(super) late: Vec<Late>,
    pub(super) runs: Vec<Run>,
    /// The number of requests, answered or not.
    pub(super) requests: u64,
    pub(crate) beside: Remainder<S>,
}

/// The parts of the file after the exchanges.
#[derive(Debug)]
pub(crate) struct Remainder<S> {
    pub(super) side: S,
    // By ordinal.
    pub(super) orphans: Vec<Orphan>,
    pub(super) asides: Vec<SideRecord>,
    /// The number of messages that belong to no exchange.
    pub(crate) messages: u64,
    /// Whether they have times.
    pub(super) timed: bool,
}

impl<S: Read + Seek> Assembly<S> {
    /// The number of answered requests.
    pub(crate) fn exchanges(&self) -> u64 {
        self.requests - self.beside.unanswered()
    }

    /// Whether the main spool already is the file up to its last exchange, with this head.
    pub(crate) fn begins_with(&self, head: &[u8]) -> bool {
        !self.head.is_empty() && self.head == head && self.late.is_empty()
    }

    /// The main spool, positioned after its last exchange, and the rest.
    pub(crate) fn into_parts(mut self) -> io::Result<(S, Remainder<S>)> {
        self.main.seek(SeekFrom::Start(self.length))?;
        Ok((self.main, self.beside))
    }

    /// Writes the elements of `exchanges`: all, or those of one session. Returns whether there were
    /// any.
    pub(crate) fn write_exchanges(
        &mut self,
        session: Option<u32>,
        out: &mut dyn Write,
    ) -> io::Result<bool> {
        let whole = [Run {
            session: 0,
            start: self.head.len() as u64,
            end: self.length,
        }];
        let runs = if session.is_some() {
            &self.runs[..]
        } else {
            &whole
        };
        let of_session = |one: u32| session.is_none_or(|session| session == one);
        let mut late = self
            .late
            .iter()
            .filter(|late| of_session(late.session))
            .peekable();
        let mut main = Main {
            spool: &mut self.main,
            bare: self.head.len() as u64,
            first: true,
        };
        let side = &mut Near::new(&mut self.beside.side);
        for run in runs.iter().filter(|run| of_session(run.session)) {
            let mut at = run.start;
            while let Some(next) = late.next_if(|late| late.place < run.end) {
                let until = next.place.max(at);
                main.copy(at..until, out)?;
                at = until;
                write_chain(side, next.chain, None, &mut main.first, out)?;
            }
            main.copy(at..run.end, out)?;
        }
        for rest in late {
            write_chain(side, rest.chain, None, &mut main.first, out)?;
        }
        Ok(!main.first)
    }
}

/// The main spool while it is copied.
struct Main<'a, S> {
    spool: &'a mut S,
    /// Where its first exchange begins, which has no comma before it.
    bare: u64,
    /// Nothing was written so far.
    first: bool,
}

impl<S: Read + Seek> Main<'_, S> {
    /// Copies a range that begins with an exchange.
    fn copy(&mut self, range: std::ops::Range<u64>, out: &mut dyn Write) -> io::Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let bare = range.start == self.bare;
        if bare && !self.first {
            out.write_all(b",")?;
        }
        let mut comma = std::mem::replace(&mut self.first, false) && !bare;
        copy(self.spool, range, &mut comma, out)
    }
}

impl<S: Read + Seek> Remainder<S> {
    /// The number of other entries outside the exchanges.
    pub(crate) fn asides(&self) -> u64 {
        self.asides.len() as u64
    }

    /// The number of unanswered requests.
    pub(crate) fn unanswered(&self) -> u64 {
        self.orphans.len() as u64
    }

    /// Writes the elements of `unanswered`.
    pub(crate) fn write_orphans(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let side = &mut Near::new(&mut self.side);
        let mut first = true;
        for (before, orphan) in (0..).zip(&self.orphans) {
            let after = orphan.ordinal.saturating_sub(before);
            write_chain(side, orphan.chain, Some(after), &mut first, out)?;
        }
        Ok(())
    }

    /// Writes the elements of `http`.
    pub(crate) fn write_asides(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut orphans = self.orphans.iter().map(|orphan| orphan.ordinal).peekable();
        let side = &mut Near::new(&mut self.side);
        let (mut before, mut first) = (0, true);
        for aside in &self.asides {
            while orphans.next_if(|ordinal| *ordinal < aside.after).is_some() {
                before += 1;
            }
            let comma = usize::from(std::mem::replace(&mut first, false));
            out.write_all(OPEN_ASIDE.part(comma..))?;
            let mut text = b"\"after\": ".to_vec();
            push_number(aside.after - before, &mut text);
            out.write_all(&text)?;
            write_records(side, aside.chain, None, out)?;
        }
        Ok(())
    }

    /// Writes the elements of `messages`.
    pub(crate) fn write_messages(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.side.seek(SeekFrom::Start(0))?;
        let mut side = BufReader::with_capacity(COPY_BYTES, &mut self.side);
        let mut orphans = self.orphans.iter().map(|orphan| orphan.ordinal).peekable();
        let mut before = 0;
        let mut line = Vec::new();
        for written in 0..self.messages {
            let record = loop {
                let record = Record::read(&mut side)?;
                if record.tag == Some(Tag::Message) {
                    break record;
                }
                side.seek_relative(i64::try_from(record.length).unwrap_or(i64::MAX))?;
            };
            while orphans.next_if(|ordinal| *ordinal < record.link).is_some() {
                before += 1;
            }
            line.clear();
            if written > 0 {
                line.push(b',');
            }
            line.extend_from_slice(b"\n    {\"after\": ");
            push_number(record.link - before, &mut line);
            // Where there are times, they also show which of the two came first.
            if !self.timed && orphans.peek() == Some(&record.link) {
                line.extend_from_slice(b", \"unanswered_before\": ");
                push_number(before, &mut line);
            }
            out.write_all(&line)?;
            io::copy(&mut (&mut side).take(record.length), out)?;
            out.write_all(b"}")?;
        }
        Ok(())
    }
}

/// The head of a record of the side spool.
struct Record {
    tag: Option<Tag>,
    link: u64,
    length: u64,
}

impl Record {
    fn read(side: &mut impl Read) -> io::Result<Self> {
        let mut head = [0; RECORD_HEAD];
        side.read_exact(&mut head)?;
        let [tag, numbers @ ..] = head;
        let mut numbers = numbers
            .chunks_exact(8)
            .map(|bytes| bytes.try_into().map_or(0, u64::from_le_bytes));
        let tags = [
            Tag::Message,
            Tag::Head,
            Tag::Tail,
            Tag::Stream,
            Tag::End,
            Tag::Extra,
        ];
        Ok(Self {
            tag: tags.into_iter().find(|known| *known as u8 == tag),
            link: numbers.next().unwrap_or(NO_CHAIN),
            length: numbers.next().unwrap_or(0),
        })
    }
}

/// Copies a range of a spool; without the leading comma if it is the `first` of a list.
fn copy<S: Read + Seek>(
    spool: &mut S,
    range: std::ops::Range<u64>,
    first: &mut bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    if range.is_empty() {
        return Ok(());
    }
    let skip = u64::from(std::mem::replace(first, false));
    spool.seek(SeekFrom::Start(range.start + skip))?;
    let mut rest = range.end - range.start - skip;
    // Most are short, and there may be a million of them.
    let mut buffer = vec![0; usize::try_from(rest).unwrap_or(COPY_BYTES).min(COPY_BYTES)];
    while rest > 0 {
        let want = usize::try_from(rest).unwrap_or(COPY_BYTES).min(COPY_BYTES);
        buffer.truncate(want);
        spool.read_exact(&mut buffer)?;
        out.write_all(&buffer)?;
        rest -= want as u64;
    }
    Ok(())
}

/// Writes one exchange from its chain of records.
fn write_chain<S: Read + Seek>(
    side: &mut S,
    chain: u64,
    after: Option<u64>,
    first: &mut bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let comma = usize::from(std::mem::replace(first, false));
    out.write_all(OPEN.part(comma..))?;
    write_records(side, chain, after, out)
}

/// Writes the contents of a chain of records, and closes it.
fn write_records<S: Read + Seek>(
    side: &mut S,
    chain: u64,
    after: Option<u64>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut records = Vec::new();
    let mut at = chain;
    while at != NO_CHAIN {
        side.seek(SeekFrom::Start(at))?;
        let record = Record::read(side)?;
        let start = at + RECORD_HEAD as u64;
        records.push((record.tag, start..start + record.length));
        at = record.link;
    }
    records.reverse();
    let all_of = |tag: Tag| records.iter().filter(move |(found, _)| *found == Some(tag));
    // On the side spool, only the first entry of a stream begins with a comma that must be removed.
    let mut plain = false;
    for (_, range) in all_of(Tag::Head) {
        copy(side, range.clone(), &mut plain, out)?;
    }
    if let Some(after) = after {
        let mut text = b",\n      \"after\": ".to_vec();
        push_number(after, &mut text);
        out.write_all(&text)?;
    }
    for (_, range) in all_of(Tag::Tail) {
        copy(side, range.clone(), &mut plain, out)?;
    }
    let mut opening = true;
    for (_, range) in all_of(Tag::Stream) {
        if opening {
            out.write_all(STREAM_OPEN)?;
        }
        copy(side, range.clone(), &mut opening, out)?;
    }
    if !opening {
        out.write_all(STREAM_CLOSE)?;
    }
    for (_, range) in all_of(Tag::Extra).chain(all_of(Tag::End)) {
        copy(side, range.clone(), &mut plain, out)?;
    }
    out.write_all(CLOSE)
}

const OPEN_ASIDE: &[u8] = b",\n    {\n      ";

const COPY_BYTES: usize = 64 << 10;
