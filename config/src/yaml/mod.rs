//! YAML as JSON with positions: events of the parser become a tree, within limits.

mod build;
mod frame;
mod node;
mod scalar;

pub(crate) use build::{parse, parse_as};
pub(crate) use node::{Kind, Member, Node, Text, escape, unescape};
