//! What may be done to a message on its way.

use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{CloseReason, Direction, Offset};

/// Decides the fate of each message.
///
/// While [`is_idle`](Self::is_idle) holds, messages are neither held nor looked at: an
/// empty rule set costs nothing.
pub trait Policy: Send {
    /// Whether every message would pass.
    fn is_idle(&self) -> bool;

    /// The fate of one whole message. Called once per message, in order.
    fn decide(&mut self, now: Offset, dir: Direction, message: &Envelope<'_>) -> Verdict;
}

/// The fate of one message. Every verdict but [`Pass`](Self::Pass) becomes an event of
/// its own, so that no judge blames a peer for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The sender gets this line as the answer; the message goes no further.
    Answer(Bytes),
    /// This direction ends here.
    Close(CloseReason),
    /// The message is passed on after this time; later ones may overtake it.
    Delay(Duration),
    /// The message goes no further.
    Drop,
    /// The message is passed on as it is.
    Pass,
    /// The message is passed on this many times more than once.
    Repeat(u8),
    /// These bytes are passed on in its place, delimiter included.
    Replace(Bytes),
}

impl Verdict {
    /// What the tape says was done; `None` for a message that passed.
    #[must_use]
    pub fn effect(&self) -> Option<String> {
        Some(match self {
            Self::Answer(_) => "answered in the server's place".to_owned(),
            Self::Close(_) => "closed".to_owned(),
            Self::Delay(time) => format!("delayed {} ms", time.as_millis()),
            Self::Drop => "dropped".to_owned(),
            Self::Pass => return None,
            Self::Repeat(times) => format!("repeated {times} times"),
            Self::Replace(_) => "replaced".to_owned(),
        })
    }
}

/// The policy without rules: everything passes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transparent;

impl Policy for Transparent {
    fn is_idle(&self) -> bool {
        true
    }

    fn decide(&mut self, _now: Offset, _dir: Direction, _message: &Envelope<'_>) -> Verdict {
        Verdict::Pass
    }
}
