//! Options that say something about servers: which, how they are reached, how they are
//! asked.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::command::replay::playing::duration;
use crate::report::Mistake;

/// The server of the suite, named anew. These options may stand before `run` as well.
#[derive(Clone, Debug, Default, Args)]
#[command(
    next_help_heading = "Servers (also before the command: `tapewright --server-url URL run`)"
)]
pub(crate) struct ServerArguments {
    /// Ask this URL in place of the suite's only server
    #[arg(long, value_name = "URL", conflicts_with = "server_command")]
    pub(super) server_url: Option<String>,
    /// Start this command in place of the suite's only server; split as a shell would
    #[arg(long, value_name = "COMMAND")]
    pub(super) server_command: Option<String>,
    /// Send the value of this variable as a bearer token
    #[arg(long, value_name = "VARIABLE")]
    pub(super) server_auth_bearer_env: Option<String>,
    /// Take the server from the block `server:` of this YAML file
    #[arg(long, value_name = "FILE")]
    pub(super) server_config: Option<PathBuf>,
    /// Set this header on every request over HTTP; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) header: Vec<String>,
    /// The same, with the value of a variable; repeatable
    #[arg(long, value_name = "NAME=VARIABLE")]
    pub(super) header_env: Vec<String>,
    /// Trust these certificates, in PEM, beside those of the system
    #[arg(long, value_name = "FILE")]
    pub(super) ca_bundle: Option<PathBuf>,
    /// Do not verify the certificates of servers
    #[arg(long)]
    pub(super) insecure_skip_verify: bool,
    /// How long one request over HTTP may take, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub(super) http_timeout: Option<f64>,
    /// How long a connection may take to come about, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub(super) connect_timeout: Option<f64>,
}

/// How servers are asked.
#[derive(Debug, Args)]
#[command(next_help_heading = "The run")]
pub(crate) struct RunArguments {
    /// Begin nothing more after a test that did not pass
    #[arg(long, visible_alias = "fail-fast")]
    pub(super) bail: bool,
    /// Ask a test that failed again, so often at most; one that then passes is flaky, which
    /// is told
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 0,
        conflicts_with = "capture"
    )]
    pub(super) retry: u32,
    /// The limit of a test that has no `timeout_ms`, above that of the suite
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "capture")]
    pub(super) timeout: Option<Duration>,
    /// How many servers are asked at once; the tests of one server run in their order
    #[arg(long, value_name = "COUNT", default_value_t = 8)]
    pub(super) parallel: usize,
    /// Run against this revision of the protocol; of those that the suite lists, if any
    #[arg(long, value_name = "REVISION", conflicts_with = "capture")]
    pub(super) target_version: Option<String>,
    /// Record the traffic of each server as FOLDER/SERVER.json; `cassettes` beside the
    /// suite without a folder. There each agent test is recorded that has no cassette, or
    /// a stale one
    #[arg(long, value_name = "FOLDER", require_equals = true)]
    #[expect(
        clippy::option_option,
        reason = "the option alone, and the option with a folder"
    )]
    pub(super) record: Option<Option<PathBuf>>,
    /// Run again whenever the suite, or a file that it names, has changed
    #[arg(long)]
    pub(super) watch: bool,
}

impl ServerArguments {
    /// These options over those that stood before the command.
    pub(super) fn over(&self, before: &Self) -> anyhow::Result<Self> {
        let both = |one: &[String], other: &[String]| [one, other].concat();
        let merged = Self {
            server_url: self.server_url.clone().or(before.server_url.clone()),
            server_command: (self.server_command.clone()).or(before.server_command.clone()),
            server_auth_bearer_env: (self.server_auth_bearer_env.clone())
                .or(before.server_auth_bearer_env.clone()),
            server_config: self.server_config.clone().or(before.server_config.clone()),
            header: both(&before.header, &self.header),
            header_env: both(&before.header_env, &self.header_env),
            ca_bundle: self.ca_bundle.clone().or(before.ca_bundle.clone()),
            insecure_skip_verify: self.insecure_skip_verify || before.insecure_skip_verify,
            http_timeout: self.http_timeout.or(before.http_timeout),
            connect_timeout: self.connect_timeout.or(before.connect_timeout),
        };
        if merged.server_url.is_some() && merged.server_command.is_some() {
            let what = "`--server-url` and `--server-command` exclude one another";
            return Err(Mistake::new(what, "keep one of them").into());
        }
        Ok(merged)
    }

    /// Refuses them before a command that has no use for them.
    pub(crate) fn refuse(&self) -> anyhow::Result<()> {
        let used = self.used();
        let Some(first) = used.first() else {
            return Ok(());
        };
        let what = format!("`{first}` before the command is for `run` alone");
        let hint = "the options of other commands stand behind their names; `--help` lists them";
        Err(Mistake::new(what, hint).into())
    }
}
