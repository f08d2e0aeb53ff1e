//! Text of others, on a terminal.

use std::io::IsTerminal as _;

/// The text with every character escaped that could move the cursor, change colours or
/// turn the direction of writing.
pub(crate) fn safe(text: &str) -> String {
    let risky = |char: char| {
        char.is_control()
            || matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    if !text.contains(risky) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if risky(char) {
            out.extend(char.escape_default());
        } else {
            out.push(char);
        }
    }
    out
}

/// Whether standard output is a terminal that shows colours, and they are wanted
/// (<https://no-color.org>).
pub(super) fn has_colours() -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    std::io::stdout().is_terminal() && !unwanted && !is_dumb
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn nothing_reaches_the_terminal_as_a_command() {
        assert_eq!(
            safe("a\u{1b}[31mb\rc\n\u{9b}d\u{202e}é漢"),
            r"a\u{1b}[31mb\rc\n\u{9b}d\u{202e}é漢"
        );
    }
}
