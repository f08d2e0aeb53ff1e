//! A server on HTTP, as an upstream.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use tapewright_schemas::event::{Exit, Peer};
use tokio::sync::watch;

use super::driver::{self, StopMode};
use super::line_queue::LineQueue;
use super::lines::{LineSink, LineSource};
use super::notes::Notes;
use super::shared::Shared;
use crate::clock::Clock;
use crate::http::origin::Origin;
use crate::record::Recorder;
use crate::system::Signal;
use crate::upstream::{Life, Link, OpenError, Upstream};

/// How to connect to a server on HTTP.
#[derive(Clone)]
pub struct RemoteSettings {
    /// The server; the path of its URL is its MCP endpoint.
    pub origin: Arc<Origin>,
    /// Header fields for every request. Never recorded.
    pub fields: Vec<(HeaderName, HeaderValue)>,
    /// The maximum length of a message, in bytes. Longer ones cannot be forwarded, since a bridge
    /// needs each message whole.
    pub limit_bytes: usize,
}

impl fmt::Debug for RemoteSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The fields may hold secrets.
        out.debug_struct("RemoteSettings")
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// A callback for the head of every response that may contain an answer.
pub type HeadTap = Arc<dyn Fn(StatusCode, &HeaderMap) + Send + Sync>;

/// A server on HTTP, for a client on stdio.
#[derive(Clone)]
pub struct Remote {
    settings: RemoteSettings,
    heads: Option<HeadTap>,
    notes: Option<Arc<Notes>>,
    manners: ClientBehaviour,
}

/// The default behaviour of a client on HTTP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientBehaviour {
    /// The maximum number of redirects that are followed.
    pub(crate) redirects: u8,
    /// Whether to send a `User-Agent` with tapewright's name, or none.
    pub(crate) names_itself: bool,
}

impl Default for ClientBehaviour {
    fn default() -> Self {
        Self {
            redirects: 5,
            names_itself: true,
        }
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Remote").field(&self.settings).finish()
    }
}

impl Remote {
    /// A server without connections so far.
    #[must_use]
    pub fn new(settings: RemoteSettings) -> Self {
        Self {
            settings,
            heads: None,
            notes: None,
            manners: ClientBehaviour::default(),
        }
    }

    /// Follows up to this many redirects within the origin, none with 0.
    #[must_use]
    pub fn with_redirects(mut self, most: u8) -> Self {
        self.manners.redirects = most;
        self
    }

    /// Omits the `User-Agent`.
    #[must_use]
    pub fn without_agent(mut self) -> Self {
        self.manners.names_itself = false;
        self
    }

    /// Records the HTTP exchanges in addition to their messages.
    #[must_use]
    pub fn with_notes(mut self, recorder: &Arc<Recorder>, clock: Clock) -> Self {
        self.notes = Some(Arc::new(Notes::new(Arc::clone(recorder), clock)));
        self
    }

    /// Calls `tap` with response heads: of every answer to a POST except for a mere receipt
    /// (2025-11-25, basic/transports, Sending Messages to the Server: 202).
    #[must_use]
    pub fn with_heads(mut self, tap: HeadTap) -> Self {
        self.heads = Some(tap);
        self
    }
}

impl Upstream for Remote {
    fn open(&self) -> Result<Link, OpenError> {
        let (lines, out) = (LineQueue::default(), LineQueue::default());
        let RemoteSettings {
            origin,
            fields,
            limit_bytes,
        } = self.settings.clone();
        let peer = Peer::Server {
            url: origin.url().shown(),
        };
        let mut shared = Shared::new(origin, fields, limit_bytes, out.clone());
        shared.heads.clone_from(&self.heads);
        shared.notes.clone_from(&self.notes);
        shared.manners = self.manners;
        let shared = Arc::new(shared);
        let (urge, urged) = watch::channel(StopMode::None);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(OpenError::Bridge)?;
        let driver = {
            let lines = lines.clone();
            thread::Builder::new()
                .name("bridge".to_owned())
                .spawn(move || {
                    runtime.block_on(driver::run(shared, lines, urged));
                    runtime.shutdown_background();
                })
                .map_err(OpenError::Bridge)?
        };
        Ok(Link {
            peer,
            to_server: Box::new(LineSink::new(lines, limit_bytes)),
            to_client: Box::new(LineSource::new(out)),
            log: None,
            ended: Box::new(move || {
                driver
                    .join()
                    .map_err(|_| io::Error::other("the bridge failed"))?;
                Ok(Exit::Code(0))
            }),
            life: Box::new(urge),
        })
    }
}

impl Life for watch::Sender<StopMode> {
    fn signal(&self, signal: Signal) {
        let urge = match signal {
            Signal::KILL => StopMode::Kill,
            Signal::TERM | Signal::INT | Signal::HUP | Signal::QUIT => StopMode::End,
            _ => return,
        };
        self.send_if_modified(|now| {
            let harder = urge > *now;
            *now = urge.max(*now);
            harder
        });
    }

    fn finish(self: Box<Self>) {
        self.send_replace(StopMode::Kill);
    }
}
