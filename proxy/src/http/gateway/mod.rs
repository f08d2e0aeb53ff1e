//! The gateway: every exchange is forwarded to its server unchanged, and recorded.

mod answer;
mod background;
mod exchange;
mod front;
mod goal;
mod interim;
mod leg;
mod observe;
mod ours;
mod peer;
mod pending_agent;
mod request;
mod run;
mod waiting;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use rustls::ServerConfig;
use tapewright_engine::fault::FaultSet;
use tapewright_schemas::event::{CloseReason, ConduitId, SessionKey};
use tokio::sync::{Semaphore, watch};
use tokio_util::task::TaskTracker;

use super::edit::MetadataPlaces;
use super::fault::{Alarm, Expected, Wedges};
use super::forward::Forward;
use super::listen::{Client, ClientToken, Guard, Limits, ListenAddress, Phase};
use super::metrics::Metrics;
use super::models::Providers;
use super::origin::Origin;
use super::sessions::{SESSIONLESS, Sessions};
use super::tap::{Budget, Log};
use crate::clock::Clock;
use crate::operations::Operations;
use crate::record::Recorder;
use crate::traces;

pub use self::background::Background;
pub(crate) use self::exchange::{note_ours, note_unreadable};
pub(crate) use self::front::{health, is_health};
pub(crate) use self::goal::RequestTarget;
pub(crate) use self::observe::GatewayExchange;
pub(crate) use self::ours::{LocalAnswer, head_of};
pub(crate) use self::peer::peer;
pub(crate) use self::pending_agent::prepare_agent;
pub use self::run::{Outcome, ServeError, run, run_beside};
pub(crate) use self::run::{bind, ending_signals, tick};

/// The destinations of requests.
pub enum Route {
    /// All to one origin, which the client knows by tapewright's address.
    Reverse(Arc<Origin>),
    /// To the server in each request.
    Forward(Forward),
    /// To the provider that is determined by the path, or by the wire.
    Models(Providers),
}

/// The settings of a gateway.
pub struct Settings {
    /// The address to listen on.
    pub listen: ListenAddress,
    /// TLS on the client's leg.
    pub tls: Option<Arc<ServerConfig>>,
    /// The destinations of requests.
    pub route: Route,
    /// The configured changes.
    pub changes: Changes,
    /// Additional names of this gateway, for `Host`.
    pub allow_hosts: Vec<String>,
    /// Additional origins whose pages may use this gateway.
    pub allow_origins: Vec<String>,
    /// The token that every client must present.
    pub client_token: Option<ClientToken>,
    /// The limits for clients.
    pub limits: Limits,
    /// How long exchanges in progress may continue after a signal to stop.
    pub drain: Duration,
    /// The address for metrics.
    pub metrics: Option<SocketAddr>,
    /// Forward `/healthz` to the server.
    pub pass_healthz: bool,
    /// The number of lost lines of the operator's log, for the metrics.
    pub log_lost: Arc<AtomicU64>,
    /// The counters of exported spans, if there is an export.
    pub traces: Option<Arc<traces::Figures>>,
    /// The durations of operations and sessions, if they are counted.
    pub operations: Option<Arc<Operations>>,
    /// The active faults.
    pub faults: Arc<FaultSet>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Added header fields may contain secrets.
        out.debug_struct("Settings")
            .field("listen", &self.listen)
            .finish_non_exhaustive()
    }
}

/// Configured changes, in addition to the necessary ones.
#[derive(Default)]
pub struct Changes {
    /// Header fields that are set on every request to the server. Never recorded.
    pub fields: Vec<(HeaderName, HeaderValue)>,
    /// Forward the client's `Host`.
    pub preserve_host: bool,
    /// Change `resource` and `resource_metadata` to tapewright's address.
    pub rewrite_auth: bool,
}

/// A running gateway.
pub(crate) struct Gateway {
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) clock: Clock,
    pub(crate) sessions: Sessions,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) route: Route,
    pub(crate) changes: Changes,
    pub(crate) metadata: MetadataPlaces,
    pub(crate) guard: Guard,
    pub(crate) limits: Limits,
    pub(crate) places: Arc<Semaphore>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) pass_healthz: bool,
    pub(crate) log_lost: Arc<AtomicU64>,
    pub(crate) traces: Option<Arc<traces::Figures>>,
    pub(crate) operations: Option<Arc<Operations>>,
    pub(crate) faults: Arc<FaultSet>,
    pub(crate) alarm: Alarm,
    pub(crate) expected: Expected,
    pub(crate) wedges: Wedges,
    pub(crate) phase: watch::Receiver<Phase>,
    /// Tasks that outlive their connection: tunnels.
    pub(crate) tasks: TaskTracker,
    conduits: AtomicU32,
}

impl Gateway {
    fn new(
        settings: Settings,
        listen: SocketAddr,
        recorder: Arc<Recorder>,
        clock: Clock,
        phase: watch::Receiver<Phase>,
    ) -> Self {
        let guard = Guard::new(listen, &settings.allow_hosts, &settings.allow_origins);
        let injects = !settings.changes.fields.is_empty();
        Self {
            recorder,
            clock,
            sessions: Sessions::default(),
            metrics: Arc::new(Metrics::default()),
            route: settings.route,
            changes: settings.changes,
            metadata: MetadataPlaces::default(),
            guard: guard
                .with_navigation(!injects)
                .with_token(settings.client_token),
            limits: settings.limits,
            places: Arc::new(Semaphore::new(settings.limits.exchanges)),
            budget: Arc::new(Budget::new(settings.limits.tap_bytes)),
            pass_healthz: settings.pass_healthz,
            log_lost: settings.log_lost,
            traces: settings.traces,
            operations: settings.operations,
            faults: settings.faults,
            alarm: Alarm::new(clock),
            expected: Expected::default(),
            wedges: Wedges::default(),
            phase,
            tasks: TaskTracker::new(),
            conduits: AtomicU32::new(0),
        }
    }

    /// The log of the next exchange.
    pub(crate) fn log(&self, session: Option<SessionKey>) -> Log {
        let (recorder, budget) = (Arc::clone(&self.recorder), Arc::clone(&self.budget));
        Log::new(recorder, self.clock, self.next_conduit(), budget, session)
    }

    /// Why a body ends early: the gateway itself may have cut it off.
    pub(crate) fn left(&self, reason: CloseReason) -> CloseReason {
        let cut = *self.phase.borrow() == Phase::Stopping;
        if cut && reason == CloseReason::ReceiverGone {
            return CloseReason::Stopped;
        }
        reason
    }

    /// Records a request whose head could not be read.
    pub(crate) fn unreadable(&self, client: Client, is_too_long: bool) {
        note_unreadable(&self.log(Some(SESSIONLESS)), client, is_too_long);
        self.metrics.add_refused();
    }

    /// Whether new requests are no longer accepted.
    pub(crate) fn is_ending(&self) -> bool {
        *self.phase.borrow() != Phase::Serving
    }

    /// The number of the next exchange, from 1.
    fn next_conduit(&self) -> ConduitId {
        ConduitId(
            self.conduits
                .fetch_add(1, Ordering::Relaxed)
                .saturating_add(1),
        )
    }
}
