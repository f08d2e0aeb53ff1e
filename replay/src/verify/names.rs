//! Maps names of the recorded server to those of the live one.

use std::collections::HashMap;

use super::request::is_hidden;
use crate::json::volatile::Volatile;
use crate::json::{NodeId, Tree};

/// From recorded names to live ones.
#[derive(Debug, Default)]
pub(crate) struct Names {
    live: HashMap<Vec<u8>, Vec<u8>>,
}

/// Members whose values a client returns verbatim: pagination (all revisions), multi round-trip
/// requests (2026-07-28), tasks (2025-11-25 and its extension).
const HANDED_BACK: [&[u8]; 3] = [b"nextCursor", b"requestState", b"taskId"];

/// The maximum number of stored names.
const LIMIT: usize = 65_536;

impl Names {
    /// The live names, by recorded name.
    pub(crate) fn aliases(&self) -> &HashMap<Vec<u8>, Vec<u8>> {
        &self.live
    }

    /// The live server's name for a recorded one.
    pub(super) fn live(&self, recorded: &[u8]) -> Option<&[u8]> {
        self.live.get(recorded).map(Vec::as_slice)
    }

    /// Learns from two answers to one request: if both have an opaque or volatile text in the same
    /// place, or the recording a placeholder, these are names for the same thing.
    pub(crate) fn learn(&mut self, recorded: &[u8], live: &[u8]) {
        let (Ok(recorded), Ok(live)) = (Tree::read(recorded), Tree::read(live)) else {
            return;
        };
        let mut pairs: Vec<(NodeId, NodeId, Vec<u8>)> =
            vec![(recorded.root(), live.root(), Vec::new())];
        while let Some((ours, theirs, key)) = pairs.pop() {
            if let (Some(ours), Some(theirs)) = (recorded.string(ours), live.string(theirs)) {
                let named = HANDED_BACK.contains(&key.as_slice())
                    || is_hidden(&ours)
                    || Volatile::of_string(&key, &ours).is_some();
                if named && ours != theirs && self.live.len() < LIMIT {
                    self.live.insert(ours.into_owned(), theirs.into_owned());
                }
                continue;
            }
            let members = recorded.members(ours);
            if members.iter().all(|(name, _)| name.is_empty()) {
                let both = recorded.children(ours).zip(live.children(theirs));
                pairs.extend(both.map(|(ours, theirs)| (ours, theirs, Vec::new())));
                continue;
            }
            let others: HashMap<_, _> = live.members(theirs).into_iter().collect();
            for (name, ours) in members {
                if let Some(theirs) = others.get(&name) {
                    pairs.push((ours, *theirs, name.into_owned()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opaque_texts_at_one_place_name_the_same() {
        let mut names = Names::default();
        names.learn(
            br#"{"result":{"nextCursor":"a","id":"6fa459ea-ee8a-3ca4-894e-db77e160355e","s":"x","k":"<REDACTED:token#1>","l":[{"taskId":"t"}]}}"#,
            br#"{"result":{"nextCursor":"b","id":"0190d5a2-7c1e-7b3a-9f00-ab12cd34ef56","s":"y","k":"secret","l":[{"taskId":"u"}]}}"#,
        );
        let live = |text: &str| names.live(text.as_bytes()).map(<[u8]>::to_vec);
        assert_eq!(live("a").unwrap(), b"b");
        assert_eq!(
            live("6fa459ea-ee8a-3ca4-894e-db77e160355e").unwrap(),
            b"0190d5a2-7c1e-7b3a-9f00-ab12cd34ef56"
        );
        assert_eq!(live("<REDACTED:token#1>").unwrap(), b"secret");
        assert_eq!(live("t").unwrap(), b"u");
        assert_eq!(live("x"), None);
    }
}
