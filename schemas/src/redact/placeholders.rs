//! Placeholders for secrets.

use crate::slices::Part as _;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::ops::Range;

/// Assigns placeholders to values. Values are only known by their mark.
#[derive(Debug, Default)]
pub(super) struct Table {
    values: HashMap<u128, Slot>,
    /// The last number given out for a kind.
    last: BTreeMap<String, u64>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    kind: &'static str,
    number: u64,
}

impl Table {
    /// Appends the placeholder of the value with `mark` and returns its kind, which is the kind as
    /// which it was first found.
    pub(super) fn write(
        &mut self,
        mark: u128,
        kind: &'static str,
        out: &mut Vec<u8>,
    ) -> &'static str {
        let slot = match self.values.get(&mark) {
            Some(slot) => *slot,
            None => self.admit(mark, kind),
        };
        let provider = PROVIDERS.iter().find(|(kind, _)| *kind == slot.kind);
        // Writing to a vector cannot fail.
        let _never_fails = match (provider, slot.number) {
            (Some((_, name)), 0) => write!(out, "<{name}#more>"),
            (Some((_, name)), 1) => write!(out, "<{name}>"),
            (Some((_, name)), number) => write!(out, "<{name}#{number}>"),
            (None, 0) => write!(out, "<REDACTED:{}#more>", slot.kind),
            (None, number) => write!(out, "<REDACTED:{}#{number}>", slot.kind),
        };
        slot.kind
    }

    fn admit(&mut self, mark: u128, kind: &'static str) -> Slot {
        if self.values.len() >= MOST_VALUES {
            return Slot { kind, number: 0 };
        }
        let last = self.last.entry(kind.to_owned()).or_default();
        *last += 1;
        let number = *last;
        let slot = Slot { kind, number };
        self.values.insert(mark, slot);
        slot
    }

    /// The last number given out for each kind, or learned of it.
    pub(super) fn numbers(&self) -> &BTreeMap<String, u64> {
        &self.last
    }

    /// The number of values with a placeholder. Never decreases.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The kind of a value that has a placeholder.
    pub(super) fn kind(&self, mark: u128) -> Option<&'static str> {
        self.values.get(&mark).map(|slot| slot.kind)
    }

    /// Learns which numbers `text` uses already.
    pub(super) fn adopt(&mut self, text: &[u8]) {
        for span in spans(text) {
            let Some((kind, number)) = text.get(span).and_then(parts) else {
                continue;
            };
            let last = self.last.entry(kind).or_default();
            *last = number.max(*last);
        }
    }
}

/// The length of the placeholder at the start of `text`, by tapewright or another tool.
pub(super) fn length(text: &[u8]) -> Option<usize> {
    let close = match text.first()? {
        b'<' => b'>',
        b'[' => b']',
        _ => return None,
    };
    let inner = text.part(1..);
    let known = inner.starts_with(b"REDACTED")
        || close == b'>'
            && PROVIDERS
                .iter()
                .any(|(_, name)| inner.starts_with(name.as_bytes()));
    if !known {
        return None;
    }
    let window = text.part(..LONGEST.min(text.len()));
    let end = memchr::memchr(close, window)? + 1;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-:#=.".contains(byte);
    text.part(1..end - 1).iter().all(plain).then_some(end)
}

/// Whether `text` is a placeholder and nothing else, or a value masked with asterisks.
pub(super) fn is_whole(text: &[u8]) -> bool {
    length(text) == Some(text.len()) || text.len() > 2 && text.iter().all(|byte| *byte == b'*')
}

/// The positions of placeholders in `text`.
pub(super) fn spans(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut end = 0;
    for at in memchr::memchr2_iter(b'<', b'[', text) {
        if at < end {
            continue;
        }
        if let Some(length) = length(text.part(at..)) {
            end = at + length;
            found.push(at..end);
        }
    }
    found
}

/// The kind and number of a placeholder by tapewright.
fn parts(text: &[u8]) -> Option<(String, u64)> {
    let inner = std::str::from_utf8(text)
        .ok()?
        .strip_prefix('<')?
        .strip_suffix('>')?;
    let (name, number) = match inner.split_once('#') {
        Some((name, number)) => (name, number.parse().ok()?),
        None => (inner, 1),
    };
    if let Some((kind, _)) = PROVIDERS.iter().find(|(_, provider)| *provider == name) {
        return Some(((*kind).to_owned(), number));
    }
    Some((name.strip_prefix("REDACTED:")?.to_owned(), number))
}

/// Kinds whose placeholder the specification gives.
const PROVIDERS: &[(&str, &str)] = &[
    ("anthropic-api-key", "ANTHROPIC_API_KEY"),
    ("openai-api-key", "OPENAI_API_KEY"),
    ("google-api-key", "GOOGLE_API_KEY"),
];

/// Bounds the table against a peer that never repeats itself.
const MOST_VALUES: usize = 65_536;

/// No placeholder is longer; bounds the search for its end.
const LONGEST: usize = 96;

#[cfg(test)]
mod tests {
    use super::*;

    fn written(table: &mut Table, mark: u128, kind: &'static str) -> String {
        let mut out = Vec::new();
        table.write(mark, kind, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_stable_and_per_kind() {
        let mut table = Table::default();
        assert_eq!(written(&mut table, 1, "token"), "<REDACTED:token#1>");
        assert_eq!(written(&mut table, 2, "token"), "<REDACTED:token#2>");
        assert_eq!(written(&mut table, 3, "openai-api-key"), "<OPENAI_API_KEY>");
        assert_eq!(
            written(&mut table, 4, "openai-api-key"),
            "<OPENAI_API_KEY#2>"
        );
        assert_eq!(written(&mut table, 1, "password"), "<REDACTED:token#1>");
    }

    #[test]
    fn the_table_is_bounded() {
        let mut table = Table::default();
        for mark in 0..MOST_VALUES as u128 {
            table.admit(mark, "token");
        }
        assert_eq!(
            written(&mut table, u128::MAX, "token"),
            "<REDACTED:token#more>"
        );
        assert_eq!(
            written(&mut table, u128::MAX, "google-api-key"),
            "<GOOGLE_API_KEY#more>"
        );
        assert_eq!(written(&mut table, 1, "token"), "<REDACTED:token#2>");
    }

    #[test]
    fn adopted_numbers_are_not_given_again() {
        let mut table = Table::default();
        table.adopt(
            b"x <REDACTED:token#7> [REDACTED:token] <ANTHROPIC_API_KEY>, <REDACTED:token#3>",
        );
        assert_eq!(written(&mut table, 1, "token"), "<REDACTED:token#8>");
        assert_eq!(
            written(&mut table, 2, "anthropic-api-key"),
            "<ANTHROPIC_API_KEY#2>"
        );
    }

    #[test]
    fn knows_a_placeholder_when_it_sees_one() {
        for text in [
            "<REDACTED:jwt#12>",
            "[REDACTED:hint=api_key]",
            "[REDACTED]",
            "<OPENAI_API_KEY#more>",
            "****",
        ] {
            assert!(is_whole(text.as_bytes()), "{text}");
        }
        for text in [
            "<REDACTED:jwt#12>x",
            "REDACTED",
            "<REDACTED:a b>",
            "<REDACTED",
            "",
            "**",
        ] {
            assert!(!is_whole(text.as_bytes()), "{text}");
        }
    }
}
