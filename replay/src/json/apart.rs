//! Shortens two long values around the first place where they differ.

use super::compact;
use super::compare::SHOWN_CHARS;

/// How much of the common text is shown before that place.
const BEFORE: usize = 40;

/// Both values for display: long ones from shortly before the first difference.
pub(super) fn apart(one: &[u8], other: &[u8]) -> (String, String) {
    let (one, other) = (compact(one), compact(other));
    let (one, other) = (
        String::from_utf8_lossy(&one),
        String::from_utf8_lossy(&other),
    );
    let is_long = |text: &str| text.chars().count() > SHOWN_CHARS;
    if !is_long(&one) && !is_long(&other) {
        return (one.into_owned(), other.into_owned());
    }
    let same = one.chars().zip(other.chars());
    let same = same.take_while(|(one, other)| one == other).count();
    let start = same.saturating_sub(BEFORE);
    (part(&one, start), part(&other, start))
}

/// A part of a text, with ellipses for the omitted text.
fn part(text: &str, start: usize) -> String {
    let mut rest = text.chars().skip(start);
    let front = if start > 0 { "…" } else { "" };
    let shown: String = rest.by_ref().take(SHOWN_CHARS).collect();
    match rest.count() {
        0 => format!("{front}{shown}"),
        more => format!("{front}{shown}… ({more} more characters)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_four_thousand_characters_the_one_that_differs_is_shown() {
        let text = |char: char| format!("\"{}{char}{}\"", "a".repeat(2_000), "b".repeat(1_999));
        let (one, other) = apart(text('x').as_bytes(), text('y').as_bytes());
        let shown = |char: char| {
            format!(
                "…{}{char}{}… (1921 more characters)",
                "a".repeat(40),
                "b".repeat(79)
            )
        };
        assert_eq!((one, other), (shown('x'), shown('y')));
    }

    #[test]
    fn short_values_are_shown_whole() {
        assert_eq!(apart(b"1", b"\"b\""), ("1".to_owned(), "\"b\"".to_owned()));
        let long = format!("\"{}\"", "é".repeat(200));
        let (one, other) = apart(b"null", long.as_bytes());
        assert_eq!(one, "null");
        assert!(other.ends_with("… (82 more characters)"), "{other}");
        let (one, other) = apart(long.as_bytes(), format!("{long} ").as_bytes());
        assert!(
            one.starts_with('…') && other.starts_with('…'),
            "{one} {other}"
        );
    }
}
