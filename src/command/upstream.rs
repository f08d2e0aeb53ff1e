//! The options for an HTTP server and its connection, shared by every command that has them.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::{ArgGroup, Args};
use tapewright_proxy::bridge::{Remote, RemoteSettings};
use tapewright_proxy::http::origin::{
    Origin, OriginSettings, OriginUrl, TlsSettings, client_config,
};

pub(crate) use super::headers::Field;
use super::headers::HeaderArguments;
use crate::command::duration;
use crate::report::{self, Mistake};

/// A server on HTTP.
#[derive(Debug, Args)]
#[command(next_help_heading = "Upstream server", group = ArgGroup::new("remote").multiple(true))]
pub(crate) struct UpstreamArguments {
    /// URL of the server
    #[arg(long, value_name = "URL", group = "remote", conflicts_with = "command")]
    upstream: Option<String>,
    #[command(flatten)]
    headers: HeaderArguments,
    /// Also trust these certificates, in PEM
    #[arg(hide_short_help = true, long, requires = "remote", value_name = "FILE")]
    ca_bundle: Option<PathBuf>,
    /// Do not verify the server's certificate
    #[arg(hide_short_help = true, long, requires = "remote")]
    insecure_skip_verify: bool,
    /// Use HTTP/2 without TLS
    #[arg(hide_short_help = true, long, requires = "remote")]
    upstream_http2: bool,
    /// Time limit for connecting to the server
    #[arg(hide_short_help = true, long, requires = "remote", value_name = "DURATION", default_value = "10s", value_parser = duration::positive)]
    connect_timeout: Duration,
}

impl UpstreamArguments {
    /// The URL of the server. Without one, headers have no effect.
    pub(crate) fn url(&self) -> anyhow::Result<Option<OriginUrl>> {
        let Some(text) = &self.upstream else {
            let Some(option) = self.headers.option() else {
                return Ok(None);
            };
            let what = format!("`{option}` has no effect without `--upstream`");
            let hint = format!("give the URL of the server, or omit `{option}`");
            return Err(Mistake::new(what, hint).into());
        };
        let url = OriginUrl::parse(text).map_err(|why| {
            // A bad URL may contain a secret, and is not repeated.
            Mistake::new(
                format!("invalid URL in `--upstream`: {why}"),
                "write it like `http://localhost:3001/mcp`",
            )
        })?;
        Ok(Some(url))
    }

    /// The fields that are added to every request to the server.
    pub(crate) fn fields(&self) -> anyhow::Result<Vec<Field>> {
        self.headers.fields()
    }

    /// The headers from the environment: their names, and those of the variables.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let variables = self.headers.variables().iter();
        variables
            .map(|header| (header.name.clone(), header.variable.clone()))
            .collect()
    }

    /// The credentials of the user, which are secrets wherever they reappear: names and values.
    pub(crate) fn secrets(&self) -> anyhow::Result<Vec<(String, String)>> {
        let fields = self.fields()?;
        let secret = |(name, value): &Field| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            let secret = value.split_once(' ').map(|(_, rest)| rest.to_owned());
            (name.to_string(), secret.unwrap_or(value))
        };
        Ok(fields.iter().map(secret).collect())
    }

    /// How to reach the server.
    pub(crate) fn origin_settings(&self, only_tls_1_3: bool) -> anyhow::Result<OriginSettings> {
        if self.insecure_skip_verify {
            report::note("--insecure-skip-verify: the server is not authenticated");
        }
        let tls = client_config(&TlsSettings {
            ca_bundle: self.ca_bundle.clone(),
            skip_verify: self.insecure_skip_verify,
            only_1_3: only_tls_1_3,
        })
        .context(Mistake::new(
            "cannot load trusted certificates",
            "check `--ca-bundle`, or the system's certificates",
        ))?;
        Ok(OriginSettings {
            tls,
            connect_timeout: self.connect_timeout,
            http2_prior_knowledge: self.upstream_http2,
            destinations: None,
        })
    }

    /// The server behind a bridge.
    pub(crate) fn remote(&self, url: OriginUrl, limit_bytes: usize) -> anyhow::Result<Remote> {
        Ok(Remote::new(RemoteSettings {
            origin: Origin::new(url, self.origin_settings(false)?),
            fields: self.fields()?,
            limit_bytes,
        }))
    }
}
