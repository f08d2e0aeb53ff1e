//! The secret values of the environment, and the forms in which they come again.

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::common::{Reach, reach};
use crate::json::escape;
use crate::slices::Part as _;

/// What a text is in which values are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// A value: of a member, a header, an option; a line.
    #[default]
    Value,
    /// A word that the protocol or a peer's program gives: the name of a member or a header, a
    /// method, a part of a schema. Only what is no word may be found there.
    Word,
}

/// Literal values to search for.
pub(super) struct Literals {
    /// What counts inside of values, too.
    search: Option<AhoCorasick>,
    /// What each of them is.
    forms: Vec<Form>,
    /// What counts only as a whole, in order.
    wholes: Vec<Vec<u8>>,
    numbers: Vec<Vec<u8>>,
    /// The shortest of all.
    pub(super) shortest: usize,
    /// The shortest that may stand in a name.
    pub(super) shortest_in_names: usize,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// As it is, between the edges of words.
    Words,
    /// As it is, or encoded, anywhere.
    Anywhere,
    /// In the midst of base64: without the letters that it shares with its neighbours, of which
    /// there may be one on each side.
    Base64 { before: bool, after: bool },
}

impl Literals {
    /// Compiles the values; `None` when nothing is to be looked for. Fails when they are too
    /// large for one search.
    pub(super) fn new<'v>(
        values: impl Iterator<Item = &'v str>,
    ) -> Result<Option<Self>, aho_corasick::BuildError> {
        let mut literals: Vec<(Vec<u8>, Form)> = Vec::new();
        let (mut wholes, mut numbers) = (Vec::new(), Vec::new());
        for value in values.map(str::trim) {
            let Some(reach) = reach(value) else { continue };
            if value.bytes().all(|byte| byte.is_ascii_digit()) {
                numbers.push(value.as_bytes().to_vec());
            }
            match reach {
                Reach::Whole => wholes.push(value.as_bytes().to_vec()),
                Reach::Words => literals.push((value.as_bytes().to_vec(), Form::Words)),
                Reach::Anywhere => anywhere(value, &mut literals),
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
    pub(super) fn find(&self, text: &[u8], place: Place, mut found: impl FnMut(Range<usize>)) {
        if place == Place::Value && !self.wholes.is_empty() {
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
            match self.forms.get(hit.pattern().as_usize()) {
                Some(Form::Words) if place == Place::Word || !has_edges(text, hit.range()) => {}
                Some(Form::Base64 { before, after }) => {
                    found(with_shared(text, hit.range(), *before, *after));
                }
                _ => found(hit.range()),
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

/// A value as it is, as JSON escapes it, and as URLs, forms, base64 and hex write it.
fn anywhere(value: &str, literals: &mut Vec<(Vec<u8>, Form)>) {
    let mut escaped = Vec::new();
    escape(value, &mut escaped);
    let hex = hex(value.as_bytes());
    let mut forms = vec![
        value.as_bytes().to_vec(),
        escaped,
        percent(value, "%20", false),
        percent(value, "%20", true),
        percent(value, "+", false),
        hex.to_ascii_uppercase().into_bytes(),
        hex.into_bytes(),
    ];
    forms.sort_unstable();
    forms.dedup();
    literals.extend(forms.into_iter().map(|form| (form, Form::Anywhere)));
    for offset in 0..3 {
        let (plain, form) = base64(value.as_bytes(), offset, &STANDARD);
        let (url, _) = base64(value.as_bytes(), offset, &URL_SAFE);
        if url != plain {
            literals.push((url, form));
        }
        literals.push((plain, form));
    }
}

fn hex(value: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    value
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// A value in a URL (WHATWG URL, component percent-encode set) or a form.
fn percent(value: &str, space: &str, lower: bool) -> Vec<u8> {
    let mut out = String::with_capacity(value.len() + 8);
    for byte in value.bytes() {
        match byte {
            b' ' => out.push_str(space),
            _ if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) => {
                out.push(char::from(byte));
            }
            _ => {
                let digits = hex(&[byte]);
                out.push('%');
                out.push_str(&if lower { digits } else { digits.to_uppercase() });
            }
        }
    }
    out.into_bytes()
}

/// The letters of base64 that a value alone decides when `offset` bytes stand before it, or a
/// multiple of three more.
fn base64(value: &[u8], offset: usize, engine: &impl base64::Engine) -> (Vec<u8>, Form) {
    let mut padded = vec![0; offset];
    padded.extend_from_slice(value);
    let whole = engine.encode(&padded);
    // Six bits each: the letters that hold bits of the padding come first.
    let own = (offset * 8).div_ceil(6)..padded.len() * 8 / 6;
    let form = Form::Base64 {
        before: offset > 0,
        after: !padded.len().is_multiple_of(3),
    };
    (whole.as_bytes().part(own).to_vec(), form)
}

/// A hit in base64 with the letters around it that hold bits of the value as well.
fn with_shared(text: &[u8], hit: Range<usize>, before: bool, after: bool) -> Range<usize> {
    let letter = |at: Option<usize>| {
        at.and_then(|at| text.get(at))
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte))
    };
    let start = hit.start - usize::from(before && letter(hit.start.checked_sub(1)));
    let end = hit.end + usize::from(after && letter(Some(hit.end)));
    let rest = text.get(end..).unwrap_or_default();
    let padding = rest.iter().take(2).take_while(|byte| **byte == b'=');
    start..end + if after { padding.count() } else { 0 }
}

fn has_edges(text: &[u8], hit: Range<usize>) -> bool {
    let letter = |at: Option<usize>| {
        at.and_then(|at| text.get(at))
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    !letter(hit.start.checked_sub(1)) && !letter(Some(hit.end))
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use proptest::prelude::*;

    use super::*;

    fn hits(values: &[&str], text: &str, place: Place) -> Vec<String> {
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
            hits(&values, text, Place::Value),
            ["qwkzjxhv", "hunter2hunter2"]
        );
        assert_eq!(hits(&values, text, Place::Word), ["hunter2hunter2"]);
        assert_eq!(hits(&values, " blue\n", Place::Value), ["blue"]);
        assert!(hits(&values, "blue", Place::Word).is_empty());
        assert_eq!(
            hits(&values, r#"a\"b\nc-long"#, Place::Value),
            [r#"a\"b\nc-long"#]
        );
        assert_eq!(
            hits(&values, "a\"b\nc-long", Place::Value),
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
                format!("?q={}&r", String::from_utf8(percent(&value, "+", false)).unwrap()),
            ] {
                let found = hits(&[&value], &text, Place::Word);
                prop_assert!(!found.is_empty(), "{value} in {text}");
            }
        }

        #[test]
        fn no_bit_of_a_value_stays_in_base64(before in prop::collection::vec(any::<u8>(), 0..7), after in prop::collection::vec(any::<u8>(), 0..7)) {
            // What is left around the hit says the same whatever the value is.
            let left = |value: &str| {
                let text = STANDARD.encode([before.as_slice(), value.as_bytes(), &after].concat());
                let found = hits(&[value], &text, Place::Value);
                text.replacen(found.first().map_or("", String::as_str), "|", 1)
            };
            prop_assert_eq!(left("aaaaaaaa0aaaaaaaa\u{1}"), left("zzzzzzzz9zzzzzzzz\u{7f}"));
        }
    }
}
