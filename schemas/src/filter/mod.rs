//! The filter words of every view, which select lines of a conversation.
//!
//! Every word must match, and `-` or `!` before a word negates it. A word is `NAME:VALUE`, or a
//! text to search for in the method, in the name of the tool, resource, prompt or model, and in
//! message contents where a view shows them. ASCII letters are compared case-insensitively.
//!
//! `cases.json` next to this file contains filters and what they match; the filter of the page is
//! tested with the same file.

mod error;
mod status;
mod subject;
mod time;
mod word;

#[cfg(test)]
mod tests;

pub use self::error::{FilterError, WORDS};
pub use self::subject::{LineKind, Subject};
pub use self::time::micros;

use self::word::Word;

/// A filter of lines.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    words: Vec<Part>,
}

/// The name in a word. Texts are parts of a name, in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name<'f> {
    /// Part of a method.
    Method(&'f [u8]),
    /// Part of the name of a model.
    Model(&'f [u8]),
    /// A session.
    Session(u32),
    /// Part of the name of a tool.
    Tool(&'f [u8]),
}

impl Name<'_> {
    /// Whether a line has this name.
    #[must_use]
    pub fn is_of(self, line: &Subject<'_>) -> bool {
        match self {
            Self::Method(part) => word::holds(line.method.as_bytes(), part),
            Self::Model(part) => line
                .model
                .is_some_and(|model| word::holds(model.as_bytes(), part)),
            Self::Session(number) => line.session == number,
            Self::Tool(part) => {
                line.tool
                    .is_some_and(|tool| word::holds(tool.as_bytes(), part))
                    || line.asks_for(|name| word::holds(name, part))
            }
        }
    }
}

/// A word, and whether it is turned round.
#[derive(Clone, Debug)]
struct Part {
    negated: bool,
    word: Word,
}

impl Filter {
    /// Reads filter words.
    pub fn new<T: AsRef<str>>(words: &[T]) -> Result<Self, FilterError> {
        let mut filter = Self::default();
        for text in words {
            let text = text.as_ref();
            let plain = text.strip_prefix(['-', '!']);
            filter.words.push(Part {
                negated: plain.is_some(),
                word: Word::read(plain.unwrap_or(text))?,
            });
        }
        Ok(filter)
    }

    /// The names in the words that are not negated.
    pub fn names(&self) -> impl Iterator<Item = Name<'_>> {
        let words = self.words.iter().filter(|part| !part.negated);
        words.filter_map(|part| match &part.word {
            Word::Method(part) => Some(Name::Method(part)),
            Word::Model(part) => Some(Name::Model(part)),
            Word::Session(number) => Some(Name::Session(*number)),
            Word::Tool(part) => Some(Name::Tool(part)),
            _ => None,
        })
    }

    /// Adds that the request has this id, however it was written.
    #[must_use]
    pub fn with_id(mut self, id: &str) -> Self {
        self.words.push(Part {
            negated: false,
            word: Word::Id(id.to_owned()),
        });
        self
    }

    /// Whether everything matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether a word needs times.
    #[must_use]
    pub fn asks_for_times(&self) -> bool {
        let mut words = self.words.iter();
        words.any(|part| matches!(part.word, Word::Slow { .. }))
    }

    /// Whether a word searches for a text, including message contents.
    #[must_use]
    pub fn asks_for_texts(&self) -> bool {
        let mut words = self.words.iter();
        words.any(|part| matches!(part.word, Word::Text(_)))
    }

    /// The kinds of lines that are requested by name; `None` if there are none.
    #[must_use]
    pub fn kinds(&self) -> Option<Vec<LineKind>> {
        let mut named = self.words.iter().filter(|part| !part.negated);
        named.find_map(|part| match &part.word {
            Word::Kind(kinds) => Some(kinds.clone()),
            Word::Status(all) if all.iter().any(|one| one.is_late()) => {
                Some(vec![LineKind::Exchange, LineKind::Late])
            }
            _ => None,
        })
    }

    /// Whether this line matches.
    #[must_use]
    pub fn matches(&self, subject: &Subject<'_>) -> bool {
        let mut words = self.words.iter();
        words.all(|part| part.word.matches(subject) != part.negated)
    }
}
