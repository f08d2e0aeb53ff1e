//! Parts of texts and slices whose bounds are our own.

use std::slice::SliceIndex;

/// A part whose bounds the caller computed itself, so that they cannot be out of range.
///
/// If they are all the same, tests and debug builds panic: nothing is silently dropped. A release
/// build returns an empty part, since no error of tapewright may end a session. For a bound that
/// comes from a peer, use `get`.
pub trait Part<R> {
    /// The elements in this range.
    #[must_use]
    fn part(&self, range: R) -> &Self;
}

impl<T, R: SliceIndex<[T], Output = [T]>> Part<R> for [T] {
    #[inline]
    #[track_caller]
    fn part(&self, range: R) -> &Self {
        inside(self.get(range))
    }
}

impl<R: SliceIndex<Self, Output = Self>> Part<R> for str {
    #[inline]
    #[track_caller]
    fn part(&self, range: R) -> &Self {
        inside(self.get(range))
    }
}

/// A [`Part`] that is written to.
pub trait PartMut<R> {
    /// The elements in this range.
    #[must_use]
    fn part_mut(&mut self, range: R) -> &mut Self;
}

impl<T, R: SliceIndex<[T], Output = [T]>> PartMut<R> for [T] {
    #[inline]
    #[track_caller]
    fn part_mut(&mut self, range: R) -> &mut Self {
        inside(self.get_mut(range))
    }
}

/// The front of a text or a slice that may be shorter than requested.
///
/// Unlike a [`Part`] it cannot be out of range: a shorter text is returned whole. Use it to express
/// this, rather than a fallback, which would also hide a wrong bound.
pub trait Front {
    /// At most the first `most` elements of a slice, or bytes of a text, which is not cut within a
    /// character.
    #[must_use]
    fn front(&self, most: usize) -> &Self;
}

impl<T> Front for [T] {
    #[inline]
    fn front(&self, most: usize) -> &Self {
        self.get(..most).unwrap_or(self)
    }
}

impl Front for str {
    fn front(&self, most: usize) -> &Self {
        let mut end = most.min(self.len());
        while !self.is_char_boundary(end) {
            end -= 1;
        }
        self.part(..end)
    }
}

#[inline]
#[track_caller]
fn inside<T: Default>(found: Option<T>) -> T {
    debug_assert!(found.is_some(), "a bound of our own lies outside");
    found.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Front as _, Part as _, PartMut as _};

    #[test]
    fn what_is_inside_is_found() {
        assert_eq!([1, 2, 3].part(1..), [2, 3]);
        assert_eq!("héllo".part(..3), "hé");
        assert_eq!(b"abc".as_slice().part(3..), b"");
        assert_eq!([1, 2, 3].part_mut(1..), [2, 3]);
    }

    #[test]
    fn a_front_is_never_longer_than_there_is() {
        assert_eq!([1, 2, 3].front(2), [1, 2]);
        assert_eq!([1, 2, 3].front(9), [1, 2, 3]);
        assert_eq!("hé".front(2), "h");
        assert_eq!("hé".front(9), "hé");
        assert_eq!("é".front(1), "");
    }

    #[test]
    #[should_panic(expected = "a bound of our own lies outside")]
    #[cfg(debug_assertions)]
    fn a_wrong_bound_is_loud() {
        assert_eq!([1, 2, 3].part(..4), [0; 0]);
    }

    #[test]
    #[should_panic(expected = "a bound of our own lies outside")]
    #[cfg(debug_assertions)]
    fn half_a_character_is_none() {
        assert_eq!("é".part(1..), "");
    }
}
