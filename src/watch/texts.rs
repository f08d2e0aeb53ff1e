//! Repeated names and other texts, in bounded memory.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use tapewright_schemas::slices::{Front as _, Part as _};

/// A repeated name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Word(u32);

/// A text that may be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    block: u32,
    start: u32,
    bytes: u16,
}

/// Names by their numbers, and the latest texts.
#[derive(Debug)]
pub(crate) struct Words {
    names: Vec<Rc<str>>,
    numbers: HashMap<Rc<str>, u32>,
    /// Texts.
    pub(crate) texts: Texts,
}

/// The latest texts, in blocks of which the oldest are dropped first.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    blocks: VecDeque<String>,
    first: u32,
}

/// How many names are kept; further ones are shown as `…`.
const NAMES: usize = 50_000;
/// The size of a block, and the number of blocks: 32 MiB together.
const BLOCK_BYTES: usize = 1 << 20;
const BLOCKS: usize = 32;
/// How many bytes of a text are kept.
const TEXT_BYTES: usize = 400;

impl Word {
    /// No name.
    pub(crate) const NONE: Self = Self(0);
    const TOO_MANY: Self = Self(1);
}

impl Text {
    /// No text.
    pub(crate) const NONE: Self = Self {
        block: u32::MAX,
        start: 0,
        bytes: 0,
    };
}

impl Default for Words {
    fn default() -> Self {
        Self {
            names: vec!["".into(), "…".into()],
            numbers: HashMap::new(),
            texts: Texts::default(),
        }
    }
}

impl Words {
    /// The number of a name.
    pub(super) fn word(&mut self, name: &str) -> Word {
        if name.is_empty() {
            return Word::NONE;
        }
        if let Some(number) = self.numbers.get(name) {
            return Word(*number);
        }
        let number = self.names.len();
        let Some(number) = u32::try_from(number).ok().filter(|_| number < NAMES) else {
            return Word::TOO_MANY;
        };
        let name: Rc<str> = name.into();
        self.names.push(Rc::clone(&name));
        self.numbers.insert(name, number);
        Word(number)
    }

    /// The number of a name, if there is one.
    pub(super) fn of(&mut self, name: Option<&String>) -> Word {
        name.map_or(Word::NONE, |name| self.word(name))
    }

    /// The name for a number.
    pub(crate) fn get(&self, word: Word) -> &str {
        let name = self.names.get(word.0 as usize);
        name.map_or("", |name| name)
    }
}

impl Texts {
    /// Keeps a text, cut to the limit.
    pub(super) fn add(&mut self, text: &str) -> Text {
        let text = text.front(TEXT_BYTES);
        if text.is_empty() {
            return Text::NONE;
        }
        let is_full = |block: &String| block.len() + text.len() > BLOCK_BYTES;
        if self.blocks.back().is_none_or(is_full) {
            if self.blocks.len() == BLOCKS {
                self.blocks.pop_front();
                self.first += 1;
            }
            self.blocks.push_back(String::with_capacity(BLOCK_BYTES));
        }
        let last = self.first as usize + self.blocks.len() - 1;
        let Some(block) = self.blocks.back_mut() else {
            return Text::NONE;
        };
        let start = block.len();
        block.push_str(text);
        // All offsets are far smaller.
        Text {
            block: u32::try_from(last).unwrap_or(u32::MAX),
            start: u32::try_from(start).unwrap_or(u32::MAX),
            bytes: u16::try_from(text.len()).unwrap_or(u16::MAX),
        }
    }

    /// A text, unless it has been dropped.
    pub(crate) fn get(&self, text: Text) -> Option<&str> {
        let block = text.block.checked_sub(self.first)?;
        let block = self.blocks.get(block as usize)?;
        let start = text.start as usize;
        Some(block.part(start..start + usize::from(text.bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_number_and_there_are_not_too_many() {
        let mut words = Words::default();
        let one = words.word("tools/call");
        assert_eq!(words.word("tools/call"), one);
        assert_eq!((words.get(one), words.get(Word::NONE)), ("tools/call", ""));
        for number in 0..NAMES {
            words.word(&number.to_string());
        }
        let more = words.word("one more");
        assert_eq!(words.get(more), "…");
        assert_eq!(words.names.len(), NAMES);
    }

    #[test]
    fn the_oldest_texts_go_first() {
        let mut texts = Texts::default();
        let long = "é".repeat(TEXT_BYTES);
        let first = texts.add("first");
        assert_eq!(texts.get(first), Some("first"));
        assert_eq!(texts.add(""), Text::NONE);
        assert_eq!(texts.get(Text::NONE), None);
        let mut last = first;
        for _ in 0..=BLOCKS * BLOCK_BYTES / TEXT_BYTES + 1_000 {
            last = texts.add(&long);
        }
        assert_eq!(texts.get(first), None);
        assert_eq!(texts.get(last).map(str::len), Some(TEXT_BYTES));
        assert_eq!(texts.blocks.len(), BLOCKS);
    }
}
