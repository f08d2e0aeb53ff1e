//! The messages of an exchange, read from the recording when it is opened.

/// The messages of an exchange or event, as text.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageTexts {
    /// The texts, in order.
    pub(crate) all: Vec<MessageText>,
    /// Why they cannot be shown.
    pub(crate) problem: Option<String>,
}

/// One text.
#[derive(Clone, Debug)]
pub(crate) struct MessageText {
    /// Its event's number on the tape.
    pub(crate) seq: u64,
    /// Whether it went to the client.
    pub(crate) to_client: bool,
    /// The beginning of the text.
    pub(crate) text: Vec<u8>,
    /// Its full length, in bytes.
    pub(crate) bytes: u64,
}

/// How many bytes of a text are shown.
pub(crate) const SAID_BYTES: usize = 1 << 20;

impl MessageTexts {
    /// Texts that cannot be shown.
    pub(crate) fn not(why: impl Into<String>) -> Self {
        Self {
            all: Vec::new(),
            problem: Some(why.into()),
        }
    }
}
