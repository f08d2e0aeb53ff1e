//! Reducing a recording to its relevant parts (delta debugging).

/// A subset of `all` for which `keeps` holds, as small as possible: no single part of it, and no
/// chunk that was tried, can be omitted. `keeps` must hold for `all`; it is called at most `most`
/// times, and then the best result so far is returned.
pub fn smallest<T: Copy>(all: Vec<T>, most: usize, mut keeps: impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut chosen = all;
    let (mut chunks, mut asked) = (2, 0);
    while chosen.len() >= 2 {
        let size = chosen.len().div_ceil(chunks).max(1);
        let mut smaller = None;
        for start in (0..chosen.len()).step_by(size) {
            if asked >= most {
                return chosen;
            }
            asked += 1;
            let end = (start + size).min(chosen.len());
            let without = chosen.iter().take(start).chain(chosen.iter().skip(end));
            let without: Vec<T> = without.copied().collect();
            if keeps(&without) {
                smaller = Some(without);
                break;
            }
        }
        match smaller {
            Some(without) => {
                chosen = without;
                chunks = (chunks - 1).max(2);
            }
            None if size == 1 => break,
            None => chunks = (chunks * 2).min(chosen.len()),
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::smallest;

    proptest! {
        #[test]
        fn nothing_more_can_be_left_out(needed in prop::collection::btree_set(0_usize..200, 1..6)) {
            let keeps = |chosen: &[usize]| needed.iter().all(|one| chosen.contains(one));
            let found = smallest((0..200).collect(), 10_000, keeps);
            prop_assert_eq!(found, needed.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn it_stops_when_it_may_not_ask_any_more() {
        let mut asked = 0;
        let found = smallest((0..1_000).collect::<Vec<u32>>(), 7, |chosen| {
            asked += 1;
            chosen.contains(&999)
        });
        assert_eq!(asked, 7);
        assert!(found.contains(&999) && found.len() < 1_000);
    }
}
