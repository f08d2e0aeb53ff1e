//! The gateway: every exchange goes to its server as it came, and is recorded.

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
use super::listen::{ClientToken, Guard, Limits, ListenAddress, Phase};
use super::metrics::Metrics;
use super::models::Providers;
use super::origin::Origin;
use super::sessions::Sessions;
use super::tap::{Budget, Log};
use crate::clock::Clock;
use crate::operations::Operations;
use crate::record::Recorder;
use crate::traces;

pub use self::background::Background;
pub(crate) use self::exchange::note_ours;
pub(crate) use self::front::{health, is_health};
pub(crate) use self::goal::RequestTarget;
pub(crate) use self::observe::GatewayExchange;
pub(crate) use self::ours::{Ours, head_of};
pub(crate) use self::peer::peer;
pub(crate) use self::pending_agent::prepare_agent;
pub use self::run::{Outcome, ServeError, run, run_beside};
pub(crate) use self::run::{bind, ending_signals, tick};

/// Where requests go.
pub enum Route {
    /// All to one origin, which the client knows under our address.
    Reverse(Arc<Origin>),
    /// Where each request says.
    Forward(Forward),
    /// To the provider of a model that its path names, or its wire.
    Models(Providers),
}

/// What a gateway does.
pub struct Settings {
    /// Where it listens.
    pub listen: ListenAddress,
    /// TLS on the client's leg.
    pub tls: Option<Arc<ServerConfig>>,
    /// Where requests go.
    pub route: Route,
    /// What changes on the way.
    pub changes: Changes,
    /// Further names under which we are reached, for `Host`.
    pub allow_hosts: Vec<String>,
    /// Further origins whose pages may talk to us.
    pub allow_origins: Vec<String>,
    /// What every client has to show.
    pub client_token: Option<ClientToken>,
    /// How much a client may ask of us.
    pub limits: Limits,
    /// How long what is under way may go on after a signal to stop.
    pub drain: Duration,
    /// Where figures are served.
    pub metrics: Option<SocketAddr>,
    /// Leave `/healthz` to the server.
    pub pass_healthz: bool,
    /// Counts the lines of the operator's log that could not be written, for the figures.
    pub log_lost: Arc<AtomicU64>,
    /// Counts the spans that are sent, where they are.
    pub traces: Option<Arc<traces::Figures>>,
    /// How long operations and sessions took, where that is counted.
    pub operations: Option<Arc<Operations>>,
    /// The faults in force.
    pub faults: Arc<FaultSet>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Header fields that are added may hold secrets.
        out.debug_struct("Settings")
            .field("listen", &self.listen)
            .finish_non_exhaustive()
    }
}

/// What changes on the way, beside what has to.
#[derive(Default)]
pub struct Changes {
    /// Fields that are set on every request to the server. Never recorded.
    pub fields: Vec<(HeaderName, HeaderValue)>,
    /// Send `Host` as the client did.
    pub preserve_host: bool,
    /// Change `resource` and `resource_metadata` to our address.
    pub rewrite_auth: bool,
}

/// A gateway at work.
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
    /// What goes on beside the connections: tunnels.
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

    /// The notes of the next exchange.
    pub(crate) fn log(&self, session: Option<SessionKey>) -> Log {
        let (recorder, budget) = (Arc::clone(&self.recorder), Arc::clone(&self.budget));
        Log::new(recorder, self.clock, self.next_conduit(), budget, session)
    }

    /// Why a body is given up before its end: it may be us who cut it off.
    pub(crate) fn left(&self, reason: CloseReason) -> CloseReason {
        let cut = *self.phase.borrow() == Phase::Stopping;
        if cut && reason == CloseReason::ReceiverGone {
            return CloseReason::Failed;
        }
        reason
    }

    /// Whether nothing new is served any more.
    pub(crate) fn is_ending(&self) -> bool {
        *self.phase.borrow() != Phase::Serving
    }

    /// The number of the next exchange, from 1 on.
    fn next_conduit(&self) -> ConduitId {
        ConduitId(
            self.conduits
                .fetch_add(1, Ordering::Relaxed)
                .saturating_add(1),
        )
    }
}
