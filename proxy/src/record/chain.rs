//! Reads consecutive tapes as one.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::Event;
use tapewright_schemas::tape::{Ending, Footer, Header, Reader};

/// The tapes of one session, in order.
#[derive(Debug)]
pub(crate) struct Chain<'a> {
    first: Reader<BufReader<File>>,
    rest: &'a [PathBuf],
}

impl<'a> Chain<'a> {
    /// Opens the first tape.
    pub(crate) fn open(tapes: &'a [PathBuf]) -> io::Result<Self> {
        let (first, rest) = tapes.split_first().ok_or(io::ErrorKind::NotFound)?;
        Ok(Self {
            first: reader(first)?,
            rest,
        })
    }

    /// The header of the first tape.
    pub(crate) fn header(&self) -> &Header {
        self.first.header()
    }

    /// Passes on every event in order, with its parsed message if it is known to be JSON; returns
    /// the common ending.
    pub(crate) fn feed(
        &mut self,
        mut observe: impl FnMut(&Event, Option<&Envelope<'_>>) -> io::Result<()>,
    ) -> io::Result<Ending> {
        let mut ending = read(&mut self.first, &mut observe)?;
        for path in self.rest {
            let next = read(&mut reader(path)?, &mut observe)?;
            ending = join(ending, next);
        }
        Ok(ending)
    }
}

fn reader(tape: &Path) -> io::Result<Reader<BufReader<File>>> {
    Reader::open(BufReader::with_capacity(1 << 18, File::open(tape)?)).map_err(io::Error::other)
}

fn read(
    tape: &mut Reader<BufReader<File>>,
    observe: &mut impl FnMut(&Event, Option<&Envelope<'_>>) -> io::Result<()>,
) -> io::Result<Ending> {
    while let Some(event) = tape.next_event().map_err(io::Error::other)? {
        observe(&event, tape.envelope(&event).as_ref())?;
    }
    Ok(tape.ending().cloned().unwrap_or(Ending::CutShort {
        last_seq: 0,
        torn: false,
    }))
}

/// The common ending of two tapes: complete if both are.
fn join(before: Ending, last: Ending) -> Ending {
    match (before, last) {
        (Ending::Footer(before), Ending::Footer(mut last)) => {
            last.events += before.events;
            last.complete &= before.complete;
            if before.why.is_some() {
                (last.why, last.detail) = (before.why, before.detail);
            }
            last.gaps.count += before.gaps.count;
            last.gaps.events = last.gaps.events.saturating_add(before.gaps.events);
            last.gaps.bytes = last.gaps.bytes.saturating_add(before.gaps.bytes);
            for (kind, count) in before.redactions {
                *last.redactions.entry(kind).or_default() += count;
            }
            Ending::Footer(Footer { ..last })
        }
        (cut @ Ending::CutShort { .. }, _) => cut,
        (_, last) => last,
    }
}
