//! The secret values of the environment.

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use super::common::{Reach, reach};
use super::forms::{Form, Forms, Within};

/// Literal values to search for.
pub(super) struct Literals {
    /// Values that are also searched for within other values.
    search: Option<AhoCorasick>,
    /// The form of each of them.
    forms: Vec<Form>,
    /// Values that are only searched for as a whole, in order.
    wholes: Vec<Vec<u8>>,
    numbers: Vec<Vec<u8>>,
    /// The length of the shortest value.
    pub(super) shortest: usize,
    /// The length of the shortest value that may occur in a name.
    pub(super) shortest_in_names: usize,
}

impl Literals {
    /// Compiles the values; `None` if there is nothing to search for. Fails if they are too large
    /// for one search.
    pub(super) fn new<'v>(
        values: impl Iterator<Item = &'v str>,
    ) -> Result<Option<Self>, aho_corasick::BuildError> {
        let mut literals: Vec<(Vec<u8>, Form)> = Vec::new();
        let mut forms = Forms::default();
        let (mut wholes, mut numbers) = (Vec::new(), Vec::new());
        for value in values.map(str::trim) {
            let Some(reach) = reach(value) else { continue };
            if value.bytes().all(|byte| byte.is_ascii_digit()) {
                numbers.push(value.as_bytes().to_vec());
            }
            match reach {
                Reach::Whole => wholes.push(value.as_bytes().to_vec()),
                Reach::Words => literals.push((value.as_bytes().to_vec(), Form::Words)),
                Reach::Anywhere => {
                    forms.write(value);
                    literals.extend(forms.iter().map(|(text, form)| (text.to_vec(), form)));
                }
            }
        }
        wholes.sort_unstable();
        let all = literals.iter().map(|(literal, _)| literal).chain(&wholes);
        let Some(shortest) = all.map(Vec::len).min() else {
            return Ok(None);
        };
        let in_names = literals.iter().filter(|(_, form)| *form != Form::Words);
        let shortest_in_names = in_names.map(|(literal, _)| literal.len()).min();
        let search = (!literals.is_empty()).then(|| {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(literals.iter().map(|(literal, _)| literal))
        });
        Ok(Some(Self {
            search: search.transpose()?,
            forms: literals.iter().map(|(_, form)| *form).collect(),
            wholes,
            numbers,
            shortest,
            shortest_in_names: shortest_in_names.unwrap_or(usize::MAX),
        }))
    }

    /// Calls `found` for every value in `text`.
    pub(super) fn find(&self, text: &[u8], place: Within, mut found: impl FnMut(Range<usize>)) {
        if place == Within::Value && !self.wholes.is_empty() {
            let value = text.trim_ascii();
            if self
                .wholes
                .binary_search_by(|whole| whole.as_slice().cmp(value))
                .is_ok()
            {
                let start = text.len() - text.trim_ascii_start().len();
                return found(start..start + value.len());
            }
        }
        let Some(search) = &self.search else { return };
        for hit in search.find_iter(text) {
            let form = self.forms.get(hit.pattern().as_usize());
            if let Some(span) = form.and_then(|form| form.span(text, hit.range(), place)) {
                found(span);
            }
        }
    }

    /// Whether some value is a number.
    pub(super) fn has_numbers(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// Whether a number is one of the values.
    pub(super) fn is_number(&self, number: &[u8]) -> bool {
        self.numbers.iter().any(|known| known == number)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    use proptest::prelude::*;

    use super::super::forms::hex;
    use super::*;

    fn hits(values: &[&str], text: &str, place: Within) -> Vec<String> {
        let mut hits = Vec::new();
        if let Some(literals) = Literals::new(values.iter().copied()).unwrap() {
            literals.find(text.as_bytes(), place, |span| {
                hits.push(text.get(span).unwrap().to_owned());
            });
        }
        hits
    }

    #[test]
    fn a_value_reaches_as_far_as_it_can_be_told_from_words() {
        let values = [
            "true",
            "12345",
            "blue",
            "qwkzjxhv",
            "hunter2hunter2",
            "a\"b\nc-long",
        ];
        let text = "true 12345 blue qwkzjxhv xqwkzjxhv xhunter2hunter2x";
        assert_eq!(
            hits(&values, text, Within::Value),
            ["qwkzjxhv", "hunter2hunter2"]
        );
        assert_eq!(hits(&values, text, Within::Word), ["hunter2hunter2"]);
        assert_eq!(hits(&values, " blue\n", Within::Value), ["blue"]);
        assert!(hits(&values, "blue", Within::Word).is_empty());
        assert_eq!(
            hits(&values, r#"a\"b\nc-long"#, Within::Value),
            [r#"a\"b\nc-long"#]
        );
        assert_eq!(
            hits(&values, "a\"b\nc-long", Within::Value),
            ["a\"b\nc-long"]
        );
    }

    proptest! {
        #[test]
        fn every_encoding_of_a_value_is_found(
            value in "[!-~]{3,20}[0-9][!-~]{3,20}[a-z&/ ][!-~]",
            before in any::<Vec<u8>>(),
            after in any::<Vec<u8>>(),
        ) {
            let around = |value: &str| [before.as_slice(), value.as_bytes(), &after].concat();
            prop_assume!(reach(&value) == Some(Reach::Anywhere));
            for text in [
                STANDARD.encode(around(&value)),
                URL_SAFE.encode(around(&value)),
                hex(&around(&value)),
            ] {
                let found = hits(&[&value], &text, Within::Word);
                prop_assert!(!found.is_empty(), "{value} in {text}");
            }
        }

        #[test]
        fn no_bit_of_a_value_stays_in_base64(before in prop::collection::vec(any::<u8>(), 0..7), after in prop::collection::vec(any::<u8>(), 0..7)) {
            // The text around the hit is the same whatever the value is.
            let left = |value: &str| {
                let text = STANDARD.encode([before.as_slice(), value.as_bytes(), &after].concat());
                let found = hits(&[value], &text, Within::Value);
                text.replacen(found.first().map_or("", String::as_str), "|", 1)
            };
            prop_assert_eq!(left("aaaaaaaa0aaaaaaaa\u{1}"), left("zzzzzzzz9zzzzzzzz\u{7f}"));
        }
    }
}
