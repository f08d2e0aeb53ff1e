//! Names chosen by peers, limited in number.

use std::collections::BTreeMap;

use tapewright_schemas::slices::Front as _;

/// The maximum numbers of names of methods, of tools and of errors.
pub(super) const NAMES: usize = 100;
/// The name for all others.
pub(super) const OTHER: &str = "other";
/// The maximum length of a name, in characters.
const LONGEST: usize = 128;

/// A name, as its index in order of appearance; the first is for all others.
pub(super) type Name = u16;

/// The index for all others.
pub(super) const OTHERS: Name = 0;

/// The known names.
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
    /// The index of a name, or the one for all others; and whether it is the name's own.
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

    /// The text of a name.
    pub(super) fn text(&self, name: Name) -> &str {
        self.texts
            .get(usize::from(name))
            .map_or(OTHER, String::as_str)
    }
}
