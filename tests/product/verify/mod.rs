//! `tapewright verify`: recordings against live servers, which are replays of other
//! recordings.

mod drift;
mod folder;
mod refused;
mod untold;

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The result of a verification.
pub(crate) struct Done {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) error: String,
}

impl Done {
    /// The report, as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("{}\n{}", self.out, self.error))
    }
}

/// Verifies `recorded` against a server that plays `live`.
pub(crate) fn verify(folder: &Path, recorded: &str, live: &str, options: &[&str]) -> Done {
    std::fs::write(folder.join("tape.json"), recorded).unwrap();
    std::fs::write(folder.join("live.json"), live).unwrap();
    let binary = env!("CARGO_BIN_EXE_tapewright");
    let server = ["--", binary, "replay", "live.json"];
    run(
        folder,
        &[&["verify", "tape.json"], options, &server].concat(),
        &[],
    )
}

/// Runs the program with these variables, and no `CI` unless it is among them.
pub(crate) fn run(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Done {
    let output = Command::new(env!("CARGO_BIN_EXE_tapewright"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    Done {
        status: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        error: String::from_utf8(output.stderr).unwrap(),
    }
}
