//! Names that peers choose, as many of them as are told.

use std::collections::BTreeMap;

use tapewright_schemas::slices::Front as _;

/// How many names of methods, of tools and of errors are told.
pub(super) const NAMES: usize = 100;
/// What is told of any other.
pub(super) const OTHER: &str = "other";
/// The longest name that is told, in characters.
const LONGEST: usize = 128;

/// A name, by the order in which it came; the first is that of all others.
pub(super) type Name = u16;

/// That of all others.
pub(super) const OTHERS: Name = 0;

/// Names that are told.
#[derive(Debug)]
pub(super) struct Names {
    known: BTreeMap<String, Name>,
    texts: Vec<String>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            known: [(OTHER.to_owned(), OTHERS)].into_iter().collect(),
            texts: vec![OTHER.to_owned()],
        }
    }
}

impl Names {
    /// A name, or the one for all others; and whether it is the name.
    pub(super) fn known(&mut self, name: &str) -> (Name, bool) {
        // Most have fewer bytes, and so fewer characters.
        let end = (name.len() > LONGEST).then(|| name.char_indices().nth(LONGEST));
        let name = end.flatten().map_or(name, |(end, _)| name.front(end));
        if let Some(known) = self.known.get(name) {
            return (*known, true);
        }
        match Name::try_from(self.texts.len()) {
            Ok(fresh) if self.texts.len() <= NAMES => {
                self.known.insert(name.to_owned(), fresh);
                self.texts.push(name.to_owned());
                (fresh, true)
            }
            _ => (OTHERS, false),
        }
    }

    /// What is told of it.
    pub(super) fn text(&self, name: Name) -> &str {
        self.texts
            .get(usize::from(name))
            .map_or(OTHER, String::as_str)
    }
}
