//! Ids of requests.

use std::borrow::Cow;

use super::{as_text, meaning};
use crate::json::{Span, Text, valid_member};

/// The id of a request, by type and source text.
///
/// `1`, `1.0` and `"1"` all differ: a peer that changes the type or the spelling of an
/// id has answered another request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RequestId<'a> {
    /// `null`, or absent on a response.
    Null,
    /// The source text of a number.
    Number(&'a str),
    /// A boolean, an array or an object: not a legal id, kept as source text.
    Other(&'a str),
    /// The value of a string.
    Text(Cow<'a, str>),
}

impl<'a> RequestId<'a> {
    /// The id, or progress token, in a value's source text.
    #[must_use]
    pub fn of_source(source: &'a [u8]) -> Self {
        let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
        match source {
            [b'"', content @ .., b'"'] => {
                let escaped = memchr::memchr(b'\\', content).is_some();
                let span = Span {
                    start: 1,
                    end: source.len() - 1,
                };
                Self::Text(meaning(Text { span, escaped }, source))
            }
            [b'-' | b'0'..=b'9', ..] => Self::Number(text(source)),
            b"null" | b"" => Self::Null,
            _ => Self::Other(text(source)),
        }
    }

    /// Its text, without the quotes of a string.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Null => "",
            Self::Number(text) | Self::Other(text) => text,
            Self::Text(text) => text,
        }
    }

    /// Its source text in the message whose id it is.
    #[must_use]
    pub fn source_in<'t>(&'t self, message: &'t [u8]) -> &'t [u8] {
        match self {
            Self::Null => b"null",
            Self::Number(text) | Self::Other(text) => text.as_bytes(),
            // It may have been written with escapes.
            Self::Text(_) => valid_member(message, "id").unwrap_or(b"null"),
        }
    }

    /// Whether a response can name its request by this id.
    #[must_use]
    pub fn pairs(&self) -> bool {
        !matches!(self, Self::Null)
    }
}

/// An `id` member, as spans of its message.
#[derive(Clone, Copy, Debug)]
pub(super) enum Id {
    Text(Text),
    Number(Span),
    Null,
    Other(Span),
}

impl Id {
    pub(super) fn view(self, message: &[u8]) -> RequestId<'_> {
        let source = |span: Span| std::str::from_utf8(span.of(message)).unwrap_or_default();
        match self {
            Self::Text(text) => RequestId::Text(meaning(text, message)),
            Self::Number(span) => RequestId::Number(source(span)),
            Self::Null => RequestId::Null,
            Self::Other(span) => RequestId::Other(source(span)),
        }
    }
}

/// The id in the value of an `id` member.
pub(super) fn id_of(value: Span, message: &[u8]) -> Id {
    if let Some(text) = as_text(value, message) {
        return Id::Text(text);
    }
    match value.of(message).first() {
        Some(b'-' | b'0'..=b'9') => Id::Number(value),
        Some(b'n') => Id::Null,
        _ => Id::Other(value),
    }
}
