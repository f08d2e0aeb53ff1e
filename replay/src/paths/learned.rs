//! Learned mappings: from the recorder's working and home folders to those of this process.

use memchr::memmem;
use tapewright_schemas::json::Span;
use tapewright_schemas::made_in::MadeIn;
use tapewright_schemas::slices::Part as _;

use super::{PathMap, PathMaps, begins};
use crate::script::Script;
use crate::source::Source;

/// Where a replay runs. Both are absolute paths, or empty if unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Here {
    /// The working folder.
    pub folder: String,
    /// The home folder.
    pub home: String,
}

impl PathMaps {
    /// Adds mappings from the recorder's working folder and home to those of this replay. Existing
    /// mappings take precedence, with everything below them.
    ///
    /// A recorded path with one component, such as `/app`, is not mapped: it may mean anything.
    pub fn learn(&mut self, script: &Script, here: &Here) {
        let meta = |name| script.meta(name).unwrap_or_default();
        let made = MadeIn::recorded(meta("made_in_folder"), meta("made_in_home"));
        self.learn_made(&made, here, || recorded_home(&script.text, &made));
    }

    /// Like [`learn`](Self::learn), for texts that were recorded in a place.
    pub fn learn_in<'t>(
        &mut self,
        made: &MadeIn,
        texts: impl IntoIterator<Item = &'t [u8]>,
        here: &Here,
    ) {
        self.learn_made(made, here, || {
            let Some(parent) = made.home_parent() else {
                return Some(made.home.clone()).filter(|home| !home.is_empty());
            };
            let mut texts = texts.into_iter();
            texts.find_map(|text| home_in(text, parent.as_bytes(), made))
        });
    }

    fn learn_made(
        &mut self,
        made: &MadeIn,
        here: &Here,
        recorded_home: impl FnOnce() -> Option<String>,
    ) {
        if made.is_empty() {
            return;
        }
        let home = if made.is_home(&here.home) {
            Some(here.home.trim_end_matches('/').to_owned())
        } else {
            recorded_home()
        };
        let folder = made.folder_in(home.as_deref());
        // A client that starts tapewright in its home has no known working folder.
        let is_known = here.folder.trim_end_matches('/') != here.home.trim_end_matches('/');
        if let Some(folder) = folder.filter(|_| is_known) {
            self.learn_one(&folder, &here.folder);
        }
        if let Some(home) = home {
            self.learn_one(&home, &here.home);
        }
    }

    /// The mappings that were learned.
    pub(crate) fn learned(&self) -> impl Iterator<Item = &PathMap> {
        self.0.iter().filter(|map| map.learned)
    }

    fn learn_one(&mut self, recorded: &str, here: &str) {
        let (recorded, here) = (recorded.trim_end_matches('/'), here.trim_end_matches('/'));
        let parts = recorded.split('/').filter(|part| !part.is_empty()).count();
        let is_given = |map: &PathMap| {
            let below = recorded
                .strip_prefix(&*map.recorded)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            map.here == here || below && (!map.learned || map.recorded == recorded)
        };
        let says_nothing = parts < 2 || here.is_empty() || recorded == here;
        if !says_nothing && !self.0.iter().any(is_given) {
            self.0.push(PathMap {
                recorded: recorded.to_owned(),
                here: here.to_owned(),
                learned: true,
            });
        }
    }
}

/// The home folder of the recorder's user, if the recording holds a path in it.
fn recorded_home(text: &Source, made: &MadeIn) -> Option<String> {
    let Some(parent) = made.home_parent() else {
        return Some(made.home.clone()).filter(|home| !home.is_empty());
    };
    let parent = parent.as_bytes();
    let length = text.len();
    let mut reader = text.reader();
    let mut start = 0;
    while start < length {
        // A path across the end of a piece is complete in this piece or the next.
        let end = length.min(start + PIECE + parent.len() + LONGEST_NAME);
        let piece = reader.read(Span { start, end });
        if let Some(home) = home_in(piece, parent, made) {
            return Some(home);
        }
        start += PIECE;
    }
    None
}

fn home_in(text: &[u8], parent: &[u8], made: &MadeIn) -> Option<String> {
    let parent_text = String::from_utf8_lossy(parent);
    let is_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"_-.~@+".contains(byte);
    let mut wrong: &[u8] = &[];
    for at in memmem::find_iter(text, parent) {
        let rest = text.part(at + parent.len()..);
        let length = rest.iter().position(|byte| !is_name(byte));
        let name = rest.part(..length.unwrap_or(rest.len()).min(LONGEST_NAME));
        // Most paths of a recording are in one home.
        if name.is_empty() || name == wrong {
            continue;
        }
        let before = text.get(at.saturating_sub(4)..at)?;
        let name_text = String::from_utf8_lossy(name);
        let path = format!("{parent_text}{}", name_text.trim_end_matches('.'));
        if made.is_home(&path) && begins(&String::from_utf8_lossy(before)) {
            return Some(path);
        }
        wrong = name;
    }
    None
}

/// The size of a searched piece of a recording, in bytes.
const PIECE: usize = 1 << 20;

/// The maximum length of a file name in any file system, in bytes.
const LONGEST_NAME: usize = 255;
