//! Ids of traces and spans, derived from a recording: the same file always gives the same trace.

use sha2::{Digest as _, Sha256};
use tapewright_schemas::tape::Header;

use super::span::Id;

/// Makes the ids for one tape.
#[derive(Debug)]
pub(super) struct Ids {
    base: [u8; 32],
    // All tapes of an agent's recording are one trace.
    whole: Option<[u8; 32]>,
}

impl Ids {
    pub(super) fn new(header: &Header) -> Self {
        let pid = header.pid.to_string();
        let parts = [
            &header.created,
            &pid,
            &header.label,
            &header.part_of,
            &header.upstream,
        ];
        let parts = parts.into_iter().chain(&header.command).map(String::as_str);
        let whole = Some(&header.part_of).filter(|whole| !whole.is_empty());
        Self {
            base: digest(parts),
            whole: whole.map(|whole| digest([whole.as_str()])),
        }
    }

    /// The trace of a session.
    pub(super) fn trace(&self, session: u32) -> Id<16> {
        let of_session = || digest_of(&self.base, "trace", u64::from(session), "");
        Id(first(&self.whole.unwrap_or_else(of_session)))
    }

    /// The trace of a request without a session.
    pub(super) fn apart(&self, seq: u64, id: &str) -> Id<16> {
        Id(first(&digest_of(&self.base, "apart", seq, id)))
    }

    /// Whether the tape is a part of an agent's recording, which is one trace.
    pub(super) fn is_of_whole(&self) -> bool {
        self.whole.is_some()
    }

    /// The span of a session.
    pub(super) fn session(&self, session: u32) -> Id<8> {
        Id(first(&digest_of(
            &self.base,
            "session",
            u64::from(session),
            "",
        )))
    }

    /// The span of the request at a place of the tape; requests of a batch share the place, and
    /// tapes of a folder may begin alike.
    pub(super) fn request(&self, session: u32, seq: u64, id: &str) -> Id<8> {
        let id = format!("{session} {id}");
        Id(first(&digest_of(&self.base, "request", seq, &id)))
    }
}

fn digest<'p>(parts: impl IntoIterator<Item = &'p str>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

fn digest_of(base: &[u8; 32], kind: &str, number: u64, id: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(base);
    hash.update(kind);
    hash.update(number.to_be_bytes());
    hash.update(id);
    hash.finalize().into()
}

/// The first bytes. All zeros is not a valid id, but no practical hash begins like that.
fn first<const N: usize>(digest: &[u8; 32]) -> [u8; N] {
    let mut id = [0; N];
    for (to, from) in id.iter_mut().zip(digest) {
        *to = *from;
    }
    id
}
