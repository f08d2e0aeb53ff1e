//! A running front: the state shared by its exchanges.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::request::Parts;
use http::{StatusCode, header};
use tapewright_engine::policy::Policy;
use tapewright_schemas::event::{ConduitId, InPlaceCause, SessionEnd, SessionKey};
use tokio::sync::{Semaphore, watch};
use tokio_util::task::TaskTracker;

use super::carry;
use super::check::Refusal;
use super::child::{Child, Starter};
use super::exchange::FrontExchange;
use super::pool::{Credential, Pool};
use super::settings::FrontSettings;
use super::switchboard::ProtocolStyle;
use super::table::Table;
use super::token;
use crate::bridge::tools::Tools;
use crate::clock::Clock;
use crate::http::gateway::note_unreadable;
use crate::http::listen::{Client, Guard, Phase};
use crate::http::sessions::SESSIONLESS;
use crate::http::tap::{Budget, Log};
use crate::record::Recorder;
use crate::stdio::notes::Keys;
use crate::upstream::Upstream;

/// A running front.
pub struct Front {
    pub(crate) settings: FrontSettings,
    pub(crate) guard: Guard,
    pub(crate) places: Arc<Semaphore>,
    pub(crate) phase: watch::Receiver<Phase>,
    starter: Arc<Starter>,
    sessions: Mutex<Table<Arc<Child>>>,
    pool: Mutex<Pool<Arc<Child>>>,
    tools: Arc<Mutex<Tools>>,
    // The memory budget for bodies.
    pub(crate) budget: Arc<Budget>,
    conduits: AtomicU32,
    session_keys: AtomicU32,
    hasher: RandomState,
}

impl std::fmt::Debug for Front {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The ids of sessions are credentials.
        out.debug_struct("Front")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// A place for a session whose server is starting, so that a burst does not start more servers than
/// allowed. It is returned when the session is in the table, or its client is gone.
struct SessionSlot<'t>(&'t Mutex<Table<Arc<Child>>>);

impl<'t> SessionSlot<'t> {
    fn new(table: &'t Mutex<Table<Arc<Child>>>) -> Result<Self, Refusal> {
        if lock(table).take() {
            // Only constructed here, since dropping it returns a place.
            return Ok(Self(table));
        }
        Err(unavailable(
            InPlaceCause::TooManySessions,
            "too many sessions are open",
        ))
    }
}

impl Drop for SessionSlot<'_> {
    fn drop(&mut self) {
        lock(self.0).give_back();
    }
}

/// A server that has started, and is ended if its client has left meanwhile: nobody else knows it.
struct Awaited(Option<Arc<Child>>);

impl Awaited {
    fn new(child: Arc<Child>) -> Self {
        Self(Some(child))
    }

    /// The server, which its client now uses.
    fn taken(mut self) -> Arc<Child> {
        let Some(child) = self.0.take() else {
            unreachable!("it is taken once");
        };
        child
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        if let Some(child) = self.0.take() {
            child.end(SessionEnd::NeverBegun);
        }
    }
}

/// The upstream of a front, and how its links are recorded.
pub struct Behind<P> {
    /// The upstream of each link.
    pub upstream: Arc<dyn Upstream>,
    /// Every link is forwarded under a clone of it.
    pub policy: P,
    /// The recorder.
    pub recorder: Arc<Recorder>,
    /// The clock of the recording.
    pub clock: Clock,
}

impl Front {
    /// A front for what is `behind`, which clients reach at `listen`.
    #[must_use]
    pub fn new<P: Policy + Clone + Sync + 'static>(
        settings: FrontSettings,
        listen: SocketAddr,
        behind: Behind<P>,
        phase: watch::Receiver<Phase>,
    ) -> Arc<Self> {
        Arc::new(Self::of(settings, listen, behind, phase))
    }

    fn of<P: Policy + Clone + Sync + 'static>(
        settings: FrontSettings,
        listen: SocketAddr,
        behind: Behind<P>,
        phase: watch::Receiver<Phase>,
    ) -> Self {
        let Behind {
            upstream,
            policy,
            recorder,
            clock,
        } = behind;
        let starter = Starter {
            upstream,
            carry: carry::with(policy),
            recorder,
            clock,
            limit_bytes: settings.limit_bytes,
            alive: TaskTracker::new(),
        };
        Self {
            guard: Guard::new(listen, &settings.allow_hosts, &settings.allow_origins)
                .with_token(settings.client_token.clone()),
            places: Arc::new(Semaphore::new(settings.exchanges)),
            phase,
            starter: Arc::new(starter),
            sessions: Mutex::new(Table::new(settings.sessions)),
            pool: Mutex::new(Pool::new(settings.pool)),
            tools: Arc::default(),
            budget: Arc::new(Budget::new(settings.bodies_bytes)),
            conduits: AtomicU32::new(0),
            session_keys: AtomicU32::new(0),
            hasher: RandomState::new(),
            settings,
        }
    }

    /// Starts to record an exchange.
    pub(crate) fn exchange(&self, client: Client, head: &Parts) -> FrontExchange {
        FrontExchange::begin(self.log(None), client, head)
    }

    /// Records a request whose head could not be read.
    pub(crate) fn unreadable(&self, client: Client, is_too_long: bool) {
        note_unreadable(&self.log(Some(SESSIONLESS)), client, is_too_long);
    }

    fn log(&self, session: Option<SessionKey>) -> Log {
        let recorder = Arc::clone(&self.starter.recorder);
        let budget = Arc::clone(&self.budget);
        let conduit = self.next_conduit();
        Log::new(recorder, self.starter.clock, conduit, budget, session)
    }

    /// Starts a server for a new session and assigns an id to it.
    pub(crate) async fn begin(
        &self,
        manner: ProtocolStyle,
    ) -> Result<(String, Arc<Child>), Refusal> {
        self.is_serving()?;
        if lock(&self.sessions).is_full() {
            self.expire();
        }
        let _place = SessionSlot::new(&self.sessions)?;
        let Some(name) = token::mint() else {
            return Err(unavailable(
                InPlaceCause::Internal,
                "no random numbers from the system",
            ));
        };
        let session = self.session_keys.fetch_add(1, Ordering::Relaxed);
        let session = SessionKey(session.saturating_add(1));
        let child = self.start(manner, session).await?;
        let now = self.starter.clock.elapsed();
        lock(&self.sessions).insert(name.clone(), Arc::clone(&child), now);
        Ok((name, child))
    }

    /// Starts a server.
    pub(crate) async fn start(
        &self,
        manner: ProtocolStyle,
        session: SessionKey,
    ) -> Result<Arc<Child>, Refusal> {
        let keys = Keys {
            conduit: self.next_conduit(),
            session,
        };
        let starter = Arc::clone(&self.starter);
        let alive = starter.alive.token();
        let starting = tokio::task::spawn_blocking(move || {
            let child = starter.start(manner, keys).map(Awaited::new);
            drop(alive);
            child
        });
        match starting.await {
            Ok(Ok(child)) => Ok(child.taken()),
            Ok(Err(error)) => {
                let why = crate::bridge::chain(&error);
                let cause = InPlaceCause::ServerNotStarted;
                Err(Refusal::new(StatusCode::BAD_GATEWAY, cause, &why).about(&why))
            }
            Err(_) => Err(unavailable(
                InPlaceCause::ServerNotStarted,
                "cannot start the server",
            )),
        }
    }

    /// The open session with an id and a protocol style.
    pub(crate) fn session(&self, name: &str, manner: ProtocolStyle) -> Option<Arc<Child>> {
        let child = lock(&self.sessions).get(name, self.starter.clock.elapsed())?;
        let fits = child.board().manner() == manner;
        if fits && child.is_over() {
            lock(&self.sessions).remove(name);
            return None;
        }
        fits.then_some(child)
    }

    /// Ends a session.
    pub(crate) fn end(&self, name: &str, why: SessionEnd) {
        let child = lock(&self.sessions).remove(name);
        if let Some(child) = child {
            child.end(why);
        }
    }

    /// The pool of the stateless era.
    pub(crate) fn pool(&self) -> MutexGuard<'_, Pool<Arc<Child>>> {
        lock(&self.pool)
    }

    /// The tools whose arguments are mirrored in header fields, as far as they were listed.
    pub(crate) fn tools(&self) -> Arc<Mutex<Tools>> {
        Arc::clone(&self.tools)
    }

    /// A hash of the credentials of a request.
    pub(crate) fn credential(&self, client: Client, head: &Parts) -> Credential {
        let mut hasher = self.hasher.build_hasher();
        let shown = [header::AUTHORIZATION, header::COOKIE];
        for value in shown.iter().flat_map(|name| head.headers.get_all(name)) {
            hasher.write(value.as_bytes());
            hasher.write_u8(0);
        }
        let ip = client.address.map(|address| address.ip().to_string());
        hasher.write(ip.unwrap_or_default().as_bytes());
        hasher.finish()
    }

    /// Checks that the front still accepts requests.
    pub(crate) fn is_serving(&self) -> Result<(), Refusal> {
        if *self.phase.borrow() == Phase::Serving {
            return Ok(());
        }
        Err(unavailable(InPlaceCause::ShuttingDown, "shutting down"))
    }

    /// Ends sessions and processes that were not used for a while.
    pub(crate) fn expire(&self) {
        let now = self.starter.clock.elapsed();
        let busy = |child: &Arc<Child>| {
            let board = child.board();
            !board.is_over() && (board.is_read() || board.under_way() > 0)
        };
        let idle = self.settings.idle;
        let expired = lock(&self.sessions).expire(now, idle, busy);
        let rested = lock(&self.pool).expire(now, idle, busy);
        for child in expired.into_iter().chain(rested) {
            child.end(SessionEnd::Idle);
        }
    }

    /// Ends streams that are only waiting, so that a shutdown does not wait for them.
    pub(crate) fn drain(&self) {
        for child in lock(&self.sessions).all() {
            let mut board = child.board();
            if board.manner() == ProtocolStyle::Session {
                board.end_general();
            }
        }
    }

    /// Ends every server, and waits until all of them are gone.
    pub(crate) async fn finish(&self) {
        let sessions = lock(&self.sessions).all();
        let pool = lock(&self.pool).retain(|_| false);
        for child in sessions.into_iter().chain(pool) {
            child.end(SessionEnd::Shutdown);
        }
        self.starter.alive.close();
        self.starter.alive.wait().await;
    }

    /// The time since the start of the recording.
    pub(crate) fn now(&self) -> Duration {
        self.starter.clock.elapsed()
    }

    fn next_conduit(&self) -> ConduitId {
        let before = self.conduits.fetch_add(1, Ordering::Relaxed);
        ConduitId(before.saturating_add(1))
    }
}

/// A refusal because of a temporary condition.
pub(crate) fn unavailable(cause: InPlaceCause, why: &str) -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, cause, why)
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
