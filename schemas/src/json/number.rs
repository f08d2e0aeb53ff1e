//! Numbers by value: `1`, `1.0` and `10e-1` are the same number, whatever their size.

use crate::slices::Part as _;

/// Appends a text that is equal for equal numbers and different for different ones.
///
/// Exact for any number of digits. An exponent beyond 64 bits is compared by its text.
pub fn write_value(source: &[u8], out: &mut Vec<u8>) {
    if let Some(value) = Value::of(source) {
        value.write(out);
    } else {
        out.extend_from_slice(source);
    }
}

/// Whether two numbers have the same value.
#[must_use]
pub fn is_same(one: &[u8], other: &[u8]) -> bool {
    let value = |source| {
        let mut out = Vec::new();
        write_value(source, &mut out);
        out
    };
    one == other || value(one) == value(other)
}

/// Whether a number is whole: `3`, `3.0` and `30e-1`.
#[must_use]
pub fn is_whole(source: &[u8]) -> bool {
    Value::of(source).is_some_and(|value| value.exponent >= 0)
}

/// A whole number that is not negative, when 64 bits hold it.
#[must_use]
pub fn whole(source: &[u8]) -> Option<u64> {
    let value = Value::of(source).filter(|value| !value.negative && value.exponent >= 0)?;
    if value.digits.is_empty() {
        return Some(0);
    }
    let digits: u64 = std::str::from_utf8(&value.digits).ok()?.parse().ok()?;
    let power = 10_u64.checked_pow(u32::try_from(value.exponent).ok()?)?;
    digits.checked_mul(power)
}

/// `digits` times ten to the power of `exponent`, without zeros at either end of the digits. Zero
/// has no digits.
struct Value {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

impl Value {
    fn of(source: &[u8]) -> Option<Self> {
        let (negative, rest) = match source {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, source),
        };
        let mark = rest.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let (mantissa, power) = match mark {
            Some(at) => (rest.part(..at), rest.part(at + 1..)),
            None => (rest, b"0".as_slice()),
        };
        let power = std::str::from_utf8(power).ok()?;
        let mut exponent: i64 = power.strip_prefix('+').unwrap_or(power).parse().ok()?;
        let mut digits = Vec::with_capacity(mantissa.len());
        let mut behind_point = false;
        for byte in mantissa {
            if *byte == b'.' {
                behind_point = true;
                continue;
            }
            if behind_point {
                exponent = exponent.checked_sub(1)?;
            }
            // Leading zeros do not count.
            if !(digits.is_empty() && *byte == b'0') {
                digits.push(*byte);
            }
        }
        while digits.last() == Some(&b'0') {
            digits.pop();
            exponent = exponent.checked_add(1)?;
        }
        if digits.is_empty() {
            exponent = 0;
        }
        Some(Self {
            negative: negative && !digits.is_empty(),
            digits,
            exponent,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        if self.negative {
            out.push(b'-');
        }
        out.extend_from_slice(&self.digits);
        out.push(b'e');
        out.extend_from_slice(self.exponent.to_string().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::{is_same, is_whole, whole};

    #[test]
    fn spelling_has_no_meaning() {
        for (one, other) in [
            ("1", "1.0"),
            ("1", "1e0"),
            ("100", "1E+2"),
            ("0.10", "10e-2"),
            ("0", "-0.00e7"),
            ("-3.50", "-35e-1"),
            (
                "123456789012345678901234567890",
                "123456789012345678901234567890.0",
            ),
            ("1e400", "10e399"),
        ] {
            assert!(is_same(one.as_bytes(), other.as_bytes()), "{one} {other}");
        }
    }

    #[test]
    fn different_numbers_differ() {
        for (one, other) in [
            ("1", "-1"),
            ("1", "10"),
            ("9007199254740993", "9007199254740992"),
            ("0.1", "0.10000000000000001"),
            ("1e99999999999999999999", "1e99999999999999999998"),
        ] {
            assert!(!is_same(one.as_bytes(), other.as_bytes()), "{one} {other}");
        }
    }

    #[test]
    fn whole_numbers_are_known_by_value() {
        for (source, expected) in [
            ("3", Some(3)),
            ("3.0", Some(3)),
            ("30e-1", Some(3)),
            ("-0", Some(0)),
            ("1e3", Some(1000)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("1e99", None),
            ("-1", None),
            ("3.5", None),
        ] {
            assert_eq!(whole(source.as_bytes()), expected, "{source}");
        }
        assert!(is_whole(b"1e99") && is_whole(b"-7.0") && !is_whole(b"0.5"));
    }
}
