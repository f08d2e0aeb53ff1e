//! The line in which filter words or a command are typed.

/// What is typed, and where the cursor stands in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// What it is for.
    pub(crate) asks: Asks,
    /// The text.
    pub(crate) text: String,
    /// Characters in front of the cursor.
    pub(crate) cursor: usize,
    /// What is wrong with it.
    pub(crate) problem: Option<String>,
}

/// What a line is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Asks {
    /// Filter words: `/`.
    #[default]
    Filter,
    /// A command: `:`.
    Command,
}

use super::command;
use super::keys::Key;

/// How many characters may be typed.
const LONGEST: usize = 500;

/// What a key did to the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// It goes on.
    On,
    /// It is finished.
    Done,
    /// It is given up.
    Left,
}

impl Prompt {
    /// A line with this filter.
    pub(super) fn of(text: String) -> Self {
        let cursor = text.chars().count();
        Self {
            asks: Asks::Filter,
            text,
            cursor,
            problem: None,
        }
    }

    /// A line for a command.
    pub(super) fn command() -> Self {
        Self {
            asks: Asks::Command,
            ..Self::default()
        }
    }

    /// A key is pressed.
    pub(super) fn key(&mut self, key: Key) -> Typed {
        let count = self.text.chars().count();
        match key {
            Key::Enter => return Typed::Done,
            Key::Escape | Key::Control('c') => return Typed::Left,
            Key::Char(char) if count < LONGEST && !char.is_control() => {
                let at = self.at(self.cursor);
                self.text.insert(at, char);
                self.cursor += 1;
            }
            Key::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                let at = self.at(self.cursor);
                self.text.remove(at);
            }
            Key::Tab if self.asks == Asks::Command => {
                if let Some(text) = command::completed(&self.text) {
                    self.cursor = text.chars().count();
                    self.text = text;
                }
            }
            // As in vi, nothing is left of a command whose `:` is taken away.
            Key::Backspace if self.asks == Asks::Command && count == 0 => return Typed::Left,
            Key::Control('u') => (self.text, self.cursor) = (String::new(), 0),
            Key::Left => self.cursor = self.cursor.saturating_sub(1),
            Key::Right => self.cursor = (self.cursor + 1).min(count),
            Key::Home | Key::Control('a') => self.cursor = 0,
            Key::End | Key::Control('e') => self.cursor = count,
            _ => {}
        }
        self.problem = None;
        Typed::On
    }

    fn at(&self, chars: usize) -> usize {
        let mut all = self.text.char_indices();
        all.nth(chars).map_or(self.text.len(), |(at, _)| at)
    }

    /// The words that are typed: quotes hold a word together.
    pub(super) fn words(&self) -> Result<Vec<String>, String> {
        let words = shell_words::split(&self.text).map_err(|error| error.to_string())?;
        // As on the command line.
        Ok(words)
    }
}
