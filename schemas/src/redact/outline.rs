//! What a walk records for the next reader of the same text.

use crate::json::{Span, Text};

/// The members of the outermost object, for the next reader of the text.
#[derive(Debug, Default)]
pub(super) struct Outline {
    members: Vec<(Text, Span)>,
    // The text is complete.
    whole: bool,
    // There are more members than fit.
    over: bool,
}

/// An envelope has five members at most; an outline of more is of no use.
const OUTLINE: usize = 16;

impl Outline {
    /// Resets the outline.
    pub(super) fn clear(&mut self) {
        self.members.clear();
        self.whole = false;
        self.over = false;
    }

    /// The next member: its name, and its value with the white space before it.
    pub(super) fn push(&mut self, name: Text, value: Span) {
        if self.members.len() < OUTLINE {
            self.members.push((name, value));
        } else {
            self.over = true;
        }
    }

    /// The text has ended.
    pub(super) fn end(&mut self) {
        self.whole = !self.over && !self.members.is_empty();
    }

    /// The name and value of each member, if the text was one complete object.
    pub(super) fn members(&self) -> Option<&[(Text, Span)]> {
        self.whole.then_some(&self.members)
    }
}
