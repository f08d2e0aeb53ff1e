//! Ids, in the form in which they are compared.

use std::hash::{DefaultHasher, Hasher as _};

use tapewright_schemas::envelope::RequestId;

/// An id or a token by what it means: `8`, `8.0` and `8e0` are one number, and `"8"` is
/// another id. What is long is kept as a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Key {
    Integer(i64),
    Number(u64),
    Text(u64),
    Other(u64),
    Null,
}

impl Key {
    /// The key of an id.
    pub(crate) fn of(id: &RequestId<'_>) -> Self {
        match id {
            RequestId::Null => Self::Null,
            RequestId::Number(text) => Self::of_number(text),
            RequestId::Text(text) => Self::Text(hash(text.as_bytes())),
            RequestId::Other(text) => Self::Other(hash(text.as_bytes())),
            _ => Self::Other(0),
        }
    }

    /// The key of an id's or a token's source text.
    pub(crate) fn of_source(source: &[u8]) -> Self {
        Self::of(&RequestId::of_source(source))
    }

    fn of_number(text: &str) -> Self {
        if let Some(integer) = small(text) {
            return Self::Integer(integer);
        }
        if let Ok(integer) = text.parse() {
            return Self::Integer(integer);
        }
        match integral(text) {
            Some(integer) => Self::Integer(integer),
            None => Self::Number(hash(text.as_bytes())),
        }
    }
}

/// A number of a few digits, as nearly all ids are.
fn small(text: &str) -> Option<i64> {
    if text.is_empty() || text.len() > FEW {
        return None;
    }
    let mut sum = 0;
    for byte in text.bytes() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        sum = sum * 10 + i64::from(digit);
    }
    Some(sum)
}

/// So many digits never leave the range of an `i64`.
const FEW: usize = 18;

/// The integer that a number with a fraction or an exponent stands for, if it is one that
/// a double holds exactly.
#[expect(
    clippy::cast_possible_truncation,
    clippy::float_cmp,
    reason = "only numbers that are whole and small enough are converted"
)]
fn integral(text: &str) -> Option<i64> {
    let number: f64 = text.parse().ok()?;
    let whole = number.trunc() == number && number.abs() < EXACT;
    (whole && text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))).then_some(number as i64)
}

/// Up to here a double holds every integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The hash of some bytes: the same in every run.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_value_and_strings_are_no_numbers() {
        let key = |source: &str| Key::of_source(source.as_bytes());
        assert_eq!(key("8"), key("8.0"));
        assert_eq!(key("8"), key("8e0"));
        assert_ne!(key("8"), key("\"8\""));
        assert_eq!(key("\"a\""), key("\"\\u0061\""));
        assert_ne!(key("9007199254740993"), key("9007199254740992"));
        assert_ne!(key("0.5"), key("0"));
        assert_eq!(key("null"), Key::Null);
        assert_ne!(key("true"), key("1"));
        for number in ["0", "-1", "999999999999999999", "9223372036854775807"] {
            assert_eq!(key(number), Key::Integer(number.parse().unwrap()));
        }
        assert_ne!(key("9223372036854775808"), key("-9223372036854775808"));
    }
}
