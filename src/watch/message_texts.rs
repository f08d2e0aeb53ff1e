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
    /// Its place on the tape.
    pub(crate) seq: u64,
    /// Whether it went to the client.
    pub(crate) to_client: bool,
    /// Its beginning.
    pub(crate) text: Vec<u8>,
    /// How long it is, in bytes.
    pub(crate) bytes: u64,
}

/// How much of a text is shown, in bytes.
pub(crate) const SAID_BYTES: usize = 1 << 20;

impl MessageTexts {
    /// It cannot be shown.
    pub(crate) fn not(why: impl Into<String>) -> Self {
        Self {
            all: Vec::new(),
            problem: Some(why.into()),
        }
    }
}
