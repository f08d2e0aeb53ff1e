//! Where a recording was made: its working folder and home, without the name of the user.
//!
//! A replay on another machine substitutes the recorded folder for its own. It needs no user name
//! for that: a replay that gets `/home/ann/project` finds that path in the recording, and can
//! verify that it is the recorded one. So the file contains `~/project`, and for the home its
//! parent, `/home`, with a check of twelve bits that distinguishes it from other homes there. One
//! name in four thousand has the same check, so that the name cannot be recovered from it.

use crate::slices::Part as _;
use serde::{Deserialize, Serialize};

/// Where a recording was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeIn {
    /// The working folder: `~/project` below the home, otherwise the whole path.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// The home, with `~` and three hex digits of a check in place of the user's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub home: String,
    /// The whole paths, which are written nowhere.
    #[serde(skip)]
    plain: Plain,
}

/// The original paths. They have no derived `Debug`, since one of them contains a name.
#[derive(Clone, Default, PartialEq, Eq)]
struct Plain {
    folder: String,
    home: String,
}

impl std::fmt::Debug for Plain {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Plain")
    }
}

impl MadeIn {
    /// From two absolute paths; either may be empty. A path that is not a folder below the root is
    /// ignored.
    #[must_use]
    pub fn of(folder: &str, home: &str) -> Self {
        let (folder, home) = (plain(folder), plain(home));
        let below = || below(folder, home).filter(|_| !home.is_empty());
        Self {
            folder: below().map_or_else(|| folder.to_owned(), |rest| format!("~{rest}")),
            home: hidden(home),
            plain: Plain {
                folder: folder.to_owned(),
                home: home.to_owned(),
            },
        }
    }

    /// From the values in a recording.
    #[must_use]
    pub fn recorded(folder: &str, home: &str) -> Self {
        Self {
            folder: folder.to_owned(),
            home: home.to_owned(),
            plain: Plain::default(),
        }
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.folder.is_empty() && self.home.is_empty()
    }

    /// Removes each path in which `is_secret` finds something: the recording contains a placeholder
    /// in its place, and no path.
    pub fn hide(&mut self, mut is_secret: impl FnMut(&str) -> bool) {
        if is_secret(&self.plain.home) {
            self.home.clear();
        }
        if is_secret(&self.plain.folder) || is_secret(&self.folder) {
            self.folder.clear();
        }
    }

    /// The parent of the home: `/home/`, before the name of the user.
    #[must_use]
    pub fn home_parent(&self) -> Option<&str> {
        let (before, _) = self.home.rsplit_once("/~")?;
        Some(self.home.part(..=before.len()))
    }

    /// Whether a path is the home, according to its check.
    #[must_use]
    pub fn is_home(&self, path: &str) -> bool {
        !path.is_empty() && hidden(plain(path)) == self.home
    }

    /// The whole path of the folder, given the home.
    #[must_use]
    pub fn folder_in(&self, home: Option<&str>) -> Option<String> {
        match self.folder.strip_prefix('~') {
            Some(rest) => home.map(|home| format!("{home}{rest}")),
            None => Some(self.folder.clone()).filter(|folder| !folder.is_empty()),
        }
    }
}

/// An absolute path below the root without separators at its end, or nothing.
fn plain(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    if path.starts_with('/') { path } else { "" }
}

/// The part of a folder after the home that it is, or is below.
fn below<'p>(folder: &'p str, home: &str) -> Option<&'p str> {
    let rest = folder.strip_prefix(home)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// A home with a check in place of the name of its user. `/root` has no such name.
fn hidden(home: &str) -> String {
    match home.rsplit_once('/') {
        Some((parent, name)) if !parent.is_empty() => {
            format!("{parent}/~{:03x}", check(name.as_bytes()))
        }
        _ => home.to_owned(),
    }
}

/// Twelve bits of a name: its FNV-1a hash, folded.
fn check(name: &[u8]) -> u16 {
    let hash = name.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let folded = hash ^ hash >> 12 ^ hash >> 24 ^ hash >> 36 ^ hash >> 48;
    u16::try_from(folded & 0xfff).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_never_says_the_name_of_the_user() {
        for (folder, home) in [
            ("/home/ann/project", "/home/ann"),
            ("/home/ann", "/home/ann/"),
            ("/Users/ann/a b/c", "/Users/ann"),
            ("/srv/work", "/home/corp/ann"),
        ] {
            let made = MadeIn::of(folder, home);
            let written = serde_json::to_string(&made).unwrap();
            assert!(!written.contains("ann"), "{written}");
            assert!(!format!("{made:?}").contains("ann"));
        }
        let made = MadeIn::of("/home/ann/project", "/home/ann");
        assert_eq!(made.folder, "~/project");
        assert!(made.home.starts_with("/home/~") && made.home.len() == "/home/~123".len());
    }

    #[test]
    fn the_home_is_known_again() {
        let made = MadeIn::of("/home/ann/project", "/home/ann");
        let read = MadeIn::recorded(&made.folder, &made.home);
        assert!(read.is_home("/home/ann") && read.is_home("/home/ann/"));
        for other in ["/home/bob", "/Users/ann", "/home/ann/project", "ann", ""] {
            assert!(!read.is_home(other), "{other}");
        }
        assert_eq!(read.home_parent(), Some("/home/"));
        assert_eq!(
            read.folder_in(Some("/home/ann")).as_deref(),
            Some("/home/ann/project")
        );
        assert_eq!(read.folder_in(None), None);
        assert_eq!(
            MadeIn::recorded("/srv/x", "").folder_in(None).as_deref(),
            Some("/srv/x")
        );
    }

    #[test]
    fn what_is_no_folder_below_the_root_says_nothing() {
        for (folder, home) in [("", ""), ("/", "/"), ("here", "home")] {
            assert!(MadeIn::of(folder, home).is_empty(), "{folder} {home}");
        }
        let root = MadeIn::of("/root/x", "/root");
        assert_eq!((root.folder.as_str(), root.home.as_str()), ("~/x", "/root"));
        assert_eq!(root.home_parent(), None);
        assert!(root.is_home("/root"));
    }

    #[test]
    fn what_a_rule_hides_is_left_out() {
        let mut made = MadeIn::of("/home/ann/acme", "/home/ann");
        made.hide(|text| text.contains("acme"));
        assert_eq!(made.folder, "");
        assert!(!made.home.is_empty());
        made.hide(|text| text.contains("ann"));
        assert!(made.is_empty());
    }
}
