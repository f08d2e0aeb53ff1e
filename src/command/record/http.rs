//! The HTTP options of `record`.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tapewright_engine::fault::{FaultSet, TransportSupport};
use tapewright_proxy::http::forward::Forward;
use tapewright_proxy::http::gateway::{Changes, Route, Settings};
use tapewright_proxy::http::listen::Limits;
use tapewright_proxy::http::origin::{Destinations, Origin, OriginSettings, OriginUrl};

use super::authority;
use super::listen::{ListenArguments, MinTls};
use super::size;
use crate::command::behind;
use crate::command::count;
use crate::command::duration;
use crate::command::upstream::UpstreamArguments;
use crate::log;
use crate::report::Mistake;

/// Over HTTP.
#[derive(Debug, Args)]
#[command(next_help_heading = "Over HTTP")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
#[command(next_help_heading = "HTTP")]
pub(crate) struct HttpArguments {
    #[command(flatten)]
    pub(crate) listening: ListenArguments,
    /// Listen as a forward proxy on this address
    ///
    /// Clients keep the URL of the server.
    #[arg(long, value_name = "ADDR", groups = ["clients", "remote"], conflicts_with_all = ["listen", "upstream"])]
    pub(crate) forward_proxy: Option<String>,
    /// Decrypt TLS that passes the forward proxy
    ///
    /// Uses a certificate authority that clients must trust.
    #[arg(long, requires = "forward_proxy")]
    intercept: bool,
    /// Decrypt only this host and its subdomains; repeatable
    ///
    /// The certificate authority is then limited to these hosts.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "HOST",
        requires = "intercept"
    )]
    intercept_host: Vec<String>,
    /// Connect only to this host; repeatable [default: all hosts except link-local and
    /// metadata addresses]
    #[arg(
        hide_short_help = true,
        long,
        value_name = "HOST",
        requires = "forward_proxy"
    )]
    allow_destination: Vec<String>,
    /// Forward the client's `Host` header unchanged
    #[arg(hide_short_help = true, long, requires = "clients")]
    preserve_host: bool,
    /// Replace the server's address by ours in OAuth metadata and challenges
    #[arg(hide_short_help = true, long, requires = "clients")]
    rewrite_auth: bool,
    /// Close the files of a session after this time without traffic
    ///
    /// Only for a folder; connections stay open.
    #[arg(hide_short_help = true, long, requires = "clients", value_name = "DURATION", default_value = "5m", value_parser = duration::positive)]
    session_idle: Duration,
    /// Serve Prometheus metrics on this address
    #[arg(
        hide_short_help = true,
        long,
        requires = "clients",
        value_name = "ADDR"
    )]
    metrics: Option<String>,
    /// Forward `/healthz` to the server
    #[arg(hide_short_help = true, long, requires = "clients")]
    pass_healthz: bool,
    /// Limit of open client connections
    ///
    /// New connections replace those that have been idle longest.
    #[arg(hide_short_help = true, long, requires = "clients", value_name = "COUNT", default_value_t = Limits::default().connections, value_parser = count::positive)]
    max_connections: usize,
    /// Limit of concurrent HTTP exchanges
    #[arg(hide_short_help = true, long, requires = "clients", value_name = "COUNT", default_value_t = Limits::default().exchanges, value_parser = count::positive)]
    max_exchanges: usize,
    /// Time limit for a request head, and for idle connections
    #[arg(hide_short_help = true, long, requires = "clients", value_name = "DURATION", default_value = "2m", value_parser = duration::positive)]
    head_timeout: Duration,
    /// Time limit for a pause within a request body
    #[arg(hide_short_help = true, long, requires = "clients", value_name = "DURATION", default_value = "1m", value_parser = duration::positive)]
    body_timeout: Duration,
    /// Size limit for a request head
    #[arg(hide_short_help = true, long, requires = "clients", value_name = "SIZE", default_value = "64KiB", value_parser = size::parse)]
    max_head: usize,
    #[command(flatten)]
    pub(crate) server: UpstreamArguments,
}

impl HttpArguments {
    /// How to reach servers.
    pub(crate) fn origin_settings(&self) -> anyhow::Result<OriginSettings> {
        self.server
            .origin_settings(self.listening.min_tls == MinTls::V1_3)
    }

    /// The settings of a gateway in front of a server.
    pub(crate) fn gateway(&self, route: Route, listen: &str) -> anyhow::Result<Settings> {
        let (place, tls) = self.listening.place(listen)?;
        let client_token = self.listening.client_token()?;
        let is_forward = matches!(route, Route::Forward(_));
        if is_forward && !place.is_local() && client_token.is_none() {
            let what = "`--forward-proxy` on a public address requires `--client-token`";
            let hint = "everyone who can reach it can use this machine's network; add `--client-token VARIABLE`";
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
            limits: self.limits(),
            drain: self.listening.drain(),
            metrics: self
                .metrics
                .as_deref()
                .map(|text| self.listening.address("--metrics", text))
                .transpose()?,
            pass_healthz: self.pass_healthz,
            log_lost: log::lost(),
            traces: behind::figures(),
            operations: behind::operations(),
            faults: Arc::new(FaultSet::new(0, "", TransportSupport::Http)),
        })
    }

    /// How long a session may be idle before its files are finished.
    pub(crate) fn session_idle(&self) -> Duration {
        self.session_idle
    }

    /// Whether metrics are served.
    pub(super) fn has_metrics(&self) -> bool {
        self.metrics.is_some()
    }

    /// The connections to the server.
    pub(crate) fn reverse(&self, url: OriginUrl) -> anyhow::Result<Route> {
        Ok(Route::Reverse(Origin::new(url, self.origin_settings()?)))
    }

    /// A forward proxy; with `tells`, it prints which certificate clients must trust.
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

    /// Whether a forward proxy decrypts TLS.
    pub(crate) fn intercepts(&self) -> bool {
        self.intercept
    }

    /// Whether it decrypts connections to any host.
    pub(crate) fn reads_all(&self) -> bool {
        self.intercept && self.intercept_host.is_empty()
    }

    fn limits(&self) -> Limits {
        Limits {
            connections: self.max_connections,
            exchanges: self.max_exchanges,
            head_bytes: self.max_head,
            head_time: self.head_timeout,
            body_time: self.body_timeout,
            ..Limits::default()
        }
    }
}
