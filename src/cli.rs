//! What can be typed. What it means is in [`crate::command`].

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use crate::command::run::ServerArguments;
use crate::command::{
    completions, compliance, demo, diff, eval, explain, export, fault, init, inspect, mcp, migrate,
    model_baseline, record, replay, run, schema, scrub, sessions, show, tail, validate, verify,
    wrap,
};

/// The recording proxy and replay gateway for MCP, the Model Context Protocol.
#[derive(Debug, Parser)]
#[command(
    name = "tapewright",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    // They are shown where they belong: in the help of `run`.
    mut_args(|arg| arg.hide(true))
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) servers: ServerArguments,
    #[command(subcommand)]
    pub(crate) command: Command,
}

// Deferred: only the options of the command that is run are put together.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Record(Box<record::Arguments>),
    Replay(Box<replay::Arguments>),
    Fault(fault::Arguments),
    Sessions(sessions::Arguments),
    Tail(tail::Arguments),
    Verify(Box<verify::Arguments>),
    Export(export::Arguments),
    Init(Box<init::Arguments>),
    Show(show::Arguments),
    Diff(diff::Arguments),
    Inspect(inspect::Arguments),
    Mcp(Box<mcp::Arguments>),
    Scrub(scrub::Arguments),
    Compliance(compliance::Arguments),
    Migrate(migrate::Arguments),
    #[command(visible_alias = "model-compat")]
    ModelBaseline(model_baseline::Arguments),
    Validate(validate::Arguments),
    Schema(schema::Arguments),
    Run(Box<run::Arguments>),
    Eval(Box<eval::Arguments>),
    Explain(explain::Arguments),
    Wrap(wrap::Arguments),
    Unwrap(wrap::UnwrapArguments),
    Demo(demo::Arguments),
    Completions(completions::Arguments),
}

/// The commands that take filter words.
const FILTERED: [&str; 1] = ["show"];

/// What was typed, with `-WORD` as `!WORD` where filter words may stand: no option of these
/// commands has one dash and more than one letter, and clap would take it for several.
pub(crate) fn typed(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    let is_option = |word: &OsString| word.to_string_lossy().starts_with('-');
    let command = words.iter().skip(1).position(|word| !is_option(word));
    let named = command.and_then(|at| words.get(at + 1)?.to_str());
    let Some(at) = command.filter(|_| named.is_some_and(|name| FILTERED.contains(&name))) else {
        return words;
    };
    for word in words.iter_mut().skip(at + 2) {
        let plain = word.to_str().and_then(|text| text.strip_prefix('-'));
        let turned = plain.filter(|rest| rest.len() > 1 && !rest.starts_with('-'));
        if let Some(rest) = turned {
            *word = format!("!{rest}").into();
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_may_begin_with_a_dash_where_filters_stand() {
        let typed = |line: &str| {
            let words = typed(line.split(' ').map(OsString::from));
            let words = words.iter().map(|word| word.to_string_lossy().into_owned());
            words.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            typed("tapewright show f -tool:x --full -h -hang"),
            "tapewright show f !tool:x --full -h !hang"
        );
        assert_eq!(typed("tapewright run -vv show"), "tapewright run -vv show");
        assert_eq!(typed("tapewright"), "tapewright");
    }
}
