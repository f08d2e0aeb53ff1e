//! The recorder: records the traffic, next to the path of the bytes or on it.
//!
//! Under `queue`, events go through a bounded queue to a writer on a separate thread; under
//! `written` and `synced`, the forwarding thread writes the event first. This is internal to the
//! recorder: a pump calls [`Recorder::record`] before it forwards bytes and [`Recorder::keep_pace`]
//! after.
//!
//! An async task calls [`Recorder::offer`] and awaits [`Recorder::poll_pace`]: under `queue`
//! neither blocks its thread.

mod cassettes;
mod chain;
mod counted;
mod finish;
mod folder;
mod follow;
mod judge_thread;
mod judging;
mod listener;
mod names;
mod order;
mod preview;
mod probe;
mod projecting;
mod queue;
mod stats;
mod sync;
mod tape_file;
mod tapes;
mod tapped;
mod ticks;
mod together;
mod writer;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tapewright_engine::Forward;
use tapewright_schemas::event::{Event, Offset};
use tapewright_schemas::redact::Rules;
use tapewright_schemas::tape::Header;

use self::preview::Preview;
use self::queue::{Disk, Queue};
use self::stats::Stats;
use self::sync::SyncGate;
use self::tapes::{Tapes, Unsynced};
use crate::clock::Clock;
use crate::operations::Operations;

pub use self::finish::{Failure, Finished, Problem, SessionFiles};
pub use self::judging::{Findings, Judging, MakeJudge, Tell};
pub use self::listener::{Feed, Listener};
pub use self::names::Target;
pub use self::projecting::{ToCapture, ToCassette};
pub use self::stats::{Amount, Figures};
pub use self::tapped::Tapped;
pub(crate) use self::ticks::Ticks;
pub use self::together::is_written;

/// What is guaranteed about a tape when the recorder is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Bytes are forwarded first; the writer follows immediately.
    Queue,
    /// Like `Written`, and synced to the disk.
    Synced,
    /// No message is forwarded before it was written to the tape.
    Written,
}

impl Durability {
    /// The name on the command line and on the tape.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Synced => "synced",
            Self::Written => "written",
        }
    }
}

/// What happens when the queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Events are dropped, and the tape has their number.
    Gap,
    /// The next read waits, since the tape is more important.
    Wait,
    /// The next read waits, unless the disk stalls: then events are dropped until it responds, and
    /// the tape has their number.
    WaitBriefly,
}

impl WhenFull {
    /// The name on the command line and on the tape.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::Wait => "wait",
            Self::WaitBriefly => "wait-briefly",
        }
    }
}

/// How long a single write may take before a gateway stops waiting for the disk. Shared disks, and
/// disks that flush their cache, may stall for a second or two; clients give up a request after
/// sixty.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long the start waits for the header of the tape.
const BEGINNING: Duration = Duration::from_secs(1);

/// How often counting code gets the time, so that the last events are counted even if no more
/// follow.
const COUNTING_BEAT: Duration = Duration::from_secs(5);

/// How often the time is needed, if at all.
fn beat(settings: &Settings) -> Option<Duration> {
    let judging = settings.judging.as_ref().and_then(|judging| judging.beat);
    let counting = settings.operations.as_ref().map(|_| COUNTING_BEAT);
    judging.into_iter().chain(counting).min()
}

/// The settings of a recorder.
pub struct Settings {
    /// The paths of the tape, the cassette and the capture.
    pub target: Target,
    /// The guarantee when the recorder is killed.
    pub durability: Durability,
    /// What happens when the queue is full.
    pub when_full: WhenFull,
    /// The maximum length of a message that is recorded whole, in bytes.
    pub limit_bytes: usize,
    /// The first line of the tape; command and folder are redacted before they are
    /// written.
    pub header: Header,
    /// The command as raw bytes, for the header.
    pub command: Vec<Vec<u8>>,
    /// Makes the redaction rules; runs on the writer's thread under `queue`.
    pub rules: Box<dyn FnOnce() -> Arc<Rules> + Send>,
    /// How the recording is judged while it is written, if it is.
    pub judging: Option<Judging>,
    /// Counts the durations of operations and sessions, if requested.
    pub operations: Option<Arc<Operations>>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither the command nor the rules may be printed: both may contain secrets.
        out.debug_struct("Settings")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// Records events.
#[derive(Debug)]
pub struct Recorder {
    durability: Durability,
    limit_bytes: usize,
    keeper: Keeper,
    stats: Arc<Stats>,
    // Whether there is a tape for each session.
    folder: bool,
    // How often a judge or a counter needs the time.
    beat: Option<Duration>,
    finished: AtomicBool,
    clock: Clock,
}

#[derive(Debug)]
enum Keeper {
    /// On the path: the forwarding thread writes.
    Direct {
        tapes: Box<Mutex<Tapes>>,
        gate: Option<SyncGate>,
    },
    /// Records nothing.
    Off,
    /// Next to the path.
    Queued {
        queue: Arc<Queue>,
        writer: Mutex<Option<JoinHandle<Tapes>>>,
    },
}

impl Recorder {
    /// Starts a tape, and waits until its header is written, so that a tape always says what it is.
    /// A failure to create it does not stop the session, and is reported at the end; neither does a
    /// disk that takes longer than a second.
    pub fn start(settings: Settings, clock: Clock) -> io::Result<Self> {
        let Settings {
            durability,
            limit_bytes,
            when_full,
            ..
        } = settings;
        let stats = Arc::new(Stats::default());
        let folder = settings.target.folder.is_some();
        let beat = beat(&settings);
        let keeper = if durability == Durability::Queue {
            let (queue, disk) = (Arc::new(Queue::new(when_full)), Arc::<Disk>::default());
            if when_full == WhenFull::WaitBriefly {
                queue::watch(Arc::clone(&queue), Arc::clone(&disk), PATIENCE)?;
            }
            let make = || Tapes::create(settings, disk);
            let (began, header) = sync_channel(1);
            let writer = writer::spawn(make, Arc::clone(&queue), Arc::clone(&stats), began)?;
            // If it does not come, the writer goes on, and the traffic does not wait for it.
            header.recv_timeout(BEGINNING).ok();
            Keeper::Queued {
                queue,
                writer: Mutex::new(Some(writer)),
            }
        } else {
            let tapes = Tapes::create(settings, Arc::default());
            let gate = (durability == Durability::Synced).then(SyncGate::default);
            Keeper::Direct {
                tapes: Box::new(Mutex::new(tapes)),
                gate,
            }
        };
        Ok(Self {
            durability,
            limit_bytes,
            keeper,
            stats,
            folder,
            beat,
            finished: AtomicBool::new(false),
            clock,
        })
    }

    /// A recorder that records nothing, for an unrecorded replay.
    #[must_use]
    pub fn off(limit_bytes: usize, clock: Clock) -> Self {
        Self {
            durability: Durability::Queue,
            limit_bytes,
            keeper: Keeper::Off,
            stats: Arc::default(),
            folder: false,
            beat: None,
            finished: AtomicBool::new(false),
            clock,
        }
    }

    /// A recorder that writes nothing but has a judge or listener. It never delays the traffic:
    /// events beyond the limit become a gap.
    pub fn preview(
        limit_bytes: usize,
        rules: Arc<Rules>,
        judging: Judging,
        clock: Clock,
    ) -> io::Result<Self> {
        let beat = judging.beat;
        let (queue, stats) = (Arc::new(Queue::new(WhenFull::Gap)), Arc::default());
        let make = || Tapes::Preview(Box::new(Preview::new(rules, judging)));
        let (began, _) = sync_channel(1);
        let writer = writer::spawn(make, Arc::clone(&queue), Arc::clone(&stats), began)?;
        Ok(Self {
            durability: Durability::Queue,
            limit_bytes,
            keeper: Keeper::Queued {
                queue,
                writer: Mutex::new(Some(writer)),
            },
            stats,
            folder: false,
            beat,
            finished: AtomicBool::new(false),
            clock,
        })
    }

    /// When a lane may forward bytes.
    #[must_use]
    pub fn forward(&self) -> Forward {
        match self.durability {
            Durability::Queue => Forward::AtOnce,
            Durability::Written | Durability::Synced => Forward::Recorded,
        }
    }

    /// The maximum length of a message that is recorded whole, in bytes.
    #[must_use]
    pub fn limit_bytes(&self) -> usize {
        self.limit_bytes
    }

    /// Records the events that `next` yields until it yields `None`. When it returns, the guarantee
    /// of the configured durability holds for all of them. Never waits for a full queue: that is
    /// [`keep_pace`](Self::keep_pace). Does not return after the recording has ended, except with
    /// the durability `queue`.
    pub fn record(&self, next: impl FnMut() -> Option<Event>) {
        if self.offer(next).is_err() {
            // The process is about to end. What can no longer be recorded must not be forwarded
            // either: that is the guarantee.
            loop {
                thread::park();
            }
        }
    }

    /// Like [`record`](Self::record), but returns an error if the recording has ended: what could
    /// not be recorded must not be forwarded then.
    pub fn offer(&self, mut next: impl FnMut() -> Option<Event>) -> Result<(), RecordingOver> {
        match &self.keeper {
            Keeper::Off => while next().is_some() {},
            Keeper::Queued { queue, .. } => queue.push(next),
            Keeper::Direct { tapes, gate } => {
                let Some(mut first) = next() else {
                    return Ok(());
                };
                let mut tapes = lock(tapes);
                if tapes.is_finished() {
                    return Err(RecordingOver);
                }
                tapes.encode(&mut first);
                while let Some(mut event) = next() {
                    tapes.encode(&mut event);
                }
                let tape = match &mut *tapes {
                    Tapes::One(tape) => tape,
                    // A preview is never on the path.
                    Tapes::Preview(_) => return Ok(()),
                    Tapes::Folder(folder) => {
                        folder.flush();
                        let unsynced = folder.unsynced();
                        self.stats.update(0, folder.lost());
                        drop(tapes);
                        unsynced.iter().for_each(Unsynced::wait);
                        return Ok(());
                    }
                };
                let written = tape.flush();
                self.stats.update(tape.owed(), tape.lost());
                let file = tape.file();
                drop(tapes);
                if let (Some(gate), Some(file)) = (gate, file) {
                    gate.wait(&file, written);
                }
            }
        }
        Ok(())
    }

    /// Waits while the queue is above its limit. Called after bytes were forwarded and before the
    /// next read.
    pub fn keep_pace(&self) {
        if let Keeper::Queued { queue, .. } = &self.keeper {
            queue.keep_pace();
        }
    }

    /// The guarantee when the recorder is killed.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Whether [`keep_pace`](Self::keep_pace) would wait.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        matches!(&self.keeper, Keeper::Queued { queue, .. } if queue.is_overfull())
    }

    /// Like [`keep_pace`](Self::keep_pace), for a task: pending while the queue is above its limit;
    /// the task is woken when it should poll again.
    pub fn poll_pace(&self, context: &Context<'_>) -> Poll<()> {
        match &self.keeper {
            Keeper::Queued { queue, .. } => queue.poll_pace(context.waker()),
            Keeper::Direct { .. } | Keeper::Off => Poll::Ready(()),
        }
    }

    /// How often a judge needs the time.
    #[must_use]
    pub fn beat(&self) -> Option<Duration> {
        self.beat
    }

    /// Updates the recording's time, so that the files of silent sessions are finished, and hangs
    /// are detected, even without events. Only necessary for recordings into a folder and those
    /// that are judged.
    pub fn tick(&self, now: Offset) {
        if !self.folder && self.beat.is_none() {
            return;
        }
        match &self.keeper {
            Keeper::Queued { queue, .. } => queue.tick(now),
            Keeper::Direct { tapes, .. } => lock(tapes).tick(now),
            Keeper::Off => {}
        }
    }

    /// The state of the queue and of the losses.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let [waiting, most, lost_to_queue] = match &self.keeper {
            Keeper::Queued { queue, .. } => queue.figures(),
            Keeper::Direct { .. } | Keeper::Off => Default::default(),
        };
        Figures {
            waiting,
            most,
            lost_to_queue,
            lost_to_disk: self.stats.lost(),
        }
    }

    /// The number of the client's pending requests, as far as written.
    #[must_use]
    pub fn owed(&self) -> usize {
        if let Keeper::Queued { queue, .. } = &self.keeper {
            queue.wait_until_drained();
        }
        self.stats.owed()
    }

    /// Ends the tape and writes its projections. Later events are dropped.
    pub fn finish(&self) -> Finished {
        if self.finished.swap(true, Ordering::SeqCst) {
            return Finished::default();
        }
        let now = self.clock.now();
        match &self.keeper {
            Keeper::Off => Finished::default(),
            Keeper::Direct { tapes, .. } => lock(tapes).finish(now),
            Keeper::Queued { queue, writer } => {
                queue.close();
                match lock(writer).take().map(JoinHandle::join) {
                    Some(Ok(mut tapes)) => tapes.finish(now),
                    Some(Err(_)) | None => Finished::writer_failed(),
                }
            }
        }
    }
}

impl Recorder {
    /// Discards a recording that never started: its tape is removed.
    pub fn abandon(&self) {
        if self.finished.swap(true, Ordering::SeqCst) {
            return;
        }
        match &self.keeper {
            Keeper::Off => {}
            Keeper::Direct { tapes, .. } => lock(tapes).remove(),
            Keeper::Queued { queue, writer } => {
                queue.close();
                if let Some(Ok(mut tapes)) = lock(writer).take().map(JoinHandle::join) {
                    tapes.remove();
                }
            }
        }
    }
}

/// The recording has ended, and accepts no more events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the recording is over")]
pub struct RecordingOver;

impl Target {
    /// The requested path of the tape.
    #[must_use]
    pub fn tape(&self) -> &PathBuf {
        &self.tape
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A tape after a panic is still valid, since each write was complete.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
