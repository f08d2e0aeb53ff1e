//! Maps paths between the recorder's machine and this one.
//!
//! A recording has the paths of its author, while a colleague's client uses its own. The client's
//! paths are mapped to the recorded ones before matching, and recorded paths to the client's before
//! they are sent. Only texts within `params`, `result` and `error` change, except in `_meta`.

mod learned;

use bytes::Bytes;
use serde::Serialize;
use tapewright_schemas::json::{self, Span};
use tapewright_schemas::slices::Part as _;

use crate::json::tree::Kind;
use crate::json::{NodeId, Tree};
use crate::player::splice;

pub use learned::Here;

/// A prefix of paths: as recorded, and here. Neither ends in a separator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct PathMap {
    /// The recorded prefix.
    pub recorded: String,
    /// The client's prefix in its place.
    pub here: String,
    /// It was learned from the recording, not given by the user.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub learned: bool,
}

/// All mappings. If two prefixes match, the longer one is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathMaps(Vec<PathMap>);

/// Why a text is not a mapping of paths.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathMapError {
    /// It has no `=`.
    #[error("invalid mapping `{text}`: expected `FROM=TO`")]
    NoSign {
        /// The text.
        text: String,
    },
    /// A side is not an absolute path below the root.
    #[error("`{path}` is not an absolute path to a folder below the root")]
    NotAbsolute {
        /// That side.
        path: String,
    },
    /// A path is on the same side of two mappings.
    #[error("`{path}` is mapped twice")]
    Twice {
        /// That path.
        path: String,
    },
}

/// The side that paths are mapped to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    Here,
    Recorded,
}

/// The result of mapping a message: the replaced texts, and the mappings that were used.
#[derive(Debug, Default)]
pub(crate) struct MappedMessage {
    pub(crate) edits: Vec<(Span, Bytes)>,
    pub(crate) used: Vec<PathMap>,
}

impl PathMaps {
    /// Parses mappings, each `RECORDED=HERE`.
    pub fn new<T: AsRef<str>>(texts: &[T]) -> Result<Self, PathMapError> {
        let mut maps: Vec<PathMap> = Vec::new();
        for text in texts {
            let text = text.as_ref();
            let Some((recorded, here)) = text.split_once('=') else {
                return Err(PathMapError::NoSign {
                    text: text.to_owned(),
                });
            };
            let (recorded, here) = (folder(recorded)?, folder(here)?);
            for known in &maps {
                let same = |one: &String, other: &String| (one == other).then(|| one.clone());
                let twice = same(&recorded, &known.recorded).or_else(|| same(&here, &known.here));
                if let Some(path) = twice {
                    return Err(PathMapError::Twice { path });
                }
            }
            maps.push(PathMap {
                recorded,
                here,
                learned: false,
            });
        }
        Ok(Self(maps))
    }

    /// The mappings that the user gave.
    pub(crate) fn given(&self) -> impl Iterator<Item = &PathMap> {
        self.0.iter().filter(|map| !map.learned)
    }

    /// Whether there are no mappings.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The edits for a message, or for each message of a batch.
    pub(crate) fn turn(&self, message: &[u8], goal: Goal) -> MappedMessage {
        let mut turned = MappedMessage::default();
        if self.is_empty() {
            return turned;
        }
        let Ok(tree) = Tree::read(message) else {
            return turned;
        };
        let root = tree.root();
        if tree.kind(root) == Kind::Array {
            for one in tree.children(root) {
                self.message(&tree, one, goal, &mut turned);
            }
        } else {
            self.message(&tree, root, goal, &mut turned);
        }
        turned
    }

    fn message(&self, tree: &Tree<'_>, message: NodeId, goal: Goal, turned: &mut MappedMessage) {
        for part in ["params", "result", "error"] {
            let Some(part) = tree.member(message, part) else {
                continue;
            };
            let mut open = vec![part];
            if tree.kind(part) == Kind::Object {
                let members = tree.members(part).into_iter();
                open = members
                    .filter(|(name, _)| **name != *b"_meta")
                    .map(|(_, place)| place)
                    .collect();
            }
            self.texts(tree, open, goal, turned);
        }
    }

    /// A JSON text with the paths in all of its strings mapped; `None` if there are none.
    pub(crate) fn turn_all(&self, text: &Bytes, goal: Goal) -> Option<Bytes> {
        if self.is_empty() {
            return None;
        }
        let tree = Tree::read(text).ok()?;
        let mut turned = MappedMessage::default();
        self.texts(&tree, vec![tree.root()], goal, &mut turned);
        let is_some = !turned.edits.is_empty();
        is_some.then(|| splice(text, turned.edits).concat().into())
    }

    fn texts(
        &self,
        tree: &Tree<'_>,
        mut open: Vec<NodeId>,
        goal: Goal,
        turned: &mut MappedMessage,
    ) {
        while let Some(place) = open.pop() {
            open.extend(tree.children(place));
            let Kind::String(text) = tree.kind(place) else {
                continue;
            };
            // A lone surrogate cannot be encoded again.
            let (meaning, lossy) = tree.meaning(text);
            let Ok(meaning) = std::str::from_utf8(&meaning) else {
                continue;
            };
            if let Some(text) = self
                .text(meaning, goal, &mut turned.used)
                .filter(|_| !lossy)
            {
                let mut quoted = b"\"".to_vec();
                json::escape(&text, &mut quoted);
                quoted.push(b'"');
                turned.edits.push((tree.span(place), quoted.into()));
            }
        }
    }

    /// A text with its paths mapped; `None` if there are none.
    fn text(&self, text: &str, goal: Goal, used: &mut Vec<PathMap>) -> Option<String> {
        let mut out = String::new();
        let mut copied = 0;
        let mut at = 0;
        while let Some(char) = text.part(at..).chars().next() {
            let Some(map) = self.at(text, at, goal) else {
                at += char.len_utf8();
                continue;
            };
            let (from, to) = map.sides(goal);
            out.push_str(text.part(copied..at));
            out.push_str(to);
            at += from.len();
            copied = at;
            if !used.contains(map) {
                used.push(map.clone());
            }
        }
        (copied > 0).then(|| out + text.part(copied..))
    }

    /// The longest mapped prefix at a position in a text.
    fn at(&self, text: &str, at: usize, goal: Goal) -> Option<&PathMap> {
        let fits = |map: &&PathMap| {
            let from = map.sides(goal).0;
            let (before, rest) = text.split_at(at);
            rest.strip_prefix(from)
                .is_some_and(|after| begins(before) && ends(after))
        };
        let fitting = self.0.iter().filter(fits);
        fitting.max_by_key(|map| map.sides(goal).0.len())
    }
}

impl PathMap {
    /// Whether the reverse mapping turns `live` into `recorded`.
    pub(crate) fn leads(&self, live: &str, recorded: &str) -> bool {
        let alone = PathMaps(vec![self.clone()]);
        let turned = alone.text(live, Goal::Here, &mut Vec::new());
        turned.is_some_and(|turned| turned == recorded)
    }

    /// The prefix to look for, and its replacement.
    fn sides(&self, goal: Goal) -> (&str, &str) {
        match goal {
            Goal::Here => (&self.recorded, &self.here),
            Goal::Recorded => (&self.here, &self.recorded),
        }
    }
}

/// The path of a folder without trailing separators.
fn folder(path: &str) -> Result<String, PathMapError> {
    let folder = path.trim_end_matches(['/', '\\']);
    let bytes = folder.as_bytes();
    let drive = matches!(bytes, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    if folder.starts_with(['/', '\\']) || drive {
        Ok(folder.to_owned())
    } else {
        Err(PathMapError::NotAbsolute {
            path: path.to_owned(),
        })
    }
}

/// Whether a path can begin after this text, rather than being in the middle of a longer one.
fn begins(before: &str) -> bool {
    let within = |char: char| char.is_alphanumeric() || "_-.~/\\".contains(char);
    !before.ends_with(within) || before.ends_with("://")
}

/// Whether a folder's name can end before this text.
fn ends(after: &str) -> bool {
    let name = |char: char| char.is_alphanumeric() || "_-~@+".contains(char);
    // A full stop ends a sentence, or is part of a name as in `project.old`.
    !after.trim_start_matches('.').starts_with(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(maps: &[&str], text: &str) -> String {
        let maps = PathMaps::new(maps).unwrap();
        let turned = maps.text(text, Goal::Here, &mut Vec::new());
        turned.unwrap_or_else(|| "-".to_owned())
    }

    #[test]
    fn a_path_is_turned_wherever_it_stands_as_a_whole() {
        for (text, turned) in [
            ("/home/ann/p", "/w"),
            ("/home/ann/p/", "/w/"),
            ("file:///home/ann/p/a.txt", "file:///w/a.txt"),
            ("see /home/ann/p. Or /home/ann/p/b: é", "see /w. Or /w/b: é"),
            ("'/home/ann/p'", "'/w'"),
            ("/home/ann/project", "-"),
            ("/home/ann/p.old/x", "-"),
            ("/home/ann/p-2", "-"),
            ("/mnt/home/ann/p", "-"),
            ("../home/ann/p", "-"),
            ("", "-"),
        ] {
            assert_eq!(here(&["/home/ann/p=/w/"], text), turned, "{text}");
        }
    }

    #[test]
    fn the_longest_beginning_counts() {
        let maps = ["/home/ann=/home/bob", "/home/ann/p=/w"];
        assert_eq!(here(&maps, "/home/ann/p/x /home/ann/q"), "/w/x /home/bob/q");
        let maps = ["C:\\Users\\ann=/home/bob"];
        assert_eq!(here(&maps, "C:\\Users\\ann\\x"), "/home/bob\\x");
    }

    #[test]
    fn what_cannot_be_turned_back_is_refused() {
        let error = |maps: &[&str]| PathMaps::new(maps).unwrap_err().to_string();
        assert_eq!(error(&["/a"]), "invalid mapping `/a`: expected `FROM=TO`");
        for bad in ["/=/x", "a=/x", "/x=", "/x=//", "/x=C:"] {
            assert!(error(&[bad]).contains("is not an absolute path"), "{bad}");
        }
        assert_eq!(error(&["/a=/x", "/a/=/y"]), "`/a` is mapped twice");
        assert_eq!(error(&["/a=/x", "/b=/x"]), "`/x` is mapped twice");
    }

    #[test]
    fn only_what_peers_say_is_turned() {
        let maps = PathMaps::new(&["/a=/b"]).unwrap();
        let message = br#"[{"id":"/a","method":"/a","params":{"p":["\/a/x",{"/a":"/a"}],"_meta":{"progressToken":"/a"}}}]"#;
        let turned = maps.turn(message, Goal::Here);
        let texts: Vec<_> = turned.edits.iter().map(|edit| edit.1.clone()).collect();
        assert_eq!(turned.edits.len(), 2, "{texts:?}");
        assert!(
            texts.contains(&Bytes::from_static(b"\"/b/x\"")),
            "{texts:?}"
        );
        assert_eq!(turned.used.len(), 1);
        assert!(maps.turn(b"no json", Goal::Here).edits.is_empty());
    }
}
