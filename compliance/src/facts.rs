//! What is known about a recording before its first event.

use tapewright_schemas::event::Offset;
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::tape::Header;

/// What is known about a recording as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that hold in any combination"
)]
pub struct Facts {
    /// How its messages travelled.
    pub transport: Transport,
    /// Whether HTTP is spoken by the recorder alone, in front of a process: its answers are
    /// no server's.
    pub fronted: bool,
    /// Whether its events have times.
    pub timed: bool,
    /// What its file keeps of a session.
    pub keeps: Keeps,
    /// Whether it continues another recording, and begins in the middle of a session.
    pub continues: bool,
    /// Whether its events are numbered without a gap, so that a jump shows what is missing.
    pub numbered: bool,
    /// After this time a peer counts as having read what was sent to it.
    pub grace: Offset,
}

/// How messages travelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Over HTTP.
    Http,
    /// Over the standard streams of a process.
    Stdio,
    /// The file does not tell.
    Unknown,
}

/// What a file keeps of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Everything that crossed the wire.
    Everything,
    /// All that was said, and not how a process ended: a cassette of ours.
    Conversation,
    /// What the client sent and how it was answered: a capture of ours.
    Exchanges,
    /// What its author chose: the file of another tool, or one written by hand. It is
    /// judged by the letter of the documented invariants.
    Selection,
}

impl Keeps {
    /// Whether it keeps all that both sides said.
    #[must_use]
    pub fn all_that_was_said(self) -> bool {
        matches!(self, Self::Everything | Self::Conversation)
    }
}

/// How long a peer may take to read what was sent to it.
const GRACE: Offset = Offset(1_000_000);

impl Facts {
    /// Of a recording that is under way on the standard streams of a process.
    #[must_use]
    pub fn live() -> Self {
        Self {
            transport: Transport::Stdio,
            fronted: false,
            timed: true,
            keeps: Keeps::Everything,
            continues: false,
            numbered: false,
            grace: GRACE,
        }
    }

    /// Of a file.
    #[must_use]
    pub fn of(kind: FileKind, header: &Header, timed: bool) -> Self {
        let ours = kind == FileKind::Tape || !header.by.is_empty();
        Self {
            transport: match header.transport.as_str() {
                "http" => Transport::Http,
                "stdio" => Transport::Stdio,
                _ => Transport::Unknown,
            },
            fronted: header.transport == "http" && !header.command.is_empty(),
            timed,
            keeps: match kind {
                _ if !ours => Keeps::Selection,
                FileKind::Capture => Keeps::Exchanges,
                FileKind::Cassette => Keeps::Conversation,
                FileKind::Tape => Keeps::Everything,
            },
            continues: !header.continues.is_empty(),
            numbered: kind == FileKind::Tape,
            grace: GRACE,
        }
    }
}
