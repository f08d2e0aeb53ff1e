//! The recorder: keeps what passes, beside the path of a byte or across it.
//!
//! Under `queue` events go through a bounded queue to a writer with a thread of its own;
//! under `written` and `synced` the thread that carries the bytes writes the event first.
//! Which of the two holds is the recorder's business alone: a pump calls
//! [`Recorder::record`] before it passes bytes on and [`Recorder::keep_pace`] after.
//!
//! A task of an asynchronous runtime calls [`Recorder::offer`] and awaits
//! [`Recorder::poll_pace`]: under `queue` neither blocks its thread.

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
pub(crate) use self::together::is_held;
pub use self::together::is_written;

/// What is promised about a tape when the recorder is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Bytes are passed on first; the writer follows at once.
    Queue,
    /// As `Written`, and on the disk.
    Synced,
    /// No message is passed on before it has been written to the tape.
    Written,
}

impl Durability {
    /// The word of the command line and the tape.
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
    /// Events are not kept, and the tape says how many.
    Gap,
    /// The next read waits: the tape is the product.
    Wait,
    /// The next read waits, unless the disk stands still: then events are not kept until it
    /// moves again, and the tape says how many.
    WaitBriefly,
}

impl WhenFull {
    /// The word of the command line and the tape.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::Wait => "wait",
            Self::WaitBriefly => "wait-briefly",
        }
    }
}

/// How long a single write may take before a gateway no longer waits for the disk. Disks that
/// share their power with others, or write back what they cached, are silent for a second or
/// two; clients give up a request after sixty.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often the time is told to who counts, so that what came last is counted though nothing follows.
const COUNTING_BEAT: Duration = Duration::from_secs(5);

/// How often somebody wants to know the time, if anybody does.
fn beat(settings: &Settings) -> Option<Duration> {
    let judging = settings.judging.as_ref().and_then(|judging| judging.beat);
    let counting = settings.operations.as_ref().map(|_| COUNTING_BEAT);
    judging.into_iter().chain(counting).min()
}

/// What and how to record.
pub struct Settings {
    /// Where the tape, the cassette and the capture go.
    pub target: Target,
    /// What is promised when the recorder is killed.
    pub durability: Durability,
    /// What happens when the queue is full.
    pub when_full: WhenFull,
    /// The longest message that is kept whole, in bytes.
    pub limit_bytes: usize,
    /// The first line of the tape; command and folder are redacted before they are
    /// written.
    pub header: Header,
    /// The command as raw bytes, for the header.
    pub command: Vec<Vec<u8>>,
    /// Makes the redaction rules; runs on the writer's thread, off the start-up path.
    pub rules: Box<dyn FnOnce() -> Arc<Rules> + Send>,
    /// Who judges the recording while it is written, if anybody does.
    pub judging: Option<Judging>,
    /// Where it is counted how long operations and sessions took, if it is.
    pub operations: Option<Arc<Operations>>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither the command nor the rules may be printed: both can hold secrets.
        out.debug_struct("Settings")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// Keeps events.
#[derive(Debug)]
pub struct Recorder {
    durability: Durability,
    limit_bytes: usize,
    keeper: Keeper,
    stats: Arc<Stats>,
    // There is a tape for each session.
    folder: bool,
    // How often a judge, or who counts, wants to know the time.
    beat: Option<Duration>,
    finished: AtomicBool,
    clock: Clock,
}

#[derive(Debug)]
enum Keeper {
    /// On the path: the thread that carries the bytes writes.
    Direct {
        tapes: Box<Mutex<Tapes>>,
        gate: Option<SyncGate>,
    },
    /// Nothing is kept.
    Off,
    /// Beside the path.
    Queued {
        queue: Arc<Queue>,
        writer: Mutex<Option<JoinHandle<Tapes>>>,
    },
}

impl Recorder {
    /// Begins a tape. That it cannot be created stops nothing: it is told at the end.
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
            let writer = writer::spawn(make, Arc::clone(&queue), Arc::clone(&stats))?;
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

    /// A recorder that keeps nothing, for an unrecorded replay.
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

    /// A recorder that keeps nothing and has a listener. It never delays the traffic:
    /// what is too much to be shown is a gap.
    pub fn preview(
        limit_bytes: usize,
        rules: Arc<Rules>,
        judging: Judging,
        clock: Clock,
    ) -> io::Result<Self> {
        let beat = judging.beat;
        let (queue, stats) = (Arc::new(Queue::new(WhenFull::Gap)), Arc::default());
        let make = || Tapes::Preview(Box::new(Preview::new(rules, judging)));
        let writer = writer::spawn(make, Arc::clone(&queue), Arc::clone(&stats))?;
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

    /// When a lane may pass bytes on.
    #[must_use]
    pub fn forward(&self) -> Forward {
        match self.durability {
            Durability::Queue => Forward::AtOnce,
            Durability::Written | Durability::Synced => Forward::Recorded,
        }
    }

    /// The longest message that is kept whole, in bytes.
    #[must_use]
    pub fn limit_bytes(&self) -> usize {
        self.limit_bytes
    }

    /// Keeps what `next` yields until it yields `None`. When it returns, the promise of
    /// the chosen durability holds for all of it. Never waits for a full queue: that is
    /// [`keep_pace`](Self::keep_pace). Does not return once the recording is over, unless
    /// the promise is `queue`'s.
    pub fn record(&self, next: impl FnMut() -> Option<Event>) {
        if self.offer(next).is_err() {
            // The process is about to end. What cannot be recorded any more must not be
            // passed on either: that is the promise.
            loop {
                thread::park();
            }
        }
    }

    /// As [`record`](Self::record), but says when the recording is over: what could not be
    /// recorded must not be passed on then.
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
                    // Never across the path.
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

    /// Waits while the queue is fuller than it may be. Called after bytes were passed on
    /// and before the next are read.
    pub fn keep_pace(&self) {
        if let Keeper::Queued { queue, .. } = &self.keeper {
            queue.keep_pace();
        }
    }

    /// What is promised when we are killed.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Whether [`keep_pace`](Self::keep_pace) would wait.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        matches!(&self.keeper, Keeper::Queued { queue, .. } if queue.is_overfull())
    }

    /// As [`keep_pace`](Self::keep_pace), for a task: pending while the queue is fuller
    /// than it may be; the task is woken when it is worth asking again.
    pub fn poll_pace(&self, context: &Context<'_>) -> Poll<()> {
        match &self.keeper {
            Keeper::Queued { queue, .. } => queue.poll_pace(context.waker()),
            Keeper::Direct { .. } | Keeper::Off => Poll::Ready(()),
        }
    }

    /// How often a judge is given the time.
    #[must_use]
    pub fn beat(&self) -> Option<Duration> {
        self.beat
    }

    /// Tells what time it is on the recording's clock, so that sessions that have been
    /// silent for long are finished, and hangs are noticed, also when nothing comes. Only
    /// recordings into a folder and those that are judged need it.
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

    /// How the recorder keeps up.
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

    /// How many requests of the client await their response, as far as written.
    #[must_use]
    pub fn owed(&self) -> usize {
        if let Keeper::Queued { queue, .. } = &self.keeper {
            queue.wait_until_drained();
        }
        self.stats.owed()
    }

    /// Ends the tape and writes its projections. Events that come later are not kept.
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
    /// Ends a recording that never began: its tape is removed.
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

/// The recording is over, and nothing more can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the recording is over")]
pub struct RecordingOver;

impl Target {
    /// Where the tape is wanted.
    #[must_use]
    pub fn tape(&self) -> &PathBuf {
        &self.tape
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A poisoned tape is still a tape: what it holds was written whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
