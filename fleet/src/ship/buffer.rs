//! Keeps the folder within its size limit, if there is one.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use super::note::Note;
use super::tape::{State, Tape, name_of};
use super::{ShipEvent, Shipper, WhenFull};
use crate::chain::Chain;
use crate::clock::Stopwatch;
use crate::disk::{Cut, FileId, Writer, writer};
use crate::store::{Problem, StoreError};

/// How often a full folder is reported.
const REMINDER: Duration = Duration::from_secs(60);

impl Shipper<'_> {
    /// Deletes tapes until the folder is within its limit: first those that are completely in the
    /// store.
    pub(super) async fn keep_within_buffer(&mut self) {
        let Some(limit) = self.settings.buffer else {
            return;
        };
        let mut total: u64 = self.tapes.values().map(|tape| tape.found.len).sum();
        if total > limit {
            total = self.delete_shipped(total, limit).await;
        }
        if total > limit && self.settings.when_full == WhenFull::DropOldest {
            total = self.drop_oldest(total, limit);
        }
        if total <= limit {
            self.told_full = None;
        } else if self.told_full.is_none_or(|told| told.elapsed() >= REMINDER) {
            self.told_full = Some(Stopwatch::start());
            (self.on_event)(&ShipEvent::Full {
                bytes: total,
                limit,
            });
        }
    }

    async fn delete_shipped(&mut self, mut total: u64, limit: u64) -> u64 {
        let ids: Vec<FileId> = self.by_age().into_keys().map(|(_, id)| id).collect();
        for id in ids {
            let Some(tape) = self.tapes.get(&id).filter(|_| total > limit) else {
                continue;
            };
            let State::Over { name } = &tape.state else {
                continue;
            };
            let is_there = match is_in_store(self.store, name).await {
                Ok(is_there) => is_there,
                // It existed when its last entry was made; that must suffice when something must be
                // deleted.
                Err(error) if error.problem == Problem::Away => {
                    self.settings.when_full == WhenFull::DropOldest
                }
                Err(_) => false,
            };
            if is_there && tape.is_settled() && delete(tape).is_ok() {
                (self.on_event)(&ShipEvent::Deleted {
                    file: &tape.found.path,
                    bytes: tape.found.len,
                });
                total = total.saturating_sub(tape.found.len);
                self.tapes.remove(&id);
            }
        }
        total
    }

    fn drop_oldest(&mut self, mut total: u64, limit: u64) -> u64 {
        let ids: Vec<FileId> = self.by_age().into_keys().map(|(_, id)| id).collect();
        for id in ids {
            let Some(tape) = self.tapes.get(&id).filter(|_| total > limit) else {
                continue;
            };
            if tape.is_over() {
                continue;
            }
            if let Ok(Some(events)) = self.drop_one(tape) {
                (self.on_event)(&ShipEvent::Dropped {
                    file: &tape.found.path,
                    bytes: tape.found.len - tape.shipped().min(tape.found.len),
                    events,
                });
                total = total.saturating_sub(tape.found.len);
                self.tapes.remove(&id);
            }
        }
        total
    }

    /// Deletes a tape that is no longer written, and notes what is lost with it. Returns the number
    /// of lost events; `None` if it is kept.
    fn drop_one(&self, tape: &Tape) -> io::Result<Option<u64>> {
        let file = File::open(&tape.found.path)?;
        let known = match &tape.state {
            State::At {
                name, head, end, ..
            } => Some((name.clone(), head.clone(), *end)),
            _ => None,
        };
        let known = known.or_else(|| {
            let (name, head) = name_of(&self.settings.gateway, &tape.found.path)?;
            Some((name, head, 0))
        });
        let Some((name, head, end)) = known else {
            return Ok(None);
        };
        if writer(&file) != Writer::Gone {
            return Ok(None);
        }
        let len = file.metadata()?.len();
        let events = |from| Cut::find(&file, from, len, u64::MAX).map(|cut| cut.content.events);
        let note = Note {
            tape: name.id,
            file: tape
                .found
                .path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            about: head.about,
            bytes: len,
            events: events(0)?,
        };
        note.write(&tape.found.path)?;
        delete(tape)?;
        events(end).map(Some)
    }
}

/// Deletes the file of a tape, if it is still the same one.
fn delete(tape: &Tape) -> io::Result<()> {
    let meta = fs::symlink_metadata(&tape.found.path)?;
    let now = crate::disk::Found::of(tape.found.path.clone(), &meta);
    if now.id != tape.found.id || meta.size() != tape.found.len {
        return Err(io::ErrorKind::NotFound.into());
    }
    fs::remove_file(&tape.found.path)
}

/// Whether all objects of a tape's entries are in the store.
async fn is_in_store(
    store: &crate::store::Store,
    name: &crate::names::TapeName,
) -> Result<bool, StoreError> {
    let Some(chain) = Chain::read(store, name).await? else {
        return Ok(false);
    };
    if chain.missing.is_some() || chain.ended().is_none() {
        return Ok(false);
    }
    for entry in &chain.entries {
        if let Some(segment) = &entry.segment
            && chain.swept().is_none()
            && !store.holds(&segment.name, segment.bytes).await?
        {
            return Ok(false);
        }
    }
    Ok(true)
}
