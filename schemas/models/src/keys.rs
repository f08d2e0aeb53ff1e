//! Removes provider keys from written text.

use tapewright_schemas::slices::Part as _;

/// How a key begins, and what is written in its place.
const SHAPES: &[(&str, &str)] = &[
    ("sk-ant-", "<ANTHROPIC_API_KEY>"),
    ("sk-proj-", "<OPENAI_API_KEY>"),
    ("AIzaSy", "<GOOGLE_API_KEY>"),
    ("sk-", "<OPENAI_API_KEY>"),
];
/// A shorter word with the last of the prefixes is not a key: `sk-learn`.
const SHORTEST_PLAIN: usize = 16;

/// A text with a placeholder for everything that looks like a provider's key. It is deterministic,
/// so that recorded text can be compared with a request.
#[must_use]
pub fn hide_keys(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before: Option<char> = None;
    while let Some(letter) = rest.chars().next() {
        let is_begin = !before.is_some_and(|before| before.is_alphanumeric() || before == '_');
        if let (true, Some((length, placeholder))) = (is_begin, key(rest)) {
            out.push_str(placeholder);
            before = rest.part(..length).chars().next_back();
            rest = rest.part(length..);
            continue;
        }
        out.push(letter);
        before = Some(letter);
        rest = rest.part(letter.len_utf8()..);
    }
    out
}

/// The length of the key at the start of a text.
fn key(text: &str) -> Option<(usize, &'static str)> {
    let (prefix, placeholder) = SHAPES.iter().find(|(prefix, _)| text.starts_with(prefix))?;
    let body = text.get(prefix.len()..)?;
    let is_part = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let length: usize = body.chars().take_while(is_part).map(char::len_utf8).sum();
    let shortest = if *prefix == "sk-" { SHORTEST_PLAIN } else { 1 };
    (length >= shortest).then_some((prefix.len() + length, placeholder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_hidden_and_words_are_not() {
        let long = "A1b2C3d4E5f6G7h8I9";
        for (text, hidden) in [
            (format!("key sk-ant-{long}."), "key <ANTHROPIC_API_KEY>."),
            (format!("\"sk-proj-{long}\""), "\"<OPENAI_API_KEY>\""),
            (format!("Bearer sk-{long}\n"), "Bearer <OPENAI_API_KEY>\n"),
            (format!("k=AIzaSy{long}"), "k=<GOOGLE_API_KEY>"),
        ] {
            assert_eq!(hide_keys(&text), hidden);
            assert_eq!(hide_keys(hidden), hidden);
        }
        for word in [
            "task-force and sk-learn",
            "a risk-averse-and-careful-person",
            "sk-",
            "ü sk-ü",
        ] {
            assert_eq!(hide_keys(word), word);
        }
    }
}
