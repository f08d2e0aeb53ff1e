//! Options of agent tests.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use crate::suite::live::AgentOptions;
use crate::suite::models::Money;

/// How to run agent tests.
#[derive(Debug, Args)]
#[command(next_help_heading = "Agents")]
pub(crate) struct AgentArguments {
    /// Record every agent test again; needs the keys of its models
    #[arg(long, conflicts_with = "capture")]
    pub(super) update_cassettes: bool,
    /// Compare the recorded tools of agent tests with their live servers
    #[arg(long, conflicts_with = "capture")]
    check_tools: bool,
}

impl AgentArguments {
    /// The options for a suite.
    pub(super) fn options(
        &self,
        folder: PathBuf,
        record: bool,
        money: &Arc<Money>,
    ) -> AgentOptions {
        AgentOptions {
            folder,
            record,
            update: self.update_cassettes,
            capture: None,
            check_tools: self.check_tools,
            money: Arc::clone(money),
            evals: None,
        }
    }
}
