//! Options about servers: which, how to reach them, how to ask them.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::command::count;
use crate::command::duration;
use crate::command::headers::HeaderArguments;
use crate::report::Mistake;

/// The server to use in place of the suite's. These options may also come before `run`.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Servers (these options also work before `run`)")]
pub(crate) struct ServerArguments {
    /// Use this URL instead of the suite's only server
    #[arg(long, value_name = "URL", conflicts_with = "server_command")]
    pub(super) server_url: Option<String>,
    /// Start this command instead of the suite's only server
    ///
    /// Split into words like a shell does.
    #[arg(long, value_name = "COMMAND")]
    pub(super) server_command: Option<String>,
    /// Send the value of this variable as a bearer token
    #[arg(hide_short_help = true, long, value_name = "VARIABLE")]
    pub(super) server_auth_bearer_env: Option<String>,
    /// Read the server from the `server:` block of this YAML file
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub(super) server_config: Option<PathBuf>,
    #[command(flatten)]
    pub(super) headers: HeaderArguments,
    /// Also trust these certificates, in PEM
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub(super) ca_bundle: Option<PathBuf>,
    /// Do not verify certificates of servers
    #[arg(hide_short_help = true, long)]
    pub(super) insecure_skip_verify: bool,
    /// Time limit for each HTTP request
    #[arg(hide_short_help = true, long, value_name = "DURATION", value_parser = duration::positive)]
    pub(super) http_timeout: Option<Duration>,
    /// Time limit for connecting to a server
    #[arg(hide_short_help = true, long, value_name = "DURATION", value_parser = duration::positive)]
    pub(super) connect_timeout: Option<Duration>,
}

/// How to ask servers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Execution")]
pub(crate) struct RunArguments {
    /// Stop after the first test that fails
    #[arg(long, visible_alias = "fail-fast")]
    pub(super) bail: bool,
    /// Repeat a failed test up to this many times
    ///
    /// A test that passes then is reported as flaky.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 0,
        conflicts_with = "capture"
    )]
    pub(super) retry: u32,
    /// Time limit for tests without `timeout_ms`; overrides the suite's
    #[arg(long, value_name = "DURATION", value_parser = duration::positive, conflicts_with = "capture")]
    pub(super) timeout: Option<Duration>,
    /// Number of servers to test at the same time
    ///
    /// Tests of one server always run in order.
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = count::positive)]
    pub(super) parallel: usize,
    /// Protocol revision to use; one of those that the suite lists
    #[arg(
        hide_short_help = true,
        long = "spec-version",
        alias = "target-version",
        value_name = "REVISION",
        conflicts_with = "capture"
    )]
    pub(super) target_version: Option<String>,
    /// Record each server to FOLDER/SERVER.json [default: `cassettes` next to the suite]
    ///
    /// Also records agent tests whose cassette is missing or stale.
    #[arg(long, value_name = "FOLDER", require_equals = true)]
    #[expect(
        clippy::option_option,
        reason = "the option alone, and the option with a folder"
    )]
    pub(super) record: Option<Option<PathBuf>>,
    /// Run again when the suite or a file that it uses changes
    #[arg(long)]
    pub(super) watch: bool,
}

impl ServerArguments {
    /// These options, combined with those in front of the command.
    pub(super) fn over(&self, before: &Self) -> anyhow::Result<Self> {
        let merged = Self {
            server_url: self.server_url.clone().or(before.server_url.clone()),
            server_command: (self.server_command.clone()).or(before.server_command.clone()),
            server_auth_bearer_env: (self.server_auth_bearer_env.clone())
                .or(before.server_auth_bearer_env.clone()),
            server_config: self.server_config.clone().or(before.server_config.clone()),
            headers: self.headers.after(&before.headers),
            ca_bundle: self.ca_bundle.clone().or(before.ca_bundle.clone()),
            insecure_skip_verify: self.insecure_skip_verify || before.insecure_skip_verify,
            http_timeout: self.http_timeout.or(before.http_timeout),
            connect_timeout: self.connect_timeout.or(before.connect_timeout),
        };
        if merged.server_url.is_some() && merged.server_command.is_some() {
            let what = "`--server-url` cannot be used with `--server-command`";
            return Err(Mistake::new(what, "keep one of them").into());
        }
        merged.check_headers()?;
        Ok(merged)
    }

    /// Refuses them before a command that does not use them.
    pub(crate) fn refuse(&self) -> anyhow::Result<()> {
        let used = self.used();
        let Some(first) = used.first() else {
            return Ok(());
        };
        let what = format!("`{first}` before the command only works with `run`");
        let hint = "put options of other commands after the command; see `--help`";
        Err(Mistake::new(what, hint).into())
    }
}
