//! Reads a cassette that is too long for memory: a few exchanges at a time, by several threads,
//! keeping only positions in the file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _};
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use tapewright_schemas::event::EventBody;
use tapewright_schemas::json::Scanner;
use tapewright_schemas::recording::{FileKind, NoPieces, Part, Pieces};
use tapewright_schemas::tape::{Read, ReadError, Reader};

use super::LoadError;
use super::arrange::arrange;
use super::parts::{Exchanges, Parts};
use super::scan::Scan;
use crate::script::{Methods, Script};
use crate::source::Source;

/// The members that are lists.
const LISTS: &[&str] = &[EXCHANGES, "unanswered", "probes", "messages"];
pub(super) const EXCHANGES: &str = "exchanges";
/// The maximum length of a tape's header, in bytes.
const HEADER: u64 = 16 << 20;
/// How much is read at once, in bytes.
pub(super) const BUFFER: usize = 1 << 20;
/// The number of events in a batch, and the multiple of it that may be queued.
const BATCH: usize = 256;
pub(super) const AHEAD: usize = 4;
/// More threads than this only contend for memory bandwidth.
const MOST: usize = 4;

/// Whether a file is a tape. Rewinds the file.
pub(super) fn is_tape(mut file: &File) -> io::Result<bool> {
    let mut line = Vec::new();
    BufReader::new(file.take(HEADER)).read_until(b'\n', &mut line)?;
    file.rewind()?;
    Ok(FileKind::is_tape_header(line.trim_ascii_end()))
}

/// Reads all events of a tape in batches, as long as the receiver takes them.
pub(super) fn read_events<R: io::BufRead>(
    mut reader: Reader<R>,
    give: &SyncSender<Vec<Read>>,
    emptied: &Receiver<Vec<Read>>,
) -> Result<Reader<R>, ReadError> {
    let mut events = Vec::new();
    let mut bytes = 0;
    while let Some(read) = reader.next_read()? {
        if let EventBody::Message { payload, .. } | EventBody::Body { payload } = &read.event.body {
            bytes += payload.kept().len();
        }
        events.push(read);
        if events.len() >= BATCH || bytes >= BUFFER {
            bytes = 0;
            let mut next = emptied.try_recv().unwrap_or_default();
            next.clear();
            if give.send(std::mem::replace(&mut events, next)).is_err() {
                return Ok(reader);
            }
        }
    }
    // A receiver that has stopped reports its own error.
    let _nobody_waits = give.send(events);
    Ok(reader)
}

/// Reads a cassette; `None` if the file is not one, or has another layout than tapewright's.
pub(super) fn read(file: File) -> Result<Option<Script>, LoadError> {
    script(Loading::of(&file), file)
}

/// Turns the loaded parts of a file into a script; `None` if the file is not a cassette, or has
/// another layout than tapewright's.
pub(super) fn script(
    loaded: Result<Loading, NoPieces>,
    file: File,
) -> Result<Option<Script>, LoadError> {
    let loading = match loaded {
        Ok(loading) if loading.version && loading.lists.contains(EXCHANGES) => loading,
        Err(NoPieces::Io(error)) => return Err(error.into()),
        Ok(_) | Err(_) => return Ok(None),
    };
    let Loading { parts, methods, .. } = loading;
    Ok(Some(arrange(Source::Disk(file), parts, methods)))
}

/// The parts of a cassette that were read so far.
#[derive(Default)]
pub(super) struct Loading {
    pub(super) parts: Parts,
    pub(super) methods: Methods,
    version: bool,
    // The lists found so far.
    pub(super) lists: BTreeSet<&'static str>,
}

/// Consecutive exchanges: a sequence number, where they begin, and their text as an array.
type Run = (usize, usize, Vec<u8>);
/// The parsed result of a run.
type Scanned = (usize, usize, Option<(Exchanges, Methods)>);

impl Loading {
    /// Reads a whole cassette.
    pub(super) fn of(input: impl io::Read) -> Result<Self, NoPieces> {
        Self::knowing(Methods::default(), input)
    }

    /// Like `of`, with ids for methods that are already known.
    pub(super) fn knowing(methods: Methods, input: impl io::Read) -> Result<Self, NoPieces> {
        let mut loading = Self {
            methods,
            ..Self::default()
        };
        loading.read(input)?;
        Ok(loading)
    }

    fn read(&mut self, input: impl io::Read) -> Result<(), NoPieces> {
        let workers = thread::available_parallelism().map_or(1, NonZero::get);
        let most = workers.min(MOST) * 2;
        // No more runs than this are in progress, so senders do not block.
        let (give, take) = sync_channel::<Run>(most);
        let (tell, told) = sync_channel::<Scanned>(most);
        let take = Mutex::new(take);
        thread::scope(|scope| {
            for _ in 0..workers.min(MOST) {
                let tell = tell.clone();
                let take = &take;
                scope.spawn(move || work(take, &tell));
            }
            drop(tell);
            let mut under_way = UnderWay {
                give,
                told,
                given: 0,
                taken: 0,
                early: BTreeMap::new(),
                most,
            };
            self.pieces(input, &mut under_way)?;
            under_way.finish(self)
        })
    }

    fn pieces(&mut self, input: impl io::Read, under_way: &mut UnderWay) -> Result<(), NoPieces> {
        let mut pieces = Pieces::new(input, LISTS);
        let mut at = 0;
        while let Some(piece) = pieces.next_piece()? {
            let start = at;
            at += piece.text.len();
            match piece.part {
                Part::Glue => {}
                Part::Members => self.rest(piece.text, "{", "}", start)?,
                Part::Elements { list, first } => {
                    if first == 0 && !self.lists.insert(list) {
                        // If a list occurs twice, the last one counts.
                        return Err(NoPieces::NoObject);
                    }
                    if list == EXCHANGES {
                        let text = [b"[", piece.text, b"]"].concat();
                        under_way.give(start, text, self)?;
                    } else {
                        self.rest(piece.text, &format!("{{\"{list}\":["), "]}", start)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Moves all positions at or after a place by the number of bytes that were omitted there.
    pub(super) fn shift_behind(&mut self, place: usize, by: usize) {
        // The other parts have no positions: they describe the whole recording.
        let Parts {
            unanswered,
            probes,
            messages,
            ..
        } = &mut self.parts;
        for draft in unanswered.iter_mut().chain(probes) {
            draft.shift_from(place, place + by);
        }
        for entry in messages {
            entry.shift_from(place, place + by);
        }
    }

    /// Parses everything but the exchanges, as a document of its own.
    fn rest(&mut self, text: &[u8], head: &str, tail: &str, start: usize) -> Result<(), NoPieces> {
        let whole = [head.as_bytes(), text, tail.as_bytes()].concat();
        if std::str::from_utf8(&whole).is_err() {
            return Err(NoPieces::NoObject);
        }
        let mut scan = Scan::amid(&whole, Scanner::new(&whole));
        scan.methods = std::mem::take(&mut self.methods);
        let read = scan.root();
        self.version |= scan.version;
        if scan.exchanges {
            self.lists.insert(EXCHANGES);
        }
        self.methods = std::mem::take(&mut scan.methods);
        let mut parts = std::mem::take(&mut scan.parts);
        if read.is_err() || parts.exchanges.len() > 0 {
            return Err(NoPieces::NoObject);
        }
        for draft in parts.unanswered.iter_mut().chain(&mut parts.probes) {
            draft.shift_from(head.len(), start);
        }
        for entry in &mut parts.messages {
            entry.shift_from(head.len(), start);
        }
        self.parts.unanswered.append(&mut parts.unanswered);
        self.parts.probes.append(&mut parts.probes);
        self.parts.messages.append(&mut parts.messages);
        self.parts.meta.append(&mut parts.meta);
        self.parts.incomplete = parts.incomplete.or(self.parts.incomplete.take());
        let detail = parts.incomplete_detail;
        self.parts.incomplete_detail = detail.or(self.parts.incomplete_detail.take());
        Ok(())
    }
}

/// The runs that other threads parse, which finish in any order.
struct UnderWay {
    give: SyncSender<Run>,
    told: Receiver<Scanned>,
    given: usize,
    taken: usize,
    early: BTreeMap<usize, Scanned>,
    // The maximum number in progress.
    most: usize,
}

impl UnderWay {
    fn give(&mut self, start: usize, text: Vec<u8>, to: &mut Loading) -> Result<(), NoPieces> {
        while self.given - self.taken >= self.most {
            self.take(to)?;
        }
        self.given += 1;
        let run = (self.given - 1, start, text);
        self.give.send(run).map_err(|_| NoPieces::NoObject)
    }

    /// Waits for the next run in order.
    fn take(&mut self, to: &mut Loading) -> Result<(), NoPieces> {
        let (_, start, read) = loop {
            if let Some(read) = self.early.remove(&self.taken) {
                break read;
            }
            let read = self.told.recv().map_err(|_| NoPieces::NoObject)?;
            self.early.insert(read.0, read);
        };
        self.taken += 1;
        let (exchanges, methods) = read.ok_or(NoPieces::NoObject)?;
        let ids = to.methods.admit_all(&methods);
        to.parts.exchanges.append(exchanges, start, &ids);
        Ok(())
    }

    fn finish(mut self, to: &mut Loading) -> Result<(), NoPieces> {
        while self.taken < self.given {
            self.take(to)?;
        }
        Ok(())
    }
}

/// Parses runs until the channel is closed.
fn work(runs: &Mutex<Receiver<Run>>, tell: &SyncSender<Scanned>) {
    loop {
        let run = runs.lock().ok().and_then(|runs| runs.recv().ok());
        let Some((number, start, text)) = run else {
            return;
        };
        // The leading bracket was added for parsing.
        let read = exchanges(&text);
        if tell.send((number, start, read)).is_err() {
            return;
        }
    }
}

pub(super) fn exchanges(text: &[u8]) -> Option<(Exchanges, Methods)> {
    std::str::from_utf8(text).ok()?;
    let mut scan = Scan::amid(text, Scanner::new(text));
    scan.scanner.next_token().ok()?;
    let mut exchanges = Exchanges::default();
    while !scan.closes() {
        let mut draft = scan.take(true).ok()?;
        draft.shift_from(1, 0);
        exchanges.push(draft);
    }
    Some((exchanges, scan.methods))
}
