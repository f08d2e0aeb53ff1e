//! Runs a front from its start to its end.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use tapewright_engine::policy::Policy;
use tapewright_schemas::event::Exit;
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval};

use super::settings::FrontSettings;
use super::shared::{Behind, Front};
use crate::agent::Agent;
use crate::http::body::Outbound;
use crate::http::gateway::{Outcome, ServeError, bind, ending_signals, prepare_agent, tick};
use crate::http::listen::{Client, Handler, Limits, ListenAddress, Listener, Phase, ReachableAt};
use crate::system::process::raise_file_limit;

/// Serves what is `behind` at `place` until a signal ends it. `listening` is called as soon as
/// clients can connect.
///
/// The recorder is left running: the caller finishes it.
pub fn run<P: Policy + Clone + Sync + 'static>(
    settings: FrontSettings,
    place: ListenAddress,
    tls: Option<Arc<rustls::ServerConfig>>,
    behind: Behind<P>,
    listening: impl FnOnce(&ReachableAt),
) -> Result<Outcome, ServeError> {
    let ends = ending_signals()?;
    let at = At { place, tls };
    serve_until(settings, at, behind, ends, |reached| {
        listening(reached);
        Ok(())
    })
}

/// Serves while an agent runs, which `agent` creates from the front's address; returns how the
/// agent ended, if known. The agent receives the signals.
///
/// The recorder is left running: the caller finishes it.
pub fn run_beside<P: Policy + Clone + Sync + 'static>(
    settings: FrontSettings,
    place: ListenAddress,
    tls: Option<Arc<rustls::ServerConfig>>,
    behind: Behind<P>,
    agent: impl FnOnce(&ReachableAt) -> Agent,
) -> Result<Option<Exit>, ServeError> {
    let at = At { place, tls };
    prepare_agent(agent)?.until_over(|ends, start| serve_until(settings, at, behind, ends, start))
}

/// The address of a front, and its certificate.
struct At {
    place: ListenAddress,
    tls: Option<Arc<rustls::ServerConfig>>,
}

/// Serves until a value arrives on `ends`.
fn serve_until<P: Policy + Clone + Sync + 'static>(
    settings: FrontSettings,
    at: At,
    behind: Behind<P>,
    mut ends: mpsc::Receiver<i32>,
    listening: impl FnOnce(&ReachableAt) -> Result<(), ServeError>,
) -> Result<Outcome, ServeError> {
    raise_file_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("http")
        .build()?;
    let outcome = runtime.block_on(async {
        let listener = bind(at.place, at.tls, Limits::default()).await?;
        let (phase, phases) = watch::channel(Phase::Serving);
        let drain = settings.drain;
        let address = listener.address()?;
        let (recorder, clock) = (Arc::clone(&behind.recorder), behind.clock);
        let front = Front::new(settings, address, behind, phases.clone());
        listening(&listener.reached()?)?;
        let ended_by = OnceCell::new();
        let shutdown = async {
            if let Some(signal) = ends.recv().await {
                ended_by.set(signal).ok();
            }
            phase.send_replace(Phase::Draining);
            tokio::select! {
                () = tokio::time::sleep(drain) => {}
                // A second signal ends it immediately.
                _ = ends.recv() => {}
            }
            phase.send_replace(Phase::Stopping);
        };
        let mut shutdown = std::pin::pin!(shutdown);
        let ticks = tick(recorder, clock, phases.clone());
        let served = async { tokio::join!(serve(listener, &front, phases), ticks) };
        let mut served = std::pin::pin!(served);
        tokio::select! {
            () = &mut shutdown => {
                served.await;
            }
            // Everything in progress finished before the deadline.
            _ = &mut served => {}
        }
        let signal = ended_by.get().copied();
        Ok(Outcome {
            signal: signal.unwrap_or(crate::system::Signal::TERM.as_raw()),
        })
    });
    runtime.shutdown_timeout(Duration::from_millis(100));
    outcome
}

/// Serves clients on `listener` until `phase` changes; returns when no connection and no server is
/// left.
pub async fn serve(listener: Listener, front: &Arc<Front>, phase: watch::Receiver<Phase>) {
    let mut draining = phase.clone();
    let keeping = async {
        let idle = front.settings.idle;
        let mut tick = interval((idle / 4).clamp(SOONEST, LATEST));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = tick.tick() => front.expire(),
                _ = draining.wait_for(|phase| *phase != Phase::Serving) => break,
            }
        }
        front.drain();
    };
    tokio::join!(listener.serve(Served(Arc::clone(front)), phase), keeping);
    front.finish().await;
}

/// The minimum and maximum interval of the search for unused sessions.
const SOONEST: Duration = Duration::from_millis(50);
const LATEST: Duration = Duration::from_secs(30);

/// Answers the clients of a front.
#[derive(Clone)]
struct Served(Arc<Front>);

impl Handler for Served {
    async fn handle(&self, client: Client, request: Request<Incoming>) -> Response<Outbound> {
        self.0.answer(client, request).await
    }

    fn unreadable(&self, client: Client, is_too_long: bool) {
        self.0.unreadable(client, is_too_long);
    }
}
