//! The help of the view: keys and filter words.

use tapewright_schemas::filter::WORDS;

use super::texts::usage;
use crate::report::figures::wrapped;
use crate::watch::{COMMANDS, Row, Tone};

const KEYS: [(&str, &str); 25] = [
    ("j k ↑ ↓", "next row, previous row"),
    ("g G home end", "first row; last row, and follow new ones"),
    (
        "ctrl-f ctrl-b",
        "next page, previous page (also space, ctrl-d, ctrl-u)",
    ),
    (
        "1 to 7, tab",
        "panels: stream, sessions, hangs, findings, faults, lanes, tools",
    ),
    (
        "enter",
        "open the row; on a session or tool: show only that;",
    ),
    ("", "on a fault: switch it on or off"),
    (
        "esc q",
        "back; on a panel, q quits and esc clears the filter",
    ),
    ("/", "filter with the words below; empty to show everything"),
    (":", "go to a row by its number, or a command from below"),
    ("f", "follow: stay on the last row until you move up"),
    (
        "p",
        "pause; new rows are kept, and shown when you press p again",
    ),
    (
        "a",
        "show all kinds of lines: notifications, progress, stderr, …",
    ),
    ("n N", "next, previous exchange that failed or has findings"),
    (
        "m M",
        "mark the row, or take the mark away; show only marked rows",
    ),
    ("c", "capabilities of the session"),
    ("s", "summary: calls by tool"),
    (
        "C F M P B T",
        "sort tools by calls, failed, p50, p99, bytes, name",
    ),
    ("o", "show the row in the stream"),
    (
        "← →",
        "previous, next panel; in a detail, previous, next exchange",
    ),
    ("y", "in a detail, copy the messages (OSC 52)"),
    (
        "r e",
        "copy the command that replays the recording; exports a page",
    ),
    ("?", "this page"),
    ("ctrl-c ctrl-z", "quit; suspend until fg"),
    ("", ""),
    (
        "mitmproxy",
        "F is f here, z is p or esc, w is e, and E is the lanes (6)",
    ),
];

/// The rows of the help.
pub(super) fn rows() -> Vec<Row> {
    let row = |text: String, tone: Tone| Row {
        text,
        tone,
        jump: None,
    };
    let mut all = vec![row("Keys".to_owned(), Tone::Head)];
    for (key, does) in KEYS {
        all.push(row(format!("  {key:<14} {does}"), Tone::Plain));
    }
    all.push(row(String::new(), Tone::Plain));
    let head = "Commands after `:`, as short as they are clear";
    all.push(row(head.to_owned(), Tone::Head));
    for words in wrapped(
        &COMMANDS.iter().map(usage).collect::<Vec<_>>().join(", "),
        76,
    ) {
        all.push(row(format!("  {words}"), Tone::Plain));
    }
    all.push(row(String::new(), Tone::Plain));
    let head = "Filters: all must match; - before one negates it";
    all.push(row(head.to_owned(), Tone::Head));
    for (name, takes) in WORDS {
        let mut name = format!("{name}:");
        for words in wrapped(takes, 60) {
            all.push(row(format!("  {name:<14} {words}"), Tone::Plain));
            name.clear();
        }
    }
    let text = "any other text matches in the method or name";
    all.push(row(format!("  {:<14} {text}", ""), Tone::Plain));
    all
}
