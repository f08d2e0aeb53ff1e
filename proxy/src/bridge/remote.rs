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

/// How a server on HTTP is spoken to.
#[derive(Clone)]
pub struct RemoteSettings {
    /// The server; the path of its URL is its MCP endpoint.
    pub origin: Arc<Origin>,
    /// Fields that are set on every request. Never recorded.
    pub fields: Vec<(HeaderName, HeaderValue)>,
    /// The longest message that is carried, in bytes. Longer ones cannot be: HTTP and
    /// stdio need each message whole at some point.
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

/// Hears of the head of every response that may carry an answer.
pub type HeadTap = Arc<dyn Fn(StatusCode, &HeaderMap) + Send + Sync>;

/// A server on HTTP, for a client on stdio.
#[derive(Clone)]
pub struct Remote {
    settings: RemoteSettings,
    heads: Option<HeadTap>,
    notes: Option<Arc<Notes>>,
    manners: ClientBehaviour,
}

/// What a client on HTTP does unless it is told otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientBehaviour {
    /// How many redirects are followed.
    pub(crate) redirects: u8,
    /// Whether `User-Agent` says who we are; otherwise there is none.
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
    /// A server to which nothing is connected yet.
    #[must_use]
    pub fn new(settings: RemoteSettings) -> Self {
        Self {
            settings,
            heads: None,
            notes: None,
            manners: ClientBehaviour::default(),
        }
    }

    /// The same, and so many redirects within the origin are followed, none with 0.
    #[must_use]
    pub fn with_redirects(mut self, most: u8) -> Self {
        self.manners.redirects = most;
        self
    }

    /// The same, and no `User-Agent` says who we are.
    #[must_use]
    pub fn without_agent(mut self) -> Self {
        self.manners.names_itself = false;
        self
    }

    /// The same, and its HTTP exchanges are recorded beside the messages that they carry.
    #[must_use]
    pub fn with_notes(mut self, recorder: &Arc<Recorder>, clock: Clock) -> Self {
        self.notes = Some(Arc::new(Notes::new(Arc::clone(recorder), clock)));
        self
    }

    /// The same, and `tap` hears of response heads: of every answer to a POST but a mere
    /// receipt (2025-11-25, basic/transports, Sending Messages to the Server: 202).
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
