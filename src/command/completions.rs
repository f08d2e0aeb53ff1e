//! `tapewright completions`: completion scripts for shells.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::exit::Exit;
use crate::report;

/// Print a shell completion script
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  tapewright completions bash > \\
      ~/.local/share/bash-completion/completions/tapewright
  tapewright completions zsh > ~/.zfunc/_tapewright";

/// Prints the script.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    let mut command = crate::cli::Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "tapewright", &mut script);
    report::out(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Pass)
}
