//! The content security policy of a page in a file.

use base64::Engine as _;
use sha2::{Digest as _, Sha256};

/// The policy (<https://www.w3.org/TR/CSP3/>): this script, this style, no requests, and no text
/// that becomes markup or code.
pub(super) fn text(script: &str, style: &str) -> String {
    let (script, style) = (hash(script), hash(style));
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
}

/// SHA-256 of the contents of an element, in base64.
fn hash(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_allows_what_it_is_given_by_its_hash() {
        // The well-known hash of an empty text.
        let none = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        let policy = text("", "");
        assert_eq!(policy.matches(none).count(), 2, "{policy}");
        assert!(!policy.contains("unsafe"));
    }
}
