//! A gateway in front of a server on HTTP that injects faults.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use tapewright_config::suite::http::{Http, Tls, TlsVersion};
use tapewright_config::suite::server::UrlServer;
use tapewright_engine::fault::{FaultSet, TransportSupport};
use tapewright_proxy::clock::Clock;
use tapewright_proxy::http::gateway::{Background, Changes, Route, Settings};
use tapewright_proxy::http::listen::{Limits, ReachableAt};
use tapewright_proxy::http::origin::{Origin, OriginSettings, OriginUrl};
use tapewright_proxy::record::Recorder;

use crate::command::faults;
use crate::command::record::target;
use crate::report;
use crate::suite::live::servers::{self, LONGEST_MESSAGE};
use crate::suite::live::{Options, record};

/// How many gateways this process has started.
static STARTED: AtomicU64 = AtomicU64::new(0);

/// A gateway that is not started yet.
pub(super) struct Making<'s> {
    name: &'s str,
    clock: Clock,
    /// The faults to inject.
    pub(super) fault_set: FaultSet,
}

/// A gateway that injects faults, until it is dropped.
pub(in crate::suite::live) struct Faulty {
    serving: Option<Background>,
    recorder: Arc<Recorder>,
    /// Path and query of the server's URL.
    path: String,
}

impl<'s> Making<'s> {
    /// For the server with this name.
    pub(super) fn new(name: &'s str) -> Self {
        let clock = Clock::start();
        Self {
            name,
            clock,
            fault_set: FaultSet::new(faults::chance(clock), name, TransportSupport::Http),
        }
    }

    /// Starts it, once the server is ready.
    pub(super) fn start(self, url: &UrlServer, options: &Options) -> anyhow::Result<Faulty> {
        let name = report::safe(self.name);
        let (place, settings) = servers::ready(&name, url)?;
        let path = place.path.clone();
        let recorder = Arc::new(self.recorder(options)?);
        let settings = gateway(place, settings, self.fault_set);
        let started = Background::start(settings, &recorder, self.clock);
        let serving = started
            .inspect_err(|_| recorder.abandon())
            .with_context(|| format!("no gateway before the server `{name}`"))?;
        Ok(Faulty {
            serving: Some(serving),
            recorder,
            path,
        })
    }

    /// A recorder for the folder of recordings; one that keeps nothing if there are no faults.
    fn recorder(&self, options: &Options) -> anyhow::Result<Recorder> {
        if self.fault_set.entries().is_empty() {
            return Ok(Recorder::off(LONGEST_MESSAGE, self.clock));
        }
        // Several may start within one second.
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let file = format!("{}-{number}", self.name);
        let target = target::of(None, &file, self.clock.created)?;
        let mut settings = record::settings(target, self.name, "http", &options.rules, self.clock);
        faults::note(&self.fault_set, None, &mut settings.header);
        let recorder = Recorder::start(settings, self.clock);
        recorder.context("cannot start the recorder")
    }
}

impl Faulty {
    /// The URL of the server behind the gateway.
    pub(super) fn url(&self) -> String {
        let origin = match self.serving.as_ref().map(Background::reached) {
            Some(ReachableAt::Origin(origin)) => origin.as_str(),
            _ => "",
        };
        format!("{origin}{}", self.path)
    }

    /// The server at its new address. The gateway verifies its certificate.
    pub(super) fn server(&self, url: &UrlServer) -> UrlServer {
        UrlServer {
            url: self.url(),
            wait_for_ready: None,
            http: Http {
                tls: Tls {
                    insecure_skip_verify: false,
                    ca_bundle: None,
                    min_version: TlsVersion::V1_2,
                },
                ..url.http.clone()
            },
            ..url.clone()
        }
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        drop(self.serving.take());
        // Its tape says what it could not write.
        drop(self.recorder.finish());
    }
}

/// A gateway that changes messages by faults only.
fn gateway(place: OriginUrl, settings: OriginSettings, fault_set: FaultSet) -> Settings {
    Settings {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into(),
        tls: None,
        route: Route::Reverse(Origin::new(place, settings)),
        changes: Changes::default(),
        allow_hosts: Vec::new(),
        allow_origins: Vec::new(),
        client_token: None,
        limits: Limits::default(),
        // Its only client has left.
        drain: Duration::ZERO,
        metrics: None,
        pass_healthz: true,
        log_lost: Arc::new(AtomicU64::new(0)),
        traces: None,
        operations: None,
        faults: Arc::new(fault_set),
    }
}
