//! The options that say which HTTP server is spoken to, and how: for every command that
//! does.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use http::{HeaderName, HeaderValue};
use tapewright_proxy::bridge::{Remote, RemoteSettings};
use tapewright_proxy::http::origin::{
    Origin, OriginSettings, OriginUrl, TlsSettings, client_config,
};

use crate::command::duration;
use crate::report::{self, Mistake};

/// A server on HTTP.
#[derive(Debug, Args)]
#[command(next_help_heading = "Upstream server")]
pub(crate) struct UpstreamArguments {
    /// URL of the server
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    upstream: Option<String>,
    /// Add this header to every request, and never record it; repeatable
    #[arg(long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// Like `--header`, with the value of a variable; repeatable
    #[arg(long, value_name = "NAME=VARIABLE")]
    header_env: Vec<String>,
    /// Also trust these certificates, in PEM
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    ca_bundle: Option<PathBuf>,
    /// Do not verify the server's certificate
    #[arg(hide_short_help = true, long)]
    insecure_skip_verify: bool,
    /// Use HTTP/2 without TLS
    #[arg(hide_short_help = true, long)]
    upstream_http2: bool,
    /// Time limit for connecting to the server
    #[arg(hide_short_help = true, long, value_name = "DURATION", default_value = "10s", value_parser = duration::parse)]
    connect_timeout: Duration,
}

/// A header that is added, and never recorded.
pub(crate) type Field = (HeaderName, HeaderValue);

impl UpstreamArguments {
    /// The URL of the server.
    pub(crate) fn url(&self) -> anyhow::Result<Option<OriginUrl>> {
        let Some(text) = &self.upstream else {
            return Ok(None);
        };
        let url = OriginUrl::parse(text).map_err(|why| {
            // A bad URL may hold a secret: it is not repeated.
            Mistake::new(
                format!("invalid URL in `--upstream`: {why}"),
                "write it like `http://localhost:3001/mcp`",
            )
        })?;
        Ok(Some(url))
    }

    /// The fields that are set on every request to the server.
    pub(crate) fn fields(&self) -> anyhow::Result<Vec<Field>> {
        let mut fields = Vec::new();
        for text in &self.header {
            // The text may be a secret: it is not repeated.
            let mistake = || {
                Mistake::new(
                    "invalid `--header`: expected `NAME: VALUE`",
                    "write it like `--header 'Authorization: Bearer …'`",
                )
            };
            let (name, value) = text.split_once(':').ok_or_else(mistake)?;
            fields.push(field(name, value.trim()).ok_or_else(mistake)?);
        }
        for text in &self.header_env {
            let mistake = |what: &str| {
                let what = format!("invalid `--header-env {text}`: {what}");
                Mistake::new(what, "write it like `--header-env Authorization=MY_TOKEN`")
            };
            let (name, variable) = text
                .split_once('=')
                .ok_or_else(|| mistake("expected `NAME=VARIABLE`"))?;
            let value = std::env::var(variable).map_err(|_| mistake("that variable is not set"))?;
            fields.push(field(name, &value).ok_or_else(|| mistake("not a valid header"))?);
        }
        Ok(fields)
    }

    /// The headers that come from the environment: their names, and those of the variables.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let split = |text: &String| {
            let (name, variable) = text.split_once('=')?;
            Some((name.to_owned(), variable.to_owned()))
        };
        self.header_env.iter().filter_map(split).collect()
    }

    /// What is sent in the user's name, which is a secret wherever it comes back: names and
    /// values.
    pub(crate) fn secrets(&self) -> anyhow::Result<Vec<(String, String)>> {
        let fields = self.fields()?;
        let secret = |(name, value): &Field| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            let secret = value.split_once(' ').map(|(_, rest)| rest.to_owned());
            (name.to_string(), secret.unwrap_or(value))
        };
        Ok(fields.iter().map(secret).collect())
    }

    /// How the server is reached.
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

fn field(name: &str, value: &str) -> Option<Field> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some((HeaderName::try_from(name.trim()).ok()?, value))
}
