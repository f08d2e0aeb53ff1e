//! A collection whose end is still to come.

use std::collections::HashMap;

use super::node::{Kind, Member, Node};
use crate::source::Span;

/// An open sequence or mapping.
pub(super) struct Frame {
    /// The anchor that aliases refer to; 0 for none.
    pub(super) anchor: usize,
    /// Written with brackets, so that it ends at the bracket.
    flow: bool,
    start: Span,
    contents: Contents,
}

enum Contents {
    Array(Vec<Node>),
    Object {
        members: Vec<Member>,
        /// Every key so far and its position.
        seen: HashMap<String, Span>,
        /// The key whose value comes next.
        key: Option<Key>,
    },
}

struct Key {
    text: String,
    span: Span,
    /// The position of the same key before; its second value is dropped.
    before: Option<Span>,
}

/// A key that a mapping has twice.
pub(super) struct Repeated {
    pub(super) key: String,
    pub(super) span: Span,
    pub(super) before: Span,
}

impl Frame {
    pub(super) fn array(anchor: usize, flow: bool, start: Span) -> Self {
        let contents = Contents::Array(Vec::new());
        Self {
            anchor,
            flow,
            start,
            contents,
        }
    }

    pub(super) fn object(anchor: usize, flow: bool, start: Span) -> Self {
        let contents = Contents::Object {
            members: Vec::new(),
            seen: HashMap::new(),
            key: None,
        };
        Self {
            anchor,
            flow,
            start,
            contents,
        }
    }

    /// Whether the next node is a key.
    pub(super) fn wants_key(&self) -> bool {
        matches!(self.contents, Contents::Object { key: None, .. })
    }

    /// Takes a key; returns its earlier position if it is a duplicate.
    pub(super) fn key(&mut self, text: String, span: Span) -> Option<Repeated> {
        let Contents::Object { seen, key, .. } = &mut self.contents else {
            return None;
        };
        let before = seen.get(&text).copied();
        if before.is_none() {
            seen.insert(text.clone(), span);
        }
        let repeated = before.map(|before| Repeated {
            key: text.clone(),
            span,
            before,
        });
        *key = Some(Key { text, span, before });
        repeated
    }

    /// Adds an entry of a sequence or the value of the last key.
    pub(super) fn value(&mut self, mut value: Node) {
        match &mut self.contents {
            Contents::Array(items) => items.push(value),
            Contents::Object { members, key, .. } => {
                let Some(key) = key.take() else { return };
                if matches!(value.kind, Kind::Null) && value.span.start >= value.span.end {
                    // The value is empty, so only the key can be marked.
                    value.span = key.span;
                }
                if key.before.is_none() {
                    members.push(Member {
                        key: key.text,
                        key_span: key.span,
                        value,
                    });
                }
            }
        }
    }

    /// The whole collection.
    pub(super) fn close(self, end: Span) -> Node {
        let (first, last) = match &self.contents {
            Contents::Array(items) => (None, items.last().map(|item| item.span)),
            Contents::Object { members, .. } => (
                members.first().map(|member| member.key_span),
                members.last().map(|member| Span {
                    start: member.key_span.start,
                    end: member.value.span.end.max(member.key_span.end),
                }),
            ),
        };
        // The parser only detects the end of a block at what follows it.
        let span = if self.flow {
            Span {
                start: self.start.start,
                end: end.end,
            }
        } else {
            let start = first.map_or(self.start.start, |first| first.start);
            Span {
                start,
                end: last.map_or(self.start.end, |last| last.end).max(start),
            }
        };
        let kind = match self.contents {
            Contents::Array(items) => Kind::Array(items),
            Contents::Object { members, .. } => Kind::Object(members),
        };
        Node { kind, span }
    }
}
