//! Reading a JSON document that a person may have written.

use bytes::Bytes;

use crate::json::{Invalid, Scanner, unescape, valid_elements, valid_member};
use crate::slices::Front as _;

/// Why a cassette or a capture cannot be read.
///
/// Each message completes "cannot read the file: …".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// It lacks something, or has something else in its place.
    #[error("`{pointer}` {what}")]
    Shape {
        /// JSON pointer to the place.
        pointer: String,
        /// What is wrong there.
        what: &'static str,
    },
    /// Not JSON.
    #[error("line {line}, column {column}: {source}")]
    Syntax {
        /// Number of the line, from 1 on.
        line: usize,
        /// Number of the byte in the line, from 1 on.
        column: usize,
        /// What the grammar does not allow.
        source: Invalid,
    },
    /// Bytes that are no text.
    #[error("line {line} is not UTF-8")]
    NotUtf8 {
        /// Number of the line, from 1 on.
        line: usize,
    },
    /// JSON, but none of ours.
    #[error("it is neither a tape, nor a cassette, nor a capture")]
    Unknown,
    /// A version that this build does not know.
    #[error("its `version` is {found}, and only the string \"1\" is known")]
    Version {
        /// Source text of the version found.
        found: String,
    },
}

impl DocumentError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Shape { .. } => {
                "a cassette needs `version` and `exchanges`, a capture `server_label` and `exchanges`, and every exchange a `request`"
            }
            Self::Syntax { .. } | Self::NotUtf8 { .. } => {
                "if the file was cut short, export it again from its tape: `tapewright export TAPE --as cassette -o FILE`"
            }
            Self::Unknown => {
                "a tape begins with a line that has a member `tape`, a cassette has `version` and `exchanges`, a capture `server_label` and `exchanges`"
            }
            Self::Version { .. } => {
                "write \"version\": \"1\", or read the file with a later tapewright"
            }
        }
    }

    /// Something is wrong at a place.
    pub(crate) fn shape(pointer: impl Into<String>, what: &'static str) -> Self {
        Self::Shape {
            pointer: pointer.into(),
            what,
        }
    }
}

/// The text of a document that was proven to be JSON, without what stands around it.
pub(super) fn checked(text: &Bytes) -> Result<Bytes, DocumentError> {
    let bytes = text
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(text)
        .trim_ascii();
    let bytes = if bytes.is_empty() {
        Bytes::new()
    } else {
        text.slice_ref(bytes)
    };
    let line_at = |at: usize| {
        let before = bytes.front(at);
        let start = memchr::memrchr(b'\n', before).map_or(0, |feed| feed + 1);
        (
            memchr::memchr_iter(b'\n', before).count() + 1,
            before.len() - start + 1,
        )
    };
    if let Err(error) = std::str::from_utf8(&bytes) {
        return Err(DocumentError::NotUtf8 {
            line: line_at(error.valid_up_to()).0,
        });
    }
    let mut scanner = Scanner::new(&bytes);
    loop {
        match scanner.next_token() {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(bytes),
            Err(source) => {
                let at = match source {
                    Invalid::Syntax { at } => at,
                    _ => scanner.offset(),
                };
                let (line, column) = line_at(at);
                return Err(DocumentError::Syntax {
                    line,
                    column,
                    source,
                });
            }
        }
    }
}

/// One value of a document, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Element<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) pointer: String,
}

impl<'a> Element<'a> {
    /// The whole document.
    pub(crate) fn root(text: &'a [u8]) -> Self {
        Self {
            text,
            pointer: String::new(),
        }
    }

    /// A member of an object, unless it is absent or `null`. The text was proven to be JSON.
    pub(crate) fn member(&self, name: &str) -> Option<Self> {
        let text = valid_member(self.text, name).filter(|text| *text != b"null")?;
        Some(Element {
            text,
            pointer: format!("{}/{name}", self.pointer),
        })
    }

    /// A member that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<Self, DocumentError> {
        self.member(name).ok_or_else(|| {
            DocumentError::shape(format!("{}/{name}", self.pointer), "is missing or null")
        })
    }

    /// The meaning of a string.
    pub(crate) fn string(&self) -> Option<String> {
        let [b'"', content @ .., b'"'] = self.text else {
            return None;
        };
        let mut meaning = Vec::new();
        unescape(content, &mut meaning);
        Some(String::from_utf8_lossy(&meaning).into_owned())
    }

    /// A number.
    pub(crate) fn number<T: std::str::FromStr>(&self) -> Option<T> {
        std::str::from_utf8(self.text).ok()?.parse().ok()
    }

    pub(crate) fn error(&self, what: &'static str) -> DocumentError {
        DocumentError::shape(self.pointer.clone(), what)
    }
}

/// The element, which must be an object.
pub(crate) fn object(element: Element<'_>) -> Result<Element<'_>, DocumentError> {
    if element.text.first() == Some(&b'{') {
        Ok(element)
    } else {
        Err(element.error("must be an object"))
    }
}

/// The elements of an array.
pub(crate) fn elements<'a>(array: &Element<'a>) -> Result<Vec<Element<'a>>, DocumentError> {
    if array.text.first() != Some(&b'[') {
        return Err(array.error("must be an array"));
    }
    let mut found = Vec::new();
    valid_elements(array.text, |span| {
        let pointer = format!("{}/{}", array.pointer, found.len());
        let text = span.of(array.text);
        found.push(Element { text, pointer });
    });
    Ok(found)
}
