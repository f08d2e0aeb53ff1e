//! One recorded session, from the start of the child to its exit status.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use rustix::process::Signal;
use tapewright_engine::policy::Policy;
use tapewright_engine::{Conduit, Lane, Settings};
use tapewright_schemas::event::{
    CloseReason, ConduitId, Direction, Event, EventBody, Exit, SessionKey,
};

use super::ending::{Action, Ending, Happening, Situation};
use super::pipe::{Pipe, Watch};
use super::pump::{Gauge, Pump};
use super::{signals, stderr};
use crate::clock::Clock;
use crate::record::Recorder;
use crate::upstream::{ChunkSink, ChunkSource, Life, Link, OpenError, Upstream};

/// How a session went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How the server's process ended; `None` when it outlived every deadline.
    pub exit: Option<Exit>,
}

/// Why a session could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A thread, a pipe or a signal handler could not be had.
    #[error("the session could not be set up")]
    Setup(#[from] io::Error),
    /// The server could not be reached.
    #[error(transparent)]
    Upstream(#[from] OpenError),
}

enum Notice {
    Happened(Happening),
    Signal(i32),
}

/// Carries one conversation between our standard streams and `upstream`, until its end.
///
/// The recorder is left running: the caller finishes it.
pub fn run<U: Upstream, P: Policy + Clone + 'static>(
    upstream: &U,
    policy: P,
    recorder: &Arc<Recorder>,
    clock: Clock,
) -> Result<Outcome, SessionError> {
    // Room for every thread to say its word without waiting; signals may wait.
    let (notify, notices) = sync_channel(64);
    signals::forward(notify.clone(), Notice::Signal)?;
    let (client_input, client_output) = Pipe::take_standard()?;
    let client = client_output.watch();
    let Link {
        peer,
        to_server,
        to_client,
        log,
        ended,
        life,
    } = upstream.open()?;
    note(
        recorder,
        clock,
        Direction::ToServer,
        EventBody::Opened(peer),
    );

    let settings = Settings {
        conduit: ConduitId::default(),
        session: SessionKey::default(),
        forward: recorder.forward(),
        limit_bytes: recorder.limit_bytes(),
    };
    let (lane_to_server, lane_to_client) = Conduit::new(settings, policy).split();
    let gauge = Arc::new(Gauge::default());
    let session = Session {
        notify,
        recorder: Arc::clone(recorder),
        clock,
    };
    let unwatched = Arc::default();
    session.pump(
        lane_to_server,
        Box::new(client_input),
        to_server,
        unwatched,
        |reason| match reason {
            CloseReason::ReceiverGone => None,
            _ => Some(Happening::ClientDone),
        },
    )?;
    session.pump(
        lane_to_client,
        to_client,
        Box::new(client_output),
        Arc::clone(&gauge),
        |reason| {
            Some(if reason == CloseReason::ReceiverGone {
                Happening::ClientGone
            } else {
                Happening::ServerDone
            })
        },
    )?;
    let has_log = log.is_some();
    let log_gauge = Arc::new(Gauge::default());
    if let Some(log) = log {
        session.log(log, Arc::clone(&log_gauge))?;
    }
    session.spawn("wait", |_, _| {
        Some(Happening::Exited(ended().unwrap_or(Exit::Code(1))))
    })?;

    let exit = session.watch(
        &notices,
        Ending::new(has_log),
        &*life,
        &client,
        [&gauge, &log_gauge],
    );
    if let Some(exit) = exit {
        note(
            recorder,
            clock,
            Direction::ToClient,
            EventBody::Exited(exit),
        );
    }
    life.finish();
    Ok(Outcome { exit })
}

struct Session {
    notify: SyncSender<Notice>,
    recorder: Arc<Recorder>,
    clock: Clock,
}

impl Session {
    /// Starts one direction on a thread of its own; `tell` says what its end means.
    fn pump<P: Policy + 'static>(
        &self,
        lane: Lane<P>,
        source: Box<dyn ChunkSource>,
        sink: Box<dyn ChunkSink>,
        gauge: Arc<Gauge>,
        tell: fn(CloseReason) -> Option<Happening>,
    ) -> io::Result<()> {
        self.spawn("pump", move |recorder, clock| {
            tell(
                Pump {
                    lane,
                    source,
                    sink,
                    recorder,
                    clock,
                    gauge,
                }
                .run(),
            )
        })
    }

    fn log(&self, log: Box<dyn ChunkSource>, gauge: Arc<Gauge>) -> io::Result<()> {
        let sink = Pipe::standard_error()?;
        self.spawn("stderr", move |recorder, clock| {
            stderr::run(log, Box::new(sink), &recorder, clock, &gauge);
            Some(Happening::LogDone)
        })
    }

    fn spawn(
        &self,
        name: &str,
        work: impl FnOnce(Arc<Recorder>, Clock) -> Option<Happening> + Send + 'static,
    ) -> io::Result<()> {
        let (notify, recorder, clock) =
            (self.notify.clone(), Arc::clone(&self.recorder), self.clock);
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                if let Some(happening) = work(recorder, clock) {
                    // Nobody listens any more once the session has ended.
                    drop(notify.send(Notice::Happened(happening)));
                }
            })?;
        Ok(())
    }

    /// Waits for the session to end, and makes it end in time.
    fn watch(
        &self,
        notices: &Receiver<Notice>,
        mut ending: Ending,
        life: &dyn Life,
        client: &Watch,
        [gauge, log_gauge]: [&Gauge; 2],
    ) -> Option<Exit> {
        let mut moves = 0;
        loop {
            let action = match self.next(notices, ending.deadline()) {
                Some(Notice::Happened(happening)) => ending.handle(self.clock.elapsed(), happening),
                Some(Notice::Signal(signal)) => {
                    self.pass_on(signal, life);
                    let ends = signals::is_ending(signal);
                    ends.then(|| ending.handle(self.clock.elapsed(), Happening::EndingSignal))
                        .flatten()
                }
                None => {
                    let before = std::mem::replace(&mut moves, gauge.moves() + log_gauge.moves());
                    let situation = Situation {
                        owed: self.recorder.owed(),
                        writing: gauge.is_writing(),
                        client_gone: client.is_broken(),
                        moved: moves != before,
                    };
                    ending.handle_timeout(self.clock.elapsed(), situation)
                }
            };
            match action {
                Some(Action::Finish) => return ending.exit(),
                Some(Action::Terminate) => life.signal(Signal::TERM),
                Some(Action::Kill) => life.signal(Signal::KILL),
                None => {}
            }
        }
    }

    fn next(
        &self,
        notices: &Receiver<Notice>,
        deadline: Option<std::time::Duration>,
    ) -> Option<Notice> {
        let Some(deadline) = deadline else {
            return notices.recv().ok();
        };
        notices
            .recv_timeout(deadline.saturating_sub(self.clock.elapsed()))
            .ok()
    }

    fn pass_on(&self, signal: i32, life: &dyn Life) {
        let name = signals::name(signal);
        note(
            &self.recorder,
            self.clock,
            Direction::ToServer,
            EventBody::Signal(name),
        );
        if let Some(signal) = Signal::from_named_raw(signal) {
            life.signal(signal);
        }
    }
}

fn note(recorder: &Recorder, clock: Clock, dir: Direction, body: EventBody) {
    let mut event = Some(Event::new(clock.now(), dir, body));
    recorder.record(|| event.take());
}
