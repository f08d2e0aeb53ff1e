//! One server behind the front: a link, driven like a session on stdio, between a queue of lines
//! and a switchboard of streams.

use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread;

use bytes::Bytes;
use tapewright_engine::policy::Delivery;
use tapewright_schemas::event::{
    Direction, Effect, EventBody, LineEnd, Maker, Origin, Payload, SessionEnd, SessionMark,
    SessionStart, What,
};
use tokio_util::task::TaskTracker;

use super::carry::Carry;
use super::output::Output;
use super::route::Loss;
use super::stream::Next;
use super::switchboard::{Opened, ProtocolStyle, Switchboard};
use crate::bridge::line::one_line;
use crate::bridge::line_queue::{Gone, LineQueue};
use crate::bridge::lines::LineSource;
use crate::clock::Clock;
use crate::record::Recorder;
use crate::stdio::ending::EndingEvent;
use crate::stdio::notes::{Keys, Notes};
use crate::stdio::session::{Ends, Mailbox, Notice};
use crate::upstream::{Link, OpenError, Upstream};

/// The settings for starting servers.
pub(crate) struct Starter {
    pub(crate) upstream: Arc<dyn Upstream>,
    pub(crate) carry: Carry,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) clock: Clock,
    /// The maximum length of a server's line, in bytes.
    pub(crate) limit_bytes: usize,
    /// Tracks everything that must end before the front may end.
    pub(crate) alive: TaskTracker,
}

/// One server behind the front.
pub(crate) struct Child {
    pub(crate) notes: Notes,
    board: Mutex<Switchboard>,
    // A reader has taken an event, or left.
    taken: Condvar,
    input: LineQueue,
    // Why the front ended it, if it did.
    ended: Mutex<Option<SessionEnd>>,
    // Notices for the session's thread.
    notify: SyncSender<Notice>,
}

impl Starter {
    /// Starts a server. Blocks until it has started.
    pub(crate) fn start(
        &self,
        manner: ProtocolStyle,
        keys: Keys,
    ) -> Result<Arc<Child>, StartError> {
        let link = self.upstream.open()?;
        let (notify, notices) = sync_channel(64);
        let child = Arc::new(Child {
            notes: Notes {
                recorder: Arc::clone(&self.recorder),
                clock: self.clock,
                keys,
            },
            board: Mutex::new(Switchboard::new(manner)),
            taken: Condvar::new(),
            input: LineQueue::default(),
            ended: Mutex::default(),
            notify: notify.clone(),
        });
        let ends = self.ends(&child)?;
        child.mark(SessionMark::Began(began(manner)));
        let (carried, carry, alive) = (Arc::clone(&child), self.carry.clone(), self.alive.token());
        let run = move |link: Link| {
            let notices = &notices;
            let outcome = carry(link, ends, Mailbox { notify, notices });
            carried.over(outcome.is_ok());
            drop(alive);
        };
        thread::Builder::new()
            .name("session".to_owned())
            .spawn(move || run(link))
            .map_err(StartError::Thread)?;
        Ok(child)
    }

    fn ends(&self, child: &Arc<Child>) -> Result<Ends, StartError> {
        let (owing, giving) = (Arc::clone(child), Arc::clone(child));
        Ok(Ends {
            input: Box::new(LineSource::new(child.input.clone())),
            output: Box::new(Output::new(Arc::clone(child), self.limit_bytes)),
            log: crate::stdio::standard_error().map_err(StartError::Thread)?,
            is_gone: Box::new(|| false),
            owed: Box::new(move || owing.owed()),
            give: Some(Arc::new(move |line, given| giving.give(line, given))),
            notes: child.notes.clone(),
        })
    }
}

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("out of threads or file descriptors")]
    Thread(#[source] io::Error),
}

fn began(manner: ProtocolStyle) -> SessionStart {
    match manner {
        ProtocolStyle::Session => SessionStart::SessionId,
        ProtocolStyle::Stateless => SessionStart::Process,
        ProtocolStyle::Legacy => SessionStart::EventStream,
    }
}

const PROCESS_ENDED: &str = "the server has ended";

impl Child {
    /// Its streams. Held for one step, never across a wait.
    pub(crate) fn board(&self) -> MutexGuard<'_, Switchboard> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message, as one line.
    pub(crate) async fn send(&self, message: &Bytes) -> Result<(), Gone> {
        match one_line(message) {
            Some(line) => self.input.push(line).await,
            None => Ok(()),
        }
    }

    /// The next event for a reader.
    pub(crate) fn take(&self, opened: Opened, waker: &Waker) -> Next {
        let next = self.board().take(opened, waker);
        self.taken.notify_all();
        next
    }

    /// Detaches a reader. In the stateless era this cancels its requests at the server.
    pub(crate) fn leave(&self, opened: Opened) {
        let cancelled = self.board().detach(opened);
        self.taken.notify_all();
        for id in cancelled {
            let line = [
                br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#
                    .as_slice(),
                &id,
                br#","reason":"the client closed the stream"}}"#,
            ];
            // A server that has ended needs no cancellation.
            self.input.push_now(Bytes::from(line.concat())).ok();
        }
    }

    /// Ends the conversation: closes the server's input, and ends every stream.
    pub(crate) fn end(&self, why: SessionEnd) {
        self.ended().get_or_insert(why);
        self.input.finish();
        self.finish("the session was ended");
        // The server may never read the end of its input. A full channel already has enough
        // notices.
        drop(
            self.notify
                .try_send(Notice::Happened(EndingEvent::ClientDone)),
        );
        self.taken.notify_all();
    }

    /// Handles the end of the server's output, independent of its process: pending requests get an
    /// error, and the server is released.
    pub(super) fn fall_silent(&self) {
        self.input.finish();
        self.finish(PROCESS_ENDED);
        self.taken.notify_all();
    }

    /// Handles an answer that exceeds the limit: the waiting request gets an error, if it is
    /// certain which one it is.
    pub(super) fn fail_sole(&self) {
        let why = "the server's response is too long";
        self.board().fail_sole(why, |line| self.made(line));
    }

    fn finish(&self, why: &str) {
        self.board().finish(why, |line| self.made(line));
    }

    /// Records an answer made by tapewright in the server's place.
    fn made(&self, line: &Bytes) {
        let message = EventBody::Message {
            payload: Payload::Whole(line.clone()),
            end: LineEnd::Lf,
            origin: Origin {
                maker: Maker::Recorder,
                ..Origin::default()
            },
        };
        self.note(Direction::ToClient, message);
    }

    /// Delivers an answer in another way than as a message on its stream.
    fn give(&self, line: &Bytes, given: &Delivery) {
        let (loss, told) = self.board().give(line, given);
        if let Some(told) = told {
            self.faulted(told);
        }
        self.tell(loss);
    }

    /// Records what could not be sent to the client.
    pub(super) fn tell(&self, loss: Loss) {
        if let Some(why) = loss.message {
            self.faulted(What::NotPassed { why });
        }
        if loss.earlier > 0 {
            let count = loss.earlier;
            self.faulted(What::GivenUp { count });
        }
    }

    fn faulted(&self, what: What) {
        let faulted = Effect::plain(what).about(None);
        self.note(Direction::ToClient, EventBody::Faulted(faulted));
    }

    /// Whether it has ended, and accepts no messages.
    pub(crate) fn is_over(&self) -> bool {
        self.board().is_over()
    }

    /// Blocks the thread while readers have too much unread.
    pub(crate) fn wait_for_readers(&self, most_bytes: usize) {
        let full = |board: &mut Switchboard| board.backlog() > most_bytes && !board.is_over();
        let waited = self.taken.wait_while(self.board(), full);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Records an event of the conversation.
    pub(crate) fn note(&self, dir: Direction, body: EventBody) {
        self.notes.note(dir, body);
    }

    fn mark(&self, mark: SessionMark) {
        self.note(Direction::ToClient, EventBody::Session(mark));
    }

    fn owed(&self) -> usize {
        if self.ended().is_some() {
            return 0;
        }
        self.board().under_way()
    }

    /// Handles the end of the session's thread.
    fn over(&self, began: bool) {
        let why = self.ended().unwrap_or(SessionEnd::ProcessEnded);
        self.input.close();
        self.finish(PROCESS_ENDED);
        self.taken.notify_all();
        if began {
            self.mark(SessionMark::Ended(why));
        }
    }

    fn ended(&self) -> MutexGuard<'_, Option<SessionEnd>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
