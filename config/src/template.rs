//! The arguments of a composition's node: JSON with references to outputs of other nodes.

use serde_json::{Map, Value};

use crate::yaml::{Kind, Node, Text};

/// A part of a string with references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Literal text.
    Text(String),
    /// The output of a node.
    Output(Reference),
}

/// `${id.path}`: a value in the output of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The node.
    pub id: String,
    /// The way into its output, in the grammar of targets; empty for all of it.
    pub path: String,
}

/// JSON with references.
#[derive(Clone, Debug, PartialEq)]
pub enum Template {
    /// Without references.
    Value(Value),
    /// A string that is a single reference, which keeps the type of its target.
    Output(Reference),
    /// A string with references in it.
    Text(Vec<Piece>),
    /// A list.
    Array(Vec<Self>),
    /// An object.
    Object(Vec<(String, Self)>),
}

impl Default for Template {
    fn default() -> Self {
        Self::Value(Value::Object(Map::new()))
    }
}

impl Template {
    pub(crate) fn of(node: &Node) -> Self {
        match &node.kind {
            Kind::Text(Text {
                pieces: Some(pieces),
                ..
            }) => match pieces.as_slice() {
                [Piece::Output(reference)] => Self::Output(reference.clone()),
                _ => Self::Text(pieces.clone()),
            },
            Kind::Array(items) => Self::Array(items.iter().map(Self::of).collect()),
            Kind::Object(members) => {
                let member =
                    |member: &crate::yaml::Member| (member.key.clone(), Self::of(&member.value));
                Self::Object(members.iter().map(member).collect())
            }
            _ => Self::Value(node.to_value()),
        }
    }

    /// Calls `each` for every reference, with the JSON pointer of the string that contains it.
    pub fn references(&self, each: &mut impl FnMut(&str, &Reference)) {
        self.walk("", each);
    }

    fn walk(&self, pointer: &str, each: &mut impl FnMut(&str, &Reference)) {
        match self {
            Self::Value(_) => {}
            Self::Output(reference) => each(pointer, reference),
            Self::Text(pieces) => {
                for piece in pieces {
                    if let Piece::Output(reference) = piece {
                        each(pointer, reference);
                    }
                }
            }
            Self::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.walk(&format!("{pointer}/{index}"), each);
                }
            }
            Self::Object(members) => {
                for (key, value) in members {
                    value.walk(&format!("{pointer}/{}", crate::yaml::escape(key)), each);
                }
            }
        }
    }

    /// The JSON with every reference replaced. Within a longer string a value that is not a string
    /// becomes compact JSON.
    pub fn fill<E>(
        &self,
        look_up: &mut impl FnMut(&Reference) -> Result<Value, E>,
    ) -> Result<Value, E> {
        Ok(match self {
            Self::Value(value) => value.clone(),
            Self::Output(reference) => look_up(reference)?,
            Self::Text(pieces) => {
                let mut text = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Text(part) => text.push_str(part),
                        Piece::Output(reference) => match look_up(reference)? {
                            Value::String(part) => text.push_str(&part),
                            other => text.push_str(&other.to_string()),
                        },
                    }
                }
                Value::String(text)
            }
            Self::Array(items) => {
                let items: Result<Vec<_>, E> =
                    items.iter().map(|item| item.fill(look_up)).collect();
                Value::Array(items?)
            }
            Self::Object(members) => {
                let mut map = Map::new();
                for (key, value) in members {
                    map.insert(key.clone(), value.fill(look_up)?);
                }
                Value::Object(map)
            }
        })
    }
}
