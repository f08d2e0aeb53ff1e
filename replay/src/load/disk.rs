//! A cassette that is too long for memory: read a few exchanges at a time, by several threads,
//! and what is kept of it is where things stand.

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
/// How long the header of a tape may be, in bytes.
const HEADER: u64 = 16 << 20;
/// How much is read at once, in bytes.
pub(super) const BUFFER: usize = 1 << 20;
/// How many events are handed on at once, and how many times that may wait to be taken.
const BATCH: usize = 256;
pub(super) const AHEAD: usize = 4;
/// More threads than this only wait for memory.
const MOST: usize = 4;

/// Whether a file is a tape. It is read from its start afterwards.
pub(super) fn is_tape(mut file: &File) -> io::Result<bool> {
    let mut line = Vec::new();
    BufReader::new(file.take(HEADER)).read_until(b'\n', &mut line)?;
    file.rewind()?;
    Ok(FileKind::is_tape_header(line.trim_ascii_end()))
}

/// Reads all events of a tape, some at a time, as long as anybody takes them.
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
    // A receiver that takes no more has failed, and says why.
    let _nobody_waits = give.send(events);
    Ok(reader)
}

/// Reads a cassette; `None` for a file that is none, or not as ours are.
pub(super) fn read(file: File) -> Result<Option<Script>, LoadError> {
    script(Loading::of(&file), file)
}

/// What was read of a file as a script; `None` for what is no cassette, or not as ours are.
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

/// What is known of a cassette so far.
#[derive(Default)]
pub(super) struct Loading {
    pub(super) parts: Parts,
    pub(super) methods: Methods,
    version: bool,
    // The lists that were met.
    pub(super) lists: BTreeSet<&'static str>,
}

/// A run of exchanges: its number, where it begins, and its text as an array.
type Run = (usize, usize, Vec<u8>);
/// What was read of one.
type Scanned = (usize, usize, Option<(Exchanges, Methods)>);

impl Loading {
    /// Reads all of a cassette.
    pub(super) fn of(input: impl io::Read) -> Result<Self, NoPieces> {
        Self::knowing(Methods::default(), input)
    }

    /// The same, where methods have their ids already.
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
        // Never more is under way, so that senders do not block.
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
                        // Of two lists of one name the last one counts.
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

    /// Moves what stands at or behind a place by so many bytes, which were left out there.
    pub(super) fn shift_behind(&mut self, place: usize, by: usize) {
        // What stands before has no places: it tells of the whole recording.
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

    /// What is no exchange, as a document of its own.
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

/// The runs that others read, which come back in any order.
struct UnderWay {
    give: SyncSender<Run>,
    told: Receiver<Scanned>,
    given: usize,
    taken: usize,
    early: BTreeMap<usize, Scanned>,
    // How many there may be at once.
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

/// Reads runs as long as there are any.
fn work(runs: &Mutex<Receiver<Run>>, tell: &SyncSender<Scanned>) {
    loop {
        let run = runs.lock().ok().and_then(|runs| runs.recv().ok());
        let Some((number, start, text)) = run else {
            return;
        };
        // The bracket in front is ours.
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
