//! Runs a gateway from its start to its end.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use rustls::ServerConfig;
use tapewright_schemas::event::{Exit, InPlace, InPlaceCause};
use tokio::runtime::Builder;
use tokio::sync::{mpsc, watch};

use super::front::{Front, health};
use super::ours::LocalAnswer;
use super::pending_agent::prepare_agent;
use super::{Gateway, Settings};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::http::body::Outbound;
use crate::http::listen::{
    Client, Guard, Handler, Limits, ListenAddress, Listener, Phase, ReachableAt, Workers,
};
use crate::http::metrics::Reading;
use crate::record::{Durability, Recorder};
use crate::system::process::raise_file_limit;
use crate::system::{Signal, signals};

/// How a gateway ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The signal that ended it.
    pub signal: i32,
}

/// Why a gateway could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Listening on the address failed.
    #[error("cannot listen on {place}")]
    Listen {
        /// The address.
        place: ListenAddress,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The agent cannot be started.
    #[error("cannot start `{program}`")]
    Agent {
        /// Its program.
        program: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A thread or a signal handler could not be set up.
    #[error("cannot start the gateway")]
    Setup(#[from] io::Error),
}

/// Serves until a signal ends it. `listening` is called with its address and that of the metrics as
/// soon as clients can connect.
///
/// The recorder is left running: the caller finishes it.
pub fn run(
    settings: Settings,
    recorder: &Arc<Recorder>,
    clock: Clock,
    listening: impl FnOnce(&ReachableAt, Option<SocketAddr>),
) -> Result<Outcome, ServeError> {
    let signals = ending_signals()?;
    serve_until(settings, recorder, clock, signals, |reached, figures| {
        listening(reached, figures);
        Ok(())
    })
}

/// Serves while an agent runs, which `agent` creates from the gateway's address; returns how the
/// agent ended, if known. The agent receives the signals.
///
/// The recorder is left running: the caller finishes it.
pub fn run_beside(
    settings: Settings,
    recorder: &Arc<Recorder>,
    clock: Clock,
    agent: impl FnOnce(&ReachableAt) -> Agent,
) -> Result<Option<Exit>, ServeError> {
    prepare_agent(agent)?.until_over(|ends, start| {
        serve_until(settings, recorder, clock, ends, |reached, _| start(reached))
    })
}

/// Serves until a value arrives on `ends`, or an error prevents it.
pub(super) fn serve_until(
    settings: Settings,
    recorder: &Arc<Recorder>,
    clock: Clock,
    ends: mpsc::Receiver<i32>,
    listening: impl FnOnce(&ReachableAt, Option<SocketAddr>) -> Result<(), ServeError>,
) -> Result<Outcome, ServeError> {
    raise_file_limit();
    // Under `synced`, exchanges wait for the disk while others continue; a body that a fault delays
    // is read on while it waits. Both require a multi-threaded runtime.
    let is_spread = recorder.durability() == Durability::Synced || settings.faults.is_open();
    let (mut builder, workers) = if is_spread {
        (Builder::new_multi_thread(), Workers::none())
    } else {
        (Builder::new_current_thread(), Workers::start()?)
    };
    let runtime = builder.enable_all().thread_name("http").build()?;
    let serving = serve(settings, recorder, clock, ends, &workers, listening);
    let outcome = runtime.block_on(serving);
    // Nothing important is left: everything in progress has ended or was cut off.
    runtime.shutdown_timeout(Duration::from_millis(100));
    outcome
}

/// The signals that end tapewright, as they arrive.
pub(crate) fn ending_signals() -> io::Result<mpsc::Receiver<i32>> {
    let (notify, arrived) = sync_channel(16);
    signals::forward(notify, |signal| signal)?;
    let (pass_on, signals) = mpsc::channel(16);
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for signal in arrived.iter().filter(|signal| signals::is_ending(*signal)) {
                // Signals beyond the capacity are ignored.
                pass_on.try_send(signal).ok();
            }
        })?;
    Ok(signals)
}

/// Listens on an address.
pub(crate) async fn bind(
    place: ListenAddress,
    tls: Option<Arc<ServerConfig>>,
    limits: Limits,
) -> Result<Listener, ServeError> {
    let bound = Listener::bind(place.clone(), tls, limits).await;
    bound.map_err(|source| ServeError::Listen { place, source })
}

async fn serve(
    settings: Settings,
    recorder: &Arc<Recorder>,
    clock: Clock,
    mut signals: mpsc::Receiver<i32>,
    workers: &Workers,
    listening: impl FnOnce(&ReachableAt, Option<SocketAddr>) -> Result<(), ServeError>,
) -> Result<Outcome, ServeError> {
    let listener = bind(
        settings.listen.clone(),
        settings.tls.clone(),
        settings.limits,
    )
    .await?;
    let figures = match settings.metrics {
        Some(address) => Some(bind(address.into(), None, settings.limits).await?.ours()),
        None => None,
    };
    let address = listener.address()?;
    let drain = settings.drain;
    let (phase, phases) = watch::channel(Phase::Serving);
    let told = Arc::clone(recorder);
    let gateway = Gateway::new(settings, address, told, clock, phases.clone());
    let gateway = Arc::new(gateway);
    let figures_address = figures.as_ref().map(Listener::address).transpose()?;
    listening(&listener.reached()?, figures_address)?;

    let served = listener.serve_on(workers, Front(Arc::clone(&gateway)), phases.clone());
    let figures = async {
        if let Some(listener) = figures {
            let figures = Figures::at(&gateway, &listener);
            listener.serve(figures, phases.clone()).await;
        }
    };
    let ticks = tick(Arc::clone(recorder), clock, phases.clone());
    let served = std::pin::pin!(async {
        tokio::join!(served, figures, ticks);
        gateway.tasks.close();
        gateway.tasks.wait().await;
    });
    let signal = until_ended(served, &mut signals, &phase, drain).await;
    Ok(Outcome {
        signal: signal.unwrap_or(Signal::TERM.as_raw()),
    })
}

/// Serves until a signal arrives, and then until the deadline for everything in progress; returns
/// the signal.
async fn until_ended(
    mut served: Pin<&mut impl Future<Output = ()>>,
    signals: &mut mpsc::Receiver<i32>,
    phase: &watch::Sender<Phase>,
    drain: Duration,
) -> Option<i32> {
    let signal = tokio::select! {
        signal = signals.recv() => signal,
        () = &mut served => None,
    };
    phase.send_replace(Phase::Draining);
    let over = async {
        tokio::select! {
            () = tokio::time::sleep(drain) => {}
            // A second signal ends it immediately.
            _ = signals.recv() => {}
        }
    };
    tokio::select! {
        // Everything in progress finished before the deadline.
        () = &mut served => {}
        () = over => {
            phase.send_replace(Phase::Stopping);
            served.await;
        }
    }
    signal
}

/// Regularly updates the recorder's time, so that it can finish the files of silent sessions, and
/// detect hangs.
pub(crate) async fn tick(recorder: Arc<Recorder>, clock: Clock, mut phase: watch::Receiver<Phase>) {
    let beat = recorder.beat().map_or(BEAT, |beat| beat.min(BEAT));
    let mut beats = tokio::time::interval(beat);
    loop {
        tokio::select! {
            _ = beats.tick() => recorder.tick(clock.now()),
            _ = phase.wait_for(|phase| *phase != Phase::Serving) => return,
        }
    }
}

/// How often the recorder's time is updated.
const BEAT: Duration = Duration::from_millis(500);

/// Serves the metrics of a gateway.
#[derive(Clone)]
struct Figures(Arc<Gateway>, Guard);

impl Figures {
    fn at(gateway: &Arc<Gateway>, listener: &Listener) -> Self {
        let address = listener.address();
        let guard = address.map_or_else(|_| gateway.guard.clone(), |it| gateway.guard.at(it));
        Self(Arc::clone(gateway), guard)
    }
}

impl Handler for Figures {
    async fn handle(&self, _client: Client, request: Request<Incoming>) -> Response<Outbound> {
        let Self(gateway, guard) = self;
        if let Err(refused) = guard.check(request.method(), request.uri(), request.headers()) {
            return LocalAnswer::refused(refused).response();
        }
        match request.uri().path() {
            "/healthz" => health(),
            "/metrics" => {
                let reading = Reading {
                    sessions: gateway.sessions.count(),
                    recorder: gateway.recorder.figures(),
                    log_lost: gateway.log_lost.load(Ordering::Relaxed),
                    traces: gateway.traces.as_deref(),
                    operations: gateway.operations.as_deref(),
                };
                let text = gateway.metrics.render(reading);
                let mut response = Response::new(Outbound::whole(text.into()));
                let kind = http::HeaderValue::from_static("text/plain; version=0.0.4");
                response
                    .headers_mut()
                    .insert(http::header::CONTENT_TYPE, kind);
                response
            }
            _ => {
                let ours = LocalAnswer::new(
                    StatusCode::NOT_FOUND,
                    InPlace::NotFound,
                    InPlaceCause::NoPath,
                    "figures are at /metrics",
                );
                ours.response()
            }
        }
    }
}
