//! What `record` takes for HTTP.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use http::{HeaderName, HeaderValue};
use tapewright_proxy::http::forward::{Authority, Forward};
use tapewright_proxy::http::gateway::{Changes, Route, Settings};
use tapewright_proxy::http::listen::Limits;
use tapewright_proxy::http::origin::{
    Origin, OriginSettings, OriginUrl, TlsSettings, client_config,
};

use super::listen::{ListenArguments, MinTls};
use crate::report::{self, Mistake};

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
    /// The server, as a client would name it
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) upstream: Option<String>,
    /// Serve as a forward proxy at this address: clients keep the server's own URL
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["listen", "upstream", "command"])]
    pub(crate) forward_proxy: Option<String>,
    /// Read what goes through the forward proxy over TLS, with a certificate authority of
    /// our own that the client has to trust
    #[arg(long, requires = "forward_proxy")]
    intercept: bool,
    /// Set this header on every request to the server; never recorded
    #[arg(long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// The same, with the value of an environment variable
    #[arg(long, value_name = "NAME=VARIABLE")]
    header_env: Vec<String>,
    /// Send `Host` to the server as the client sent it
    #[arg(long)]
    preserve_host: bool,
    /// Put our address into OAuth metadata and challenges of the server
    #[arg(long)]
    rewrite_auth: bool,
    /// Trust these certificates, in PEM, beside those of the system
    #[arg(long, value_name = "FILE")]
    ca_bundle: Option<PathBuf>,
    /// Do not verify the server's certificate
    #[arg(long)]
    insecure_skip_verify: bool,
    /// Speak HTTP/2 with a server that has no TLS
    #[arg(long)]
    upstream_http2: bool,
    /// How long a connection to the server may take to come about, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    connect_timeout: f64,
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
    /// How many connections of clients are served at once
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().connections)]
    max_connections: usize,
    /// How many exchanges are served at once
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().exchanges)]
    max_exchanges: usize,
    /// How long the head of a request may take, and a connection may idle, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().head_time.as_secs_f64())]
    head_timeout: f64,
    /// The longest head of a request, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().head_bytes)]
    max_head: usize,
}

/// A header that is added, and never recorded.
pub(crate) type Field = (HeaderName, HeaderValue);

impl HttpArguments {
    /// The fields that are set on every request to the server.
    pub(crate) fn fields(&self) -> anyhow::Result<Vec<Field>> {
        let mut fields = Vec::new();
        for text in &self.header {
            // The text may be a secret: it is not repeated.
            let mistake = || {
                Mistake::new(
                    "a `--header` is not of the form `Name: value`",
                    "write it like `--header 'Authorization: Bearer …'`",
                )
            };
            let (name, value) = text.split_once(':').ok_or_else(mistake)?;
            fields.push(field(name, value.trim()).ok_or_else(mistake)?);
        }
        for text in &self.header_env {
            let mistake = |what: &str| {
                let what = format!("`--header-env {text}` {what}");
                Mistake::new(what, "write it like `--header-env Authorization=MY_TOKEN`")
            };
            let (name, variable) = text
                .split_once('=')
                .ok_or_else(|| mistake("is not of the form `Name=VARIABLE`"))?;
            let value =
                std::env::var(variable).map_err(|_| mistake("names a variable that is not set"))?;
            fields.push(field(name, &value).ok_or_else(|| mistake("gives no valid header"))?);
        }
        Ok(fields)
    }

    /// How servers are reached.
    pub(crate) fn origin_settings(&self) -> anyhow::Result<OriginSettings> {
        if self.insecure_skip_verify {
            report::note("--insecure-skip-verify: anybody may stand in for the server");
        }
        let tls = client_config(&TlsSettings {
            ca_bundle: self.ca_bundle.clone(),
            skip_verify: self.insecure_skip_verify,
            only_1_3: self.listening.min_tls == MinTls::V1_3,
        })
        .context(Mistake::new(
            "the server cannot be verified",
            "check the file of `--ca-bundle`, or the system's certificates",
        ))?;
        Ok(OriginSettings {
            tls,
            connect_timeout: seconds("--connect-timeout", self.connect_timeout)?,
            http2_prior_knowledge: self.upstream_http2,
        })
    }

    /// The URL of the server.
    pub(crate) fn upstream(&self) -> anyhow::Result<Option<OriginUrl>> {
        let Some(text) = &self.upstream else {
            return Ok(None);
        };
        let url = OriginUrl::parse(text).map_err(|why| {
            // A bad URL may hold a secret: it is not repeated.
            Mistake::new(
                format!("the URL of `--upstream` cannot be used: {why}"),
                "name the server as a client would, such as `http://localhost:3001/mcp`",
            )
        })?;
        Ok(Some(url))
    }

    /// What a gateway in front of a server does.
    pub(crate) fn gateway(&self, route: Route, listen: &str) -> anyhow::Result<Settings> {
        Ok(Settings {
            listen: self.listening.address("--listen", listen)?,
            tls: self.listening.server_tls()?,
            route,
            changes: Changes {
                fields: self.fields()?,
                preserve_host: self.preserve_host,
                rewrite_auth: self.rewrite_auth,
            },
            allow_hosts: self.listening.allow_host.clone(),
            allow_origins: self.listening.allow_origin.clone(),
            limits: self.limits()?,
            drain: self.listening.drain()?,
            metrics: self
                .metrics
                .as_deref()
                .map(|text| self.listening.address("--metrics", text))
                .transpose()?,
            pass_healthz: self.pass_healthz,
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

    /// A forward proxy; its authority is kept in `folder`.
    pub(crate) fn forward(
        &self,
        folder: impl FnOnce() -> anyhow::Result<PathBuf>,
    ) -> anyhow::Result<Route> {
        let authority = if self.intercept {
            let authority = Authority::kept_in(&folder()?)?;
            let path = authority.certificate().display();
            report::note(&format!(
                "clients have to trust {path}:\n  Node    NODE_EXTRA_CA_CERTS={path} NODE_USE_ENV_PROXY=1\n  Python  SSL_CERT_FILE={path}\n  Rust    SSL_CERT_FILE={path}\nand to use HTTP_PROXY and HTTPS_PROXY"
            ));
            Some(Arc::new(authority))
        } else {
            None
        };
        Ok(Route::Forward(Forward::new(
            self.origin_settings()?,
            authority,
        )))
    }

    fn limits(&self) -> anyhow::Result<Limits> {
        Ok(Limits {
            connections: self.max_connections.max(1),
            exchanges: self.max_exchanges,
            head_bytes: self.max_head,
            head_time: seconds("--head-timeout", self.head_timeout)?,
            ..Limits::default()
        })
    }
}

fn field(name: &str, value: &str) -> Option<Field> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some((HeaderName::try_from(name.trim()).ok()?, value))
}

pub(super) fn seconds(option: &str, value: f64) -> anyhow::Result<Duration> {
    Duration::try_from_secs_f64(value).map_err(|_| {
        let what = format!("`{option} {value}` is no time");
        Mistake::new(what, "give a number of seconds, such as 5 or 0.5").into()
    })
}
