//! The names of invariants.

use std::fmt;
use std::str::FromStr;

/// The code of an invariant, `INV-012`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(pub u16);

/// A word that is not a code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not the code of an invariant")]
pub struct CodeError {
    /// The word.
    pub word: String,
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "INV-{:03}", self.0)
    }
}

impl FromStr for Code {
    type Err = CodeError;

    /// Reads `INV-012`, in any case, and also `inv12` and `12`.
    fn from_str(word: &str) -> Result<Self, CodeError> {
        let lower = word.trim().to_ascii_lowercase();
        let digits = match lower.strip_prefix("inv") {
            Some(rest) => rest.strip_prefix('-').unwrap_or(rest),
            None => &lower,
        };
        let plain = digits.len() <= 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| plain);
        number.map(Self).ok_or_else(|| CodeError {
            word: word.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_as_people_write_them() {
        for word in ["INV-012", "inv-12", "inv012", "12", " INV-12 "] {
            assert_eq!(word.parse(), Ok(Code(12)), "{word}");
        }
        assert_eq!(Code(7).to_string(), "INV-007");
        for word in ["", "INV-", "INV-x", "-1", "+5", "TOOL-001", "99999"] {
            assert!(word.parse::<Code>().is_err(), "{word}");
        }
    }
}
