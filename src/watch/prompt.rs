//! The input line for filter words or a command.

/// The text, and the position of the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// Its purpose.
    pub(crate) asks: Asks,
    /// The text.
    pub(crate) text: String,
    /// Characters in front of the cursor.
    pub(crate) cursor: usize,
    /// The error in it.
    pub(crate) problem: Option<String>,
}

/// The purpose of an input line.
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

/// The longest input, in characters.
const LONGEST: usize = 500;

/// The effect of a key on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// Editing continues.
    On,
    /// The input is complete.
    Done,
    /// The input was cancelled.
    Left,
}

impl Prompt {
    /// An input line for this filter.
    pub(super) fn of(text: String) -> Self {
        let cursor = text.chars().count();
        Self {
            asks: Asks::Filter,
            text,
            cursor,
            problem: None,
        }
    }

    /// An input line for a command.
    pub(super) fn command() -> Self {
        Self {
            asks: Asks::Command,
            ..Self::default()
        }
    }

    /// Handles a key.
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
            // As in vi, deleting the `:` cancels the command.
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

    /// The words of the text: quotes keep words together.
    pub(super) fn words(&self) -> Result<Vec<String>, String> {
        let words = shell_words::split(&self.text).map_err(|error| error.to_string())?;
        // Split like a command line.
        Ok(words)
    }
}
