//! The recorder: keeps what passes, beside the path of a byte or across it.
//!
//! Under `queue` events go through a bounded queue to a writer with a thread of its own;
//! under `written` and `synced` the thread that carries the bytes writes the event first.
//! Which of the two holds is the recorder's business alone: a pump calls
//! [`Recorder::record`] before it passes bytes on and [`Recorder::keep_pace`] after.

mod finish;
mod names;
mod queue;
mod sync;
mod tape_file;
mod writer;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use tapewright_engine::Forward;
use tapewright_schemas::event::Event;
use tapewright_schemas::redact::Rules;
use tapewright_schemas::tape::Header;

use self::queue::Queue;
use self::sync::SyncGate;
use self::tape_file::TapeWriter;
use crate::clock::Clock;

pub use self::finish::{Finished, Problem};
pub use self::names::Target;

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
}

impl WhenFull {
    /// The word of the command line and the tape.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::Wait => "wait",
        }
    }
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
    // How many requests of the client await their response, as far as written.
    owed: Arc<AtomicUsize>,
    finished: AtomicBool,
    clock: Clock,
}

#[derive(Debug)]
enum Keeper {
    /// Across the path: whoever carries the bytes writes.
    Direct {
        tape: Box<Mutex<TapeWriter>>,
        gate: Option<SyncGate>,
    },
    /// Nothing is kept.
    Off,
    /// Beside the path.
    Queued {
        queue: Arc<Queue>,
        writer: Mutex<Option<JoinHandle<TapeWriter>>>,
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
        let owed = Arc::new(AtomicUsize::new(0));
        let keeper = if durability == Durability::Queue {
            let queue = Arc::new(Queue::new(when_full));
            let writer = writer::spawn(settings, Arc::clone(&queue), Arc::clone(&owed))?;
            Keeper::Queued {
                queue,
                writer: Mutex::new(Some(writer)),
            }
        } else {
            let tape = TapeWriter::create(settings);
            let gate = (durability == Durability::Synced).then(SyncGate::default);
            Keeper::Direct {
                tape: Box::new(Mutex::new(tape)),
                gate,
            }
        };
        Ok(Self {
            durability,
            limit_bytes,
            keeper,
            owed,
            finished: AtomicBool::new(false),
            clock,
        })
    }

    /// A recorder that keeps nothing: for a replay that nobody wants to have recorded.
    #[must_use]
    pub fn off(limit_bytes: usize, clock: Clock) -> Self {
        Self {
            durability: Durability::Queue,
            limit_bytes,
            keeper: Keeper::Off,
            owed: Arc::default(),
            finished: AtomicBool::new(false),
            clock,
        }
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
    /// [`keep_pace`](Self::keep_pace).
    pub fn record(&self, mut next: impl FnMut() -> Option<Event>) {
        match &self.keeper {
            Keeper::Off => while next().is_some() {},
            Keeper::Queued { queue, .. } => queue.push(next),
            Keeper::Direct { tape, gate } => {
                let Some(first) = next() else { return };
                let mut tape = lock(tape);
                if tape.is_finished() {
                    // The process is about to end. What cannot be recorded any more must
                    // not be passed on either: that is the promise.
                    drop(tape);
                    loop {
                        thread::park();
                    }
                }
                tape.encode(&first);
                while let Some(event) = next() {
                    tape.encode(&event);
                }
                let written = tape.flush();
                self.owed.store(tape.owed(), Ordering::Relaxed);
                let file = tape.file();
                drop(tape);
                if let (Some(gate), Some(file)) = (gate, file) {
                    gate.wait(&file, written);
                }
            }
        }
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

    /// How many bytes wait for the writer.
    #[must_use]
    pub fn depth_bytes(&self) -> usize {
        match &self.keeper {
            Keeper::Queued { queue, .. } => queue.depth_bytes(),
            Keeper::Direct { .. } | Keeper::Off => 0,
        }
    }

    /// How many events could not be queued.
    #[must_use]
    pub fn gap_events(&self) -> u64 {
        match &self.keeper {
            Keeper::Queued { queue, .. } => queue.gap_events(),
            Keeper::Direct { .. } | Keeper::Off => 0,
        }
    }

    /// How many requests of the client await their response, as far as written.
    #[must_use]
    pub fn owed(&self) -> usize {
        if let Keeper::Queued { queue, .. } = &self.keeper {
            queue.wait_until_drained();
        }
        self.owed.load(Ordering::Relaxed)
    }

    /// Ends the tape and writes its projections. Events that come later are not kept.
    pub fn finish(&self) -> Finished {
        if self.finished.swap(true, Ordering::SeqCst) {
            return Finished::default();
        }
        let now = self.clock.now();
        match &self.keeper {
            Keeper::Off => Finished::default(),
            Keeper::Direct { tape, .. } => lock(tape).finish(now),
            Keeper::Queued { queue, writer } => {
                queue.close();
                match lock(writer).take().map(JoinHandle::join) {
                    Some(Ok(mut tape)) => tape.finish(now),
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
            Keeper::Direct { tape, .. } => lock(tape).remove(),
            Keeper::Queued { queue, writer } => {
                queue.close();
                if let Some(Ok(mut tape)) = lock(writer).take().map(JoinHandle::join) {
                    tape.remove();
                }
            }
        }
    }
}

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
