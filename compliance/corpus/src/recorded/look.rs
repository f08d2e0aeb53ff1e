//! The part of a JSON value that an assertion reads: two values with equal parts are equal to it.
//!
//! A recording has a hundred thousand answers, and an assertion examines a few members of each.
//! These are extracted from the source text, without building a value.

use std::collections::BTreeMap;

use tapewright_schemas::json::{valid_elements, valid_members};
use tapewright_schemas::slices::Part as _;

/// The parts of a value that are examined: by default only its type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    /// All of it.
    whole: bool,
    /// Whether it matters that a text or an object is empty.
    emptiness: bool,
    /// Whether the names of members matter.
    names: bool,
    members: BTreeMap<Vec<u8>, Self>,
    items: Option<Box<Self>>,
}

/// The maximum size of what is examined of one value, in bytes.
const MOST: usize = 8 << 10;

impl Look {
    /// Examines the whole value.
    pub(super) fn whole() -> Self {
        Self {
            whole: true,
            ..Self::default()
        }
    }

    /// Examines whether a text or an object is empty.
    pub(super) fn emptiness() -> Self {
        Self {
            emptiness: true,
            ..Self::default()
        }
    }

    /// Sees which members there are.
    pub(super) fn see_names(&mut self) {
        self.names = true;
    }

    /// How a member is examined, added if missing.
    pub(super) fn member(&mut self, name: &str) -> &mut Self {
        self.members.entry(name.into()).or_default()
    }

    /// How each item is examined, added if missing.
    pub(super) fn item(&mut self) -> &mut Self {
        self.items.get_or_insert_default()
    }

    /// Adds everything that another one examines.
    pub(super) fn add(&mut self, other: &Self) {
        self.whole |= other.whole;
        self.emptiness |= other.emptiness;
        self.names |= other.names;
        for (name, look) in &other.members {
            self.members.entry(name.clone()).or_default().add(look);
        }
        if let Some(items) = &other.items {
            self.item().add(items);
        }
    }

    /// Writes what is examined of a value, which must be the source text of valid JSON. Returns
    /// false if that does not fit.
    pub(super) fn see(&self, text: &[u8], out: &mut Vec<u8>) -> bool {
        let most = out.len() + MOST;
        self.write(text, out, most)
    }

    fn write(&self, text: &[u8], out: &mut Vec<u8>, most: usize) -> bool {
        let room = most.saturating_sub(out.len());
        if room == 0 || (self.whole && text.len() > room) {
            return false;
        }
        match text.first() {
            _ if self.whole => out.extend_from_slice(text),
            Some(b'{') => return self.object(text, out, most),
            Some(b'[') => return self.array(text, out, most),
            Some(b'"') if self.emptiness && text == b"\"\"" => out.push(b'e'),
            Some(b'"') => out.push(b's'),
            Some(b'-' | b'0'..=b'9') if is_integer(text) => out.push(b'i'),
            // A number of another kind, or a literal.
            _ => out.extend_from_slice(text),
        }
        true
    }

    fn object(&self, text: &[u8], out: &mut Vec<u8>, most: usize) -> bool {
        out.push(b'{');
        let inner = text.part(1..).trim_ascii_start();
        if self.emptiness && inner != b"}" {
            out.push(b'+');
        }
        let mut can_tell = true;
        if !self.members.is_empty() || self.names {
            valid_members(text, |name, value| {
                let look = self.members.get(name.span.of(text));
                // A name with an escape may be any.
                can_tell &= !name.escaped;
                if can_tell && (look.is_some() || self.names) {
                    out.push(b'"');
                    out.extend_from_slice(name.span.of(text));
                    out.push(b'"');
                    let nothing = Self::default();
                    can_tell = look.unwrap_or(&nothing).write(value.of(text), out, most);
                }
            });
        }
        out.push(b'}');
        can_tell && out.len() < most
    }

    fn array(&self, text: &[u8], out: &mut Vec<u8>, most: usize) -> bool {
        out.push(b'[');
        let mut can_tell = true;
        if let Some(items) = &self.items {
            valid_elements(text, |item| {
                can_tell = can_tell && items.write(item.of(text), out, most);
                out.push(b',');
            });
        }
        out.push(b']');
        can_tell
    }
}

fn is_integer(number: &[u8]) -> bool {
    number.iter().all(|byte| matches!(byte, b'-' | b'0'..=b'9'))
}

#[cfg(test)]
mod tests;
