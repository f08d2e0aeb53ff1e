//! Message bodies for people: the JSON of a recording, indented.
//!
//! Nothing is parsed and serialized again: every name, string and number is shown verbatim, and
//! only the white space between them is ours.

use std::fmt::Write as _;

use super::{safe, safe_json};

/// How to show a text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    /// Whether to use colours.
    pub(crate) colour: bool,
    /// Whether to cut long parts.
    pub(crate) folded: bool,
    /// The indentation of every line.
    pub(crate) indent: usize,
}

/// A JSON text over several lines, each with a line end; any other text unchanged.
pub(crate) fn text(source: &[u8], look: Look) -> String {
    let is_json = tapewright_schemas::json::is_valid(source);
    if !is_json {
        let indent = " ".repeat(look.indent);
        let text = String::from_utf8_lossy(source);
        let lines = text.lines().map(safe);
        return lines.fold(String::new(), |out, line| out + &indent + &line + "\n");
    }
    let mut page = Page {
        look,
        out: String::new(),
        depth: 0,
        lines: 0,
    };
    page.value(source);
    page.finish()
}

/// How many characters of a string are shown if folded.
const STRING_CHARS: usize = 1_000;
/// How many lines of a text are shown if folded.
const LINES: usize = 100;
/// The deepest level of indentation.
const DEEPEST: usize = 40;

const NAME: &str = "34";
const STRING: &str = "32";
const OTHER: &str = "36";

struct Page {
    look: Look,
    out: String,
    depth: usize,
    lines: usize,
}

impl Page {
    fn value(&mut self, source: &[u8]) {
        self.begin();
        let mut rest = source.trim_ascii();
        while let Some(first) = rest.first().copied() {
            let length = match first {
                b'"' => string(rest),
                b'{' | b'[' | b'}' | b']' | b',' | b':' => 1,
                _ => scalar(rest),
            };
            let (token, after) = rest.split_at(length.min(rest.len()));
            rest = after.trim_ascii_start();
            match first {
                b'{' | b'[' => self.open(first, &mut rest),
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.next_line();
                    self.push(char::from(first));
                }
                b',' => {
                    self.push(',');
                    self.next_line();
                }
                b':' => self.push_text(": "),
                b'"' if rest.first() == Some(&b':') => self.token(token, NAME),
                b'"' => self.token(token, STRING),
                _ => self.token(token, OTHER),
            }
        }
        self.next_line();
    }

    /// Opens an object or an array; an empty one is closed at once.
    fn open(&mut self, first: u8, rest: &mut &[u8]) {
        self.push(char::from(first));
        if let Some((close @ (b'}' | b']'), after)) = rest.split_first() {
            self.push(char::from(*close));
            *rest = after.trim_ascii_start();
            return;
        }
        self.depth += 1;
        self.next_line();
    }

    fn token(&mut self, token: &[u8], colour: &str) {
        let token = String::from_utf8_lossy(token);
        let token = safe_json(&token);
        let chars = token.chars().count();
        let cut = chars.saturating_sub(STRING_CHARS);
        let shown = if self.look.folded && cut > 0 {
            let head: String = token.chars().take(STRING_CHARS).collect();
            format!("{head}…\" ({cut} more characters)")
        } else {
            token.into_owned()
        };
        if self.look.colour {
            self.push_text(&format!("\u{1b}[{colour}m{shown}\u{1b}[0m"));
        } else {
            self.push_text(&shown);
        }
    }

    fn next_line(&mut self) {
        self.push('\n');
        self.lines += 1;
        self.begin();
    }

    fn begin(&mut self) {
        let indent = self.look.indent + 2 * self.depth.min(DEEPEST);
        self.push_text(&" ".repeat(indent));
    }

    fn push(&mut self, char: char) {
        if self.is_shown() {
            self.out.push(char);
        }
    }

    fn push_text(&mut self, text: &str) {
        if self.is_shown() {
            self.out.push_str(text);
        }
    }

    fn is_shown(&self) -> bool {
        !self.look.folded || self.lines < LINES
    }

    fn finish(mut self) -> String {
        self.out.truncate(self.out.trim_end().len());
        self.out.push('\n');
        let more = self.lines.saturating_sub(LINES);
        if self.look.folded && more > 0 {
            let indent = " ".repeat(self.look.indent);
            // Writing to a string does not fail.
            let _never_fails = writeln!(self.out, "{indent}… {more} more lines");
        }
        self.out
    }
}

/// Length of the string at the start of a text, with its quotes.
fn string(text: &[u8]) -> usize {
    let mut escaped = false;
    let end = text.iter().skip(1).position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

fn scalar(text: &[u8]) -> usize {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b",]}:".contains(byte);
    text.iter().position(ends).unwrap_or(text.len()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(source: &str) -> String {
        text(source.as_bytes(), Look::default())
    }

    #[test]
    fn everything_stands_as_it_does_on_the_recording() {
        assert_eq!(
            plain(r#" {"a" : 1.50,"b":[],"c":[{},"\u00e9 \" ,"],"a":null}"#),
            "{\n  \"a\": 1.50,\n  \"b\": [],\n  \"c\": [\n    {},\n    \"\\u00e9 \\\" ,\"\n  ],\n  \"a\": null\n}\n"
        );
        assert_eq!(plain("3"), "3\n");
        assert_eq!(plain("no JSON\u{1b}\nb"), "no JSON\\u{1b}\nb\n");
    }

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(
            plain("{\"\u{202e}\":\"\u{9b}\"}"),
            "{\n  \"\\u202e\": \"\\u009b\"\n}\n"
        );
    }

    #[test]
    fn what_is_long_is_folded_where_that_is_wanted() {
        let look = Look {
            folded: true,
            ..Look::default()
        };
        let long = format!("\"{}\"", "x".repeat(1_500));
        let folded = text(long.as_bytes(), look);
        assert!(folded.ends_with("…\" (502 more characters)\n"), "{folded}");
        assert!(plain(&long).contains(&long));
        let many = format!("[{}0]", "0,".repeat(200));
        let folded = text(many.as_bytes(), look);
        assert!(folded.ends_with("… 103 more lines\n"), "{folded}");
        assert_eq!(folded.lines().count(), 101);
    }

    #[test]
    fn deep_values_are_no_deep_stack_and_no_square() {
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        let shown = plain(&deep);
        assert!(shown.len() < 100_000);
    }
}
