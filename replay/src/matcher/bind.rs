//! Which live secret a recorded placeholder replaces.
//!
//! Equal values have equal placeholders throughout a recording. After one of them was matched,
//! takes that agree with it are preferred; if such a take was recorded, whether played or not, no
//! other is used. A value that has changed since then is still matched.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

use crate::json::Tree;
use crate::json::placeholder::{self, Style};

/// A recorded placeholder, and the [`mark`] of the live value in its place.
pub(super) type Pair = (Vec<u8>, u64);

/// The matches so far. Live values may be secrets, so only their marks are stored.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    live: HashMap<Vec<u8>, u64>,
    recorded: HashMap<u64, Vec<u8>>,
}

/// The maximum number of remembered placeholders.
const LIMIT: usize = 4_096;

/// A hash that identifies a value.
pub(super) fn mark(value: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(value);
    hasher.finish()
}

impl Bindings {
    /// Whether each recorded placeholder may replace the live value in its place.
    pub(super) fn agree(&self, pairs: &[Pair]) -> bool {
        pairs.iter().all(|(recorded, live)| {
            match (self.live.get(recorded), self.recorded.get(live)) {
                (Some(known), _) => known == live,
                (None, Some(other)) => other == recorded,
                (None, None) => true,
            }
        })
    }

    /// Remembers which values placeholders replaced: the first value of a placeholder wins.
    pub(super) fn learn(&mut self, pairs: Vec<Pair>) {
        for (recorded, live) in pairs {
            if self.live.len() < LIMIT && !self.live.contains_key(&recorded) {
                self.recorded
                    .entry(live)
                    .or_insert_with(|| recorded.clone());
                self.live.insert(recorded, live);
            }
        }
    }
}

/// tapewright's placeholders in a value, in an order that does not depend on notation.
pub(super) fn placeholders(params: Option<&[u8]>) -> Vec<Vec<u8>> {
    let Some(params) = params.filter(|params| placeholder::is_likely(params)) else {
        return Vec::new();
    };
    let Ok(tree) = Tree::read(params) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut open = vec![tree.root()];
    while let Some(place) = open.pop() {
        if let Some(text) = tree.string(place) {
            for one in placeholder::find(&text) {
                if one.style != Style::Others {
                    found.push(text.get(one.range).unwrap_or_default().to_vec());
                }
            }
        } else {
            let members = tree.members(place);
            // Elements of an array have no name, and would count as one member.
            if members.len() > 1 || !members.iter().all(|(name, _)| name.is_empty()) {
                open.extend(members.into_iter().map(|(_, child)| child));
            } else {
                open.extend(tree.children(place));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Vec<u8>> {
        placeholders(Some(text.as_bytes()))
    }

    #[test]
    fn the_order_of_members_does_not_count() {
        let one = of(r#"{"a":"<REDACTED:x#1>","b":["<REDACTED:x#2> <REDACTED:x#3>"]}"#);
        let other = of(r#"{"b":["<REDACTED:x#2> <REDACTED:x#3>"],"a":"<REDACTED:x#1>"}"#);
        assert_eq!(one, other);
        assert_eq!(one.len(), 3);
    }

    #[test]
    fn a_value_keeps_its_placeholder() {
        let mut known = Bindings::default();
        let pair = |recorded: &str, live: &str| {
            vec![(recorded.as_bytes().to_vec(), mark(live.as_bytes()))]
        };
        assert!(known.agree(&pair("#1", "x")));
        known.learn(pair("#1", "x"));
        assert!(known.agree(&pair("#1", "x")));
        assert!(!known.agree(&pair("#1", "y")));
        assert!(!known.agree(&pair("#2", "x")));
        assert!(known.agree(&pair("#2", "y")));
    }

    #[test]
    fn one_value_may_stand_in_two_places_and_keeps_the_first() {
        let mut known = Bindings::default();
        for recorded in [b"#1", b"#2"] {
            known.learn(vec![(recorded.to_vec(), mark(b"x"))]);
        }
        for (recorded, agrees) in [(b"#1", true), (b"#2", true), (b"#3", false)] {
            assert_eq!(known.agree(&[(recorded.to_vec(), mark(b"x"))]), agrees);
        }
    }
}
