//! A file as a tree in which every value has its byte range.

use std::ops::Range;

/// The maximum nesting depth of collections.
pub(crate) const MAX_DEPTH: usize = 128;

/// A value and its position.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Content,
    /// Why its bytes cannot be replaced separately, if so.
    pub(crate) held: Option<Obstacle>,
}

/// The type of a value, as far as entries of clients need it.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Map(Map),
    List(Vec<Node>),
    Text(String),
    /// Numbers, booleans, dates, null, and text that is not valid Unicode.
    Other,
}

/// Members in the order in which they are written; a name may be there twice.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    pub(crate) members: Vec<Member>,
    pub(crate) layout: Layout,
}

/// A name with a value.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Node,
}

/// How the members of a map are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// JSON.
    Json,
    /// YAML, a line for each member.
    YamlLines,
    /// YAML in braces.
    YamlFlow,
    /// A table of TOML, a line for each member.
    TomlLines,
    /// A table of TOML in braces.
    TomlInline,
    /// Members of TOML whose names hold the path.
    TomlDotted,
}

/// Why the bytes of a value cannot be replaced separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// An anchor, to which other places may refer.
    Anchor,
    /// An alias, which refers to another place.
    Alias,
    /// A merge key, which takes members from another place.
    Merge,
    /// A tag.
    Tag,
    /// A multi-line text.
    Block,
}

impl Node {
    pub(crate) fn new(span: Range<usize>, kind: Content) -> Self {
        let held = None;
        Self { span, kind, held }
    }

    pub(crate) fn map(&self) -> Option<&Map> {
        match &self.kind {
            Content::Map(map) => Some(map),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The texts of a list; `None` if it is not a list or contains anything else.
    pub(crate) fn texts(&self) -> Option<Vec<String>> {
        match &self.kind {
            Content::List(items) => items
                .iter()
                .map(|item| item.text().map(str::to_owned))
                .collect(),
            _ => None,
        }
    }

    /// Whether there is anything in it.
    pub(crate) fn is_filled(&self) -> bool {
        match &self.kind {
            Content::Map(map) => !map.members.is_empty(),
            Content::List(items) => !items.is_empty(),
            Content::Text(text) => !text.is_empty(),
            Content::Other => true,
        }
    }

    /// Why it, or something in it, is held.
    pub(crate) fn held_within(&self) -> Option<Obstacle> {
        self.held.or_else(|| match &self.kind {
            Content::Map(map) => map
                .members
                .iter()
                .find_map(|member| member.value.held_within()),
            Content::List(items) => items.iter().find_map(Self::held_within),
            _ => None,
        })
    }
}

impl Map {
    /// The member with this name. With duplicates, clients disagree on which one counts.
    pub(crate) fn get(&self, key: &str) -> Result<Option<&Member>, DuplicateName> {
        let mut found = self.members.iter().filter(|member| member.key == key);
        let first = found.next();
        if found.next().is_some() {
            return Err(DuplicateName(key.to_owned()));
        }
        Ok(first)
    }
}

/// A name that is there twice.
#[derive(Debug)]
pub(crate) struct DuplicateName(pub(crate) String);
