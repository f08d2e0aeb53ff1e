//! One recorded session, from the start of the child to its exit status.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use bytes::Bytes;
use rustix::process::Signal;
use tapewright_engine::policy::{Aside, Given, Policy};
use tapewright_engine::{Conduit, Lane, Settings};
use tapewright_schemas::event::{
    CloseReason, ConduitId, Direction, Event, EventBody, Exit, Offset, SessionKey,
};

use super::ending::{Action, Ending, Happening, Situation};
use super::pipe::Pipe;
use super::pump::{Gauge, Pump};
use super::shared_sink::SharedSink;
use super::{signals, stderr};
use crate::clock::Clock;
use crate::record::{Recorder, Ticks};
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

/// What a session is told.
pub(crate) enum Notice {
    /// Something of its own happened.
    Happened(Happening),
    /// The server is to end with this status.
    End(u8),
    /// A signal to pass on.
    Signal(i32),
}

/// The client's side of a session, and where its events belong.
pub(crate) struct Ends {
    /// What the client sends.
    pub(crate) input: Box<dyn ChunkSource>,
    /// What the client gets.
    pub(crate) output: Box<dyn ChunkSink>,
    /// What the server says beside the protocol.
    pub(crate) log: Box<dyn ChunkSink>,
    /// Whether nobody reads any more what the client would get.
    pub(crate) is_gone: Box<dyn Fn() -> bool + Send>,
    /// How many requests of the client await their response.
    pub(crate) owed: Box<dyn Fn() -> usize + Send>,
    /// Gives the client an answer in a way that no line can tell; `None` where it reads lines.
    pub(crate) give: Option<Give>,
    /// Where the events belong.
    pub(crate) place: Place,
}

/// Gives an answer, here without the end of its line, in another way than as a line.
pub(crate) type Give = Arc<dyn Fn(&Bytes, &Given) + Send + Sync>;

/// Where events belong.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    pub(crate) conduit: ConduitId,
    pub(crate) session: SessionKey,
}

impl Place {
    /// An event of this place.
    pub(crate) fn event(self, at: Offset, dir: Direction, body: EventBody) -> Event {
        let mut event = Event::new(at, dir, body);
        event.conduit = self.conduit;
        event.session = self.session;
        event
    }
}

/// Carries one conversation between our standard streams and `upstream`, until its end.
///
/// The recorder is left running: the caller finishes it.
pub fn run<U: Upstream + ?Sized, P: Policy + Clone + 'static>(
    upstream: &U,
    policy: &P,
    recorder: &Arc<Recorder>,
    clock: Clock,
) -> Result<Outcome, SessionError> {
    // Room for every thread to say its word without waiting; signals may wait.
    let (notify, notices) = sync_channel(64);
    signals::forward(notify.clone(), Notice::Signal)?;
    let (client_input, client_output) = Pipe::take_standard()?;
    let client = client_output.watch();
    let owed = Arc::clone(recorder);
    let ends = Ends {
        input: Box::new(client_input),
        output: Box::new(client_output),
        log: Box::new(Pipe::standard_error()?),
        is_gone: Box::new(move || client.is_broken()),
        owed: Box::new(move || owed.owed()),
        give: None,
        place: Place::default(),
    };
    let link = upstream.open()?;
    let _ticks = Ticks::start(recorder, clock);
    carry(link, ends, policy, recorder, clock, (notify, &notices))
}

/// Carries one conversation between a client and an open link, until its end. Blocks.
pub(crate) fn carry<P: Policy + Clone + 'static>(
    link: Link,
    ends: Ends,
    policy: &P,
    recorder: &Arc<Recorder>,
    clock: Clock,
    (notify, notices): (SyncSender<Notice>, &Receiver<Notice>),
) -> Result<Outcome, SessionError> {
    let session = Session {
        notify,
        recorder: Arc::clone(recorder),
        clock,
        place: ends.place,
    };
    session.note(Direction::ToServer, EventBody::Opened(link.peer));

    let settings = Settings {
        conduit: ends.place.conduit,
        session: ends.place.session,
        forward: recorder.forward(),
        limit_bytes: recorder.limit_bytes(),
    };
    let (lane_to_server, lane_to_client) = Conduit::new(settings, policy).split();
    let gauge = Arc::new(Gauge::default());
    let unwatched = Arc::new(Gauge::default());
    let log_sink = SharedSink::new(ends.log);
    session.pump(
        lane_to_server,
        ends.input,
        link.to_server,
        (Arc::clone(&unwatched), (log_sink.clone(), None)),
        |reason| match reason {
            CloseReason::ReceiverGone => None,
            _ => Some(Happening::ClientDone),
        },
    )?;
    session.pump(
        lane_to_client,
        link.to_client,
        ends.output,
        (Arc::clone(&gauge), (log_sink.clone(), ends.give)),
        |reason| {
            Some(if reason == CloseReason::ReceiverGone {
                Happening::ClientGone
            } else {
                Happening::ServerDone
            })
        },
    )?;
    let has_log = link.log.is_some();
    let log_gauge = Arc::new(Gauge::default());
    if let Some(log) = link.log {
        session.log(log, Box::new(log_sink), Arc::clone(&log_gauge))?;
    }
    let ended = link.ended;
    session.spawn("wait", |_, _| {
        Some(Happening::Exited(ended().unwrap_or(Exit::Code(1))))
    })?;

    let client = Client {
        is_gone: ends.is_gone,
        owed: ends.owed,
    };
    let exit = session.watch(
        notices,
        Ending::new(has_log),
        &*link.life,
        &client,
        [&gauge, &log_gauge],
    );
    unwatched.end();
    gauge.end();
    if let Some(exit) = exit {
        session.note(Direction::ToClient, EventBody::Exited(exit));
    }
    link.life.finish();
    Ok(Outcome { exit })
}

/// What the end of a session depends on.
struct Client {
    is_gone: Box<dyn Fn() -> bool + Send>,
    owed: Box<dyn Fn() -> usize + Send>,
}

/// What a pump does beside its direction.
fn beside(
    notify: SyncSender<Notice>,
    (mut log, give): (SharedSink, Option<Give>),
) -> Box<dyn FnMut(Aside) + Send> {
    Box::new(move |aside| match aside {
        // Made only where somebody gives it.
        Aside::Answer { line, given } => {
            if let Some(give) = &give {
                give(&line, &given);
            }
        }
        // Nobody listens any more once the session has ended.
        Aside::Exit(status) => drop(notify.send(Notice::End(status))),
        // A client that does not read it has lost nothing of the server's.
        Aside::Log(bytes) => drop(log.write(&bytes)),
    })
}

struct Session {
    notify: SyncSender<Notice>,
    recorder: Arc<Recorder>,
    clock: Clock,
    place: Place,
}

impl Session {
    /// Starts one direction on a thread of its own; `tell` says what its end means.
    fn pump<P: Policy + 'static>(
        &self,
        lane: Lane<P>,
        source: Box<dyn ChunkSource>,
        sink: Box<dyn ChunkSink>,
        (gauge, others): (Arc<Gauge>, (SharedSink, Option<Give>)),
        tell: fn(CloseReason) -> Option<Happening>,
    ) -> io::Result<()> {
        let notify = self.notify.clone();
        self.spawn("pump", move |recorder, clock| {
            tell(
                Pump {
                    beside: beside(notify, others),
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

    fn log(
        &self,
        log: Box<dyn ChunkSource>,
        sink: Box<dyn ChunkSink>,
        gauge: Arc<Gauge>,
    ) -> io::Result<()> {
        let place = self.place;
        self.spawn("stderr", move |recorder, clock| {
            stderr::run(log, sink, (&recorder, clock, place), &gauge);
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
        client: &Client,
        [gauge, log_gauge]: [&Gauge; 2],
    ) -> Option<Exit> {
        let mut moves = 0;
        let mut ended_as = None;
        loop {
            let action = match self.next(notices, ending.deadline()) {
                Some(Notice::Happened(happening)) => ending.handle(self.clock.elapsed(), happening),
                Some(Notice::End(status)) => {
                    ended_as = Some(Exit::Code(status.into()));
                    Some(Action::Kill)
                }
                Some(Notice::Signal(signal)) => {
                    self.pass_on(signal, life);
                    let ends = signals::is_ending(signal);
                    ends.then(|| ending.handle(self.clock.elapsed(), Happening::EndingSignal))
                        .flatten()
                }
                None => {
                    let before = std::mem::replace(&mut moves, gauge.moves() + log_gauge.moves());
                    let situation = Situation {
                        owed: (client.owed)() + life.owed(),
                        busy: gauge.is_busy(),
                        client_gone: (client.is_gone)(),
                        moved: moves != before,
                    };
                    ending.handle_timeout(self.clock.elapsed(), situation)
                }
            };
            match action {
                Some(Action::Finish) => return ending.exit().map(|exit| ended_as.unwrap_or(exit)),
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
        self.note(Direction::ToServer, EventBody::Signal(name));
        if let Some(signal) = Signal::from_named_raw(signal) {
            life.signal(signal);
        }
    }

    fn note(&self, dir: Direction, body: EventBody) {
        let mut event = Some(self.place.event(self.clock.now(), dir, body));
        self.recorder.record(|| event.take());
    }
}
