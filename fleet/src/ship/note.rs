//! Notes about deleted tapes, until the store knows of them.
//!
//! Losses must not be forgotten with the process. Before a tape is deleted that is not completely
//! shipped, a small file next to it says how much is lost; once the store is available, it becomes
//! the last entry of the tape.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Context, ShipError, ShipEvent};
use crate::chain::Chain;
use crate::clock;
use crate::disk;
use crate::entry::{self, About, Ended, Entry, How};
use crate::hash::Hasher;
use crate::names::{TapeId, TapeName};
use crate::store::Created;

/// The ending of notes, after the name of the tape.
pub(super) const ENDING: &str = ".dropped";
/// The longest note to read, in bytes.
const LIMIT: u64 = 64 << 10;

/// A note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note {
    /// The tape.
    pub(super) tape: TapeId,
    /// Its file name.
    pub(super) file: String,
    /// The facts in its header.
    pub(super) about: About,
    /// Its length in bytes.
    pub(super) bytes: u64,
    /// The number of its events.
    pub(super) events: u64,
}

impl Note {
    /// Writes the note next to the tape, and flushes it to disk.
    pub(super) fn write(&self, tape: &Path) -> io::Result<PathBuf> {
        let mut name = tape.as_os_str().to_owned();
        name.push(ENDING);
        let path = PathBuf::from(name);
        let part = path.with_extension("part");
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&part)?;
        file.write_all(&serde_json::to_vec(self).map_err(io::Error::other)?)?;
        file.sync_all()?;
        fs::rename(&part, &path)?;
        if let Some(folder) = path.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(path)
    }

    fn read(path: &Path) -> Option<Self> {
        let meta = fs::metadata(path).ok()?;
        let bytes = (meta.len() <= LIMIT).then(|| fs::read(path).ok())??;
        serde_json::from_slice(&bytes).ok()
    }
}

/// Turns the notes in the folder into entries.
pub(super) async fn ship(context: &Context<'_>) -> Result<(), ShipError> {
    let notes = disk::find_notes(&context.settings.folder, ENDING);
    for path in notes.map_err(ShipError::Folder)? {
        let Some(note) = Note::read(&path) else {
            // An unreadable note is kept for inspection.
            continue;
        };
        ship_one(context, &note).await?;
        fs::remove_file(&path).map_err(ShipError::Tape)?;
    }
    Ok(())
}

async fn ship_one(context: &Context<'_>, note: &Note) -> Result<(), ShipError> {
    let tape = TapeName {
        gateway: context.gateway.clone(),
        id: note.tape.clone(),
    };
    loop {
        let chain = Chain::read(context.store, &tape).await?.unwrap_or_default();
        if let Some(missing) = &chain.missing {
            return Err(ShipError::Damaged(format!("{tape}: {}", missing.text())));
        }
        if chain.ended().is_some() {
            return Ok(());
        }
        let entry = note.entry(&chain);
        match context.store.create(&entry.name(&tape), &entry).await? {
            Created::Ours => {
                context.tell(&ShipEvent::Shipped {
                    tape: &tape,
                    entry: &entry,
                });
                return Ok(());
            }
            // Another shipper shipped a part of it.
            Created::Theirs(_) => {}
        }
    }
}

impl Note {
    /// The last entry of the tape, after those in the store.
    fn entry(&self, chain: &Chain) -> Entry {
        let end = chain.end();
        let total = chain.total();
        let shipped: u64 = chain.entries.iter().map(|one| one.content.events).sum();
        let mut entry = Entry {
            manifest: entry::VERSION.to_owned(),
            by: crate::BY.to_owned(),
            file: self.file.clone(),
            about: self.about.clone(),
            start: end,
            end,
            sha256: Hasher::default().finish(),
            shipped: clock::text(clock::wall()),
            ended: Some(Ended {
                how: How::Dropped,
                torn_bytes: 0,
                lost_bytes: self.bytes.saturating_sub(end),
                lost_events: self.events.saturating_sub(shipped),
            }),
            ..Entry::default()
        };
        entry.total = total.map(|total| total.and(&entry));
        entry
    }
}
