//! Which values under a secret name can be distinguished from ordinary text.
//!
//! `"password": "test"` hides this value, but not the word `test` elsewhere. Stricter than the rule
//! for values of the environment (`common`), which are expected to be secrets: secret names also
//! have file names, dates and addresses as values.

use std::ops::RangeInclusive;

use crate::redact::common::{self, Reach};
use crate::redact::placeholders;

/// The lengths of values that are kept, in bytes.
pub(super) const LENGTHS: RangeInclusive<usize> = 8..=2_048;

/// How far a value reaches; `None` if it is not followed.
pub(super) fn reach(value: &[u8]) -> Option<Reach> {
    let text = std::str::from_utf8(value).ok()?;
    let never = !LENGTHS.contains(&value.len())
        || text.chars().any(char::is_control)
        || !placeholders::spans(value).is_empty()
        || is_place(text)
        || is_time(value);
    if never {
        return None;
    }
    match common::reach(text)? {
        Reach::Anywhere if is_mixed(value) => Some(Reach::Anywhere),
        Reach::Words if is_long_number(value) || is_phrase(text) => Some(Reach::Words),
        _ => None,
    }
}

/// A URL, a path, an address of mail.
fn is_place(text: &str) -> bool {
    let path = ["/", "./", "../", "~/"]
        .iter()
        .any(|start| text.starts_with(start));
    let host = |host: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        let last = host.rsplit('.').next().unwrap_or_default();
        host.contains('.')
            && host.bytes().all(plain)
            && last.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let mail = text.rsplit_once('@').is_some_and(|(_, name)| host(name));
    // Base64 may begin with a slash.
    let path = path && text.bytes().filter(|byte| *byte == b'/').count() > 1;
    path || mail || text.contains("://")
}

/// `2025-11-25T10:00:00Z`.
fn is_time(value: &[u8]) -> bool {
    let Some(date) = value.first_chunk::<10>() else {
        return false;
    };
    date.iter().enumerate().all(|(at, byte)| match at {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    })
}

/// Whether letters, digits and signs are mixed as in no word, name or version.
fn is_mixed(value: &[u8]) -> bool {
    let Mixture {
        lower,
        upper,
        digits,
        spaces,
        signs,
        humps,
        capitals,
        turns,
    } = Mixture::of(value);
    let letters = lower + upper;
    if letters > 0 && digits > 0 {
        return humps + turns + signs >= LEAST_CHANGES;
    }
    if signs > 0 {
        return letters > 0 && signs >= LEAST_CHANGES && spaces == 0;
    }
    lower > 0 && upper > 0 && (humps + capitals) * 3 >= value.len()
}

/// How many bytes of each kind a value has, and how often one kind follows another.
#[derive(Default)]
struct Mixture {
    lower: usize,
    upper: usize,
    digits: usize,
    spaces: usize,
    signs: usize,
    // A capital behind a small letter, and behind a capital.
    humps: usize,
    capitals: usize,
    // From letters to digits, and back.
    turns: usize,
}

impl Mixture {
    fn of(value: &[u8]) -> Self {
        let mut all = Self::default();
        let mut last = b' ';
        for byte in value.iter().copied() {
            match byte {
                b'a'..=b'z' => all.lower += 1,
                b'A'..=b'Z' => {
                    all.upper += 1;
                    all.humps += usize::from(last.is_ascii_lowercase());
                    all.capitals += usize::from(last.is_ascii_uppercase());
                }
                b'0'..=b'9' => all.digits += 1,
                _ => {
                    all.spaces += usize::from(byte.is_ascii_whitespace());
                    all.signs += usize::from(is_sign(byte));
                }
            }
            let turns = last.is_ascii_alphabetic() && byte.is_ascii_digit()
                || last.is_ascii_digit() && byte.is_ascii_alphabetic();
            all.turns += usize::from(turns);
            last = byte;
        }
        all
    }
}

/// A sign that does not occur in names, addresses or sentences.
fn is_sign(byte: u8) -> bool {
    b"!#$%&*+=^~|<>{}[]\\".contains(&byte)
}

/// A number that is neither a time nor a count, such as a card number.
fn is_long_number(value: &[u8]) -> bool {
    value.len() >= LEAST_DIGITS && value.iter().all(u8::is_ascii_digit)
}

/// Words that make no sentence.
fn is_phrase(text: &str) -> bool {
    let words: Vec<&str> = text.split([' ', '-']).collect();
    let word = |word: &&str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_lowercase())
            && !OF_SENTENCES.contains(word)
    };
    words.len() >= LEAST_WORDS && words.iter().all(word)
}

/// `Tr0ub4dor` has four, `backend-v2` has one.
const LEAST_CHANGES: usize = 2;
const LEAST_DIGITS: usize = 16;
const LEAST_WORDS: usize = 4;

/// Sentences of any length contain at least one of them.
#[rustfmt::skip]
const OF_SENTENCES: &[&str] = &[
    "a", "an", "and", "any", "are", "as", "at", "be", "by", "can", "for", "from", "has", "if", "in", "is", "it", "key", "must",
    "my", "no", "not", "of", "on", "one", "only", "or", "our", "password", "please", "secret", "that", "the", "this", "to",
    "token", "until", "use", "used", "user", "value", "was", "when", "which", "will", "with", "you", "your",
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_no_word_looks_like_is_followed_everywhere() {
        for value in [
            "hunter2-hunter2",
            "Tr0ub4dor&3",
            "s3cr3t-v4lue",
            "0a1b2c3d4e5f",
            "8f3a4c2e-11aa-4b7c-9d0e-5f6a7b8c9d0e",
            "aKqZpWbXlRTvNcMd",
            "p@ss!word$x",
            "Summer2024!",
            "correct horse 9x8 battery",
            "/9j4AAQSkZJRgABAQ",
        ] {
            assert_eq!(reach(value.as_bytes()), Some(Reach::Anywhere), "{value}");
        }
    }

    #[test]
    fn long_numbers_and_phrases_are_followed_as_words() {
        for value in ["4111111111111111", "correct horse battery staple"] {
            assert_eq!(reach(value.as_bytes()), Some(Reach::Words), "{value}");
        }
    }

    #[test]
    fn what_may_mean_something_else_is_not_followed() {
        for value in [
            "test",
            "true",
            "password",
            "changeme",
            "production",
            "hunter22",
            "backend-v2",
            "my-project-2024",
            "us-east-1",
            "gpt-4o-mini",
            "claude-sonnet-4-20250514",
            "2025-11-25T10:00:00Z",
            "2025-11-25 10:00:00.123",
            "1732400000000",
            "12345678",
            "123-45-6789",
            "https://h.example/p4th/x7y8",
            "/home/b0b/x1/y2.z3",
            "user123@mail4you.com",
            "getUserAccessToken",
            "unevaluatedProperties",
            "Please enter your password",
            "a sentence, with (signs) in it",
            "no such user in the database",
            "<REDACTED:token#1>x9y8z7",
            "line1x2y3\nline2",
        ] {
            assert_eq!(reach(value.as_bytes()), None, "{value}");
        }
    }

    /// The rule in the words of its parts.
    fn is_mixed_plainly(value: &[u8]) -> bool {
        let has = |is: fn(&u8) -> bool| value.iter().any(is);
        let letter = has(u8::is_ascii_alphabetic);
        let changes = |from: fn(&u8) -> bool, to: fn(&u8) -> bool| {
            let pairs = value.windows(2);
            pairs
                .filter(|pair| matches!(pair, [a, b] if from(a) && to(b)))
                .count()
        };
        let (lower, upper) = (u8::is_ascii_lowercase, u8::is_ascii_uppercase);
        let (alphabetic, digit) = (u8::is_ascii_alphabetic, u8::is_ascii_digit);
        if letter && has(digit) {
            let humps =
                changes(lower, upper) + changes(alphabetic, digit) + changes(digit, alphabetic);
            let signs = value.iter().filter(|byte| is_sign(**byte)).count();
            return humps + signs >= LEAST_CHANGES;
        }
        if has(|byte| is_sign(*byte)) {
            let signs = value.iter().filter(|byte| is_sign(**byte)).count();
            return letter && signs >= LEAST_CHANGES && !has(u8::is_ascii_whitespace);
        }
        has(lower)
            && has(upper)
            && (changes(lower, upper) + changes(upper, upper)) * 3 >= value.len()
    }

    proptest! {
        #[test]
        fn a_mixture_is_counted_as_its_rule_says(value in "[a-cA-C0-2 !%\t-]{0,14}") {
            let value = value.as_bytes();
            prop_assert_eq!(is_mixed(value), is_mixed_plainly(value));
        }
    }
}
