//! Secrets in a server's description of an error: `error_description="the token A1b2… is not
//! known"` (RFC 6749 §5.2, RFC 6750 §3). A sentence has no separator between a name and a value, so
//! the value itself must look like a secret, and like nothing else.

use std::ops::Range;

use memchr::memchr_iter;

use super::finder::Finder;
use super::names::{Class, Name};
use super::rules::Rules;
use super::text::is_last_of_many;
use super::work;
use crate::slices::Part as _;

impl Finder {
    /// Finds the value after the name of a secret in the sentence at `range`.
    pub(super) fn told(&mut self, rules: &Rules, text: &[u8], range: Range<usize>) {
        let sentence = text.part(range.clone());
        work::read(sentence.len());
        let mut decided = 0;
        for space in memchr_iter(b' ', sentence) {
            if space < decided {
                continue;
            }
            let Some(value) = value(sentence, space + 1) else {
                continue;
            };
            let Some(name) = self.word_before(rules, sentence.part(..space)) else {
                continue;
            };
            decided = value.end;
            let span = range.start + value.start..range.start + value.end;
            self.named(rules, text, span, name.kind);
        }
    }

    /// The kind of the secret that a sentence about a token contains.
    pub(super) fn kind_told(&mut self, rules: &Rules, sentence: &[u8]) -> Option<&'static str> {
        let from = self.edits.len();
        self.told(rules, sentence, 0..sentence.len());
        let kind = self.edits.as_slice().get(from).map(|edit| edit.kind);
        self.edits.truncate(from);
        kind
    }

    /// The name of a secret at the end of `head`: `token`, `password`, `API key`.
    fn word_before(&mut self, rules: &Rules, head: &[u8]) -> Option<Name> {
        let letter = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let length = |head: &[u8]| head.iter().rev().take(LONGEST).take_while(letter).count();
        let word = head.part(head.len() - length(head)..);
        let before = head.strip_suffix(word)?;
        let owner = before.strip_suffix(b" ").unwrap_or_default();
        let owner = owner.part(owner.len() - length(owner)..);
        let name = if is_last_of_many(word) && !owner.is_empty() {
            let both = head.part(head.len() - word.len() - owner.len() - 1..);
            self.names.classify(both, &rules.custom)
        } else {
            self.names.classify(word, &rules.custom)
        };
        // The identifier of a signing key is public.
        let names_key = name.kind == "secret-key" && !owner.eq_ignore_ascii_case(b"secret");
        (name.class == Class::Secret && !names_key).then_some(name)
    }
}

/// The value that starts at `at`, optionally in quotes, if it looks like a secret.
fn value(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = text.part(at..);
    let is_quote = |byte: &&u8| matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'<' | b'(');
    let start = at + rest.iter().take(2).take_while(is_quote).count();
    let rest = text.part(start..);
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte);
    let length = rest
        .iter()
        .take(LONGEST_VALUE + 1)
        .take_while(is_part)
        .count();
    let value = rest.part(..length);
    let value = value.strip_suffix(b".").unwrap_or(value);
    let whole = rest
        .get(length)
        .is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b':');
    (whole && is_random(value)).then(|| start..start + value.len())
}

/// Whether letters and digits alternate as in no word, name, version or date.
fn is_random(value: &[u8]) -> bool {
    if !(SHORTEST_VALUE..=LONGEST_VALUE).contains(&value.len()) {
        return false;
    }
    let slashes = memchr_iter(b'/', value).count();
    let is_path = value.starts_with(b"/") || value.starts_with(b"./") || slashes > 2;
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let changes = value.windows(2).filter(|pair| match pair {
        [a, b] => {
            a.is_ascii_alphabetic() && b.is_ascii_digit()
                || a.is_ascii_digit() && b.is_ascii_alphabetic()
                || a.is_ascii_lowercase() && b.is_ascii_uppercase()
        }
        _ => false,
    });
    // In random letters and digits two in five pairs are such, in `oauth2ClientV1` one in four.
    let is_changing = changes.count() * 10 >= value.len() * 3;
    !is_path && has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit) && is_changing
}

/// The longest name that is examined.
const LONGEST: usize = 32;
/// The lengths of values, in bytes.
const SHORTEST_VALUE: usize = 16;
const LONGEST_VALUE: usize = 2_048;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Redactor, Rules, Settings};

    fn redacted(text: &str) -> String {
        let rules = Rules::new(&Settings::default()).unwrap();
        let mut redactor = Redactor::new(Arc::new(rules));
        String::from_utf8(redactor.text(text.as_bytes()).into_owned()).unwrap()
    }

    /// In two halves, so that this source contains no token.
    const VALUES: [(&str, &str); 4] = [
        ("A1b2C3d4", "E5f6G7h8I9j0"),
        ("7f3K9xQ2mZ8p", "L4vN1cR6"),
        ("9f86d081884c7d65", "9a2feaa0c55ad015"),
        ("q7Xz2LmN9Kd4/Ws1Pf", "T6h+8Vb3Yr5="),
    ];

    /// The text before and after a value.
    const EXAMPLES: [(&str, &str); 10] = [
        ("The access token ", " expired"),
        ("token ", ""),
        ("Token '", "' was revoked."),
        ("no such refresh token \\\"", "\\\""),
        ("the client secret ", ", sent by the client, is wrong"),
        ("wrong password ", "."),
        ("invalid API key ", " (see the docs)"),
        ("unknown secret key ", "!"),
        ("session id ", " has ended"),
        ("the access_token `", "` is for another audience"),
    ];

    const LOOK_ALIKES: [&str; 18] = [
        "The access token expired",
        "The token endpoint-of-the-server is down",
        "token type application/jwt+2 is not supported",
        "the token audience1-of-this-server-v2 is another",
        "No signing key NjVBRjY5MDlCMUIwNzU4RTA2QzZFMDQ4QzQ2MDAyQjVDNjk1RTM2Qg was found",
        "the public key 9f86d081884c7d659a2feaa0c55ad015 is not trusted",
        "the secret mcpProdOAuth2ClientSecretV1 is not set",
        "next page token CAUQAA3x9Zk2Lm8Qw4Rt1 is over",
        "password policy-2025-11-25-strict1 is not met",
        "the token 2025-11-25T10:00:00Z",
        "token urn:ietf:params:oauth:token-type:access_token",
        "client id 7f3K9xQ2mZ8pL4vN1cR6 is not known",
        "the token id 7f3K9xQ2mZ8pL4vN1cR6 is not known",
        "the token /var/run/secrets/a1b2c3d4e5f6 cannot be read",
        "the password https://login.example/a1b2c3d4e5f6g7h8",
        "token service-account-v1.internal.example.com",
        "a token that is longer than 4096 bytes",
        "no user holds the token 550e8400-e29b-41d4-a716-446655440000",
    ];

    #[test]
    fn a_value_behind_the_name_of_a_secret_goes_and_the_sentence_stays() {
        for (one, other) in VALUES {
            let value = [one, other].concat();
            for (before, after) in EXAMPLES {
                let told = format!("{before}{value}{after}");
                for text in [
                    format!("Bearer error=\"invalid_token\", error_description=\"{told}\""),
                    format!("{{\"error\":\"invalid_grant\",\"error_description\":\"{told}\"}}"),
                ] {
                    let clean = redacted(&text);
                    assert!(!clean.contains(one) && !clean.contains(other), "{clean}");
                    let (start, _) = text.split_once(&value).unwrap();
                    assert!(clean.starts_with(start), "{clean}");
                    let (_, end) = text.rsplit_once(&value).unwrap();
                    assert!(clean.ends_with(end), "{clean}");
                }
            }
        }
    }

    #[test]
    fn what_looks_like_one_stays() {
        for told in LOOK_ALIKES {
            for text in [
                format!("Bearer error=\"invalid_token\", error_description=\"{told}\""),
                format!("{{\"error\":\"invalid_grant\",\"error_description\":\"{told}\"}}"),
            ] {
                assert_eq!(redacted(&text), text);
            }
        }
        // In any other place a sentence is not examined this way.
        let text = r#"{"description":"the token 7f3K9xQ2mZ8pL4vN1cR6 of chapter 3"}"#;
        assert_eq!(redacted(text), text);
    }
}
