//! Makes text of peers safe for a terminal and the log of a CI.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::OnceLock;

use clap::ValueEnum;
use tapewright_proxy::system::terminal::is_dumb;
use tapewright_schemas::slices::Part as _;

/// Escapes every character that could move the cursor, change colours or reverse the direction of
/// writing, and breaks what a CI interprets as a command in a log: `::` at the start of a line
/// (GitHub Actions), `##[` and `##vso[` anywhere (GitHub Actions, Azure Pipelines).
pub(crate) fn safe(text: &str) -> String {
    let text = without_commands(text);
    if !text.contains(is_risky) {
        return text.into_owned();
    }
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if is_risky(char) {
            out.extend(char.escape_default());
        } else {
            out.push(char);
        }
    }
    out
}

/// Escapes the same characters and commands in JSON, without changing its meaning: they only occur
/// within strings.
pub(crate) fn safe_json(json: &str) -> Cow<'_, str> {
    let risky = |char: char| is_risky(char) && char != '\n';
    if !json.contains(risky) && !json.contains("##") {
        return json.into();
    }
    let mut out = String::with_capacity(json.len());
    for char in json.chars() {
        if risky(char) {
            let mut units = [0; 2];
            for unit in char.encode_utf16(&mut units) {
                // Writing to a string does not fail.
                let _never_fails = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(char);
        }
    }
    out.replace("##[", "#\\u0023[")
        .replace("##vso[", "#\\u0023vso[")
        .into()
}

fn is_risky(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn without_commands(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (command, broken) in [("##[", "# #["), ("##vso[", "# #vso[")] {
        if text.contains(command) {
            text = text.replace(command, broken).into();
        }
    }
    // A runner ignores white space in front.
    let start = text.len() - text.trim_start().len();
    if text.part(start..).starts_with("::") {
        text.to_mut().insert(start + 1, ' ');
    }
    text
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colours {
    /// On a terminal
    #[default]
    Auto,
    /// Also in files and pipes
    Always,
    /// Nowhere
    Never,
}

/// The choice on the command line, set once before anything is printed.
static CHOSEN: OnceLock<Colours> = OnceLock::new();

/// Sets the choice on the command line.
pub(crate) fn choose_colours(colours: Colours) {
    // The first one counts: there is one command line.
    CHOSEN.set(colours).ok();
}

/// Whether stdout gets colours.
pub(super) fn has_colours() -> bool {
    has_colours_on(&std::io::stdout())
}

/// Whether colours are used on terminals.
pub(super) fn wants_colours() -> bool {
    are_wanted(true)
}

/// Whether a stream gets colours.
pub(super) fn has_colours_on(stream: &impl IsTerminal) -> bool {
    are_wanted(stream.is_terminal())
}

fn are_wanted(is_terminal: bool) -> bool {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let settings = Settings {
        chosen: CHOSEN.get().copied().unwrap_or_default(),
        no_color: variable("NO_COLOR").is_some(),
        forced: variable("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
        is_dumb: is_dumb(),
    };
    settings.want(is_terminal)
}

/// What decides about colours: the option first, then `NO_COLOR` (<https://no-color.org>), then
/// `CLICOLOR_FORCE` (<https://bixense.com/clicolors>), then the terminal.
#[derive(Clone, Copy, Default)]
struct Settings {
    chosen: Colours,
    no_color: bool,
    forced: bool,
    is_dumb: bool,
}

impl Settings {
    fn want(self, is_terminal: bool) -> bool {
        match self.chosen {
            Colours::Always => true,
            Colours::Never => false,
            Colours::Auto if self.no_color => false,
            Colours::Auto => self.forced || is_terminal && !self.is_dumb,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Colours, Settings, safe, safe_json};

    #[test]
    fn the_option_decides_on_colours_before_variables_and_the_terminal() {
        let auto = Settings::default();
        let no_color = Settings {
            no_color: true,
            ..auto
        };
        let forced = Settings {
            forced: true,
            ..auto
        };
        let both = Settings {
            no_color: true,
            ..forced
        };
        let dumb = Settings {
            is_dumb: true,
            ..auto
        };
        let always = Settings {
            chosen: Colours::Always,
            ..both
        };
        let never = Settings {
            chosen: Colours::Never,
            ..forced
        };
        for (settings, on_terminal, on_pipe) in [
            (auto, true, false),
            (no_color, false, false),
            (forced, true, true),
            (both, false, false),
            (dumb, false, false),
            (always, true, true),
            (never, false, false),
        ] {
            assert_eq!(
                [settings.want(true), settings.want(false)],
                [on_terminal, on_pipe]
            );
        }
    }

    #[test]
    fn nothing_reaches_the_terminal_as_a_command() {
        assert_eq!(
            safe("a\u{1b}[31mb\rc\n\u{9b}d\u{202e}é漢"),
            r"a\u{1b}[31mb\rc\n\u{9b}d\u{202e}é漢"
        );
    }

    #[test]
    fn nothing_is_a_command_to_a_ci() {
        for (said, told) in [
            ("::add-mask::x", ": :add-mask::x"),
            (" \t::x", r" \t: :x"),
            ("a::b", "a::b"),
            ("a ##[b] ##vso[c]", "a # #[b] # #vso[c]"),
            ("###[x", "## #[x"),
        ] {
            assert_eq!(safe(said), told);
        }
    }

    #[test]
    fn json_means_what_it_meant() {
        for text in [
            "\u{9b}\u{202e}é##[x ##vso[y ###[z\u{fffe}::a\u{1}",
            "plain",
            "##",
        ] {
            let json = serde_json::to_string_pretty(&[text]).unwrap();
            let safe = safe_json(&json);
            assert_eq!(serde_json::from_str::<[String; 1]>(&safe).unwrap(), [text]);
            assert!(!safe.contains(|char: char| char.is_control() && char != '\n'));
            assert!(
                !safe.contains("##[") && !safe.contains("##vso[") && !safe.contains('\u{202e}')
            );
        }
    }
}
