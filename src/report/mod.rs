//! All output for people. Only this module may print; `record` does not use it while a session
//! runs, except for the messages of `-v` on standard error.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ErrorKind};

use crate::exit::Exit;

pub(crate) mod baseline;
pub(crate) mod body;
pub(crate) mod calibration;
pub(crate) mod compliance;
pub(crate) mod corpora;
pub(crate) mod corpus;
pub(crate) mod diff;
mod effect;
pub(crate) mod explain;
pub(crate) mod figures;
pub(crate) mod finding;
pub(crate) mod formats;
pub(crate) mod har;
pub(crate) mod in_place;
pub(crate) mod inspect;
mod inspect_http;
pub(crate) mod inspect_models;
pub(crate) mod inspect_tools;
pub(crate) mod issues;
pub(crate) mod judgement;
pub(crate) mod live;
pub(crate) mod mcp;
pub(crate) mod migrate;
mod model;
pub(crate) mod otlp;
pub(crate) mod page;
pub(crate) mod progress;
pub(crate) mod replay;
pub(crate) mod show;
pub(crate) mod suite;
mod terminal;
pub(crate) mod verify;
pub(crate) mod watch;
pub(crate) mod wrap;

pub(crate) use terminal::{Colours, choose_colours, safe, safe_json};

/// An error that a person can fix: what is wrong, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct Mistake {
    what: String,
    hint: Option<String>,
}

impl Mistake {
    /// An error and its remedy.
    pub(crate) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            hint: Some(hint.into()),
        }
    }
}

/// Prints an error with its causes on one line, and the remedy below.
pub(crate) fn error(error: &anyhow::Error) {
    let colours = terminal::has_colours_on(&io::stderr());
    let (red, blue, off) = if colours {
        ("\u{1b}[1;31m", "\u{1b}[1;36m", "\u{1b}[0m")
    } else {
        ("", "", "")
    };
    err(&format!("{red}error:{off} {error:#}\n"));
    if let Some(hint) = hint(error) {
        err(&format!("\n{blue}hint:{off} {hint}\n"));
    }
}

/// The remedy of an error.
pub(crate) fn hint(error: &anyhow::Error) -> Option<&str> {
    // The error itself, a context of it, or one of its causes may be a `Mistake`.
    let cause = || error.chain().find_map(|cause| cause.downcast_ref());
    let mistake: Option<&Mistake> = error.downcast_ref().or_else(cause);
    mistake.and_then(|mistake| mistake.hint.as_deref())
}

/// Prints an error of clap, or the requested help.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    let printed = error.print();
    // A closed terminal cannot show it, and a closed pipe does not want it.
    if let Err(failed) = &printed
        && failed.kind() != io::ErrorKind::BrokenPipe
        && !error.use_stderr()
    {
        err(&format!("error: cannot write to stdout: {failed}\n"));
        return Exit::Unusable;
    }
    let word = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    let usage = error.get(ContextKind::Usage).map(ToString::to_string);
    if error.kind() == ErrorKind::UnknownArgument
        && let (Some(word), Some(usage)) = (word, usage)
        && let Some(hint) = misplaced(&word, &usage)
    {
        err(&format!("\nhint: {hint}\n"));
    }
    if error.use_stderr() {
        Exit::Unusable
    } else {
        Exit::Pass
    }
}

/// The remedy for an unexpected word, by the usage of the command.
fn misplaced(word: &str, usage: &str) -> Option<String> {
    if word.starts_with('-') {
        return None;
    }
    let command = command_of(usage);
    let is_recording = reads_capture(&command) && Path::new(word).exists();
    if is_recording || usage.contains("--capture <") {
        return Some(format!("give a recording with `--capture {}`", safe(word)));
    }
    let takes_server = usage.contains("[COMMAND]") || usage.contains("-- <");
    takes_server.then(|| {
        let command = command.join(" ");
        format!(
            "put `--` before the command of the server: tapewright {command} [OPTIONS] -- COMMAND [ARGS…]"
        )
    })
}

/// The words of the command in a usage line, without the program's name.
fn command_of(usage: &str) -> Vec<&str> {
    let words = usage.split_whitespace();
    let words = words.skip_while(|word| *word != "tapewright").skip(1);
    let is_name = |word: &&str| word.starts_with(|first: char| first.is_ascii_lowercase());
    words.take_while(is_name).collect()
}

/// Whether a command reads a recording with `--capture`.
fn reads_capture(command: &[&str]) -> bool {
    let mut program = crate::cli::Arguments::command();
    program.build();
    let below = |above: &clap::Command, name: &&str| above.find_subcommand(name).cloned();
    let found = command
        .iter()
        .try_fold(program, |above, name| below(&above, name));
    let is_capture = |arg: &clap::Arg| arg.get_long() == Some("capture") && !arg.is_hide_set();
    found.is_some_and(|found| found.get_arguments().any(is_capture))
}

/// An error with its causes on one line.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        // Skips a cause that the error's text already ends with.
        if !text.ends_with(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}

/// Writes a result to standard output.
pub(crate) fn out(text: &str) -> anyhow::Result<()> {
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// Whether standard output is a terminal, where a progress line would appear between the lines of a
/// result.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Standard output, for a result that is too long for memory.
pub(crate) fn stdout() -> io::StdoutLock<'static> {
    io::stdout().lock()
}

/// Writes a longer text next to the result, on standard error. It does not matter if that is
/// closed.
pub(crate) fn err(text: &str) {
    io::stderr().lock().write_all(text.as_bytes()).ok();
}

/// Prints a note next to the result, on standard error.
pub(crate) fn note(text: &str) {
    err(&format!("tapewright: {text}\n"));
}

/// Prints a line for programs on standard error.
pub(crate) fn raw_note(line: &str) {
    err(&format!("{line}\n"));
}

/// Whether the reader of our output is gone, which is not a failure.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
