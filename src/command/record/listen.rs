//! The addresses for clients on HTTP, for `record` and `replay`.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::{ArgGroup, Args, ValueEnum};
use tapewright_proxy::front::FrontSettings;
use tapewright_proxy::http::listen::{ClientToken, ListenAddress, server_config};

use crate::command::duration;
use crate::files::output;
use crate::report::{Mistake, safe};

/// Options for clients on HTTP. What only concerns such clients requires the group `clients`: the options with which there can be any.
#[derive(Debug, Args)]
#[command(next_help_heading = "HTTP", group = ArgGroup::new("clients").multiple(true))]
pub(crate) struct ListenArguments {
    /// Listen for HTTP clients on this address
    ///
    /// A port, `HOST:PORT`, or `unix:PATH` for a socket that only you can open. Port 0
    /// picks a free port. The address is printed to stdout as a line of JSON.
    #[arg(long, value_name = "ADDR", group = "clients")]
    pub(crate) listen: Option<String>,
    /// Allow addresses that other machines can reach
    #[arg(hide_short_help = true, long, requires = "clients")]
    danger_listen_anywhere: bool,
    /// Accept this host name in `Host`; repeatable
    #[arg(
        hide_short_help = true,
        long,
        requires = "clients",
        value_name = "NAME"
    )]
    pub(super) allow_host: Vec<String>,
    /// Accept pages of this origin; repeatable
    #[arg(
        hide_short_help = true,
        long,
        requires = "clients",
        value_name = "ORIGIN"
    )]
    pub(super) allow_origin: Vec<String>,
    /// Require the token in this environment variable from clients
    ///
    /// Clients send it in `Proxy-Authorization`.
    #[arg(
        hide_short_help = true,
        long,
        requires = "clients",
        value_name = "VARIABLE"
    )]
    client_token: Option<String>,
    /// Oldest TLS version to accept
    #[arg(hide_short_help = true, long, value_enum, value_name = "VERSION", default_value_t = MinTls::V1_2)]
    pub(super) min_tls: MinTls,
    /// Certificate chain to listen with, in PEM
    #[arg(
        hide_short_help = true,
        long,
        value_name = "FILE",
        requires = "tls_key"
    )]
    tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM
    #[arg(
        hide_short_help = true,
        long,
        value_name = "FILE",
        requires = "tls_cert"
    )]
    tls_key: Option<PathBuf>,
    /// Time for open exchanges to finish after a signal to stop
    ///
    /// A second signal ends them at once.
    #[arg(hide_short_help = true, long, requires = "clients", value_name = "DURATION", default_value = "5s", value_parser = duration::positive)]
    drain_timeout: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum MinTls {
    /// TLS 1.2
    #[value(name = "1.2")]
    V1_2,
    /// TLS 1.3
    #[value(name = "1.3")]
    V1_3,
}

impl ListenArguments {
    /// The settings of a gateway in front of processes, or of a recording.
    pub(crate) fn front(&self, limit_bytes: usize) -> anyhow::Result<FrontSettings> {
        Ok(FrontSettings {
            allow_hosts: self.allow_host.clone(),
            allow_origins: self.allow_origin.clone(),
            client_token: self.client_token()?,
            limit_bytes: limit_bytes.max(FrontSettings::default().limit_bytes),
            drain: self.drain(),
            ..FrontSettings::default()
        })
    }

    /// Where clients are served, and with which certificate.
    pub(crate) fn place(
        &self,
        listen: &str,
    ) -> anyhow::Result<(ListenAddress, Option<Arc<rustls::ServerConfig>>)> {
        let Some(path) = listen.strip_prefix("unix:") else {
            let address = self.address("--listen", listen)?;
            return Ok((address.into(), self.server_tls()?));
        };
        let mistake = |why: &str, hint: &str| {
            Err(Mistake::new(format!("`--listen {}` {why}", safe(listen)), hint).into())
        };
        if path.is_empty() {
            return mistake(
                "is not a path",
                "write it like `--listen unix:/run/user/1000/mcp`",
            );
        }
        if self.tls_cert.is_some() {
            let hint = "omit `--tls-cert`: a local socket needs no TLS";
            return mistake("is served without TLS", hint);
        }
        output::links(Path::new(path))?;
        Ok((ListenAddress::Unix(path.into()), None))
    }

    /// The token that every client must send. It comes from the environment, since every user of
    /// the machine can read a command line.
    pub(super) fn client_token(&self) -> anyhow::Result<Option<ClientToken>> {
        let Some(variable) = &self.client_token else {
            return Ok(None);
        };
        let mistake = |why: &str| {
            let what = format!("invalid `--client-token {}`: {why}", safe(variable));
            let hint = "set the variable to a long random text, such as the output of `openssl rand -hex 32`";
            Mistake::new(what, hint)
        };
        let text = std::env::var(variable).map_err(|_| mistake("the variable is not set"))?;
        let token = ClientToken::new(&text).map_err(|why| mistake(&why.to_string()))?;
        Ok(Some(token))
    }

    /// How long open exchanges may continue after a signal to stop.
    pub(super) fn drain(&self) -> Duration {
        self.drain_timeout
    }

    fn server_tls(&self) -> anyhow::Result<Option<Arc<rustls::ServerConfig>>> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else {
            return Ok(None);
        };
        let config =
            server_config(certificate, key, self.min_tls == MinTls::V1_3).context(Mistake::new(
                "invalid `--tls-cert` or `--tls-key`",
                "both must be PEM files that belong together",
            ))?;
        Ok(Some(config))
    }

    pub(super) fn address(&self, option: &str, text: &str) -> anyhow::Result<SocketAddr> {
        let whole = match text.strip_prefix(':') {
            Some(port) => format!("127.0.0.1:{port}"),
            None if text.bytes().all(|byte| byte.is_ascii_digit()) => format!("127.0.0.1:{text}"),
            None => text.to_owned(),
        };
        let address = whole
            .to_socket_addrs()
            .ok()
            .and_then(|mut found| found.next());
        let Some(address) = address else {
            let what = format!("invalid address `{option} {text}`");
            return Err(
                Mistake::new(what, "write it like `127.0.0.1:4000`, or just `4000`").into(),
            );
        };
        if !address.ip().is_loopback() && !self.danger_listen_anywhere {
            let what = format!("`{option} {text}` can be reached from other machines");
            let hint = "listen on 127.0.0.1, or add `--danger-listen-anywhere` to give everyone who can reach the port access to the server";
            return Err(Mistake::new(what, hint).into());
        }
        Ok(address)
    }
}
