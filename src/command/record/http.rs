//! What `record` takes for HTTP.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tapewright_engine::fault::{Book, Reach};
use tapewright_proxy::http::forward::Forward;
use tapewright_proxy::http::gateway::{Changes, Route, Settings};
use tapewright_proxy::http::listen::Limits;
use tapewright_proxy::http::origin::{Destinations, Origin, OriginSettings, OriginUrl};

use super::authority;
use super::listen::{ListenArguments, MinTls};
use crate::command::upstream::{UpstreamArguments, seconds};
use crate::log;
use crate::report::Mistake;

/// Over HTTP.
#[derive(Debug, Args)]
#[command(next_help_heading = "Over HTTP")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct HttpArguments {
    #[command(flatten)]
    pub(crate) listening: ListenArguments,
    #[command(flatten)]
    pub(crate) server: UpstreamArguments,
    /// Serve as a forward proxy at this address: clients keep the server's own URL
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["listen", "upstream"])]
    pub(crate) forward_proxy: Option<String>,
    /// Read what goes through the forward proxy over TLS, with a certificate authority of
    /// our own that the client has to trust
    #[arg(long, requires = "forward_proxy")]
    intercept: bool,
    /// Read only what goes to this host, a name or an address, and to those below it; can be
    /// given several times. The authority can then vouch for no other host
    #[arg(long, value_name = "HOST", requires = "intercept")]
    intercept_host: Vec<String>,
    /// Connect to this host alone, a name or an address; can be given several times. Without
    /// it a forward proxy connects to all but link-local and metadata addresses
    #[arg(long, value_name = "HOST", requires = "forward_proxy")]
    allow_destination: Vec<String>,
    /// Send `Host` to the server as the client sent it
    #[arg(long)]
    preserve_host: bool,
    /// Put our address into OAuth metadata and challenges of the server
    #[arg(long)]
    rewrite_auth: bool,
    /// After how long without a word the files of a session in a folder are finished, in
    /// seconds; its connections stay
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0)]
    session_idle: f64,
    /// Serve figures for Prometheus at this address
    #[arg(long, value_name = "ADDR")]
    metrics: Option<String>,
    /// Leave `/healthz` to the server
    #[arg(long)]
    pass_healthz: bool,
    /// How many connections of clients are served at once; more take the places of those that
    /// idle longest
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().connections)]
    max_connections: usize,
    /// How many exchanges are served at once
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().exchanges)]
    max_exchanges: usize,
    /// How long the head of a request may take, and a connection may idle, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().head_time.as_secs_f64())]
    head_timeout: f64,
    /// How long a client may say nothing in the middle of a request's body, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().body_time.as_secs_f64())]
    body_timeout: f64,
    /// The longest head of a request, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().head_bytes)]
    max_head: usize,
}

impl HttpArguments {
    /// How servers are reached.
    pub(crate) fn origin_settings(&self) -> anyhow::Result<OriginSettings> {
        self.server
            .origin_settings(self.listening.min_tls == MinTls::V1_3)
    }

    /// What a gateway in front of a server does.
    pub(crate) fn gateway(&self, route: Route, listen: &str) -> anyhow::Result<Settings> {
        let (place, tls) = self.listening.place(listen)?;
        let client_token = self.listening.client_token()?;
        let is_forward = matches!(route, Route::Forward(_));
        if is_forward && !place.is_local() && client_token.is_none() {
            let what = "a forward proxy that is open to other machines needs `--client-token`";
            let hint = "whoever reaches it reaches everything that this machine does; add `--client-token VARIABLE`";
            return Err(Mistake::new(what, hint).into());
        }
        Ok(Settings {
            listen: place,
            tls,
            route,
            changes: Changes {
                fields: self.server.fields()?,
                preserve_host: self.preserve_host,
                rewrite_auth: self.rewrite_auth,
            },
            allow_hosts: self.listening.allow_host.clone(),
            allow_origins: self.listening.allow_origin.clone(),
            client_token,
            limits: self.limits()?,
            drain: self.listening.drain()?,
            metrics: self
                .metrics
                .as_deref()
                .map(|text| self.listening.address("--metrics", text))
                .transpose()?,
            pass_healthz: self.pass_healthz,
            log_lost: log::lost(),
            faults: Arc::new(Book::new(0, "", Reach::Http)),
        })
    }

    /// After how long without a word a session's files are finished.
    pub(crate) fn session_idle(&self) -> anyhow::Result<Duration> {
        seconds("--session-idle", self.session_idle)
    }

    /// The connections to the server.
    pub(crate) fn reverse(&self, url: OriginUrl) -> anyhow::Result<Route> {
        Ok(Route::Reverse(Origin::new(url, self.origin_settings()?)))
    }

    /// A forward proxy; `tells` what its clients have to trust, where nobody else does.
    pub(crate) fn forward(&self, tells: bool) -> anyhow::Result<Route> {
        let authority = self
            .intercept
            .then(|| authority::open(&self.intercept_host, tells))
            .transpose()?
            .map(Arc::new);
        let settings = OriginSettings {
            destinations: Some(Destinations::only(&self.allow_destination)),
            ..self.origin_settings()?
        };
        Ok(Route::Forward(Forward::new(settings, authority)))
    }

    /// Whether a forward proxy reads what passes it over TLS.
    pub(crate) fn intercepts(&self) -> bool {
        self.intercept
    }

    /// Whether it reads what goes to any host.
    pub(crate) fn reads_all(&self) -> bool {
        self.intercept && self.intercept_host.is_empty()
    }

    fn limits(&self) -> anyhow::Result<Limits> {
        Ok(Limits {
            connections: self.max_connections.max(1),
            exchanges: self.max_exchanges,
            head_bytes: self.max_head,
            head_time: seconds("--head-timeout", self.head_timeout)?,
            body_time: seconds("--body-timeout", self.body_timeout)?,
            ..Limits::default()
        })
    }
}
