//! An envelope from an outline that an earlier pass created.

use super::{Envelope, Members};
use crate::json::{Span, Text, members_end};

/// The positions of the members of an envelope in the text of a message, for code that parses the
/// message at another time or on another thread.
#[derive(Clone, Debug)]
pub struct Outline {
    members: Members,
    // The length of the message.
    length: usize,
}

impl Outline {
    /// The outline of a message that is valid UTF-8 and a JSON object with nothing around it;
    /// `None` for any other. Its grammar need not be validated again.
    #[must_use]
    pub fn of(message: &[u8]) -> Option<Self> {
        std::str::from_utf8(message).ok()?;
        Self::whole(message)
    }

    /// Like `of`, for a message that is known to be UTF-8.
    pub(super) fn whole(message: &[u8]) -> Option<Self> {
        Self::prove(message, 0).filter(|outline| outline.length == message.len())
    }

    /// The outline of the object at the beginning of `text`, within `around` open containers; its
    /// grammar is validated on the way. `None` if it is not an object, or nested too deeply.
    pub(crate) fn prove(text: &[u8], around: usize) -> Option<Self> {
        let mut members = Members::default();
        let mut meaning = Vec::new();
        let length = members_end(text, 0, around, |name, value| {
            members.named(name, value, text, &mut meaning);
        })?;
        Some(Self { members, length })
    }

    /// The outline of one message that is known to be an object with these members: names, and
    /// values with the white space before them.
    pub(crate) fn of_members(message: &[u8], outline: &[(Text, Span)]) -> Self {
        let mut members = Members::default();
        let mut meaning = Vec::new();
        for (name, value) in outline {
            members.named(*name, trimmed(*value, message), message, &mut meaning);
        }
        let length = message.len();
        Self { members, length }
    }

    /// The length of the object.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// The envelope of the message with this outline.
    #[must_use]
    pub fn envelope<'a>(&self, message: &'a [u8]) -> Envelope<'a> {
        self.members.envelope(message)
    }
}

/// A span without the white space at its ends.
fn trimmed(span: Span, message: &[u8]) -> Span {
    let text = span.of(message);
    let start = span.start + (text.len() - text.trim_ascii_start().len());
    Span {
        start,
        end: start + text.trim_ascii().len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_tells_what_the_message_tells() {
        for text in [
            "{}",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{ "method" : "a\u0062" , "\u0069d" : "x\n" }"#,
            r#"{"id":null,"error":{"code":1},"id":2,"result":[]}"#,
            r#"{"method":7,"id":[1]}"#,
        ] {
            let outline = Outline::prove(text.as_bytes(), 1).unwrap();
            assert_eq!(outline.length(), text.len());
            let wanted = Envelope::of_json(text.as_bytes());
            assert_eq!(outline.envelope(text.as_bytes()), wanted, "{text}");
            let followed = format!("{text}}} ,");
            let outline = Outline::prove(followed.as_bytes(), 1).unwrap();
            assert_eq!(outline.length(), text.len());
        }
        for text in ["[1]", " {}", "{} ", "{}{}", "{", ""] {
            assert!(Outline::of(text.as_bytes()).is_none(), "{text}");
        }
        assert!(Outline::of(b"{\"a\":\"\xff\"}").is_none());
        assert!(Outline::of(b"{\"a\":\"b\"}").is_some());
        assert!(Outline::prove(b"[1]", 1).is_none());
        assert!(Outline::prove(b"{\"id\":}", 1).is_none());
    }
}
