//! Identifies a fault.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};

/// A fault as an event names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FaultRef {
    /// Its name, chosen by the user.
    pub name: String,
    /// Its kind.
    pub kind: FaultKind,
}

/// The kind of a fault: a token from the table of kinds. At most 64 lower-case letters, digits, `-`
/// and `_`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct FaultKind(Cow<'static, str>);

impl FaultKind {
    /// The longest token, in bytes.
    const LIMIT: usize = 64;
    /// For a value that is not a token.
    const UNKNOWN: Self = Self(Cow::Borrowed("unknown"));

    /// A kind from the table.
    #[must_use]
    pub const fn known(token: &'static str) -> Self {
        Self(Cow::Borrowed(token))
    }

    /// A parsed kind; `unknown` for an invalid one.
    #[must_use]
    pub fn read(token: &str) -> Self {
        let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
        if token.is_empty() || token.len() > Self::LIMIT || !token.bytes().all(plain) {
            return Self::UNKNOWN;
        }
        Self(Cow::Owned(token.to_owned()))
    }

    /// The token.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for FaultKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::read(&Cow::<str>::deserialize(deserializer)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_a_token() {
        assert_eq!(FaultKind::read("wrong-id").name(), "wrong-id");
        for bad in ["", "a b", "A", &"x".repeat(65)] {
            assert_eq!(FaultKind::read(bad), FaultKind::UNKNOWN, "{bad}");
        }
    }
}
