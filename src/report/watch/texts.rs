//! The words of single things.

use std::path::Path;

use tapewright_schemas::conversation::ModelRow;
use tapewright_schemas::event::FaultRef;
use tapewright_schemas::listing::Note;

use crate::report::{Mistake, effect, safe, show};
use crate::watch::{Named, NoCommand, Panel, State};

/// Nothing went wrong there.
pub(crate) const NO_FAILURE: &str = "no more failures in that direction";
/// Peers did not introduce themselves.
pub(crate) const NO_CAPABILITIES: &str = "no initialize or server/discover in this recording";
/// A filter hides the line.
pub(crate) const HIDDEN: &str =
    "hidden by the filter; press esc to show everything, a for all kinds";
/// Nothing is there that was asked for.
pub(crate) const NOT_FOUND: &str = "nothing in this view matches that";
/// There is no control.
pub(crate) const NO_CONTROL: &str =
    "no control; start the recorder with --control, and watch it with --control ADDR";
/// A control tells no bodies.
pub(crate) const METADATA_ONLY: &str =
    "the control shows no message content, and the tape is not readable here";
/// The reader is behind.
pub(crate) const BUSY: &str = "still reading; press the key again";
/// It is copied.
pub(crate) const COPIED: &str = "copied, if the terminal allows it (OSC 52)";
/// No file can be named.
pub(crate) const NO_RECORDING: &str = "the recording is not readable here";
/// It is not copied.
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

/// A command is copied.
pub(crate) fn copied(command: &str) -> String {
    format!("{COPIED}: {}", safe(command))
}

/// A path as a shell takes it, and never as an option.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = if text.starts_with('-') {
        format!("./{text}")
    } else {
        text.into_owned()
    };
    shell_words::quote(&text).into_owned()
}

/// A fault, by which a line can be told.
pub(crate) fn fault(fault: &FaultRef) -> String {
    effect::fault(fault)
}

/// How a call of a model ended, and its figures.
pub(crate) fn model(row: &ModelRow) -> String {
    show::model_told(row)
}

/// What stands beside the exchanges.
pub(crate) fn note(note: &Note) -> String {
    show::said(note).replace('\n', " ")
}

/// Why there is nothing on a panel.
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

/// What was said cannot be read.
pub(crate) fn no_bodies(why: &str) -> String {
    format!("cannot show the content: {}", safe(why))
}

/// A line was marked, or is no longer.
pub(crate) fn marked(is_marked: bool) -> &'static str {
    if is_marked {
        "marked; M shows only marked rows"
    } else {
        "not marked any more"
    }
}

/// What is typed is no command.
pub(crate) fn no_command(why: &NoCommand) -> String {
    match why {
        NoCommand::Unknown(name) => format!("no command `{}`; `?` lists them", safe(name)),
        NoCommand::Several(names) => format!("which one: {}?", names.join(", ")),
        NoCommand::Takes(one) if one.takes.is_empty() => format!("`{}` takes nothing", one.name),
        NoCommand::Takes(one) => format!("write it as `{}`{}", usage(one), example(one)),
    }
}

/// A command with what it takes.
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

/// Standard output is no terminal.
pub(crate) fn no_terminal() -> Mistake {
    Mistake::new(
        "`watch` needs a terminal on stdin and stdout",
        "use `tapewright show FILE`, or `tapewright tail --control ADDR` for live traffic",
    )
}

/// Neither a file nor a control is named, and there is no recording.
pub(crate) fn nothing_to_watch() -> Mistake {
    Mistake::new(
        "no recording to watch",
        "give a tape, a cassette or a folder, or a running recorder with `--control ADDR`",
    )
}

/// A control did not do what was asked.
pub(crate) fn refused(why: &str) -> String {
    format!("the control refused: {}", safe(why))
}

/// What a control is called.
pub(crate) fn address(control: &str) -> String {
    format!("recorder at {}", safe(control))
}
