//! What a page may do.

/// SHA-256 of the script, in base64.
const SCRIPT_HASH: &str = "UoZ8y6nQGaBgYIPSPoOcuuodzqAcqlZQcHkTBvR03xw=";
/// SHA-256 of the style, in base64.
const STYLE_HASH: &str = "wYM2GHTgKlardHNFGG21jRu2gskLc8gV8LKTDmi4n7Q=";

/// The policy (<https://www.w3.org/TR/CSP3/>): this script, this style, no requests, and no text
/// that becomes markup or code.
pub(super) fn text() -> String {
    format!(
        "default-src 'none'; script-src 'sha256-{SCRIPT_HASH}'; style-src 'sha256-{STYLE_HASH}'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use sha2::{Digest as _, Sha256};

    use super::super::{SCRIPT, STYLE};
    use super::*;

    fn hash(text: &str) -> String {
        base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text))
    }

    #[test]
    fn the_hashes_are_those_of_what_stands_in_the_page() {
        assert_eq!(hash(SCRIPT), SCRIPT_HASH);
        assert_eq!(hash(STYLE), STYLE_HASH);
    }

    #[test]
    fn nothing_in_the_parts_ends_their_elements_or_makes_markup() {
        for part in [SCRIPT, STYLE] {
            assert!(!part.contains("</") && !part.contains("<!--") && !part.contains("{{"));
        }
        for way in [
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval(",
            "Function(",
            "import(",
            "http:",
            "https:",
        ] {
            assert!(!SCRIPT.contains(way), "{way}");
        }
    }
}
