//! `tapewright tail`: shows the traffic of a running recorder live.

use clap::Args;
use serde_json::Value;

use crate::command::control::ControlArguments;
use crate::command::format::FormatArguments;
use crate::exit::Exit;
use crate::report;

/// Follow the traffic of a running recorder or replay
///
/// Prints a line for each message, fault, hang and finding until the recorder ends.
/// Contents of messages are not shown; they are on the tape. The recorder or replay must
/// run with `--control`.
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
  tapewright tail --control unix:/tmp/fs.sock
  tapewright tail --json --control unix:/tmp/fs.sock | jq \\
      'select(.event == \"hang\")'";

/// Follows until the recorder ends.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let remote = arguments.control.remote()?;
    remote.follow("/events", |data| {
        let event: Value = serde_json::from_str(data)?;
        let session = event.get("session").and_then(Value::as_u64);
        // Missed events concern every session.
        let elsewhere = |wanted: u32| session.is_some_and(|one| one != u64::from(wanted));
        if arguments.session.is_some_and(elsewhere) {
            return Ok(());
        }
        if arguments.format.is_json() {
            report::out(&report::safe_json(&format!("{event}\n")))
        } else {
            report::out(&format!("{}\n", report::live::event(&event)))
        }
    })?;
    Ok(Exit::Pass)
}
