//! Ids, in the form in which they are compared.

use std::hash::{DefaultHasher, Hasher as _};

use crate::envelope::RequestId;

/// An id or a token. A long one is kept as a 64-bit hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IdKey {
    /// An integer.
    Integer(i64),
    /// Any other number, by its source text.
    Number(u64),
    /// A string, by its meaning.
    Text(u64),
    /// No legal id, by its source text.
    Other(u64),
    /// `null`, or absent.
    Null,
}

impl IdKey {
    /// The key of an id by type and spelling: `2`, `2.0` and `"2"` are three ids.
    #[must_use]
    pub fn exact(id: &RequestId<'_>) -> Self {
        match id {
            RequestId::Null => Self::Null,
            RequestId::Number(text) => match integer(text) {
                Some(integer) => Self::Integer(integer),
                None => Self::Number(hash(text.as_bytes())),
            },
            RequestId::Text(text) => Self::Text(hash(text.as_bytes())),
            RequestId::Other(text) => Self::Other(hash(text.as_bytes())),
        }
    }

    /// The key of an id by value: `2`, `2.0` and `2e0` are one number, and `"2"` is another id.
    #[must_use]
    pub fn by_value(id: &RequestId<'_>) -> Self {
        match id {
            RequestId::Number(text) => match integer(text).or_else(|| whole(text)) {
                Some(integer) => Self::Integer(integer),
                None => Self::Number(hash(text.as_bytes())),
            },
            _ => Self::exact(id),
        }
    }

    /// Like [`exact`](Self::exact), for an id's or a token's source text.
    #[must_use]
    pub fn exact_of(source: &[u8]) -> Self {
        Self::exact(&RequestId::of_source(source))
    }

    /// Like [`by_value`](Self::by_value), for an id's or a token's source text.
    #[must_use]
    pub fn by_value_of(source: &[u8]) -> Self {
        Self::by_value(&RequestId::of_source(source))
    }

    /// The id that this one may have been before its type or spelling was changed.
    pub(super) fn look_alike(id: &RequestId<'_>) -> Option<Self> {
        match id {
            RequestId::Number(text) => Some(Self::Text(hash(text.as_bytes()))),
            RequestId::Text(text) => Some(Self::exact(&RequestId::Number(text))),
            _ => None,
        }
    }
}

impl From<&RequestId<'_>> for IdKey {
    fn from(id: &RequestId<'_>) -> Self {
        Self::exact(id)
    }
}

/// The integer that a text is the usual spelling of.
fn integer(text: &str) -> Option<i64> {
    match text.as_bytes() {
        // As clients count: this many digits fit.
        digits @ [b'1'..=b'9', ..] if digits.len() <= 18 => {
            let (mut number, mut is_other) = (0_i64, false);
            for byte in digits {
                let digit = byte.wrapping_sub(b'0');
                is_other |= digit > 9;
                number = number.wrapping_mul(10).wrapping_add(i64::from(digit));
            }
            (!is_other).then_some(number)
        }
        _ => any_integer(text),
    }
}

fn any_integer(text: &str) -> Option<i64> {
    let (is_negative, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    match digits {
        [b'0'] if !is_negative => return Some(0),
        [b'1'..=b'9', ..] => {}
        _ => return None,
    }
    let mut number = 0_i64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        // Below zero there is one integer more.
        number = number.checked_mul(10)?.checked_sub(i64::from(digit))?;
    }
    if is_negative {
        Some(number)
    } else {
        number.checked_neg()
    }
}

/// The integer that a number with a fraction or an exponent denotes, if a double represents it
/// exactly.
#[expect(
    clippy::cast_possible_truncation,
    clippy::float_cmp,
    reason = "only numbers that are whole and small enough are converted"
)]
fn whole(text: &str) -> Option<i64> {
    let number: f64 = text.parse().ok()?;
    let whole = number.trunc() == number && number.abs() < EXACT;
    (whole
        && text
            .bytes()
            .any(|byte| matches!(byte, b'.' | b'e' | b'E' | b'-')))
    .then_some(number as i64)
}

/// Up to here a double holds every integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_keep_type_and_spelling() {
        let all = [
            "8", "8.0", "8e0", "\"8\"", "\"8.0\"", "true", "[8]", "null", "-8", "0", "-0",
        ];
        for (at, one) in all.iter().enumerate() {
            for (other_at, other) in all.iter().enumerate() {
                let same = IdKey::exact_of(one.as_bytes()) == IdKey::exact_of(other.as_bytes());
                assert_eq!(same, at == other_at, "{one} {other}");
            }
        }
        assert_eq!(IdKey::exact_of(br#""\u0031""#), IdKey::exact_of(br#""1""#));
    }

    #[test]
    fn by_value_numbers_are_numbers_and_strings_are_none() {
        let key = |source: &str| IdKey::by_value_of(source.as_bytes());
        assert_eq!(key("8"), key("8.0"));
        assert_eq!(key("8"), key("8e0"));
        assert_eq!(key("0"), key("-0"));
        assert_ne!(key("8"), key("\"8\""));
        assert_eq!(key("\"a\""), key("\"\\u0061\""));
        assert_ne!(key("9007199254740993"), key("9007199254740992"));
        assert_ne!(key("0.5"), key("0"));
        assert_eq!(key("null"), IdKey::Null);
        assert_ne!(key("true"), key("1"));
        let ends = [i64::MAX.to_string(), i64::MIN.to_string()];
        let [most, least] = ends.each_ref().map(String::as_str);
        for number in ["0", "-1", "999999999999999999", most, least] {
            assert_eq!(key(number), IdKey::Integer(number.parse().unwrap()));
        }
        assert_ne!(key("9223372036854775808"), key("-9223372036854775808"));
    }

    #[test]
    fn a_changed_type_is_recognized() {
        let like = |source: &str| IdKey::look_alike(&RequestId::of_source(source.as_bytes()));
        assert_eq!(like("2"), Some(IdKey::exact_of(b"\"2\"")));
        assert_eq!(like("\"2\""), Some(IdKey::Integer(2)));
        assert_eq!(like("\"a\""), Some(IdKey::exact(&RequestId::Number("a"))));
        assert_eq!(like("null"), None);
    }
}
