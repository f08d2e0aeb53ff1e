//! Every command with its arguments, from the parser.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};

use super::markdown;
use crate::cli::Arguments;

/// The whole page.
pub(super) fn all() -> String {
    let mut program = Arguments::command();
    program.build();
    let mut out =
        "What `--help` says, on one page. A value in `<…>` is needed, one in `[…]` is not.\n"
            .to_owned();
    out += "\nEvery command takes this option as well:\n\n";
    let global = program.get_arguments().filter(|arg| arg.is_global_set());
    global.for_each(|arg| argument(arg, &mut out));
    for command in program.get_subcommands() {
        describe(command, "tapewright", &mut out);
    }
    out
}

/// A command, and its subcommands.
fn describe(command: &Command, above: &str, out: &mut String) {
    if command.get_name() == "help" || command.is_hide_set() {
        return;
    }
    let name = format!("{above} {}", command.get_name());
    writeln!(out, "\n## {name}\n").expect("a text");
    let about = command.get_long_about().or(command.get_about());
    if let Some(about) = about {
        writeln!(out, "{}\n", markdown(&about.to_string())).expect("a text");
    }
    // `render_usage` needs a mutable command.
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    writeln!(out, "```text\n{usage}\n```\n").expect("a text");
    let shown = |arg: &&Arg| !arg.is_hide_set() && arg.get_id() != "help" && !arg.is_global_set();
    for arg in command.get_arguments().filter(shown) {
        argument(arg, out);
    }
    if let Some(examples) = command.get_after_long_help() {
        let text = examples.to_string();
        let lines = text.trim_start_matches("Examples:").lines();
        let lines: Vec<&str> = lines
            .map(|line| line.strip_prefix("  ").unwrap_or(line))
            .collect();
        writeln!(
            out,
            "\nExamples:\n\n```text\n{}\n```",
            lines.join("\n").trim()
        )
        .expect("a text");
    }
    for below in command.get_subcommands() {
        describe(below, &name, out);
    }
}

/// An option, or a positional argument.
fn argument(arg: &Arg, out: &mut String) {
    // As help spells it, with the short name in front.
    let mut spelling = arg.to_string();
    if let (Some(short), Some(_)) = (arg.get_short(), arg.get_long()) {
        spelling = format!("-{short}, {spelling}");
    }
    let takes = arg.get_action().takes_values();
    let help = arg.get_long_help().or(arg.get_help());
    let help = help
        .map(|help| markdown(&help.to_string()))
        .unwrap_or_default();
    // Paragraphs stay within their list item.
    let help = help.replace('\n', "\n  ");
    let mut more = String::new();
    let possible: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if takes && !possible.is_empty() {
        write!(more, ". One of {}", possible.join(", ")).expect("a text");
    }
    let default: Vec<_> = arg
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy())
        .collect();
    if takes && !default.is_empty() {
        write!(more, ". Default: `{}`", default.join(" ")).expect("a text");
    }
    let help = help.trim_end();
    // A full stop is not repeated.
    let help = help
        .strip_suffix('.')
        .filter(|_| !more.is_empty())
        .unwrap_or(help);
    write!(out, "- `{spelling}`: {help}{more}").expect("a text");
    out.push('\n');
}
