//! The value of a plain scalar, by the core schema of YAML 1.2.
//!
//! `yes`, `no`, `on` and `off` are strings. So is a number with leading zeros: `010` is far more
//! often an identifier than ten.

use serde_json::Number;
use tapewright_schemas::slices::Part as _;

/// A scalar without quotes, and its value.
#[derive(Debug, PartialEq)]
pub(super) enum Plain {
    Null,
    Bool(bool),
    Number(Number),
    Text,
    /// A number that JSON has no place for, and why.
    Unfit(&'static str),
}

/// Reads a plain scalar.
pub(super) fn plain(text: &str) -> Plain {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Plain::Null,
        "true" | "True" | "TRUE" => return Plain::Bool(true),
        "false" | "False" | "FALSE" => return Plain::Bool(false),
        _ => {}
    }
    let (sign, rest) = match text.as_bytes().first() {
        Some(b'-') => ("-", text.part(1..)),
        Some(b'+') => ("", text.part(1..)),
        _ => ("", text),
    };
    match rest {
        ".inf" | ".Inf" | ".INF" => return Plain::Unfit("JSON has no infinity"),
        ".nan" | ".NaN" | ".NAN" if rest.len() == text.len() => {
            return Plain::Unfit("JSON has no value that is not a number");
        }
        _ => {}
    }
    if !rest.starts_with(|char: char| char.is_ascii_digit() || char == '.') {
        return Plain::Text;
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = rest.strip_prefix(prefix) {
            return in_radix(sign, digits, radix);
        }
    }
    if rest.bytes().all(|byte| byte.is_ascii_digit()) {
        return if rest.len() > 1 && rest.starts_with('0') {
            Plain::Text
        } else {
            integer(sign, rest.parse::<u64>().ok())
        };
    }
    float(sign, rest)
}

fn in_radix(sign: &str, digits: &str, radix: u32) -> Plain {
    let is_number = !digits.is_empty() && digits.chars().all(|char| char.is_digit(radix));
    if is_number {
        integer(sign, u64::from_str_radix(digits, radix).ok())
    } else {
        Plain::Text
    }
}

fn integer(sign: &str, magnitude: Option<u64>) -> Plain {
    const WIDE: Plain = Plain::Unfit("integers have at most 64 bits here");
    match (sign, magnitude) {
        (_, None) => WIDE,
        ("-", Some(magnitude)) => match 0_i64.checked_sub_unsigned(magnitude) {
            Some(value) => Plain::Number(value.into()),
            None => WIDE,
        },
        (_, Some(magnitude)) => Plain::Number(magnitude.into()),
    }
}

/// A number with a fraction, an exponent, or both.
fn float(sign: &str, rest: &str) -> Plain {
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (rest, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent_fits = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    if !digits(whole) || !digits(fraction) || whole.len() + fraction.len() == 0 || !exponent_fits {
        return Plain::Text;
    }
    let text = format!("{sign}{mantissa}e{}", exponent.unwrap_or("0"));
    match text.parse::<f64>().ok().and_then(Number::from_f64) {
        Some(number) => Plain::Number(number),
        None => Plain::Unfit("the number is too large"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Number, json};

    use super::{Plain, plain};

    #[test]
    fn numbers_are_those_of_the_core_schema() {
        let cases = [
            ("0", json!(0)),
            ("-0", json!(0)),
            ("+5", json!(5)),
            ("0x10", json!(16)),
            ("0o10", json!(8)),
            ("0b101", json!(5)),
            ("1e3", json!(1000.0)),
            ("1.", json!(1.0)),
            (".5", json!(0.5)),
            ("-1.5E-1", json!(-0.15)),
            ("18446744073709551615", json!(u64::MAX)),
            ("-9223372036854775808", json!(i64::MIN)),
        ];
        for (text, value) in cases {
            let number: Number = serde_json::from_value(value).unwrap();
            assert_eq!(plain(text), Plain::Number(number), "{text}");
        }
    }

    #[test]
    fn words_and_near_numbers_are_text() {
        for text in [
            "yes",
            "no",
            "on",
            "off",
            "010",
            "1_000",
            "2024-01-01",
            ".",
            "1e",
            "e3",
            "0x",
            "0xg",
            "1.2.3",
            "+",
            "-",
            "12:30",
            "nul",
            "TRue",
            "0b2",
            "1e+",
            "--1",
            "+.nan",
            "½",
            "١",
        ] {
            assert_eq!(plain(text), Plain::Text, "{text}");
        }
    }

    #[test]
    fn what_json_cannot_hold_is_said() {
        for text in [
            ".inf",
            "-.INF",
            ".nan",
            "1e400",
            "18446744073709551616",
            "-9223372036854775809",
        ] {
            assert!(matches!(plain(text), Plain::Unfit(_)), "{text}");
        }
    }
}
