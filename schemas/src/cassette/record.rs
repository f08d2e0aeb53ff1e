//! What the [`ExchangeOrder`](super::ExchangeOrder) leaves for the [`Assembly`](super::Assembly):
//! records of the side spool, and the positions of their exchanges on the main spool.

/// An exchange whose text is on the side spool.
#[derive(Debug)]
pub(crate) struct Late {
    pub(crate) session: u32,
    pub(crate) ordinal: u64,
    /// The offset in the main spool before which it belongs.
    pub(crate) place: u64,
    pub(crate) chain: u64,
}

/// A request that never got its response.
#[derive(Debug)]
pub(crate) struct Orphan {
    pub(crate) ordinal: u64,
    pub(crate) chain: u64,
}

/// Something outside the exchanges, with its text on the side spool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SideRecord {
    /// Its position among its kind.
    pub(crate) order: u64,
    /// The number of requests before it.
    pub(crate) after: u64,
    pub(crate) chain: u64,
}

/// A range of the main spool that belongs to one session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) session: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// The type of a record on the side spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Message = 0,
    Head = 1,
    /// What follows the request: the response and its time.
    Tail = 2,
    /// Entries of `stream`.
    Stream = 3,
    /// What follows the stream.
    End = 4,
    /// The text between the stream and its end.
    Extra = 5,
}

/// The text after the request of a settled exchange, in this order, with the stream before `end`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rest<'a> {
    pub(crate) tail: [&'a [u8]; 3],
    pub(crate) end: &'a [u8],
}

/// A chain without a record.
pub(crate) const NO_CHAIN: u64 = u64::MAX;
/// Bytes of a record before its content.
pub(crate) const RECORD_HEAD: usize = 17;

pub(crate) const OPEN: &[u8] = b",\n    {\n      \"request\": ";
pub(crate) const CLOSE: &[u8] = b"\n    }";
pub(crate) const STREAM_OPEN: &[u8] = b",\n      \"stream\": [";
pub(crate) const STREAM_CLOSE: &[u8] = b"\n      ]";
