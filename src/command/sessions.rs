//! `tapewright sessions`: the current state of a running recorder.

use clap::Args;
use serde_json::{Value, json};

use crate::command::control::{ControlArguments, Remote};
use crate::command::format::FormatArguments;
use crate::exit::Exit;
use crate::report;

/// List the sessions of a running recorder or replay
///
/// Shows the peers, pending requests and their age, hangs and the faults that cause them,
/// and findings. The recorder or replay must run with `--control`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    control: ControlArguments,
    /// Only the session with this number
    #[arg(long, value_name = "N")]
    session: Option<u32>,
    #[command(flatten)]
    format: FormatArguments,
}

const EXAMPLES: &str = "\
Examples:
  tapewright sessions --control unix:/tmp/fs.sock
  tapewright sessions --json --control unix:/tmp/fs.sock | jq \\
      '.pending[] | select(.hangs)'";

/// The lists of a control, named by their paths and their members in the answer.
const LISTS: [&str; 4] = ["sessions", "pending", "hangs", "findings"];

/// Requests the lists and prints them.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let all = lists(&arguments.control.remote()?, arguments.session)?;
    if arguments.format.is_json() {
        report::out(&report::safe_json(&format!("{all}\n")))?;
    } else {
        report::out(&report::live::sessions(&all))?;
    }
    Ok(Exit::Pass)
}

/// The lists of a recorder by their names, for one session or all.
pub(crate) fn lists(remote: &Remote, session: Option<u32>) -> anyhow::Result<Value> {
    let mut all = json!({});
    for name in LISTS {
        let answer = remote.ask("GET", &format!("/{name}"), None)?;
        let mut list = answer.get(name).cloned().unwrap_or_default();
        if let (Some(wanted), Some(list)) = (session, list.as_array_mut()) {
            list.retain(|one| one.get("session") == Some(&Value::from(wanted)));
        }
        if let Some(members) = all.as_object_mut() {
            members.insert(name.to_owned(), list);
        }
    }
    Ok(all)
}
