//! A running front with a tape.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tapewright_engine::policy::Transparent;
use tapewright_proxy::clock::Clock;
use tapewright_proxy::front::{Behind, Front, FrontSettings, serve};
use tapewright_proxy::http::listen::{Limits, Listener, Phase};
use tapewright_proxy::record::{Durability, Recorder, Settings, Target, WhenFull};
use tapewright_proxy::upstream::Upstream;
use tapewright_schemas::redact::{self, Rules};
use tapewright_schemas::tape::{Header, VERSION};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Longer than any step of a test takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The name of the tape in the folder.
pub(crate) const TAPE: &str = "t.tape.jsonl";

/// A running front.
pub(crate) struct FrontServer {
    pub(crate) address: SocketAddr,
    phase: watch::Sender<Phase>,
    served: Option<JoinHandle<()>>,
    recorder: Arc<Recorder>,
    pub(crate) runtime: Runtime,
    pub(crate) folder: tempfile::TempDir,
}

impl FrontServer {
    pub(crate) fn of(upstream: impl Upstream) -> Self {
        Self::with(upstream, FrontSettings::default())
    }

    pub(crate) fn with(upstream: impl Upstream, settings: FrontSettings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::start();
        let recorder = Recorder::start(recording(&folder.path().join(TAPE)), clock);
        let recorder = Arc::new(recorder.unwrap());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let (phase, phases) = watch::channel(Phase::Serving);
        let (serving, address) = runtime.block_on(async {
            let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
            let listener = Listener::bind(any, None, Limits::default()).await.unwrap();
            let address = listener.address().unwrap();
            let behind = Behind {
                upstream: Arc::new(upstream),
                policy: Transparent,
                recorder: Arc::clone(&recorder),
                clock,
            };
            let front = Front::new(settings, address, behind, phases.clone());
            let serving = async move { serve(listener, &front, phases).await };
            (serving, address)
        });
        let served = runtime.spawn(serving);
        Self {
            address,
            phase,
            served: Some(served),
            recorder,
            runtime,
            folder,
        }
    }

    pub(crate) fn shut(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    /// Waits until the front has ended.
    pub(crate) fn ends(&mut self) {
        let served = self.served.take().expect("it ends once");
        let ended = self
            .runtime
            .block_on(async { tokio::time::timeout(LIMIT, served).await });
        ended.expect("it ends in time").unwrap();
    }

    /// Ends the front; returns the tape.
    pub(crate) fn tape(mut self) -> String {
        self.shut(Phase::Stopping);
        self.ends();
        self.recorder.finish();
        std::fs::read_to_string(self.folder.path().join(TAPE)).unwrap()
    }
}

fn recording(tape: &Path) -> Settings {
    Settings {
        target: Target::tape_only(tape),
        durability: Durability::Queue,
        when_full: WhenFull::Wait,
        limit_bytes: 64 << 20,
        header: Header {
            tape: VERSION.to_owned(),
            ..Header::default()
        },
        command: Vec::new(),
        rules: Box::new(|| Arc::new(Rules::new(&redact::Settings::default()).unwrap())),
        judging: None,
        operations: None,
    }
}
