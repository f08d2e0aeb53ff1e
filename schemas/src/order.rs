//! Sorting by code that all lists share.
//!
//! A sort of the standard library is compiled again for each type and each order, with 5 kB of code
//! each: a hundred of them were half a megabyte of the program. Here only the comparison is. That
//! takes more time, and eight bytes for each element: lists that are sorted for each message, or
//! that have millions of elements, use the standard library.

use std::cmp::Ordering;

/// A list whose order can be changed; equal elements keep their order.
pub trait Order<T> {
    /// Sorts by a comparison.
    fn order_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts by a key; `key` may be called often.
    fn order_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.order_by(|one, other| key(one).cmp(&key(other)));
    }

    /// Sorts by the order of the elements.
    fn order(&mut self)
    where
        T: Ord,
    {
        self.order_by(T::cmp);
    }
}

impl<T> Order<T> for [T] {
    fn order_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut from = sorted(
            self.len(),
            &mut |one, other| match (self.get(one), self.get(other)) {
                (Some(one), Some(other)) => compare(one, other),
                _ => Ordering::Equal,
            },
        );
        arrange(&mut from, &mut |one, other| self.swap(one, other));
    }
}

/// For each place of a sorted list, the place that it is taken from.
fn sorted(len: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..len).collect();
    places.sort_by(|one, other| compare(*one, *other));
    places
}

/// Puts everything in its place, given where each place is taken from.
fn arrange(from: &mut [usize], swap: &mut dyn FnMut(usize, usize)) {
    for first in 0..from.len() {
        // Follow a cycle of places, each of which gets the element of the next one.
        let mut place = first;
        while let Some(taken) = from.get_mut(place) {
            let next = std::mem::replace(taken, place);
            if next == first {
                break;
            }
            swap(place, next);
            place = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_sort_of_the_standard_library(
            list in proptest::collection::vec((0_u8..8, any::<u16>()), 0..200),
        ) {
            let (mut ours, mut theirs) = (list.clone(), list.clone());
            ours.order_by_key(|(key, _)| *key);
            theirs.sort_by_key(|(key, _)| *key);
            prop_assert_eq!(&ours, &theirs);
            ours.order();
            theirs.sort_unstable();
            prop_assert_eq!(&ours, &theirs);
            ours.order_by(|one, other| other.cmp(one));
            theirs.sort_by(|one, other| other.cmp(one));
            prop_assert_eq!(&ours, &theirs);
        }
    }
}
