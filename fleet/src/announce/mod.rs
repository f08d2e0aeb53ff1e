//! Announces each entry with one small message, so that listeners learn of it at once.
//!
//! The manifest is authoritative, and the stream follows it as a store follows a tape: the subject
//! of a tape has the announcements of its entries, in order, and a new one is only accepted after
//! the one that was read last. So if two shippers announce the same entry, one of them is refused.
//! Entries that were not announced, because the server was unavailable or a shipper was killed, are
//! found by comparing the two.

mod address;
mod link;
mod message;
mod waiting;

use std::collections::HashMap;
use std::time::{Duration, UNIX_EPOCH};

pub use self::address::{Access, Address, AddressError};
pub use self::link::{From as Start, Link, LinkError, Problem, Published};
pub use self::message::{Announcement, LIMIT, VERSION};
pub use self::waiting::Waiting;
use crate::clock;
use crate::entry::Entry;
use crate::names::{EntryName, Gateway, TapeName};
use crate::ship::{Backoff, ShipEvent};
use crate::store::{self, Store, StoreError};

/// For how many tapes the progress is kept.
const TAPES: usize = 4_096;

/// Announces the entries of a shipper.
pub struct Announcer<'a> {
    store: &'a Store,
    gateway: &'a Gateway,
    waiting: &'a Waiting,
    on_event: &'a dyn Fn(&ShipEvent<'_>),
    address: Address,
    access: Access,
    link: Option<Link>,
    backoff: Backoff,
    /// The progress of each tape.
    tapes: HashMap<TapeName, Progress>,
    made: u64,
}

/// The progress of a tape's announcements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    /// The end of the last announced range, in bytes.
    end: u64,
    /// The number of its last announcement in the stream; 0 if there is no announcement.
    seq: u64,
}

/// Why announcing stopped.
#[derive(Debug, thiserror::Error)]
enum AnnounceError {
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl<'a> Announcer<'a> {
    /// Starts without any request to a server.
    #[must_use]
    pub fn new(
        store: &'a Store,
        gateway: &'a Gateway,
        waiting: &'a Waiting,
        on_event: &'a dyn Fn(&ShipEvent<'_>),
        address: Address,
        access: Access,
    ) -> Self {
        Self {
            store,
            gateway,
            waiting,
            on_event,
            address,
            access,
            link: None,
            backoff: Backoff::default(),
            tapes: HashMap::new(),
            made: 0,
        }
    }

    /// How many announcements were made.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.made
    }

    /// Announces entries as they come, forever. Can be cancelled at any moment.
    pub async fn run(&mut self) {
        loop {
            if self.try_all().await {
                self.waiting.rings().await;
            } else {
                let wait = self.backoff.left();
                tokio::time::sleep(wait).await;
            }
        }
    }

    /// Announces the waiting entries, then ends.
    pub async fn finish(&mut self) {
        while !self.try_all().await {
            let wait = self.backoff.left();
            tokio::time::sleep(wait).await;
        }
    }

    /// Announces the waiting entries; `false` if the server is unavailable.
    pub async fn try_all(&mut self) -> bool {
        match self.announce().await {
            Ok(()) => {
                if let Some(after) = self.backoff.went_well() {
                    (self.on_event)(&ShipEvent::AnnouncesAgain { after });
                }
                true
            }
            Err(error) => {
                self.link = None;
                // The stream may be another one afterwards.
                self.tapes.clear();
                let again = self.backoff.failed();
                (self.on_event)(&ShipEvent::NotAnnounced {
                    why: &error.to_string(),
                    again,
                    waiting: self.waiting.count(),
                });
                false
            }
        }
    }

    async fn announce(&mut self) -> Result<(), AnnounceError> {
        if self.link.is_none() {
            self.link = Some(Link::open(&self.address, &self.access, true).await?);
        }
        loop {
            if self.waiting.is_all() {
                self.look_at_all().await?;
            }
            while let Some((tape, entry)) = self.waiting.next() {
                let is_behind = !self.go_on(&tape, &entry).await?;
                self.waiting.done(is_behind);
            }
            let Some(tape) = self.waiting.behind() else {
                return Ok(());
            };
            self.catch_up(&tape).await?;
            self.waiting.caught_up(&tape);
        }
    }

    /// Finds the tapes of the gateway with entries that are recent enough for the stream.
    async fn look_at_all(&mut self) -> Result<(), AnnounceError> {
        let mut recent = Vec::new();
        let age = self.link.as_ref().map(Link::age).unwrap_or_default();
        let each = |one: store::Listed| {
            if let Ok(name) = EntryName::read(&one.path)
                && is_within(one.modified_ms, age)
            {
                recent.push(name.tape);
            }
        };
        let gateway = Some(self.gateway.as_str());
        self.store.manifests(gateway, each).await?;
        self.waiting.all(recent.into_iter());
        Ok(())
    }

    /// Announces an entry that was just created, if all earlier ones are announced.
    async fn go_on(&mut self, tape: &TapeName, entry: &Entry) -> Result<bool, AnnounceError> {
        let place = match self.tapes.get(tape) {
            Some(place) if place.end == entry.start => *place,
            None if entry.start == 0 => Progress::default(),
            _ => return Ok(false),
        };
        Ok(self.put(tape, entry, place).await?.is_some())
    }

    /// Publishes the announcement of an entry after the last one of its tape; `None` if the last
    /// one is another.
    async fn put(
        &mut self,
        tape: &TapeName,
        entry: &Entry,
        place: Progress,
    ) -> Result<Option<Progress>, AnnounceError> {
        let Some(link) = &self.link else {
            return Ok(None);
        };
        let subject = message::subject(&self.address.name, tape);
        let id = message::id(tape, entry.start);
        let payload = Announcement::of(tape, entry).write();
        let done = link.publish(subject, &id, place.seq, payload).await?;
        let Published::At { seq, is_repeat } = done else {
            self.tapes.remove(tape);
            return Ok(None);
        };
        self.made += u64::from(!is_repeat);
        (self.on_event)(&ShipEvent::Announced {
            tape,
            start: entry.start,
        });
        let place = Progress {
            end: entry.end,
            seq,
        };
        if entry.ended.is_some() || self.tapes.len() >= TAPES {
            self.tapes.remove(tape);
        } else {
            self.tapes.insert(tape.clone(), place);
        }
        Ok(Some(place))
    }

    /// Announces every entry of a tape that is not announced yet.
    async fn catch_up(&mut self, tape: &TapeName) -> Result<(), AnnounceError> {
        let Some(link) = &self.link else {
            return Ok(());
        };
        let age = link.age();
        let subject = message::subject(&self.address.name, tape);
        let (mut place, mut is_known) = (Progress::default(), false);
        if let Some((seq, payload)) = link.last(&subject).await? {
            place.seq = seq;
            // Messages that are not ours are left alone.
            if let Some(last) = Announcement::read(&payload) {
                if last.ended.is_some() {
                    return Ok(());
                }
                (place.end, is_known) = (last.end, true);
            }
        }
        for name in self.store.entries(tape).await? {
            if name.start < place.end {
                continue;
            }
            let entry = match self.store.entry(&name).await {
                Ok(entry) => entry,
                Err(error) if error.problem == store::Problem::Bad => return Ok(()),
                // It was swept.
                Err(error) if error.problem == store::Problem::Missing => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            if entry.swept.is_some() {
                return Ok(());
            }
            // An entry older than the stream's limit was announced, or is no longer of interest.
            if !is_known && !is_recent(&entry, age) {
                place.end = entry.end;
                continue;
            }
            match self.put(tape, &entry, place).await? {
                Some(at) => place = at,
                // Another shipper has announced it.
                None => return Ok(()),
            }
        }
        Ok(())
    }
}

fn is_recent(entry: &Entry, age: Duration) -> bool {
    let shipped = clock::parse(&entry.shipped).and_then(|time| {
        let since = time.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(since.as_millis()).ok()
    });
    shipped.is_none_or(|shipped| is_within(shipped, age))
}

/// Whether a time is at most `age` ago.
fn is_within(at_ms: i64, age: Duration) -> bool {
    let now = clock::wall().duration_since(UNIX_EPOCH).unwrap_or_default();
    let at = Duration::from_millis(u64::try_from(at_ms).unwrap_or_default());
    now.saturating_sub(at) < age
}
