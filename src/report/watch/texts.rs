//! The texts of single messages.

use std::path::Path;

use tapewright_schemas::conversation::ModelRow;
use tapewright_schemas::event::FaultRef;
use tapewright_schemas::listing::Note;

use crate::report::{Mistake, effect, safe, show};
use crate::watch::{Named, NoCommand, Panel, State};

/// There is no further failure.
pub(crate) const NO_FAILURE: &str = "no more failures in that direction";
/// The peers sent no capabilities.
pub(crate) const NO_CAPABILITIES: &str = "no initialize or server/discover in this recording";
/// A filter hides the line.
pub(crate) const HIDDEN: &str =
    "hidden by the filter; press esc to show everything, a for all kinds";
/// Nothing was found.
pub(crate) const NOT_FOUND: &str = "nothing in this view matches that";
/// There is no control.
pub(crate) const NO_CONTROL: &str =
    "no control; start the recorder with --control, and watch it with --control ADDR";
/// A control does not provide bodies.
pub(crate) const METADATA_ONLY: &str =
    "the control shows no message content, and the tape is not readable here";
/// The reader is behind.
pub(crate) const BUSY: &str = "still reading; press the key again";
/// The text was copied.
pub(crate) const COPIED: &str = "copied, if the terminal allows it (OSC 52)";
/// The path of the recording is unknown.
pub(crate) const NO_RECORDING: &str = "the recording is not readable here";
/// The text was not copied.
pub(crate) const NOT_COPIED: &str = "not copied: empty, or too long for terminals";

/// The command that replays a recording.
pub(crate) fn replay(path: &Path) -> String {
    format!("tapewright replay {}", quoted(path))
}

/// The command that makes a page of a recording.
pub(crate) fn export(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    let page = quoted(Path::new(&format!("{stem}.html")));
    format!("tapewright export {} --as html -o {page}", quoted(path))
}

/// The message that a command was copied.
pub(crate) fn copied(command: &str) -> String {
    format!("{COPIED}: {}", safe(command))
}

/// A path quoted for a shell, which is never taken for an option.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = if text.starts_with('-') {
        format!("./{text}")
    } else {
        text.into_owned()
    };
    shell_words::quote(&text).into_owned()
}

/// A fault, in a form that identifies its lines.
pub(crate) fn fault(fault: &FaultRef) -> String {
    effect::fault(fault)
}

/// How a model call ended, and its figures.
pub(crate) fn model(row: &ModelRow) -> String {
    show::model_told(row)
}

/// A note.
pub(crate) fn note(note: &Note) -> String {
    show::said(note).replace('\n', " ")
}

/// Why a panel is empty.
pub(super) fn empty(state: &State) -> &'static str {
    if state.store.parts.is_reading() {
        return "reading …";
    }
    match state.panel {
        Panel::Stream if state.stream.only_marked => {
            "nothing is marked; press m on a row to mark it, esc to show everything"
        }
        Panel::Stream if !state.typed.is_empty() || state.stream.only.is_some() => {
            "no matches; press esc to show everything"
        }
        Panel::Stream => "no messages yet",
        Panel::Sessions => "no sessions yet",
        Panel::Hangs => "no pending requests, and no hangs",
        Panel::Findings => "no findings; record with --check to look for them",
        Panel::Faults if state.faults.has_control => {
            "no faults; add one with: tapewright fault add SPEC"
        }
        Panel::Faults => NO_CONTROL,
        Panel::Lanes => "no notifications, progress, cancellations, faults or stderr",
        Panel::Tools => "no tool calls",
    }
}

/// The error for contents that cannot be read.
pub(crate) fn no_bodies(why: &str) -> String {
    format!("cannot show the content: {}", safe(why))
}

/// The message that a line was marked or unmarked.
pub(crate) fn marked(is_marked: bool) -> &'static str {
    if is_marked {
        "marked; M shows only marked rows"
    } else {
        "not marked any more"
    }
}

/// The error for input that is not a command.
pub(crate) fn no_command(why: &NoCommand) -> String {
    match why {
        NoCommand::Unknown(name) => format!("no command `{}`; `?` lists them", safe(name)),
        NoCommand::Several(names) => format!("which one: {}?", names.join(", ")),
        NoCommand::Takes(one) if one.takes.is_empty() => format!("`{}` takes nothing", one.name),
        NoCommand::Takes(one) => format!("write it as `{}`{}", usage(one), example(one)),
    }
}

/// A command with its argument.
pub(super) fn usage(one: &Named) -> String {
    format!("{} {}", one.name, one.takes).trim_end().to_owned()
}

fn example(one: &Named) -> &'static str {
    match one.takes {
        "TIME" => ", such as `at 2.5s`",
        "NUMBER" => ", such as `event 20`",
        "COLUMN" => ": calls, failed, p50, p99, bytes or name",
        _ => "",
    }
}

/// The error for standard output that is not a terminal.
pub(crate) fn no_terminal() -> Mistake {
    Mistake::new(
        "`watch` needs a terminal on stdin and stdout",
        "use `tapewright show FILE`, or `tapewright tail --control ADDR` for live traffic",
    )
}

/// The error if neither a file nor a control is given, and there is no recording.
pub(crate) fn nothing_to_watch() -> Mistake {
    Mistake::new(
        "no recording to watch",
        "give a tape, a cassette or a folder, or a running recorder with `--control ADDR`",
    )
}

/// The error of a control.
pub(crate) fn refused(why: &str) -> String {
    format!("the control refused: {}", safe(why))
}

/// The name of a control.
pub(crate) fn address(control: &str) -> String {
    format!("recorder at {}", safe(control))
}
