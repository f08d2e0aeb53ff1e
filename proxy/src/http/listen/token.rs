//! The token that clients must present if not everyone who can connect is allowed.
//!
//! It is in `Proxy-Authorization`, which is meant for proxies (RFC 9110 §11.7): it is not
//! forwarded, and leaves `Authorization` to the server.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, header};
use tapewright_schemas::slices::Part as _;

/// The token that every client must present.
#[derive(Clone)]
pub struct ClientToken(Arc<str>);

/// Why a text is not a valid token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadToken {
    /// It can be guessed.
    #[error("it has fewer than {SHORTEST} characters")]
    Short,
    /// A header field cannot contain it.
    #[error("only visible ASCII characters without a colon are allowed")]
    Character,
}

/// The minimum length of a token, in characters.
const SHORTEST: usize = 16;

/// The challenge for clients: an address such as `http://x:TOKEN@host` in `HTTP_PROXY` results in
/// `Basic`.
pub(crate) const CHALLENGE: &str = "Bearer realm=\"tapewright\", Basic realm=\"tapewright\"";

impl ClientToken {
    /// Checks that a token cannot be guessed, and that a header field can contain it.
    pub fn new(text: &str) -> Result<Self, BadToken> {
        if text.len() < SHORTEST {
            return Err(BadToken::Short);
        }
        let fits = |byte: u8| byte.is_ascii_graphic() && byte != b':';
        if !text.bytes().all(fits) {
            return Err(BadToken::Character);
        }
        Ok(Self(text.into()))
    }

    /// Whether a request presents it: as `Bearer`, or as the password of `Basic`.
    pub(crate) fn is_shown(&self, head: &HeaderMap) -> bool {
        let mut given = head.get_all(header::PROXY_AUTHORIZATION).iter();
        given.any(|value| {
            let value = value.to_str().unwrap_or_default();
            let Some((scheme, rest)) = value.split_once(' ') else {
                return false;
            };
            if scheme.eq_ignore_ascii_case("bearer") {
                return is_same(rest.trim().as_bytes(), &self.0);
            }
            let decoded = STANDARD.decode(rest.trim()).unwrap_or_default();
            let colon = decoded.iter().position(|byte| *byte == b':');
            let password = colon.map(|at| decoded.part(at + 1..));
            scheme.eq_ignore_ascii_case("basic")
                && password.is_some_and(|password| is_same(password, &self.0))
        })
    }
}

impl fmt::Debug for ClientToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ClientToken")
    }
}

/// Compares in constant time, independent of where they differ.
pub(crate) fn is_same(given: &[u8], token: &str) -> bool {
    let pairs = given.iter().zip(token.bytes());
    given.len() == token.len()
        && pairs.fold(0, |differs, (one, other)| differs | (one ^ other)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    #[test]
    fn a_token_is_shown_as_bearer_or_as_a_password() {
        let token = ClientToken::new(TOKEN).unwrap();
        let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
        for (value, shown) in [
            (format!("Bearer {TOKEN}"), true),
            (format!("bearer  {TOKEN} "), true),
            (basic(&format!("x:{TOKEN}")), true),
            (basic(&format!(":{TOKEN}")), true),
            (basic(TOKEN), false),
            (basic(&format!("{TOKEN}:")), false),
            (format!("Bearer {TOKEN}0"), false),
            ("Bearer 0123456789abcdeX".to_owned(), false),
            (format!("Digest {TOKEN}"), false),
            ("Basic ***".to_owned(), false),
            (TOKEN.to_owned(), false),
            (String::new(), false),
        ] {
            let mut head = HeaderMap::new();
            head.insert(header::PROXY_AUTHORIZATION, value.parse().unwrap());
            assert_eq!(token.is_shown(&head), shown, "{value}");
        }
        assert!(!token.is_shown(&HeaderMap::new()));
    }

    #[test]
    fn what_can_be_guessed_or_no_header_can_carry_is_no_token() {
        assert_eq!(ClientToken::new("").unwrap_err(), BadToken::Short);
        assert_eq!(
            ClientToken::new("0123456789abcde").unwrap_err(),
            BadToken::Short
        );
        for text in [
            "0123456789abcdef:",
            "0123456789 abcdef",
            "0123456789abcdefé",
        ] {
            assert_eq!(
                ClientToken::new(text).unwrap_err(),
                BadToken::Character,
                "{text}"
            );
        }
        let told = format!("{:?}", ClientToken::new(TOKEN).unwrap());
        assert!(!told.contains(TOKEN));
    }
}
