//! What counts as a secret: the built-in rules and the user's additions.

use std::fmt;
use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};

use super::forms::Within;
use super::literals::Literals;
use super::names::custom_words;
use super::shapes::ShapeFinder;

/// The user's settings.
#[derive(Clone, Default)]
pub struct Settings {
    /// Further names whose values are secret, in any style: `internalRef` also means
    /// `INTERNAL_REF` and `my-internal-ref`.
    pub keys: Vec<String>,
    /// Regular expressions whose matches are secret; with a capture group, only the match of the
    /// first group.
    pub patterns: Vec<String>,
    /// Variables of the environment and their secret values.
    pub values: Vec<(String, String)>,
    /// Nothing is redacted at all.
    pub off: bool,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("keys", &self.keys)
            .field("patterns", &self.patterns)
            .field(
                "values",
                &self.values.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            )
            .field("off", &self.off)
            .finish()
    }
}

/// Why the rules cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// A regular expression of the user is invalid.
    #[error("pattern {number} (`{pattern}`) is not a regular expression")]
    Pattern {
        /// Its position among the patterns, from 1.
        number: usize,
        /// The expression.
        pattern: String,
        /// The error.
        #[source]
        source: regex::Error,
    },
    /// The secret values do not fit into one search.
    #[error("the {count} secret values of the environment are too large to search for")]
    Values {
        /// The number of values.
        count: usize,
    },
}

/// Compiled rules, shared by every [`Redactor`](super::Redactor).
pub struct Rules {
    pub(super) off: bool,
    /// The words of user-defined names.
    pub(super) custom: Vec<Vec<Vec<u8>>>,
    pub(super) shapes: &'static ShapeFinder,
    /// Shorter strings hold no secret.
    pub(super) shortest: usize,
    /// Shorter member names hold no secret.
    pub(super) shortest_token: usize,
    /// Some secret value is a number.
    pub(super) has_numbers: bool,
    /// There are secret values.
    pub(super) has_values: bool,
    patterns: Vec<Regex>,
    values: Option<Literals>,
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules")
            .field("off", &self.off)
            .finish_non_exhaustive()
    }
}

impl Rules {
    /// Compiles the rules.
    pub fn new(settings: &Settings) -> Result<Self, RuleError> {
        let mut patterns = Vec::new();
        for (at, pattern) in settings.patterns.iter().enumerate() {
            let compiled = compile(pattern);
            patterns.push(compiled.map_err(|source| RuleError::Pattern {
                number: at + 1,
                pattern: pattern.clone(),
                source,
            })?);
        }
        let values = Literals::new(settings.values.iter().map(|(_, value)| value.as_str()))
            .map_err(|_| RuleError::Values {
                count: settings.values.len(),
            })?;
        let least = |of: fn(&Literals) -> usize| match &values {
            _ if !patterns.is_empty() => 1,
            Some(values) => of(values),
            None => usize::MAX,
        };
        let shortest = least(|values| values.shortest).min(SHORTEST_TEXT);
        let shortest_token = least(|values| values.shortest_in_names).min(SHORTEST_TOKEN);
        Ok(Self {
            off: settings.off,
            custom: settings
                .keys
                .iter()
                .filter(|key| !key.is_empty())
                .map(|key| custom_words(key))
                .collect(),
            shapes: ShapeFinder::shared(),
            shortest,
            shortest_token,
            has_numbers: values.as_ref().is_some_and(Literals::has_numbers),
            has_values: values.is_some(),
            patterns,
            values,
        })
    }

    /// Calls `found` for every secret value of the environment in `text`.
    pub(super) fn find_values(&self, text: &[u8], place: Within, found: impl FnMut(Range<usize>)) {
        if let Some(values) = &self.values {
            values.find(text, place, found);
        }
    }

    /// Calls `found` for every match of the user's patterns in `text`.
    pub(super) fn find_patterns(&self, text: &[u8], mut found: impl FnMut(Range<usize>)) {
        for pattern in &self.patterns {
            if pattern.captures_len() > 1 {
                let groups = pattern
                    .captures_iter(text)
                    .filter_map(|captures| captures.get(1));
                groups
                    .map(|group| group.range())
                    .filter(|range| !range.is_empty())
                    .for_each(&mut found);
            } else {
                pattern
                    .find_iter(text)
                    .map(|hit| hit.range())
                    .filter(|range| !range.is_empty())
                    .for_each(&mut found);
            }
        }
    }

    /// Whether a number is one of the secret values.
    pub(super) fn is_number(&self, number: &[u8]) -> bool {
        self.values
            .as_ref()
            .is_some_and(|values| values.is_number(number))
    }
}

/// Bytes need no Unicode tables, but a pattern may request them.
fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .unicode(false)
        .build()
        .or_else(|_| Regex::new(pattern))
}

/// `pwd=x`
const SHORTEST_TEXT: usize = 5;

const SHORTEST_TOKEN: usize = 14;

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(rules: &Rules, text: &str) -> Vec<String> {
        let mut hits = Vec::new();
        rules.find_patterns(text.as_bytes(), |span| {
            hits.push(text.get(span).unwrap().to_owned());
        });
        hits
    }

    #[test]
    fn a_group_narrows_a_pattern() {
        let patterns = vec!["id-(\\d+)".to_owned(), "\\p{Greek}+".to_owned()];
        let rules = Rules::new(&Settings {
            patterns,
            ..Settings::default()
        })
        .unwrap();
        assert_eq!(hits(&rules, "id-77 αβγ"), ["77", "αβγ"]);
    }

    #[test]
    fn a_bad_pattern_is_named() {
        let patterns = vec!["a".to_owned(), "(".to_owned()];
        let error = Rules::new(&Settings {
            patterns,
            ..Settings::default()
        })
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "pattern 2 (`(`) is not a regular expression"
        );
    }

    #[test]
    fn debug_tells_no_value() {
        let settings = Settings {
            values: vec![("KEY".to_owned(), "hunter22".to_owned())],
            ..Settings::default()
        };
        let shown = format!("{settings:?} {:?}", Rules::new(&settings).unwrap());
        assert!(shown.contains("KEY") && !shown.contains("hunter22"));
    }
}
