//! One tape: its identity and its progress in the store.

use std::fs::File;
use std::io;
use std::path::Path;

use super::event::ShipEvent;
use super::same::{holds, is_same};
use super::{Context, ShipError};
use crate::chain::Chain;
use crate::clock::{self, Stopwatch};
use crate::disk::{Cut, Found, Head, Kind, Writer, writer};
use crate::entry::{self, Ended, Entry, How, Total};
use crate::hash::Hasher;
use crate::names::{COPIES, EntryName, Gateway, ObjectName, TapeName};
use crate::rows::Deriver;
use crate::segment::{self, PackError};
use crate::store::Created;

/// A tape of the folder.
#[derive(Debug)]
pub(super) struct Tape {
    /// The file when it was last found.
    pub(super) found: Found,
    pub(super) state: State,
    /// The file's length when everything in it became due.
    goal: Option<u64>,
    /// Since when bytes wait to be shipped.
    waits: Option<Stopwatch>,
    /// Reads the tape for its rows, up to the shipped position.
    pub(super) deriver: Option<Deriver>,
    /// The file when there was nothing more to do.
    settled: Option<Found>,
}

/// The progress of a tape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing is known yet.
    New,
    /// It is shipped up to here.
    At {
        name: TapeName,
        head: Head,
        end: u64,
        /// The totals of its entries.
        total: Option<Box<Total>>,
    },
    /// It is completely shipped.
    Over { name: TapeName },
    /// It is not a tape.
    Other,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// There was progress, and there may be more to do.
    Again,
    /// Nothing to do until the file changes, or its writer is gone.
    Rest,
}

/// How long an upload may take until its entry is created, before it is started again: `sweep`
/// removes no segment that is younger than [`crate::sweep::YOUNGEST`].
const UPLOAD_LIMIT: std::time::Duration = std::time::Duration::from_secs(600);

impl Tape {
    pub(super) fn new(found: Found) -> Self {
        Self {
            found,
            state: State::New,
            goal: None,
            waits: None,
            deriver: None,
            settled: None,
        }
    }

    /// Updates the file.
    pub(super) fn seen(&mut self, found: Found) {
        // A file that was replaced after it had been read to its end is read from its beginning.
        if self
            .settled
            .as_ref()
            .is_some_and(|at| is_changed(at, &found))
        {
            self.settled = None;
            self.state = State::New;
        }
        self.found = found;
    }

    /// Whether there is nothing more to do with the file in its current state.
    pub(super) fn is_settled(&self) -> bool {
        self.settled.is_some()
    }

    /// When its file was last changed.
    pub(super) fn changed(&self) -> i128 {
        self.found.changed
    }

    /// Whether it is completely in the store.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, State::Over { .. })
    }

    /// How many bytes of it are in the store.
    pub(super) fn shipped(&self) -> u64 {
        match &self.state {
            State::At { end, .. } => *end,
            State::Over { .. } => self.found.len,
            State::New | State::Other => 0,
        }
    }

    fn settle(&mut self) -> Step {
        self.settled = Some(self.found.clone());
        self.deriver = None;
        self.waits = None;
        Step::Rest
    }

    /// Ships what is due, at most one segment.
    pub(super) async fn step(&mut self, context: &Context<'_>) -> Result<Step, ShipError> {
        let file = match File::open(&self.found.path) {
            Ok(file) => file,
            // It was renamed or deleted, which the next check of the folder finds.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Step::Rest),
            Err(error) => return Err(ShipError::Tape(error)),
        };
        let meta = file.metadata().map_err(ShipError::Tape)?;
        self.found = Found::of(self.found.path.clone(), &meta);
        match Head::read(&file).map_err(ShipError::Tape)? {
            Kind::Unfinished => Ok(Step::Rest),
            Kind::Other => {
                self.state = State::Other;
                context.tell(&ShipEvent::NotATape {
                    file: &self.found.path,
                });
                Ok(self.settle())
            }
            Kind::Tape(head) => self.ship(context, &file, *head).await,
        }
    }

    async fn ship(
        &mut self,
        context: &Context<'_>,
        file: &File,
        head: Head,
    ) -> Result<Step, ShipError> {
        let known = match &self.state {
            State::At {
                name,
                head: known,
                end,
                total,
            } if *known == head && *end <= self.found.len => Some(Progress {
                name: name.clone(),
                end: *end,
                total: total.as_deref().copied(),
            }),
            _ => None,
        };
        match known {
            Some(place) => self.go_on(context, file, &head, place).await,
            None => self.join(context, file, head).await,
        }
    }

    /// Finds the tape in the store, and its progress there.
    async fn join(
        &mut self,
        context: &Context<'_>,
        file: &File,
        head: Head,
    ) -> Result<Step, ShipError> {
        for copy in 1..=COPIES {
            let name = TapeName {
                gateway: context.gateway.clone(),
                id: head.id.copy(copy),
            };
            let Some(chain) = Chain::read(context.store, &name).await? else {
                self.state = State::At {
                    name,
                    head,
                    end: 0,
                    total: Some(Box::default()),
                };
                return Ok(Step::Again);
            };
            if let Some(missing) = &chain.missing {
                return Err(ShipError::Damaged(format!("{name}: {}", missing.text())));
            }
            let is_same = is_same(context, file, self.found.len, &chain).await?;
            let is_open = chain.ended().is_none();
            let is_whole = chain.ended().is_some_and(|ended| {
                ended.how == How::Footer || self.found.len <= chain.end() + ended.torn_bytes
            });
            if is_same && is_open {
                return Ok(self.joined(context, name, head, &chain));
            }
            if is_same && is_whole {
                self.state = State::Over { name };
                return Ok(self.settle());
            }
            // Another tape with the same first line, or one that continued after it was closed.
        }
        Err(ShipError::Damaged(format!(
            "{COPIES} tapes begin as this one does"
        )))
    }

    fn joined(&mut self, context: &Context<'_>, name: TapeName, head: Head, chain: &Chain) -> Step {
        let is_shorter = self.found.len < chain.end();
        if is_shorter {
            // The rest of the file is in the store.
            context.tell(&ShipEvent::Shorter {
                file: &self.found.path,
                tape: &name,
            });
        }
        self.state = State::At {
            name,
            head,
            end: chain.end(),
            total: chain.total().map(Box::new),
        };
        if is_shorter {
            return self.settle();
        }
        Step::Again
    }

    /// Ships the bytes after `end`, if they are due.
    async fn go_on(
        &mut self,
        context: &Context<'_>,
        file: &File,
        head: &Head,
        Progress { name, end, total }: Progress,
    ) -> Result<Step, ShipError> {
        // Checked before the length: once the writer is gone, the file does not grow.
        let writer = writer(file);
        let len = file.metadata().map_err(ShipError::Tape)?.len();
        if writer != Writer::Gone && !self.is_due(context, end, len) {
            return Ok(Step::Rest);
        }
        let cut =
            Cut::find(file, end, len, context.settings.segment_bytes).map_err(ShipError::Tape)?;
        let ended = ended(&cut, writer, len);
        if cut.end == end && ended.is_none() {
            return Ok(Step::Rest);
        }
        let next = Next {
            file,
            head,
            name,
            cut,
            ended,
            total,
        };
        self.put(context, next).await
    }

    /// Whether the bytes between these positions are due, for a tape that is still being written.
    fn is_due(&mut self, context: &Context<'_>, end: u64, len: u64) -> bool {
        // For a tape that is written all the time, everything means its length at the beginning.
        if context.is_flushing && end < *self.goal.get_or_insert(len) {
            return true;
        }
        let bytes = len.saturating_sub(end);
        if bytes == 0 {
            self.waits = None;
            return false;
        }
        let age = self.waits.get_or_insert_with(Stopwatch::start).elapsed();
        let settings = context.settings;
        bytes >= settings.segment_bytes || age >= settings.segment_age
    }

    /// Ships one range with its entry.
    async fn put(&mut self, context: &Context<'_>, next: Next<'_>) -> Result<Step, ShipError> {
        let Next {
            file,
            head,
            name,
            cut,
            ended,
            total,
        } = next;
        let entry_name = EntryName::first(&name, cut.start);
        let began = (Stopwatch::start(), clock::wall());
        let mut entry = self.entry(head, &cut, ended);
        if cut.end > cut.start {
            let segment = ObjectName::fresh(&entry_name);
            let packed = segment::pack(context.store, file, cut.start, cut.end, &segment).await?;
            entry.segment = Some(packed.segment);
            entry.sha256 = packed.sha256;
            entry.rows = self.rows(context, file, &segment, &entry).await?;
        } else if entry.ended.is_some() {
            let unused = ObjectName::fresh(&entry_name);
            entry.rows = self.rows(context, file, &unused, &entry).await?;
        }
        entry.total = total.map(|total| total.and(&entry));
        // The machine may have been suspended, which only wall time shows.
        let slept = clock::wall().duration_since(began.1).unwrap_or_default();
        if slept.max(began.0.elapsed()) > UPLOAD_LIMIT {
            return Ok(Step::Again);
        }
        match context.store.create(&entry_name, &entry).await? {
            Created::Ours => {
                context.tell(&ShipEvent::Shipped {
                    tape: &name,
                    entry: &entry,
                });
                Ok(self.advance(context, name, head.clone(), &entry))
            }
            Created::Theirs(theirs) => {
                context.tell(&ShipEvent::Theirs {
                    tape: &name,
                    start: cut.start,
                });
                self.follow(context, file, name, head.clone(), &theirs)
            }
        }
    }

    /// Continues after an entry of another shipper, if it is of the same tape.
    fn follow(
        &mut self,
        context: &Context<'_>,
        file: &File,
        name: TapeName,
        head: Head,
        theirs: &Entry,
    ) -> Result<Step, ShipError> {
        let len = file.metadata().map_err(ShipError::Tape)?.len();
        let is_same = len >= theirs.end && holds(file, theirs).map_err(ShipError::Tape)?;
        if is_same && theirs.ended.is_none() {
            return Ok(self.advance(context, name, head, theirs));
        }
        self.state = State::New;
        Ok(Step::Again)
    }

    /// Notes that everything up to the end of an entry is in the store.
    fn advance(
        &mut self,
        context: &Context<'_>,
        name: TapeName,
        head: Head,
        entry: &Entry,
    ) -> Step {
        self.waits = None;
        if let Some(ended) = entry.ended {
            context.tell(&ShipEvent::Ended { tape: &name, ended });
            self.state = State::Over { name };
            return self.settle();
        }
        self.state = State::At {
            name,
            head,
            end: entry.end,
            total: entry.total.map(Box::new),
        };
        Step::Again
    }

    fn entry(&self, head: &Head, cut: &Cut, ended: Option<Ended>) -> Entry {
        let file = self.found.path.file_name().unwrap_or_default();
        Entry {
            manifest: entry::VERSION.to_owned(),
            by: crate::BY.to_owned(),
            file: file.to_string_lossy().chars().take(255).collect(),
            about: head.about.clone(),
            start: cut.start,
            end: cut.end,
            content: cut.content,
            sha256: Hasher::default().finish(),
            scrubbed: None,
            segment: None,
            rows: entry::Rows::default(),
            total: None,
            shipped: clock::text(clock::wall()),
            ended,
            swept: None,
        }
    }
}

/// The next range to ship.
struct Next<'a> {
    file: &'a File,
    head: &'a Head,
    name: TapeName,
    cut: Cut,
    ended: Option<Ended>,
    total: Option<Total>,
}

/// The progress of a tape in the store.
struct Progress {
    name: TapeName,
    end: u64,
    total: Option<Total>,
}

fn is_changed(before: &Found, now: &Found) -> bool {
    (before.len, before.changed, before.id) != (now.len, now.changed, now.id)
}

/// How a tape ends with a range, if it does: with its footer, or because its recorder is gone.
fn ended(cut: &Cut, writer: Writer, len: u64) -> Option<Ended> {
    let plain = |how, torn_bytes| Ended {
        how,
        torn_bytes,
        lost_bytes: 0,
        lost_events: 0,
    };
    if cut.is_last {
        return Some(plain(How::Footer, 0));
    }
    let is_over = writer == Writer::Gone && !cut.is_full;
    is_over.then(|| plain(How::CutShort, len - cut.end.min(len)))
}

impl From<PackError> for ShipError {
    fn from(error: PackError) -> Self {
        match error {
            PackError::Tape(error) => Self::Tape(error),
            PackError::Store(error) => Self::Store(error),
        }
    }
}

/// The name of a tape, from its file alone.
pub(super) fn name_of(gateway: &Gateway, path: &Path) -> Option<(TapeName, Head)> {
    let file = File::open(path).ok()?;
    let Ok(Kind::Tape(head)) = Head::read(&file) else {
        return None;
    };
    let name = TapeName {
        gateway: gateway.clone(),
        id: head.id.clone(),
    };
    Some((name, *head))
}
