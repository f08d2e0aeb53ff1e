//! Parsing a value.

use indexmap::IndexMap;
use tapewright_schemas::json::{Invalid, Scanner, Text, Token, unescape};

use super::Json;

/// Why a text is not read as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is not JSON.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// It is not UTF-8.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// It is nested too deeply.
    #[error("nested deeper than {DEPTH_LIMIT} levels")]
    TooDeep,
}

/// The maximum nesting depth of a value. Comparing is recursive, and a peer may send thousands of
/// brackets.
pub(super) const DEPTH_LIMIT: usize = 256;

/// A container whose end has not come.
struct Open {
    key: Option<String>,
    value: Json,
}

impl Json {
    /// Reads one value.
    pub fn read(text: &[u8]) -> Result<Self, ReadError> {
        std::str::from_utf8(text).map_err(|_| ReadError::NotUtf8)?;
        let mut scanner = Scanner::new(text);
        let mut open: Vec<Open> = Vec::new();
        let mut key = None;
        let mut done = None;
        while let Some(token) = scanner.next_token()? {
            let value = match token {
                Token::Key(name) => {
                    key = Some(meaning(name, text));
                    continue;
                }
                Token::Open { object, .. } => {
                    if open.len() >= DEPTH_LIMIT {
                        return Err(ReadError::TooDeep);
                    }
                    let value = if object {
                        Self::Object(IndexMap::new())
                    } else {
                        Self::Array(Vec::new())
                    };
                    open.push(Open {
                        key: key.take(),
                        value,
                    });
                    continue;
                }
                Token::Close { .. } => {
                    let Some(closed) = open.pop() else { break };
                    key = closed.key;
                    closed.value
                }
                Token::String(content) => Self::String(meaning(content, text)),
                Token::Number(span) => Self::Number(String::from_utf8_lossy(span.of(text)).into()),
                Token::Literal(span) => match span.of(text) {
                    b"true" => Self::Bool(true),
                    b"false" => Self::Bool(false),
                    _ => Self::Null,
                },
            };
            match open.last_mut().map(|open| &mut open.value) {
                Some(Self::Object(members)) => {
                    members.insert(key.take().unwrap_or_default(), value);
                }
                Some(Self::Array(elements)) => elements.push(value),
                _ => done = Some(value),
            }
        }
        done.ok_or(ReadError::Invalid(Invalid::Cut))
    }
}

/// A lone surrogate has no meaning and becomes U+FFFD.
fn meaning(content: Text, text: &[u8]) -> String {
    let source = content.span.of(text);
    if !content.escaped {
        return String::from_utf8_lossy(source).into_owned();
    }
    let mut out = Vec::with_capacity(source.len());
    unescape(source, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_read_as_it_stands() {
        let text = r#"{"b":[1,2.50,{"x":null}],"a":"é\n","n":123456789012345678901234567890}"#;
        let value = Json::read(text.as_bytes()).unwrap();
        assert_eq!(value.to_string(), text);
        assert_eq!(Json::read(b" 1 ").unwrap().to_string(), "1");
    }

    #[test]
    fn the_last_of_two_members_counts() {
        let value = Json::read(br#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(value.to_string(), r#"{"a":3,"b":2}"#);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in ["", "{", "1 2", "{\"a\"}", "nul"] {
            assert!(Json::read(text.as_bytes()).is_err(), "{text}");
        }
        assert_eq!(Json::read(b"\"\xff\"").unwrap_err(), ReadError::NotUtf8);
        let deep = "[".repeat(DEPTH_LIMIT + 1);
        assert_eq!(Json::read(deep.as_bytes()).unwrap_err(), ReadError::TooDeep);
        let bearable = "[".repeat(DEPTH_LIMIT) + &"]".repeat(DEPTH_LIMIT);
        assert!(Json::read(bearable.as_bytes()).is_ok());
    }
}
