//! Text in place of a secret that is not one: `YOUR_TOKEN_HERE` in documentation, and the words
//! that programs put under a secret name.

/// Whether documentation means the reader's own secret: only words, of which the first asks for it
/// and the last names what it is for.
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

/// Whether a value refers to a secret, or masks it: `$TOKEN`, `${input:token}`, `{{ api_key }}`,
/// `%TOKEN%`, `<your api key>`, `...`.
pub(super) fn is_reference(value: &[u8]) -> bool {
    if value.len() > LONGEST {
        return false;
    }
    let between = |start: &[u8], end: &[u8]| value.strip_prefix(start)?.strip_suffix(end);
    let in_braces = between(b"${{", b"}}")
        .or_else(|| between(b"{{", b"}}"))
        .or_else(|| between(b"${", b"}"));
    if let Some(name) = in_braces {
        return is_name(name.trim_ascii());
    }
    let variable = value.strip_prefix(b"$").or_else(|| between(b"%", b"%"));
    if let Some(name) = variable {
        return is_name(name) && !name.iter().any(u8::is_ascii_lowercase);
    }
    if let Some(words) = between(b"<", b">") {
        let word = |byte: &u8| byte.is_ascii_alphabetic() || b" _-".contains(byte);
        return words.iter().all(word);
    }
    let masks = [b'x', b'X', b'.', b'*'];
    value.len() >= 3
        && masks
            .iter()
            .any(|mask| value.iter().all(|byte| byte == mask))
}

/// Whether text is an identifier of a program.
fn is_name(name: &[u8]) -> bool {
    let start = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    name.first().is_some_and(start)
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_.:".contains(byte))
}

/// Whether a value under `credentials` controls whether a browser sends any (Fetch,
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
    fn references_hold_no_value() {
        for text in [
            "$TOKEN",
            "${DB_PASSWORD}",
            "${input:github_token}",
            "${{ secrets.NPM_TOKEN }}",
            "{{ api_key }}",
            "{{password}}",
            "%APPKEY%",
            "<your api key>",
            "<token>",
            "...",
            "xxxxxxxx",
            "********",
        ] {
            assert!(is_reference(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "$Tr0ub4dor",
            "$hunter",
            "${PASSWORD:-hunter2}",
            "${hunter2}x",
            "$",
            "${}",
            "{{}}",
            "%7B%",
            "%%",
            "<hunter2>",
            "{{a}}{{b}}",
            "xx",
            "xxX.",
        ] {
            assert!(!is_reference(text.as_bytes()), "{text}");
        }
    }

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
