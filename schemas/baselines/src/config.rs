//! The digest of a server's configuration.

use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::canonical;

/// `sha256:` and the SHA-256 of a configuration as compact JSON with sorted keys, in hexadecimal
/// digits. An unknown configuration is `null`.
#[must_use]
pub fn config_hash(config: &Value) -> String {
    let digest = Sha256::digest(canonical(config).as_bytes());
    format!("sha256:{}", hex(&digest))
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _never_fails = write!(out, "{byte:02x}");
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_keys_does_not_count_and_null_is_hashed_as_its_text() {
        assert_eq!(
            config_hash(&json!({"b": [1, {"d": 1, "c": 2}], "a": 1})),
            config_hash(&json!({"a": 1, "b": [1, {"c": 2, "d": 1}]})),
        );
        assert_ne!(
            config_hash(&json!({"a": [1, 2]})),
            config_hash(&json!({"a": [2, 1]}))
        );
        assert_eq!(
            config_hash(&Value::Null),
            "sha256:74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"
        );
    }
}
