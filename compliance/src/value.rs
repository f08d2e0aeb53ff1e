//! Values of a message as source text, never parsed into a tree.

use std::borrow::Cow;

use tapewright_schemas::json::{unescape, valid_elements, valid_members};

/// The source text of one valid JSON value, without white space around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value<'a>(pub(crate) &'a [u8]);

impl<'a> Value<'a> {
    /// Calls `each` with every member of an object: its decoded name, and its value.
    pub(crate) fn members(self, mut each: impl FnMut(&[u8], Self)) {
        let mut meaning = Vec::new();
        valid_members(self.0, |name, value| {
            let source = name.span.of(self.0);
            let value = Value(value.of(self.0));
            if name.escaped {
                meaning.clear();
                unescape(source, &mut meaning);
                each(&meaning, value);
            } else {
                each(source, value);
            }
        });
    }

    /// The member with this name; of several, the last.
    pub(crate) fn get(self, name: &str) -> Option<Self> {
        let mut hit = None;
        self.members(|found, value| {
            if found == name.as_bytes() {
                hit = Some(value);
            }
        });
        hit
    }

    /// The member that a path of names leads to.
    pub(crate) fn at(self, path: &[&str]) -> Option<Self> {
        path.iter().try_fold(self, |here, name| here.get(name))
    }

    /// Calls `each` with every element of an array.
    pub(crate) fn elements(self, mut each: impl FnMut(Self)) {
        valid_elements(self.0, |span| each(Value(span.of(self.0))));
    }

    /// The number of elements of an array.
    pub(crate) fn len(self) -> usize {
        let mut count = 0;
        self.elements(|_| count += 1);
        count
    }

    pub(crate) fn is_object(self) -> bool {
        self.0.first() == Some(&b'{')
    }

    pub(crate) fn is_array(self) -> bool {
        self.0.first() == Some(&b'[')
    }

    pub(crate) fn is_string(self) -> bool {
        self.0.first() == Some(&b'"')
    }

    pub(crate) fn is_null(self) -> bool {
        self.0 == b"null"
    }

    pub(crate) fn boolean(self) -> Option<bool> {
        match self.0 {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// Whether it is a number without a fraction and an exponent.
    pub(crate) fn is_integer(self) -> bool {
        is_integer_token(self.0)
    }

    /// The value of an integer token that fits.
    pub(crate) fn integer(self) -> Option<i64> {
        self.is_integer().then_some(())?;
        std::str::from_utf8(self.0).ok()?.parse().ok()
    }

    pub(crate) fn is_number(self) -> bool {
        matches!(self.0.first(), Some(b'-' | b'0'..=b'9'))
    }

    /// The decoded value of a string.
    pub(crate) fn string(self) -> Option<Cow<'a, str>> {
        let [b'"', content @ .., b'"'] = self.0 else {
            return None;
        };
        if memchr::memchr(b'\\', content).is_none() {
            return Some(String::from_utf8_lossy(content));
        }
        let mut meaning = Vec::new();
        unescape(content, &mut meaning);
        Some(Cow::Owned(String::from_utf8_lossy(&meaning).into_owned()))
    }

    /// Whether it is this string.
    pub(crate) fn is(self, text: &str) -> bool {
        match self.0 {
            [b'"', content @ .., b'"'] if content == text.as_bytes() => true,
            [b'"', content @ .., b'"'] if memchr::memchr(b'\\', content).is_some() => {
                self.string().as_deref() == Some(text)
            }
            _ => false,
        }
    }

    /// The type of the value, with its article.
    pub(crate) fn kind(self) -> &'static str {
        match self.0.first() {
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b'"') => "a string",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            _ if self.is_integer() => "an integer",
            _ => "a number that is not an integer",
        }
    }
}

/// Whether this is the text of an integer: only digits, after an optional sign.
pub(crate) fn is_integer_token(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// A peer's name in the form for a report: short, and without control characters.
pub(crate) fn quoted(name: &str) -> String {
    let mut short: String = name
        .chars()
        .take(NAME_CHARS)
        .map(|char| if char.is_control() { '\u{fffd}' } else { char })
        .collect();
    if short.len() < name.len() && name.chars().count() > NAME_CHARS {
        short.push('…');
    }
    format!("`{short}`")
}

const NAME_CHARS: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_tell_what_they_are() {
        let value = Value(br#"{"a":{"b":[1,"x\u0041",true]},"a":{"b":[1.0,-2,null]}}"#);
        let mut kinds = Vec::new();
        value
            .at(&["a", "b"])
            .unwrap()
            .elements(|one| kinds.push(one.kind()));
        assert_eq!(
            kinds,
            ["a number that is not an integer", "an integer", "null"]
        );
        assert!(Value(br#""x\u0041""#).is("xA"));
        assert_eq!(Value(b"-12").integer(), Some(-12));
        assert_eq!(Value(b"12e0").integer(), None);
        assert_eq!(value.at(&["a", "c"]), None);
    }

    #[test]
    fn names_of_peers_are_shown_short() {
        assert_eq!(quoted("a\nb"), "`a\u{fffd}b`");
        assert!(quoted(&"x".repeat(500)).chars().count() < 90);
    }
}
