//! A document as a tree in which every node has its position.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use crate::source::Span;
use crate::template::Piece;

/// A value and its position.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its value.
    pub(crate) kind: Kind,
    /// The span of its text. A block collection ends with its last entry; an empty value has the
    /// span of its key.
    pub(crate) span: Span,
}

/// The value of a node. YAML has more types; a suite is JSON with positions.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// `null`, `~` or nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(Text),
    /// A sequence.
    Array(Vec<Node>),
    /// A mapping, in the order in which it was written. Keys are unique.
    Object(Vec<Member>),
}

/// A string, before or after interpolation.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    /// The string. After interpolation it may hold a secret.
    pub(crate) value: String,
    /// It was put together from variables, so that no message may show it.
    pub(crate) interpolated: bool,
    /// The string of a composition, which refers to outputs of other nodes.
    pub(crate) pieces: Option<Vec<Piece>>,
}

/// A member of a mapping.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The key, unescaped.
    pub(crate) key: String,
    /// The position of the key.
    pub(crate) key_span: Span,
    /// The value.
    pub(crate) value: Node,
}

impl Node {
    /// A node that holds a string as it was written.
    pub(crate) fn text(value: String, span: Span) -> Self {
        Self {
            kind: Kind::Text(Text {
                value,
                interpolated: false,
                pieces: None,
            }),
            span,
        }
    }

    /// The member with this key, when the node is a mapping that has one.
    #[must_use]
    pub(crate) fn member(&self, key: &str) -> Option<&Member> {
        match &self.kind {
            Kind::Object(members) => members.iter().find(|member| member.key == key),
            _ => None,
        }
    }

    /// The position that a JSON pointer refers to. If it does not resolve, the position where it
    /// stops.
    #[must_use]
    pub(crate) fn nearest_span(&self, pointer: &str) -> Span {
        let mut pointer = pointer;
        loop {
            if let Some((node, _)) = self.walk(pointer) {
                return node.span;
            }
            pointer = pointer.rsplit_once('/').map_or("", |(front, _)| front);
        }
    }

    /// The position of the key at the end of a JSON pointer; for a sequence, that of the value.
    #[must_use]
    pub(crate) fn key_span(&self, pointer: &str) -> Option<Span> {
        self.walk(pointer).map(|(_, span)| span)
    }

    fn walk(&self, pointer: &str) -> Option<(&Self, Span)> {
        let mut here = (self, self.span);
        for segment in pointer.split('/').skip(1) {
            here = match &here.0.kind {
                Kind::Array(items) => {
                    let item = items.get(segment.parse::<usize>().ok()?)?;
                    (item, item.span)
                }
                Kind::Object(_) => {
                    let member = here.0.member(&unescape(segment))?;
                    (&member.value, member.key_span)
                }
                _ => return None,
            };
        }
        Some(here)
    }

    /// The value without places.
    #[must_use]
    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::Text(text) => Value::String(text.value.clone()),
            Kind::Array(items) => items.iter().map(Self::to_value).collect(),
            Kind::Object(_) => Value::Object(self.to_map()),
        }
    }

    /// The members without positions; `None` if the node is not a mapping.
    #[must_use]
    pub(crate) fn to_map(&self) -> Map<String, Value> {
        let Kind::Object(members) = &self.kind else {
            return Map::new();
        };
        let pair = |member: &Member| (member.key.clone(), member.value.to_value());
        members.iter().map(pair).collect()
    }

    /// The type of the node, for a sentence: `a string`, `an object`.
    pub(crate) fn what(&self) -> &'static str {
        match &self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::Text(_) => "a string",
            Kind::Array(_) => "an array",
            Kind::Object(_) => "an object",
        }
    }
}

/// A key as a segment of a JSON pointer.
pub(crate) fn escape(key: &str) -> Cow<'_, str> {
    if key.contains(['~', '/']) {
        Cow::Owned(key.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(key)
    }
}

/// The key in a segment of a JSON pointer.
pub(crate) fn unescape(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') {
        Cow::Owned(segment.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(segment)
    }
}
