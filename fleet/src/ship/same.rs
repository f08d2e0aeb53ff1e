//! Checks whether a file is the tape that is in the store.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use super::{Context, ShipError};
use crate::chain::Chain;
use crate::entry::Entry;
use crate::hash::Hasher;
use crate::segment;

/// Whether a file has the shipped contents of a tape, up to its length.
pub(super) async fn is_same(
    context: &Context<'_>,
    file: &File,
    len: u64,
    chain: &Chain,
) -> Result<bool, ShipError> {
    let last = chain.entries.iter().rfind(|entry| entry.end > entry.start);
    if let Some(last) = last
        && (chain.swept().is_some() || chain.ended().is_some() && len >= last.end)
    {
        // A tape only grows: if its end is the same, and its first line, which determines its name,
        // then so is the rest. Of a swept tape, only the last entry is known.
        return Ok(len < last.end || holds(file, last).map_err(ShipError::Tape)?);
    }
    for entry in &chain.entries {
        let is_held = if len >= entry.end || entry.scrubbed.is_some() {
            holds(file, entry).map_err(ShipError::Tape)?
        } else {
            begins(context, file, len, entry).await?
        };
        if !is_held {
            return Ok(false);
        }
        if len < entry.end {
            break;
        }
    }
    Ok(true)
}

/// Whether a file has the range of an entry. Unknown after a scrub.
pub(super) fn holds(file: &File, entry: &Entry) -> io::Result<bool> {
    if entry.scrubbed.is_some() {
        return Ok(true);
    }
    let mut hasher = Hasher::default();
    let mut chunk = vec![0; 256 << 10];
    let mut at = entry.start;
    while at < entry.end {
        let most = usize::try_from(entry.end - at)
            .unwrap_or(usize::MAX)
            .min(chunk.len());
        let part = chunk.get_mut(..most).unwrap_or_default();
        file.read_exact_at(part, at)?;
        hasher.update(part);
        at += most as u64;
    }
    Ok(hasher.finish() == entry.sha256)
}

/// Whether a file that ends within the range of an entry has the beginning of what was shipped.
async fn begins(
    context: &Context<'_>,
    file: &File,
    len: u64,
    entry: &Entry,
) -> Result<bool, ShipError> {
    let mut at = entry.start;
    let mut is_held = true;
    let mut compare = |bytes: &[u8]| {
        let most = usize::try_from(len.saturating_sub(at))
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        let mut ours = vec![0; most];
        file.read_exact_at(&mut ours, at)?;
        is_held &= bytes.get(..most) == Some(&ours);
        at += most as u64;
        Ok(())
    };
    match segment::unpack(context.store, entry, &mut compare).await {
        Ok(()) => Ok(is_held),
        Err(segment::UnpackError::Store(error)) => Err(error.into()),
        Err(segment::UnpackError::Write(error)) => Err(ShipError::Tape(error)),
        Err(segment::UnpackError::Damaged(why)) => Err(ShipError::Damaged(why)),
    }
}
