//! `tapewright fault`: adds, lists and removes faults while messages flow.

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::command::control::{ControlArguments, text};
use crate::exit::Exit;
use crate::report;

/// Change the faults of a running recorder or replay
///
/// The recorder or replay must run with `--control`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    control: ControlArguments,
}

const EXAMPLES: &str = "\
Examples:
  tapewright fault list --control unix:/tmp/fs.sock
  tapewright fault add 'hang tool=search' --control unix:/tmp/fs.sock
  tapewright fault remove hang-1 --control unix:/tmp/fs.sock";

#[derive(Debug, Subcommand)]
enum Action {
    /// Add a fault, and print its name
    Add {
        /// The fault, such as `hang tool=search nth=3`
        spec: String,
    },
    /// Replace a fault; messages that it holds are released
    Change {
        /// Name of the fault
        name: String,
        /// The fault, such as `hang tool=search nth=3`
        spec: String,
    },
    /// List the faults as JSON, one object per line
    List,
    /// Remove a fault; messages that it holds are released
    Remove {
        /// Name of the fault
        name: String,
    },
}

/// Sends the request to the control.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let remote = arguments.control.remote()?;
    match &arguments.action {
        Action::Add { spec } => {
            let answer = remote.ask("POST", "/faults", Some(&json!({ "spec": spec })))?;
            let name = text(&answer, "name").unwrap_or_default();
            report::out(&format!("{}\n", report::safe(name)))?;
        }
        Action::Change { name, spec } => {
            remote.ask("PUT", &path_of(name), Some(&json!({ "spec": spec })))?;
        }
        Action::List => {
            let answer = remote.ask("GET", "/faults", None)?;
            let faults = answer.get("faults").and_then(Value::as_array);
            for fault in faults.into_iter().flatten() {
                report::out(&format!("{fault}\n"))?;
            }
        }
        Action::Remove { name } => {
            remote.ask("DELETE", &path_of(name), None)?;
        }
    }
    Ok(Exit::Pass)
}

/// The path of a fault.
pub(crate) fn path_of(name: &str) -> String {
    let mut path = "/faults/".to_owned();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            path.push(byte.into());
        } else {
            // Writing to a string cannot fail.
            write!(path, "%{byte:02X}").ok();
        }
    }
    path
}
