//! Equality by meaning.

use tapewright_schemas::json::number;

use super::Json;

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(other)) => one == other,
            (Self::Number(one), Self::Number(other)) => same_number(one, other),
            (Self::String(one), Self::String(other)) => one == other,
            (Self::Array(one), Self::Array(other)) => one == other,
            (Self::Object(one), Self::Object(other)) => {
                one.len() == other.len()
                    && one
                        .iter()
                        .all(|(name, value)| other.get(name).is_some_and(|other| value == other))
            }
            _ => false,
        }
    }
}

/// Compares whole numbers exactly, whatever their size. Fractions are compared as floats, as every
/// peer reads them: `0.1` and `0.1000000000000000055` are the same number to all of them.
fn same_number(one: &str, other: &str) -> bool {
    if number::is_same(one.as_bytes(), other.as_bytes()) {
        return true;
    }
    let fraction = |text: &str| {
        let whole = number::is_whole(text.as_bytes());
        (!whole).then(|| text.parse::<f64>().ok()).flatten()
    };
    match (fraction(one), fraction(other)) {
        (Some(one), Some(other)) => one.is_finite() && one.to_bits() == other.to_bits(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: &str, other: &str) -> bool {
        Json::read(one.as_bytes()).unwrap() == Json::read(other.as_bytes()).unwrap()
    }

    #[test]
    fn spelling_and_order_do_not_count() {
        for (one, other) in [
            ("1", "1.0"),
            ("100", "1e2"),
            ("0.1", "0.1000000000000000055"),
            ("-0.0", "0"),
            (r#"{"a":1,"b":[2]}"#, r#"{"b":[2.0],"a":1}"#),
            (r#""\u0041""#, r#""A""#),
        ] {
            assert!(same(one, other), "{one} {other}");
        }
    }

    #[test]
    fn meaning_counts() {
        for (one, other) in [
            ("1", "\"1\""),
            ("0", "false"),
            ("null", "false"),
            ("[1,2]", "[2,1]"),
            (r#"{"a":null}"#, "{}"),
            (
                "123456789012345678901234567890",
                "123456789012345678901234567891",
            ),
            ("9007199254740993", "9007199254740992.0"),
            ("1e400", "2e400"),
            ("0.1", "0.2"),
        ] {
            assert!(!same(one, other), "{one} {other}");
        }
    }
}
