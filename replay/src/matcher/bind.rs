//! Which live secret a recorded placeholder stands for.
//!
//! The same value has the same placeholder all over a recording. Once one of them was
//! matched, takes that agree with it are preferred; a value that changed since then is
//! still found.

use std::collections::HashMap;

use crate::json::Tree;
use crate::json::placeholder::{self, Style};

/// What was matched so far.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    live: HashMap<Vec<u8>, Vec<u8>>,
    recorded: HashMap<Vec<u8>, Vec<u8>>,
}

/// How many placeholders are remembered.
const LIMIT: usize = 4_096;

impl Bindings {
    /// Whether these recorded placeholders may stand for these live ones.
    pub(super) fn agree(&self, recorded: &[Vec<u8>], live: &[Vec<u8>]) -> bool {
        recorded.iter().zip(live).all(|(recorded, live)| {
            match (self.live.get(recorded), self.recorded.get(live)) {
                (Some(known), _) => known == live,
                (None, Some(other)) => other == recorded,
                (None, None) => true,
            }
        })
    }

    /// Remembers what stood for what.
    pub(super) fn learn(&mut self, recorded: &[Vec<u8>], live: &[Vec<u8>]) {
        for (recorded, live) in recorded.iter().zip(live) {
            if self.live.len() < LIMIT && !self.live.contains_key(recorded) {
                self.live.insert(recorded.clone(), live.clone());
                self.recorded.insert(live.clone(), recorded.clone());
            }
        }
    }
}

/// The placeholders of ours in a value, in an order that does not depend on spelling.
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
            // Elements of an array have no name, and would be taken for one member.
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
        let (one, two) = (
            of(r#"{"k":"<REDACTED:k#1>"}"#),
            of(r#"{"k":"<REDACTED:k#2>"}"#),
        );
        assert!(known.agree(&one, &two));
        known.learn(&one, &two);
        assert!(known.agree(&one, &two));
        assert!(!known.agree(&one, &one));
        assert!(!known.agree(&two, &two));
        assert!(known.agree(&two, &one));
    }
}
