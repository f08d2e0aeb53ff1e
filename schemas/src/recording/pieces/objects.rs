//! The members of elements, noted while the elements are read.

use std::ops::Range;

use crate::json::{Span, Text, members_end};
use crate::slices::Part as _;

/// The elements of a piece, with the members of those that are objects.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    elements: Vec<(Span, Range<usize>)>,
    members: Vec<(Text, Span)>,
}

/// The maximum number of members that are noted of an element: a note takes more room than the
/// shortest member.
const MOST: usize = 64;

impl Objects {
    /// The elements: where each is in its piece, and the names and values of its members, relative
    /// to its start. There are no members if it is not an object, nested very deeply, or has more
    /// than 64 of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Span, &[(Text, Span)])> {
        let elements = self.elements.iter();
        elements.map(|(span, members)| (*span, self.members.part(members.clone())))
    }

    pub(super) fn clear(&mut self) {
        self.elements.clear();
        self.members.clear();
    }

    /// Notes the element that begins at `at` with its members, and returns its end. `other` finds
    /// the end of one that is not an object, or cut, or nested too deeply.
    pub(super) fn read<E>(
        &mut self,
        text: &[u8],
        at: usize,
        other: impl FnOnce() -> Result<usize, E>,
    ) -> Result<usize, E> {
        let first = self.members.len();
        let moved = |Span { start, end }| Span {
            start: start - at,
            end: end - at,
        };
        let end = members_end(text, at, 0, |name, value| {
            if self.members.len() - first <= MOST {
                let span = moved(name.span);
                self.members.push((Text { span, ..name }, moved(value)));
            }
        });
        if end.is_none() || self.members.len() - first > MOST {
            self.members.truncate(first);
        }
        let end = match end {
            Some(end) => end,
            None => other()?,
        };
        let members = first..self.members.len();
        self.elements.push((Span { start: at, end }, members));
        Ok(end)
    }
}
