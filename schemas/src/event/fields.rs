//! Header and trailer fields.

use std::fmt;

use serde::de::{DeserializeSeed, Error as _, SeqAccess, Visitor};
use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::slices::Part as _;

/// Header or trailer fields, in order: name and value. A value that is not valid UTF-8 has
/// replacement characters.
///
/// All of them share one text: a head has a dozen fields, and one is created for every message.
#[derive(Clone, Default, Hash, PartialEq, Eq)]
pub struct Fields {
    text: String,
    // Where each name and each value ends.
    ends: Vec<(usize, usize)>,
}

impl Fields {
    /// Creates an empty list with room for this many fields, and for this many bytes of names and
    /// values.
    #[must_use]
    pub fn with_capacity(fields: usize, bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            ends: Vec::with_capacity(fields),
        }
    }

    /// The fields of a head. Names are ASCII and not empty.
    ///
    /// The text is checked as a whole: a character that does not end with its value ends nowhere,
    /// since a name follows, or nothing.
    #[must_use]
    pub fn of_head<'h, I>(head: impl Fn() -> I) -> Self
    where
        I: Iterator<Item = (&'h str, &'h [u8])>,
    {
        let bytes = |(name, value): (&str, &[u8])| name.len() + value.len();
        let mut text = Vec::with_capacity(head().map(bytes).sum());
        let mut ends = Vec::with_capacity(head().size_hint().0);
        for (name, value) in head() {
            text.extend_from_slice(name.as_bytes());
            let name_end = text.len();
            text.extend_from_slice(value);
            ends.push((name_end, text.len()));
        }
        match String::from_utf8(text) {
            Ok(text) => Self { text, ends },
            Err(_) => head()
                .map(|(name, value)| (name, String::from_utf8_lossy(value)))
                .collect(),
        }
    }

    /// Appends a field.
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

    /// The number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the list is empty.
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
        // Most are spelled in the same way.
        let is_it = |known: &str| known == name || known.eq_ignore_ascii_case(name);
        let (_, value) = named.find(|(known, _)| is_it(known))?;
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

/// Room for a head of typical size, so that reading one does not reallocate repeatedly.
const USUAL: (usize, usize) = (12, 512);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Pairs)
    }
}

/// Reads all fields, each into the one text.
struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Fields;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of pairs of name and value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Fields, A::Error> {
        let mut all = Fields::with_capacity(USUAL.0, USUAL.1);
        while list.next_element_seed(Pair(&mut all))?.is_some() {}
        Ok(all)
    }
}

/// Reads one field and appends it.
struct Pair<'f>(&'f mut Fields);

impl<'de> DeserializeSeed<'de> for Pair<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_tuple(2, self)
    }
}

impl<'de> Visitor<'de> for Pair<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a name and a value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<(), A::Error> {
        let Self(Fields { text, ends }) = self;
        let mut next = |at| {
            let found = pair.next_element_seed(Text(text))?;
            found.ok_or_else(|| A::Error::invalid_length(at, &"a name and a value"))
        };
        let end = (next(0)?, next(1)?);
        ends.push(end);
        Ok(())
    }
}

/// Reads a text and appends it; yields where it ends.
struct Text<'t>(&'t mut String);

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Text<'_> {
    type Value = usize;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string")
    }

    fn visit_str<E>(self, text: &str) -> Result<usize, E> {
        self.0.push_str(text);
        Ok(self.0.len())
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

    #[test]
    fn a_value_of_a_head_that_is_not_text_has_replacement_characters_and_the_others_stay() {
        let values: [&[u8]; 6] = [b"a", "ü".as_bytes(), b"\xc3", b"\xbc", b"", b"x\xff"];
        for first in values {
            for second in values {
                for last in values {
                    let head = [("x-a", first), ("x-b", second), ("x-c", last)];
                    let lossy = head.map(|(name, value)| (name, String::from_utf8_lossy(value)));
                    let wanted: Fields = lossy.into_iter().collect();
                    assert_eq!(Fields::of_head(|| head.into_iter()), wanted);
                }
            }
        }
    }

    #[test]
    fn what_is_no_list_of_pairs_of_texts_is_refused() {
        for text in [
            r#"[["a"]]"#,
            r#"[["a","b","c"]]"#,
            r#"[["a",1]]"#,
            r#"["a"]"#,
            "{}",
        ] {
            assert!(serde_json::from_str::<Fields>(text).is_err(), "{text}");
        }
        let escaped = r#"[["\u0061","\"b\""]]"#;
        let fields: Fields = serde_json::from_str(escaped).unwrap();
        assert_eq!(fields.get("a"), Some("\"b\""));
        let fields: Fields = serde_json::from_value(serde_json::json!([["a", "b"]])).unwrap();
        assert_eq!(fields.get("a"), Some("b"));
    }
}
