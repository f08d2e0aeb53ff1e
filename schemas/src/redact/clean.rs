//! Remembers fields of HTTP heads in which nothing was secret, since the same few come
//! with every exchange.

use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

/// Names and values of fields that needed no redaction.
///
/// Each field has one slot in the table, and a new one replaces the old, so that the memory is
/// bounded and arbitrary fields only cost time. A value only counts as clean until another secret
/// becomes known: it may be that secret.
#[derive(Debug)]
pub(super) struct CleanFields {
    places: Box<[Option<Field>]>,
    hasher: FixedState,
    /// The number of known secrets when the fields were examined.
    known: u64,
}

#[derive(Clone, Debug)]
struct Field {
    name: Box<str>,
    value: Box<str>,
}

impl Default for CleanFields {
    fn default() -> Self {
        Self {
            places: vec![None; PLACES].into_boxed_slice(),
            hasher: FixedState::default(),
            known: 0,
        }
    }
}

impl CleanFields {
    /// Whether this field was found to contain no secret when `known` secrets were known.
    pub(super) fn holds(&self, known: u64, name: &str, value: &str) -> bool {
        let place = self.places.get(self.place(name, value));
        self.known == known
            && place
                .and_then(Option::as_ref)
                .is_some_and(|field| *field.name == *name && *field.value == *value)
    }

    /// Remembers that this field contains no secret, as far as `known` secrets show.
    pub(super) fn admit(&mut self, known: u64, name: &str, value: &str) {
        if self.known != known {
            self.places.fill(None);
            self.known = known;
        }
        if name.len() + value.len() > LONGEST {
            return;
        }
        let place = self.place(name, value);
        if let Some(place) = self.places.get_mut(place) {
            *place = Some(Field {
                name: name.into(),
                value: value.into(),
            });
        }
    }

    fn place(&self, name: &str, value: &str) -> usize {
        let hash = self.hasher.hash_one((name, value)) % PLACES as u64;
        usize::try_from(hash).unwrap_or_default()
    }
}

/// Longer fields are examined each time.
const LONGEST: usize = 512;

const PLACES: usize = 256;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::event::Fields;
    use crate::redact::{Redactor, Rules, Settings};

    #[test]
    fn what_turns_out_to_be_a_secret_is_clean_no_more() {
        let rules = Rules::new(&Settings::default()).unwrap();
        let mut redactor = Redactor::new(Arc::new(rules));
        let mut one = |name: &str| {
            let field = (name.to_owned(), "blue-42-heron".to_owned());
            redactor
                .fields(&Fields::from_iter([field]))
                .iter()
                .next()
                .unwrap()
                .1
                .to_owned()
        };
        assert_eq!(one("x-place"), "blue-42-heron");
        assert_eq!(one("x-place"), "blue-42-heron");
        let placeholder = one("mcp-session-id");
        assert!(placeholder.starts_with("<REDACTED:"), "{placeholder}");
        assert_eq!(one("x-place"), placeholder);
    }

    #[test]
    fn a_new_secret_makes_all_doubtful() {
        let mut clean = CleanFields::default();
        clean.admit(0, "accept", "text/plain");
        assert!(clean.holds(0, "accept", "text/plain"));
        assert!(!clean.holds(0, "accept", "text/html"));
        assert!(!clean.holds(0, "accep", "ttext/plain"));
        assert!(!clean.holds(1, "accept", "text/plain"));
        clean.admit(1, "host", "localhost");
        assert!(!clean.holds(1, "accept", "text/plain"));
        assert!(clean.holds(1, "host", "localhost"));
    }

    #[test]
    fn long_fields_are_not_kept() {
        let mut clean = CleanFields::default();
        let long = "x".repeat(LONGEST);
        clean.admit(0, "a", &long);
        assert!(!clean.holds(0, "a", &long));
    }
}
