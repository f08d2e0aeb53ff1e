//! A JSON text as a flat list of nodes, built in one pass.

use std::borrow::Cow;

use tapewright_schemas::json::{Invalid, Scanner, Span, Text, Token, unescape};

/// A text and its nodes, each before its children.
#[derive(Clone, Debug)]
pub(crate) struct Tree<'t> {
    text: &'t [u8],
    nodes: Vec<Node>,
}

/// One value.
#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Kind,
    span: Span,
    // The name of a member.
    key: Option<Text>,
    // The first node that is not below this one.
    end: usize,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Array,
    Literal,
    Number,
    Object,
    String(Text),
}

/// A place in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(usize);

impl<'t> Tree<'t> {
    /// Reads one JSON value.
    pub(crate) fn read(text: &'t [u8]) -> Result<Self, Invalid> {
        let mut tree = Self {
            text,
            nodes: Vec::with_capacity(text.len() / 16 + 1),
        };
        let mut scanner = Scanner::new(text);
        let mut open: Vec<usize> = Vec::new();
        let mut key = None;
        while let Some(token) = scanner.next_token()? {
            let (kind, span) = match token {
                Token::Key(text) => {
                    key = Some(text);
                    continue;
                }
                Token::Close { at, .. } => {
                    let end = tree.nodes.len();
                    if let Some(node) = open.pop().and_then(|place| tree.nodes.get_mut(place)) {
                        node.end = end;
                        node.span.end = at + 1;
                    }
                    continue;
                }
                Token::Open { object, at } => {
                    open.push(tree.nodes.len());
                    let kind = if object { Kind::Object } else { Kind::Array };
                    let span = Span {
                        start: at,
                        end: at + 1,
                    };
                    (kind, span)
                }
                Token::String(text) => {
                    let span = Span {
                        start: text.span.start - 1,
                        end: text.span.end + 1,
                    };
                    (Kind::String(text), span)
                }
                Token::Number(span) => (Kind::Number, span),
                Token::Literal(span) => (Kind::Literal, span),
            };
            tree.nodes.push(Node {
                kind,
                span,
                key: key.take(),
                end: tree.nodes.len() + 1,
            });
        }
        Ok(tree)
    }

    /// The root value; empty in an empty tree, which [`read`](Self::read) never makes.
    #[expect(
        clippy::unused_self,
        reason = "a place means something only in its tree"
    )]
    pub(crate) fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// The type of a value.
    pub(crate) fn kind(&self, place: NodeId) -> Kind {
        self.nodes
            .get(place.0)
            .map_or(Kind::Literal, |node| node.kind)
    }

    /// The position of a value in the text.
    pub(crate) fn span(&self, place: NodeId) -> Span {
        let nowhere = Span { start: 0, end: 0 };
        self.nodes.get(place.0).map_or(nowhere, |node| node.span)
    }

    /// Source text of a value.
    pub(crate) fn source(&self, place: NodeId) -> &'t [u8] {
        self.span(place).of(self.text)
    }

    /// The values directly below this one.
    pub(crate) fn children(&self, place: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.nodes.get(place.0).map_or(0, |node| node.end);
        let mut next = place.0 + 1;
        std::iter::from_fn(move || {
            let here = next;
            let node = self.nodes.get(here).filter(|_| here < end)?;
            next = node.end;
            Some(NodeId(here))
        })
    }

    /// The members of an object, sorted by name; of duplicates the last, as in JavaScript and
    /// Python.
    pub(crate) fn members(&self, place: NodeId) -> Vec<(Cow<'t, [u8]>, NodeId)> {
        let mut members: Vec<_> = self
            .children(place)
            .map(|child| (self.name(child), child))
            .collect();
        // Stable: duplicates keep their order.
        members.sort_by(|one, other| one.0.cmp(&other.0));
        members.reverse();
        members.dedup_by(|later, kept| later.0 == kept.0);
        members.reverse();
        members
    }

    /// The last member of this name.
    pub(crate) fn member(&self, place: NodeId, name: &str) -> Option<NodeId> {
        if self.kind(place) != Kind::Object {
            return None;
        }
        self.children(place)
            .filter(|child| self.name(*child).as_ref() == name.as_bytes())
            .last()
    }

    /// Follows a path of member names.
    pub(crate) fn find(&self, path: &[&str]) -> Option<NodeId> {
        path.iter()
            .try_fold(self.root(), |place, name| self.member(place, name))
    }

    /// The name of a member.
    fn name(&self, place: NodeId) -> Cow<'t, [u8]> {
        let key = self.nodes.get(place.0).and_then(|node| node.key);
        key.map_or(Cow::Borrowed(b"".as_slice()), |key| {
            meaning(key, self.text).0
        })
    }

    /// The decoded string; `None` for any other value.
    pub(crate) fn string(&self, place: NodeId) -> Option<Cow<'t, [u8]>> {
        match self.kind(place) {
            Kind::String(text) => Some(meaning(text, self.text).0),
            _ => None,
        }
    }

    /// The decoded string, and whether decoding is lossy because of a lone surrogate.
    pub(crate) fn meaning(&self, text: Text) -> (Cow<'t, [u8]>, bool) {
        meaning(text, self.text)
    }
}

fn meaning(text: Text, source: &[u8]) -> (Cow<'_, [u8]>, bool) {
    let content = text.span.of(source);
    if !text.escaped {
        return (Cow::Borrowed(content), false);
    }
    let mut out = Vec::with_capacity(content.len());
    let found = unescape(content, &mut out);
    (Cow::Owned(out), found.lone_surrogate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_two_members_counts() {
        let tree = Tree::read(br#"{"b":1,"a":[1,{"x":2}],"b":3,"\u0062":4}"#).unwrap();
        let members = tree.members(tree.root());
        let shown: Vec<_> = members
            .iter()
            .map(|(name, place)| {
                (
                    String::from_utf8_lossy(name).into_owned(),
                    String::from_utf8_lossy(tree.source(*place)).into_owned(),
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("a".to_owned(), "[1,{\"x\":2}]".to_owned()),
                ("b".to_owned(), "4".to_owned())
            ]
        );
        let place = tree.find(&["b"]).unwrap();
        assert_eq!(tree.source(place), b"4");
    }

    #[test]
    fn children_are_direct() {
        let tree = Tree::read(br#"[[1,[2]],{"a":{"b":3}},4]"#).unwrap();
        let found: Vec<_> = tree
            .children(tree.root())
            .map(|child| String::from_utf8_lossy(tree.source(child)).into_owned())
            .collect();
        assert_eq!(found, ["[1,[2]]", "{\"a\":{\"b\":3}}", "4"]);
    }
}
