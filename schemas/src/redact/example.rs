//! What stands where a secret belongs and is none: `YOUR_TOKEN_HERE` in documentation, and the
//! words that programs put under the name of one.

/// Whether documentation means the reader's own secret: words alone, of which the first asks
/// for it and the last says for what.
pub(super) fn is_example(value: &[u8]) -> bool {
    let separator = |byte: &u8| matches!(byte, b'_' | b'-' | b' ');
    let plain = |byte: &u8| byte.is_ascii_alphabetic() || separator(byte);
    if value.len() > LONGEST || !value.iter().all(plain) {
        return false;
    }
    let mut words = value.split(separator).filter(|word| !word.is_empty());
    match (words.next(), words.next_back()) {
        (Some(first), Some(last)) => is(ASKING, first) && is(ASKED, last),
        (Some(only), None) => is(ALONE, only),
        (None, _) => false,
    }
}

/// Whether a value under `credentials` says whether a browser sends any (Fetch,
/// `RequestCredentials`).
pub(super) fn is_of_fetch(kind: &str, value: &[u8]) -> bool {
    kind == "credential" && is(FETCH, value)
}

fn is(list: &[&str], word: &[u8]) -> bool {
    let mut known = list.iter();
    known.any(|known| known.as_bytes().eq_ignore_ascii_case(word))
}

/// No longer text is an example by its words alone.
const LONGEST: usize = 48;

const ASKING: &[&str] = &[
    "add", "change", "enter", "fill", "insert", "paste", "put", "replace", "todo", "your",
];
const ASKED: &[&str] = &[
    "code",
    "credential",
    "credentials",
    "here",
    "id",
    "in",
    "it",
    "key",
    "me",
    "passphrase",
    "passwd",
    "password",
    "pat",
    "pwd",
    "secret",
    "this",
    "token",
    "value",
];
const ALONE: &[&str] = &["fixme", "placeholder", "tbd", "todo"];
const FETCH: &[&str] = &["include", "omit", "same-origin"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_ask_for_something() {
        for text in [
            "YOUR_TOKEN_HERE",
            "your-api-key",
            "your_openai_api_key_here",
            "Insert token here",
            "REPLACE_ME",
            "CHANGE_ME",
            "TODO",
        ] {
            assert!(is_example(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "your",
            "yourpassword",
            "your-dog-is-nice",
            "your_token_h3re",
            "changeme",
            "secret",
            "correct-horse-battery-staple",
            "hunter",
            "my-token",
            "replace_me_8f3a",
        ] {
            assert!(!is_example(text.as_bytes()), "{text}");
        }
    }
}
