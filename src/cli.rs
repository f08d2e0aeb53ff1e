//! The command line: commands and options. [`crate::command`] carries them out.

use std::ffi::OsString;

use clap::builder::styling::{AnsiColor, Styles};
use clap::error::{ContextKind, ContextValue};
use clap::{ColorChoice, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::command::run::ServerArguments;
use crate::command::{
    completions, compliance, demo, diff, eval, explain, export, fault, init, inspect, mcp, migrate,
    model_baseline, record, replay, run, schema, scrub, sessions, show, tail, validate, verify,
    view, watch, wrap,
};
use crate::report::{self, Colours};

/// Record, replay and test MCP servers (Model Context Protocol)
#[derive(Debug, Parser)]
#[command(
    name = "tapewright",
    // Not the name of the file, which is `tapewright.exe` on Windows.
    bin_name = "tapewright",
    version,
    arg_required_else_help = true,
    max_term_width = 80,
    styles = STYLES,
    after_help = AFTER,
    subcommand_value_name = "COMMAND",
    // They are shown where they belong: in the help of `run`.
    mut_args(|arg| if arg.get_id() == "color" { arg } else { arg.hide(true) })
)]
pub(crate) struct Arguments {
    /// Use colours: auto, always or never
    ///
    /// With `auto`, on terminals; `NO_COLOR` turns them off, `CLICOLOR_FORCE` on.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_short_help = true,
        hide_possible_values = true
    )]
    pub(crate) color: Colours,
    #[command(flatten)]
    pub(crate) servers: ServerArguments,
    #[command(subcommand)]
    pub(crate) command: Command,
}

// Deferred: only the options of the command that is run are put together. The lines here are those
// of the list of commands, each the first line of its command's help.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Record the traffic between a client and a server
    Record(Box<record::Arguments>),
    /// Serve a recording as a fake server
    Replay(Box<replay::Arguments>),
    /// Show a recorded conversation, one exchange per line
    Show(show::Arguments),
    /// Show a conversation in the terminal, live or recorded
    Watch(watch::Arguments),
    /// Show a recording in the browser
    View(view::Arguments),
    /// Summarize a recording
    Inspect(inspect::Arguments),
    /// Compare two recordings, exchange by exchange
    Diff(diff::Arguments),
    /// Send recorded requests to a live server and report drift
    Verify(Box<verify::Arguments>),
    /// Convert a recording to another format
    Export(export::Arguments),
    /// Remove secrets from recordings
    Scrub(scrub::Arguments),
    /// Write a suite for a server or from a recording
    Init(Box<init::Arguments>),
    /// Run test suites against servers or recordings
    Run(Box<run::Arguments>),
    /// Check suites without running them
    Validate(validate::Arguments),
    /// Run evaluations: prompts whose answers a model grades
    Eval(Box<eval::Arguments>),
    /// Record what a model answers, and compare other models with it
    #[command(alias = "model-compat")]
    ModelBaseline(model_baseline::Arguments),
    /// Check servers and recordings against the MCP specification
    Compliance(compliance::Arguments),
    /// Rewrite suites and cassettes for a later revision
    Migrate(migrate::Arguments),
    /// Put the recorder into a client's configuration
    Wrap(wrap::Arguments),
    /// Remove the recorder from a client's configuration
    Unwrap(wrap::UnwrapArguments),
    /// Serve recordings to coding agents over MCP
    Mcp(Box<mcp::Arguments>),
    /// List the sessions of a running recorder or replay
    Sessions(sessions::Arguments),
    /// Follow the traffic of a running recorder or replay
    Tail(tail::Arguments),
    /// Change the faults of a running recorder or replay
    Fault(fault::Arguments),
    /// Explain a code that tapewright prints
    Explain(explain::Arguments),
    /// Print the JSON Schema of a file format
    Schema(schema::Arguments),
    /// Print a shell completion script
    Completions(completions::Arguments),
    /// Record, replay and check a built-in server, offline
    Demo(demo::Arguments),
}

const AFTER: &str = "\
Start with `tapewright demo`, or record your own server:
  tapewright record -o session.json -- COMMAND [ARGS...]

`tapewright COMMAND --help` shows all options of a command, with examples.";

/// The colours of help and of errors on a terminal, as in cargo and uv.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Parses the command line, and decides whether to use colours.
pub(crate) fn parse(words: impl Iterator<Item = OsString>) -> Result<Arguments, clap::Error> {
    let words = typed(words);
    // Done first, so that errors are coloured as well.
    let colours = colours(&words);
    report::choose_colours(colours);
    let choice = match colours {
        Colours::Auto => ColorChoice::Auto,
        Colours::Always => ColorChoice::Always,
        Colours::Never => ColorChoice::Never,
    };
    let mut command = Arguments::command().color(choice);
    let matches = match command.try_get_matches_from_mut(words.iter().cloned()) {
        Ok(matches) => matches,
        Err(mut error) => {
            suggest_visible(&mut error, &command, &words);
            return Err(error);
        }
    };
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Makes the tip of an error suggest only options and commands that the help shows: clap also
/// compares the input with hidden spellings.
fn suggest_visible(error: &mut clap::Error, command: &clap::Command, words: &[OsString]) {
    let typed = words.iter().skip(1).map(|word| word.to_string_lossy());
    let mut reached = command;
    for word in typed.take_while(|word| word != "--") {
        reached = reached.find_subcommand(&*word).unwrap_or(reached);
    }
    for kind in [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand] {
        let suggested = match error.get(kind) {
            Some(ContextValue::String(one)) => std::slice::from_ref(one),
            Some(ContextValue::Strings(several)) => several,
            _ => continue,
        };
        let mut visible: Vec<String> = Vec::new();
        for name in suggested {
            let name = shown_name(reached, name);
            if !visible.contains(&name) {
                visible.push(name);
            }
        }
        let value = match error.get(kind) {
            Some(ContextValue::String(_)) => ContextValue::String(visible.concat()),
            _ => ContextValue::Strings(visible),
        };
        error.insert(kind, value);
    }
}

/// An option or subcommand by its name in the help.
fn shown_name(command: &clap::Command, name: &str) -> String {
    let Some(long) = name.strip_prefix("--") else {
        let found = command.find_subcommand(name);
        return found.map_or(name, clap::Command::get_name).to_owned();
    };
    let mut options = command.get_arguments();
    let is_it = |arg: &&clap::Arg| {
        let aliases = arg.get_all_aliases().unwrap_or_default();
        arg.get_long() == Some(long) || aliases.contains(&long)
    };
    let found = options.find(is_it);
    // An old spelling that is an option of its own is replaced by the option that took its place.
    let replaced = found.and_then(|arg| arg.get_id().as_str().strip_prefix(DEPRECATED));
    let replacement =
        replaced.and_then(|id| command.get_arguments().find(|arg| arg.get_id() == id));
    let shown = replacement.or(found).and_then(clap::Arg::get_long);
    shown.map_or_else(|| name.to_owned(), |long| format!("--{long}"))
}

/// The prefix of the ids of options that exist only as old spellings.
const DEPRECATED: &str = "deprecated_";

/// The last `--color` in front of `--`. One that belongs to a command behind it is found as well
/// and colours our messages about that server, which does no harm.
fn colours(words: &[OsString]) -> Colours {
    let words = words.iter().map(|word| word.to_string_lossy());
    let ours: Vec<_> = words.take_while(|word| word != "--").collect();
    let separate = ours.windows(2).filter_map(|pair| match pair {
        [option, value] if option == "--color" => Some(&**value),
        _ => None,
    });
    let joined = ours.iter().filter_map(|word| word.strip_prefix("--color="));
    let value = separate.chain(joined).next_back().unwrap_or_default();
    clap::ValueEnum::from_str(value, false).unwrap_or_default()
}

/// The commands that take filter words.
const FILTERED: [&str; 2] = ["show", "watch"];

/// The arguments, with `-WORD` turned into `!WORD` where filter words are allowed: no option of
/// these commands has one dash and more than one letter, and clap would take it for several
/// options.
pub(crate) fn typed(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    let is_option = |word: &OsString| word.to_string_lossy().starts_with('-');
    let is_value = |at: usize| words.get(at).is_some_and(|before| before == "--color");
    let mut all = words.iter().skip(1).enumerate();
    let command = all.position(|(at, word)| !is_option(word) && !is_value(at));
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
    fn colours_are_those_in_front_of_the_command_of_a_server() {
        let colours = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            colours(&words)
        };
        assert_eq!(colours("tapewright run --color always"), Colours::Always);
        assert_eq!(colours("tapewright --color=never run"), Colours::Never);
        assert_eq!(colours("tapewright --color"), Colours::Auto);
        assert_eq!(
            colours("tapewright record -- x --color never"),
            Colours::Auto
        );
    }

    /// Options for which 0 means something: no repetition, the oldest verdict.
    const ZERO_IS_MEANT: [&str; 2] = ["retry", "verdict-cache"];

    /// Gives 0 to every option of a command and those below it that takes an amount; returns how
    /// many there are.
    fn with_zero(all: &clap::Command, here: &clap::Command, words: &[&str]) -> usize {
        let mut tried = 0;
        for option in here.get_arguments() {
            let takes = |name: &str| {
                let names = option.get_value_names().unwrap_or_default();
                names.iter().any(|one| one == name)
            };
            let is_amount = ["DURATION", "COUNT", "SIZE"].into_iter().any(takes);
            let Some(name) = option.get_long().filter(|_| is_amount) else {
                continue;
            };
            let zero = format!("--{name}=0");
            let typed = words.iter().copied().chain([zero.as_str()]);
            let kind = all
                .clone()
                .try_get_matches_from(typed)
                .map_err(|error| error.kind());
            let refused = kind.err() == Some(clap::error::ErrorKind::ValueValidation);
            assert_eq!(refused, !ZERO_IS_MEANT.contains(&name), "{words:?} {zero}");
            tried += 1;
        }
        let below = here.get_subcommands();
        let below = below.map(|one| with_zero(all, one, &[words, &[one.get_name()]].concat()));
        tried + below.sum::<usize>()
    }

    #[test]
    fn zero_is_refused_wherever_it_cannot_be_meant() {
        let mut all = Arguments::command();
        all.build();
        let tried = with_zero(&all, &all, &["tapewright"]);
        assert!(tried > 30, "{tried}");
    }

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
        assert_eq!(
            typed("tapewright --color always show f -tool:x"),
            "tapewright --color always show f !tool:x"
        );
        assert_eq!(typed("tapewright run -vv show"), "tapewright run -vv show");
        assert_eq!(typed("tapewright"), "tapewright");
    }
}
