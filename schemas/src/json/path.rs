//! Finding a member without building a tree.

use super::{Scanner, Span, Token, unescape};

/// The source text of the value that a path of member names leads to.
///
/// With duplicate names the last one wins, as in JavaScript and Python. `None` when a
/// step is missing, is not an object, or the text is not JSON.
#[must_use]
pub fn find<'a>(text: &'a [u8], path: &[&str]) -> Option<&'a [u8]> {
    let mut here = text;
    for name in path {
        let mut hit = None;
        members(here, |key, value| {
            if key == name.as_bytes() {
                hit = Some(value);
            }
        })?;
        here = hit?;
    }
    Some(here.trim_ascii())
}

/// Calls `each` with the unescaped name and the source text of every member of the
/// object `text`; `None` when it is not a whole object.
pub fn members<'a>(text: &'a [u8], mut each: impl FnMut(&[u8], &'a [u8])) -> Option<()> {
    let mut scanner = Scanner::new(text);
    let mut name = Vec::new();
    if !matches!(
        scanner.next_token(),
        Ok(Some(Token::Open { object: true, .. }))
    ) {
        return None;
    }
    loop {
        match scanner.next_token().ok()?? {
            Token::Key(key) => {
                let value: Span = scanner.skip_value().ok()?;
                let source = key.span.of(text);
                if key.escaped {
                    name.clear();
                    unescape(source, &mut name);
                    each(&name, value.of(text));
                } else {
                    each(source, value.of(text));
                }
            }
            Token::Close { .. } => return Some(()),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_a_path_and_takes_the_last_duplicate() {
        let text = br#"{"a":{"b":1,"b": [2] },"c":3}"#;
        assert_eq!(find(text, &["a", "b"]), Some(b"[2]".as_slice()));
        assert_eq!(find(text, &["c"]), Some(b"3".as_slice()));
        assert_eq!(find(text, &["a", "x"]), None);
        assert_eq!(find(text, &["c", "x"]), None);
        assert_eq!(find(b"[1]", &["c"]), None);
    }

    #[test]
    fn escaped_names_are_the_same_names() {
        assert_eq!(find(br#"{"\u0061":1}"#, &["a"]), Some(b"1".as_slice()));
    }
}
