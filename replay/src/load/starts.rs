//! Reads several starts of one server as one recording.

use std::fs::File;
use std::io::{BufReader, BufWriter, Seek as _};

use tapewright_schemas::cassette::Projector;
use tapewright_schemas::event::{ConduitId, Offset, SessionKey};
use tapewright_schemas::recording::{DocumentError, FileKind};
use tapewright_schemas::tape::{Ending, Reader};

use super::{LoadError, Spool, disk};
use crate::script::Script;

/// The tapes of several starts of one server, as one recording.
#[derive(Debug)]
pub struct Starts {
    /// All tapes; each start has its own sessions.
    pub script: Script,
    /// The first session of each start.
    pub sessions: Vec<u32>,
}

/// The size of the read and write buffers, in bytes.
const BUFFER: usize = 256 << 10;

impl Starts {
    /// Reads tapes in the order of the starts. A caller that plays one of them as its
    /// [own](crate::Options::session) falls back to the others for missing requests.
    pub fn open(tapes: Vec<File>, spool: &Spool<'_>) -> Result<Self, LoadError> {
        let mut projecting: Option<Projector<File>> = None;
        let mut sessions = Vec::new();
        let mut ending = Ending::CutShort {
            last_seq: 0,
            torn: false,
        };
        let mut last = Last::default();
        for tape in tapes {
            let mut reader = Reader::open(BufReader::with_capacity(BUFFER, tape))?;
            let projector = match &mut projecting {
                Some(projector) => projector,
                none => none.insert(Projector::new(reader.header(), spool()?, spool()?)),
            };
            let before = last;
            let mut first = None;
            while let Some(mut event) = reader.next_event()? {
                // Another start is another session, later, on its own connections.
                event.seq += before.seq;
                event.at = before.at.plus(event.at);
                event.conduit = ConduitId(event.conduit.0.saturating_add(before.conduit));
                let session = event.session.0.max(1).saturating_add(before.session);
                event.session = SessionKey(session);
                first.get_or_insert(session);
                last = last.after(event.seq, event.at, event.conduit.0, session);
                projector.observe(&event).map_err(LoadError::Projection)?;
            }
            sessions.push(first.unwrap_or(before.session.saturating_add(1)));
            ending = reader.ending().cloned().unwrap_or(ending);
        }
        let Some(projector) = projecting else {
            return Err(LoadError::Document(DocumentError::Unknown));
        };
        let mut out = BufWriter::with_capacity(BUFFER, spool()?);
        projector
            .finish(&ending, &mut out)
            .map_err(LoadError::Projection)?;
        let mut file = out
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)?;
        file.rewind()?;
        let script = disk::read(file)?;
        let mut script = script.ok_or(LoadError::Document(DocumentError::Unknown))?;
        script.kind = FileKind::Tape;
        Ok(Self { script, sessions })
    }
}

/// The highest numbers so far.
#[derive(Clone, Copy, Default)]
struct Last {
    seq: u64,
    at: Offset,
    conduit: u32,
    session: u32,
}

impl Last {
    fn after(self, seq: u64, at: Offset, conduit: u32, session: u32) -> Self {
        Self {
            seq: self.seq.max(seq),
            at: self.at.max(at),
            conduit: self.conduit.max(conduit),
            session: self.session.max(session),
        }
    }
}
