//! Header and trailer fields.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::slices::Part as _;

/// Header or trailer fields, in order: name and value. A value that is no text stands with
/// replacement characters.
///
/// All of them are in one text: a head has a dozen, and is made for every message.
#[derive(Clone, Default, Hash, PartialEq, Eq)]
pub struct Fields {
    text: String,
    // Where each name and each value ends.
    ends: Vec<(usize, usize)>,
}

impl Fields {
    /// None yet, with room for so many, and for so many bytes of names and values.
    #[must_use]
    pub fn with_capacity(fields: usize, bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            ends: Vec::with_capacity(fields),
        }
    }

    /// Adds a field behind the others.
    pub fn push(&mut self, name: &str, value: &str) {
        self.text.push_str(name);
        let name_end = self.text.len();
        self.text.push_str(value);
        self.ends.push((name_end, self.text.len()));
    }

    /// All fields, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        let mut start = 0;
        self.ends.iter().map(move |(name_end, end)| {
            let part = |from, to| self.text.part(from..to);
            let field = (part(start, *name_end), part(*name_end, *end));
            start = *end;
            field
        })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The length of all names and values, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// The first value under a name, in any case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut named = self.iter();
        let (_, value) = named.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(value)
    }

    /// All values under a name, in any case.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = move |(known, _): &(&str, &str)| known.eq_ignore_ascii_case(name);
        self.iter().filter(named).map(|(_, value)| value)
    }
}

impl<N: AsRef<str>, V: AsRef<str>> FromIterator<(N, V)> for Fields {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(fields: I) -> Self {
        let mut all = Self::default();
        for (name, value) in fields {
            all.push(name.as_ref(), value.as_ref());
        }
        all
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.len()))?;
        for field in self.iter() {
            list.serialize_element(&field)?;
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Fields;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a list of pairs of name and value")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Fields, A::Error> {
                let mut all = Fields::default();
                while let Some((name, value)) = list.next_element::<(String, String)>()? {
                    all.push(&name, &value);
                }
                Ok(all)
            }
        }
        deserializer.deserialize_seq(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_order_and_come_back() {
        let pairs = [("Accept", "a"), ("x-é", ""), ("", "ü"), ("accept", "b")];
        let fields: Fields = pairs.into_iter().collect();
        assert!(fields.iter().eq(pairs));
        assert_eq!((fields.len(), fields.get("ACCEPT")), (4, Some("a")));
        assert!(fields.all("Accept").eq(["a", "b"]));
        let text = serde_json::to_string(&fields).unwrap();
        assert_eq!(
            text,
            r#"[["Accept","a"],["x-é",""],["","ü"],["accept","b"]]"#
        );
        assert_eq!(serde_json::from_str::<Fields>(&text).unwrap(), fields);
        let shifted: Fields = [("Accepta", ""), ("x-é", ""), ("", "ü"), ("accept", "b")]
            .into_iter()
            .collect();
        assert_ne!(shifted, fields);
    }
}
