//! Where an answer goes on: a place in what was asked about, sealed with what was asked.
//!
//! A place is that of an event on the tape, so that a tape that grows between two answers moves
//! nothing. A cursor from another question is refused, because it would skip unread rows.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use crate::report::Mistake;

/// A place among rows: an event, or a count, and what tells apart the rows of one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowPosition(pub(super) u64, pub(super) u64);

/// What was asked, as far as it decides which rows there are and in which order.
#[derive(Clone, Debug)]
pub(super) struct Question(DefaultHasher);

impl Question {
    /// A question to this tool.
    pub(super) fn of(tool: &str) -> Self {
        Self(DefaultHasher::new()).about(tool)
    }

    /// The same about this, too.
    pub(super) fn about(mut self, part: &(impl Hash + ?Sized)) -> Self {
        part.hash(&mut self.0);
        self
    }

    fn seal(&self) -> u64 {
        self.0.finish()
    }

    /// The cursor behind a place.
    pub(super) fn cursor(&self, RowPosition(first, second): RowPosition) -> String {
        format!("{:016x}-{first:x}-{second:x}", self.seal())
    }

    /// The place that a cursor stands for.
    pub(super) fn place(&self, cursor: &str) -> Result<RowPosition, Mistake> {
        let mut parts = cursor.split('-').map(|part| u64::from_str_radix(part, 16));
        let mut next = || parts.next().and_then(Result::ok);
        let (Some(seal), Some(first), Some(second)) = (next(), next(), next()) else {
            let hint = "give `next_cursor` of an earlier answer as it was, or leave it out";
            return Err(Mistake::new("the cursor is invalid", hint));
        };
        if seal != self.seal() {
            let what =
                "the cursor belongs to another question, or to another recording of this name";
            let hint =
                "repeat the arguments of the answer that it came with, or omit it to start over";
            return Err(Mistake::new(what, hint));
        }
        Ok(RowPosition(first, second))
    }
}

/// A number that tells apart what stands at one event.
pub(super) fn mark(parts: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    // Room for those that come out the same.
    hasher.finish() >> 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_of_its_question_alone() {
        let question = Question::of("find").about("fs").about(&["tool:x"]);
        let place = RowPosition(u64::MAX, 7);
        let cursor = question.cursor(place);
        assert_eq!(question.place(&cursor).unwrap(), place);
        let other = Question::of("find").about("fs").about(&["tool:y"]);
        assert!(other.place(&cursor).is_err());
        for bad in ["", "x", "1-2", "zz-1-2", "-1-2-3"] {
            assert!(question.place(bad).is_err(), "{bad}");
        }
    }
}
