//! Reading a JSON document that a person may have written.

use std::cell::OnceCell;

use bytes::Bytes;

use crate::json::{
    Invalid, Scanner, Span, Text, is_grammatical, unescape, valid_elements, valid_member,
    valid_members,
};
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
        /// The line number, from 1.
        line: usize,
        /// The byte column, from 1.
        column: usize,
        /// The grammar error.
        source: Invalid,
    },
    /// Bytes that are not valid UTF-8.
    #[error("line {line} is not UTF-8")]
    NotUtf8 {
        /// The line number, from 1.
        line: usize,
    },
    /// It does not even begin like one.
    #[error("this is not a recording")]
    NoRecording,
    /// JSON, but not in a known format.
    #[error("not a tape, cassette or capture")]
    Unknown,
    /// A version that this build does not support.
    #[error("unsupported `version` {found}; expected the string \"1\"")]
    Version {
        /// Source text of the version found.
        found: String,
    },
}

impl DocumentError {
    /// How to fix it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Shape { .. } => {
                "a cassette needs `version` and `exchanges`, a capture `server_label` and `exchanges`, and every exchange a `request`"
            }
            Self::Syntax { .. } | Self::NotUtf8 { .. } => {
                "if the file was cut short, export it again from its tape: `tapewright export TAPE --as cassette -o FILE`"
            }
            Self::NoRecording => "give a tape, a cassette or a capture",
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

/// The text of a document that was validated as JSON, without what is around it.
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
    let begins_well = matches!(bytes.first(), Some(b'{' | b'['));
    if !begins_well && !is_grammatical(&bytes) {
        return Err(DocumentError::NoRecording);
    }
    if let Err(error) = std::str::from_utf8(&bytes) {
        return Err(DocumentError::NotUtf8 {
            line: line_at(error.valid_up_to()).0,
        });
    }
    if is_grammatical(&bytes) {
        return Ok(bytes);
    }
    // A second pass, to find out what is wrong and where.
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

/// One value of a document, and its position.
#[derive(Clone, Debug)]
pub(crate) struct Element<'a> {
    pub(crate) text: &'a [u8],
    place: ValuePath,
    // The members of an object, once one was requested, unless it has many.
    members: OnceCell<Option<Vec<(Text, Span)>>>,
}

/// The path from the document to a value, converted to a JSON pointer only where one is reported:
/// there are millions of values, and hardly ever an error.
#[derive(Clone, Copy, Debug)]
struct ValuePath {
    steps: [Step; DEEPEST],
    count: usize,
}

/// No requested value is deeper.
const DEEPEST: usize = 8;

/// The maximum number of members of an object that are indexed; in larger objects each is searched
/// for.
const MANY: usize = 64;

#[derive(Clone, Copy, Debug)]
enum Step {
    Member(&'static str),
    Item(usize),
}

impl ValuePath {
    const ROOT: Self = Self {
        steps: [Step::Item(0); DEEPEST],
        count: 0,
    };

    fn then(mut self, step: Step) -> Self {
        if let Some(free) = self.steps.get_mut(self.count) {
            *free = step;
            self.count += 1;
        }
        self
    }

    fn pointer(&self) -> String {
        let steps = self.steps.front(self.count).iter();
        let told = steps.map(|step| match step {
            Step::Member(name) => format!("/{name}"),
            Step::Item(place) => format!("/{place}"),
        });
        told.collect()
    }
}

impl<'a> Element<'a> {
    fn at(text: &'a [u8], place: ValuePath) -> Self {
        Self {
            text,
            place,
            members: OnceCell::new(),
        }
    }

    /// The whole document.
    pub(crate) fn root(text: &'a [u8]) -> Self {
        Self::at(text, ValuePath::ROOT)
    }

    /// A member of the document.
    pub(crate) fn of_root(name: &'static str, text: &'a [u8]) -> Self {
        Self::at(text, ValuePath::ROOT.then(Step::Member(name)))
    }

    /// The JSON pointer to it.
    pub(crate) fn pointer(&self) -> String {
        self.place.pointer()
    }

    /// The source text of a member, even if it is `null`; of several, the last. The text was
    /// validated as JSON.
    pub(crate) fn source(&self, name: &str) -> Option<&'a [u8]> {
        let members = self.members.get_or_init(|| {
            let mut members = Vec::new();
            let mut count = 0;
            valid_members(self.text, |name, value| {
                count += 1;
                if count <= MANY {
                    members.push((name, value));
                }
            });
            (count <= MANY).then_some(members)
        });
        let Some(members) = members else {
            return valid_member(self.text, name);
        };
        let named = |name: &Text, wanted: &[u8]| {
            let source = name.span.of(self.text);
            if !name.escaped {
                return source == wanted;
            }
            let mut meaning = Vec::new();
            unescape(source, &mut meaning);
            meaning == wanted
        };
        let mut last = members.iter().rev();
        let (_, value) = last.find(|(found, _)| named(found, name.as_bytes()))?;
        Some(value.of(self.text))
    }

    /// A member of an object, unless it is absent or `null`.
    pub(crate) fn member(&self, name: &'static str) -> Option<Self> {
        let text = self.source(name).filter(|text| *text != b"null")?;
        Some(Self::at(text, self.place.then(Step::Member(name))))
    }

    /// A member that must be there.
    pub(crate) fn required(&self, name: &'static str) -> Result<Self, DocumentError> {
        self.member(name).ok_or_else(|| {
            let place = self.place.then(Step::Member(name));
            DocumentError::shape(place.pointer(), "is missing or null")
        })
    }

    /// The value of a string.
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
        DocumentError::shape(self.place.pointer(), what)
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
    let mut found = Vec::new();
    each_element(array, |element| {
        found.push(element);
        Ok(())
    })?;
    Ok(found)
}

/// Calls `each` with the elements of an array, up to the first error.
pub(crate) fn each_element<'a>(
    array: &Element<'a>,
    mut each: impl FnMut(Element<'a>) -> Result<(), DocumentError>,
) -> Result<(), DocumentError> {
    if array.text.first() != Some(&b'[') {
        return Err(array.error("must be an array"));
    }
    let mut count = 0;
    let mut outcome = Ok(());
    valid_elements(array.text, |span| {
        let place = array.place.then(Step::Item(count));
        count += 1;
        if outcome.is_ok() {
            outcome = each(Element::at(span.of(array.text), place));
        }
    });
    outcome
}
