//! TOML, with the positions from `toml_edit`.

use std::ops::Range;

use toml_edit::{Document, InlineTable, Item, Key, Table, Value};

use super::{Tree, Unreadable};
use crate::node::{Content, Layout, Map, Member, Node};

/// Reads a text.
pub(super) fn read(text: &str) -> Result<Tree, Unreadable> {
    let document = Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Unreadable::at(text, at, error.message())
    })?;
    Ok(Tree {
        root: Node::new(0..text.len(), table(document.as_table())),
        comments: Vec::new(),
    })
}

fn table(table: &Table) -> Content {
    let names = table.iter().map(|(name, _)| name);
    let members = names.filter_map(|name| {
        let (key, item) = table.get_key_value(name)?;
        Some(member(key, self::item(item)))
    });
    let layout = if table.is_dotted() {
        Layout::TomlDotted
    } else {
        Layout::TomlLines
    };
    Content::Map(Map {
        members: members.collect(),
        layout,
    })
}

fn inline(table: &InlineTable) -> Content {
    let names = table.iter().map(|(name, _)| name);
    let members = names.filter_map(|name| {
        let (key, item) = table.get_key_value(name)?;
        Some(member(key, self::item(item)))
    });
    let layout = if table.is_dotted() {
        Layout::TomlDotted
    } else {
        Layout::TomlInline
    };
    Content::Map(Map {
        members: members.collect(),
        layout,
    })
}

fn member(key: &Key, value: Node) -> Member {
    Member {
        key: key.get().to_owned(),
        key_span: key.span().unwrap_or_default(),
        value,
    }
}

fn item(item: &Item) -> Node {
    let span: Range<usize> = item.span().unwrap_or_default();
    let kind = match item {
        Item::Table(table) => self::table(table),
        Item::Value(value) => self::value(value),
        Item::ArrayOfTables(tables) => {
            let each =
                |table: &Table| Node::new(table.span().unwrap_or_default(), self::table(table));
            Content::List(tables.iter().map(each).collect())
        }
        Item::None => Content::Other,
    };
    Node::new(span, kind)
}

fn value(value: &Value) -> Content {
    match value {
        Value::String(text) => Content::Text(text.value().clone()),
        Value::Array(items) => {
            let each =
                |value: &Value| Node::new(value.span().unwrap_or_default(), self::value(value));
            Content::List(items.iter().map(each).collect())
        }
        Value::InlineTable(table) => inline(table),
        _ => Content::Other,
    }
}
