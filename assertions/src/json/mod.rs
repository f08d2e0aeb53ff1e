//! JSON as a suite compares it: numbers by value and of any size, members in their order.
//!
//! `serde_json::Value` would round integers beyond 64 bits, and two ids that differ in the
//! last digit would be equal.

mod canon;
mod convert;
mod equal;
mod hides;
mod read;
mod write;

use indexmap::IndexMap;

pub use read::ReadError;

/// One JSON value.
///
/// `==` compares by meaning: `1` and `1.0` are equal, and the order of members does not
/// count.
#[derive(Clone, Debug)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as its source text.
    Number(Box<str>),
    /// A string, unescaped.
    String(String),
    /// An array.
    Array(Vec<Self>),
    /// An object. Of two members with the same name the last one counts.
    Object(IndexMap<String, Self>),
}

impl Json {
    /// The type of the value: one word.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(text) if text.bytes().all(|b| b == b'-' || b.is_ascii_digit()) => {
                "integer"
            }
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The members of an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&IndexMap<String, Self>> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// A member of an object.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    /// A whole number, by value: `3` and `3.0`.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(text) => tapewright_schemas::json::number::whole(text.as_bytes()),
            _ => None,
        }
    }

    /// An object with these members.
    pub fn object<N: Into<String>>(members: impl IntoIterator<Item = (N, Self)>) -> Self {
        Self::Object(
            members
                .into_iter()
                .map(|(name, value)| (name.into(), value))
                .collect(),
        )
    }

    /// The value as text for a text matcher: a string unchanged, anything else as compact JSON.
    #[must_use]
    pub fn stringified(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::String(text) => text.into(),
            other => other.to_string().into(),
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Self {
        Self::Number(number.to_string().into())
    }
}
