//! Facts about a recording that are known before its first event.

use tapewright_schemas::event::Offset;
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::tape::Header;

/// Facts about a recording as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that hold in any combination"
)]
pub struct Facts {
    /// The transport of its messages.
    pub transport: Transport,
    /// Whether only the recorder uses HTTP, in front of a process: its HTTP answers are not a
    /// server's.
    pub fronted: bool,
    /// Whether its events have times.
    pub timed: bool,
    /// How much of a session its file contains.
    pub keeps: Keeps,
    /// Whether it continues another recording, and begins in the middle of a session.
    pub continues: bool,
    /// Whether its events are numbered without gaps, so that a jump shows missing ones.
    pub numbered: bool,
    /// The time after which a peer counts as having read a message.
    pub grace: Offset,
}

/// The transport of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Over HTTP.
    Http,
    /// Over the standard streams of a process.
    Stdio,
    /// The file does not show it.
    Unknown,
}

/// How much of a session a file contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Everything that crossed the wire.
    Everything,
    /// All messages, but not how a process ended: a cassette by tapewright.
    Conversation,
    /// The client's messages and their answers: a capture by tapewright.
    Exchanges,
    /// A selection by its author: the file of another tool, or a hand-written one. It is judged
    /// strictly by the documented invariants.
    Selection,
}

impl Keeps {
    /// Whether it contains all messages of both sides.
    #[must_use]
    pub fn all_that_was_said(self) -> bool {
        matches!(self, Self::Everything | Self::Conversation)
    }
}

/// How long a peer may take to read a message.
const GRACE: Offset = Offset(1_000_000);

impl Facts {
    /// For a recording in progress on the standard streams of a process.
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

    /// For a file.
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
