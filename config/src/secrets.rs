//! Values that no report may show.

use std::fmt;

/// Secret values, with their names.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(Vec<(String, String)>);

impl Secrets {
    /// Adds a value unless it is empty, or already has this name.
    pub fn add(&mut self, name: &str, value: &str) {
        let is_known = self
            .0
            .iter()
            .any(|known| known.0 == name && known.1 == value);
        if !value.is_empty() && !is_known {
            self.0.push((name.to_owned(), value.to_owned()));
        }
    }

    /// The name and value of each, in the form of `schemas::redact::Settings`.
    #[must_use]
    pub fn pairs(&self) -> &[(String, String)] {
        &self.0
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}
