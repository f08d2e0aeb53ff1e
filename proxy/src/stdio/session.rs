//! One recorded session, from the start of the child to its exit status.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use tapewright_engine::policy::{Delivery, Policy, SideAction};
use tapewright_engine::{Conduit, Lane, Settings};
use tapewright_schemas::event::{CloseReason, Direction, EventBody, Exit, Exited, Offset};

use super::ending::{Action, DeadlineState, Ending, EndingEvent};
use super::notes::{Keys, Notes};
use super::pump::{Gauge, Pump};
use super::shared_sink::SharedSink;
use super::stderr;
use crate::clock::Clock;
use crate::record::{Recorder, Ticks};
use crate::system::pipe::Pipe;
use crate::system::{Signal, signals};
use crate::upstream::{ChunkSink, ChunkSource, Life, Link, OpenError, Upstream};

/// The result of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How the server's process exited; `None` if it outlived every deadline.
    pub exit: Option<Exit>,
}

/// Why a session could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A thread, a pipe or a signal handler could not be set up.
    #[error("cannot start the session")]
    Setup(#[from] io::Error),
    /// The server could not be reached.
    #[error(transparent)]
    Upstream(#[from] OpenError),
}

/// A notice to a session.
pub(crate) enum Notice {
    /// An event of the session.
    Happened(EndingEvent),
    /// The server must end with this status.
    End(u8),
    /// A signal to forward.
    Signal(i32),
}

/// The client's side of a session, and how its events are recorded.
pub(crate) struct Ends {
    /// The client's input.
    pub(crate) input: Box<dyn ChunkSource>,
    /// The output to the client.
    pub(crate) output: Box<dyn ChunkSink>,
    /// The destination of the server's log.
    pub(crate) log: Box<dyn ChunkSink>,
    /// Whether the client no longer reads.
    pub(crate) is_gone: Box<dyn Fn() -> bool + Send>,
    /// The number of the client's pending requests.
    pub(crate) owed: Box<dyn Fn() -> usize + Send>,
    /// Delivers an answer to the client in a way that a line cannot express; `None` if it reads
    /// lines.
    pub(crate) give: Option<DeliverAnswer>,
    /// Records the events.
    pub(crate) notes: Notes,
}

/// Delivers an answer, here without the end of its line, in another way than as a line.
pub(crate) type DeliverAnswer = Arc<dyn Fn(&Bytes, &Delivery) + Send + Sync>;

/// The notices to a session from its threads, and the sender for them.
pub(crate) struct Mailbox<'a> {
    pub(crate) notify: SyncSender<Notice>,
    pub(crate) notices: &'a Receiver<Notice>,
}

/// Runs one conversation between the process's standard streams and `upstream`, until it ends.
///
/// The recorder is left running: the caller finishes it.
pub fn run<U: Upstream + ?Sized, P: Policy + Clone + 'static>(
    upstream: &U,
    policy: &P,
    recorder: &Arc<Recorder>,
    clock: Clock,
) -> Result<Outcome, SessionError> {
    // Space for every thread to send its notices without waiting; signals may wait.
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
        notes: Notes {
            recorder: Arc::clone(recorder),
            clock,
            keys: Keys::default(),
        },
    };
    let link = upstream.open()?;
    let _ticks = Ticks::start(recorder, clock);
    let notices = &notices;
    carry(link, ends, policy, Mailbox { notify, notices })
}

/// Runs one conversation between a client and an open link, until it ends. Blocks.
pub(crate) fn carry<P: Policy + Clone + 'static>(
    link: Link,
    ends: Ends,
    policy: &P,
    mailbox: Mailbox<'_>,
) -> Result<Outcome, SessionError> {
    let notes = ends.notes;
    notes.note(Direction::ToServer, EventBody::Opened(link.peer));
    let settings = Settings {
        conduit: notes.keys.conduit,
        session: notes.keys.session,
        forward: notes.recorder.forward(),
        limit_bytes: notes.recorder.limit_bytes(),
    };
    let (to_server, to_client) = Conduit::new(settings, policy).split();
    let session = PumpContext {
        notify: mailbox.notify,
        notes,
        gauges: Gauges::default(),
        held: Arc::default(),
    };
    let log = SharedSink::new(ends.log);
    session.to_server(DirectionPump {
        lane: to_server,
        source: ends.input,
        sink: link.to_server,
        beside: beside(&session.notify, &log, None),
    })?;
    session.to_client(DirectionPump {
        lane: to_client,
        source: link.to_client,
        sink: ends.output,
        beside: beside(&session.notify, &log, ends.give),
    })?;
    let ending = Ending::new(link.log.is_some());
    if let Some(source) = link.log {
        session.log(source, Box::new(log))?;
    }
    let ended = link.ended;
    session.spawn("wait", move || {
        Some(EndingEvent::Exited(ended().unwrap_or(Exit::Code(1))))
    })?;
    let client = Client {
        is_gone: ends.is_gone,
        owed: ends.owed,
    };
    let exit = session.watch(mailbox.notices, ending, &*link.life, &client);
    session.gauges.end();
    if let Some(exited) = exit {
        let body = EventBody::Exited(exited);
        session.notes.note(Direction::ToClient, body);
    }
    link.life.finish();
    let exit = exit.map(|exited| exited.how);
    Ok(Outcome { exit })
}

/// The client's state that the end of a session depends on.
struct Client {
    is_gone: Box<dyn Fn() -> bool + Send>,
    owed: Box<dyn Fn() -> usize + Send>,
}

/// Carries out side actions.
type SideActionHandler = Box<dyn FnMut(SideAction) + Send>;

/// Carries out the side actions of a pump.
fn beside(
    notify: &SyncSender<Notice>,
    log: &SharedSink,
    give: Option<DeliverAnswer>,
) -> SideActionHandler {
    let (notify, mut log) = (notify.clone(), log.clone());
    Box::new(move |aside| match aside {
        // Only made if there is a front to deliver it.
        SideAction::Answer { line, given } => {
            if let Some(give) = &give {
                give(&line, &given);
            }
        }
        // The receiver is gone when the session has ended.
        SideAction::Exit(status) => drop(notify.send(Notice::End(status))),
        // A client that does not read it loses nothing from the server.
        SideAction::Log(bytes) => drop(log.write(&bytes)),
    })
}

/// One direction of a session.
struct DirectionPump<P: Policy> {
    lane: Lane<P>,
    source: Box<dyn ChunkSource>,
    sink: Box<dyn ChunkSink>,
    beside: SideActionHandler,
}

/// The state of a session's threads.
#[derive(Default)]
struct Gauges {
    to_server: Arc<Gauge>,
    to_client: Arc<Gauge>,
    log: Arc<Gauge>,
}

impl Gauges {
    /// Increases with all output of the server.
    fn moves(&self) -> u64 {
        self.to_client.moves() + self.log.moves()
    }

    /// Notes that the session is over.
    fn end(&self) {
        self.to_server.end();
        self.to_client.end();
    }
}

struct PumpContext {
    notify: SyncSender<Notice>,
    notes: Notes,
    gauges: Gauges,
    // How long tapewright delayed the end of the server's input, in microseconds.
    held: Arc<AtomicU64>,
}

impl PumpContext {
    /// Starts the direction to the server, on a separate thread.
    fn to_server<P: Policy + 'static>(&self, way: DirectionPump<P>) -> io::Result<()> {
        let (held, clock) = (Arc::clone(&self.held), self.notes.clock);
        let pump = self.pump(way, &self.gauges.to_server);
        self.spawn("pump", move || {
            let end = pump.run();
            held.store(clock.now().since(end.seen).0, Ordering::Release);
            (end.reason != CloseReason::ReceiverGone).then_some(EndingEvent::ClientDone)
        })
    }

    /// Starts the direction to the client, on a separate thread.
    fn to_client<P: Policy + 'static>(&self, way: DirectionPump<P>) -> io::Result<()> {
        let pump = self.pump(way, &self.gauges.to_client);
        self.spawn("pump", move || {
            Some(match pump.run().reason {
                CloseReason::ReceiverGone => EndingEvent::ClientGone,
                _ => EndingEvent::ServerDone,
            })
        })
    }

    fn pump<P: Policy>(&self, way: DirectionPump<P>, gauge: &Arc<Gauge>) -> Pump<P> {
        Pump {
            lane: way.lane,
            source: way.source,
            sink: way.sink,
            recorder: Arc::clone(&self.notes.recorder),
            clock: self.notes.clock,
            gauge: Arc::clone(gauge),
            beside: way.beside,
        }
    }

    fn log(&self, log: Box<dyn ChunkSource>, sink: Box<dyn ChunkSink>) -> io::Result<()> {
        let (notes, gauge) = (self.notes.clone(), Arc::clone(&self.gauges.log));
        self.spawn("stderr", move || {
            stderr::run(log, sink, &notes, &gauge);
            Some(EndingEvent::LogDone)
        })
    }

    fn spawn(
        &self,
        name: &str,
        work: impl FnOnce() -> Option<EndingEvent> + Send + 'static,
    ) -> io::Result<()> {
        let notify = self.notify.clone();
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                if let Some(happening) = work() {
                    // The receiver is gone when the session has ended.
                    drop(notify.send(Notice::Happened(happening)));
                }
            })?;
        Ok(())
    }

    /// Waits for the session to end, and ensures that it ends in time.
    fn watch(
        &self,
        notices: &Receiver<Notice>,
        mut ending: Ending,
        life: &dyn Life,
        client: &Client,
    ) -> Option<Exited> {
        let clock = self.notes.clock;
        let mut moves = 0;
        let mut ended_as = None;
        let mut exited_at = Offset::default();
        loop {
            let action = match self.next(notices, ending.deadline()) {
                Some(Notice::Happened(happening)) => {
                    if let EndingEvent::Exited(_) = happening {
                        exited_at = clock.now();
                    }
                    ending.handle(clock.elapsed(), happening)
                }
                Some(Notice::End(status)) => {
                    ended_as = Some(Exit::Code(status.into()));
                    Some(Action::Kill)
                }
                Some(Notice::Signal(signal)) => {
                    self.pass_on(signal, life);
                    let ends = signals::is_ending(signal);
                    ends.then(|| ending.handle(clock.elapsed(), EndingEvent::EndingSignal))
                        .flatten()
                }
                None => ending.handle_timeout(clock.elapsed(), self.look(client, life, &mut moves)),
            };
            match action {
                Some(Action::Finish) => {
                    let exit = ending.exit();
                    return exit.map(|how| self.exited(ended_as.unwrap_or(how), exited_at));
                }
                Some(Action::Terminate) => life.signal(Signal::TERM),
                Some(Action::Kill) => life.signal(Signal::KILL),
                None => {}
            }
        }
    }

    /// The event for the exit of the process `at` this time.
    fn exited(&self, how: Exit, at: Offset) -> Exited {
        let held = Offset(self.held.load(Ordering::Acquire));
        let ours = self.notes.clock.now().since(at).plus(held);
        Exited { how, ours }
    }

    /// The current state; `moves` is the count at the previous call.
    fn look(&self, client: &Client, life: &dyn Life, moves: &mut u64) -> DeadlineState {
        let before = std::mem::replace(moves, self.gauges.moves());
        DeadlineState {
            owed: (client.owed)() + life.owed(),
            busy: self.gauges.to_client.is_busy(),
            client_gone: (client.is_gone)(),
            moved: *moves != before,
        }
    }

    fn next(&self, notices: &Receiver<Notice>, deadline: Option<Duration>) -> Option<Notice> {
        let Some(deadline) = deadline else {
            return notices.recv().ok();
        };
        notices
            .recv_timeout(deadline.saturating_sub(self.notes.clock.elapsed()))
            .ok()
    }

    fn pass_on(&self, signal: i32, life: &dyn Life) {
        let name = signals::name(signal);
        self.notes
            .note(Direction::ToServer, EventBody::Signal(name));
        if let Some(signal) = Signal::from_named_raw(signal) {
            life.signal(signal);
        }
    }
}
