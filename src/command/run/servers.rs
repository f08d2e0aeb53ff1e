//! Options that say something about servers: which, how they are reached, how they are
//! asked.

use std::path::PathBuf;

use clap::Args;

/// The server of the suite, named anew.
#[derive(Debug, Args)]
#[command(next_help_heading = "Servers")]
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
    #[arg(long)]
    pub(super) bail: bool,
    /// How many servers are asked at once; the tests of one server run in their order
    #[arg(long, value_name = "COUNT", default_value_t = 8)]
    pub(super) parallel: usize,
    /// Run against this revision of the protocol; of those that the suite lists, if any
    #[arg(long, value_name = "REVISION")]
    pub(super) target_version: Option<String>,
    /// Record the traffic of each server as FOLDER/SERVER.json; `cassettes` beside the
    /// suite without a folder
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(super) record: Option<PathBuf>,
    /// Run again whenever the suite, or a file that it names, has changed
    #[arg(long)]
    pub(super) watch: bool,
}
