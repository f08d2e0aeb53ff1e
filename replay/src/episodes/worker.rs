//! Routes each message of the client.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread;

use bytes::Bytes;
use tapewright_proxy::bridge::line_queue::{Line, Taken};
use tapewright_proxy::bridge::ours;
use tapewright_proxy::upstream::Upstream;
use tapewright_schemas::envelope::{Envelope, Kind, RequestId, for_each_message};
use tapewright_schemas::event::Exit;
use tapewright_schemas::json;

use super::live::{ENDED, Live};
use super::{LineQueues, LiveHold, LiveServer};
use crate::upstream::{Received, ReplaySession};

/// One session: decides who answers each message.
pub(super) struct Worker {
    session: ReplaySession,
    upstream: Arc<dyn Upstream>,
    line_queues: LineQueues,
    hold: LiveHold,
    asked: Arc<AtomicU64>,
    live: Option<Live>,
    // The client's `initialize`, if the recording answered it.
    initialize: Option<Bytes>,
}

impl Worker {
    pub(super) fn new(
        session: ReplaySession,
        upstream: Arc<dyn Upstream>,
        line_queues: LineQueues,
        hold: LiveHold,
        asked: Arc<AtomicU64>,
    ) -> Self {
        Self {
            session,
            upstream,
            line_queues,
            hold,
            asked,
            live: None,
            initialize: None,
        }
    }

    /// Runs until the client and both servers have ended. Returns how the live server ended, if it
    /// was started.
    pub(super) fn run(mut self) -> Exit {
        let (session, output) = (self.session.clone(), self.line_queues.output.clone());
        let played = thread::Builder::new()
            .name("played".to_owned())
            .spawn(move || {
                while let Received::Output(message) = session.receive(None) {
                    if output.push_blocking(message.to_bytes()).is_err() {
                        return;
                    }
                }
            });
        while let (Ok(_), Taken::Line(line)) = (&played, self.line_queues.input.take_blocking(None))
        {
            let line = line.bytes;
            for_each_message(&line, |message| self.message(&line.slice_ref(message)));
        }
        self.line_queues.input.close();
        self.session.end_input();
        let exit = match self.live.take() {
            Some(live) => live.end(),
            None => self.session.fate().unwrap_or(Exit::Code(0)),
        };
        if let Ok(played) = played {
            // The result of a player that panicked does not matter.
            played.join().ok();
        }
        self.line_queues.output.finish();
        self.line_queues.log.finish();
        exit
    }

    fn message(&mut self, message: &Bytes) {
        match Envelope::parse(message).kind {
            Kind::Request { method, .. } => {
                if !self.session.offer(message) {
                    self.ask(message);
                } else if method == "initialize" {
                    self.initialize = Some(message.clone());
                }
            }
            Kind::Notification { method, params } => self.notification(message, &method, params),
            Kind::Response { id, .. } => match &mut self.live {
                // Requests of the recorded server have ids made by tapewright.
                Some(live) if !is_ours(&id) => {
                    live.write(message);
                }
                _ => self.session.send(message),
            },
            _ => self.session.send(message),
        }
    }

    fn notification(&mut self, message: &Bytes, method: &str, params: Option<&[u8]>) {
        let of_live = self.live.as_ref().is_some_and(|live| {
            let id = params.and_then(|params| json::find(params, &["requestId"]));
            id.is_some_and(|id| live.owes(&RequestId::of_source(id)))
        });
        let cancels = method == "notifications/cancelled";
        if !(cancels && of_live) {
            self.session.send(message);
        }
        // After `introduce` the live server already has its `initialized`.
        let introduced = method == "notifications/initialized" && self.initialize.is_some();
        if let (Some(live), false) = (&mut self.live, introduced || cancels && !of_live) {
            live.write(message);
        }
    }

    /// Sends a request to the live server, and starts it if necessary.
    fn ask(&mut self, message: &Bytes) {
        let id = json::find(message, &["id"]).unwrap_or(b"null");
        self.asked.fetch_add(1, Ordering::SeqCst);
        let asked = match self.open() {
            Ok(live) => {
                let taken = live.ask(id, message);
                taken.then_some(()).ok_or_else(|| ENDED.to_owned())
            }
            Err(why) => Err(format!("not recorded, and {why}")),
        };
        if let Err(why) = asked {
            // A client that has left needs no answer.
            let line = Line::ours(ours::error(id, &why, None));
            self.line_queues.output.push_now(line).ok();
        }
    }

    fn open(&mut self) -> Result<&mut Live, String> {
        if self.live.is_none() {
            let link = self.upstream.open().map_err(|error| error.to_string())?;
            let line_queues = self.line_queues.clone();
            let (mut server, hold) =
                Live::of(link, line_queues).map_err(|error| error.to_string())?;
            let owed = server.owed();
            *self.hold.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(LiveServer { life: hold, owed });
            let introduced = self
                .initialize
                .as_ref()
                .is_none_or(|line| server.introduce(line));
            self.live = Some(server);
            if !introduced {
                return Err("the live server did not answer initialize".to_owned());
            }
        }
        self.live.as_mut().ok_or_else(|| ENDED.to_owned())
    }
}

/// Whether an id was assigned to a recorded server's request.
fn is_ours(id: &RequestId<'_>) -> bool {
    matches!(id, RequestId::Text(text) if text.starts_with("replay-"))
}
