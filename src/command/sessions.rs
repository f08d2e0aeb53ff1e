//! `tapewright sessions`: what a recorder that runs has in hand.

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

/// The lists of a control, by the path under which each is got and its name in the answer.
const LISTS: [&str; 4] = ["sessions", "pending", "hangs", "findings"];

/// Asks and prints.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let all = lists(&arguments.control.remote()?, arguments.session)?;
    if arguments.format.is_json() {
        report::out(&report::safe_json(&format!("{all}\n")))?;
    } else {
        report::out(&report::live::sessions(&all))?;
    }
    Ok(Exit::Pass)
}

/// What a recorder has in hand: its lists by their names, of one session or of all.
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
