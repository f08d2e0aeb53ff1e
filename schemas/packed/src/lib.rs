//! Texts that are stored compressed in the program, and unpacked when one of them is first needed.
//!
//! The build script of a package with texts packs them; a `LazyLock` next to the single place that
//! uses them unpacks them. Schemas, corpora and the page are seldom needed, and take a seventh of
//! the space in the program this way.
//!
//! Packed data is deflated. It begins with the number of texts, as a line; a line for each text has
//! its length in bytes and its name; the texts follow.

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec;

/// The most that is tried for fewer bytes.
const LEVEL: u8 = 10;

/// Packs texts with their names, which must not contain line feeds. Similar texts should be next to
/// each other.
#[must_use]
pub fn pack(texts: &[(String, String)]) -> Vec<u8> {
    let mut all = format!("{}\n", texts.len());
    for (name, text) in texts {
        all.extend([&text.len().to_string(), " ", name, "\n"]);
    }
    all.extend(texts.iter().map(|(_, text)| text.as_str()));
    compress_to_vec(all.as_bytes(), LEVEL)
}

/// Texts by their names.
#[derive(Debug)]
pub struct Texts(Vec<(String, String)>);

impl Texts {
    /// Unpacks the output of [`pack`]; `None` for anything else.
    #[must_use]
    pub fn unpack(packed: &[u8]) -> Option<Self> {
        let all = String::from_utf8(decompress_to_vec(packed).ok()?).ok()?;
        let (count, mut rest) = all.split_once('\n')?;
        let mut index = Vec::new();
        for _ in 0..count.parse().ok()? {
            let (line, after) = rest.split_once('\n')?;
            index.push(line.split_once(' ')?);
            rest = after;
        }
        let mut texts = Vec::with_capacity(index.len());
        for (length, name) in index {
            let (text, after) = rest.split_at_checked(length.parse().ok()?)?;
            texts.push((name.to_owned(), text.to_owned()));
            rest = after;
        }
        rest.is_empty().then_some(Self(texts))
    }

    /// The text with this name.
    ///
    /// # Panics
    ///
    /// If no text has that name. Names are constants of the program, and a test uses each of them.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        let mut named = self.iter().filter(|text| text.0 == name);
        named
            .next()
            .map(|text| text.1)
            .expect("a text of this name")
    }

    /// All names and texts, in the order in which they were packed.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> Vec<(String, String)> {
        let text = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        vec![
            text("a/one.yml", "1 two\n3 four\n"),
            text("no text", ""),
            text("ü", "ö\u{1f980}"),
        ]
    }

    #[test]
    fn what_is_unpacked_is_what_was_packed() {
        let packed = pack(&texts());
        let unpacked = Texts::unpack(&packed).unwrap();
        let owned: Vec<_> = unpacked
            .iter()
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .collect();
        assert_eq!(owned, texts());
        assert_eq!(unpacked.text("ü"), "ö\u{1f980}");
        assert_eq!(Texts::unpack(&pack(&[])).unwrap().iter().count(), 0);
    }

    #[test]
    fn what_was_cut_or_changed_is_nothing() {
        let packed = pack(&texts());
        for length in 0..packed.len() {
            assert!(Texts::unpack(&packed[..length]).is_none(), "{length}");
        }
        let deflated = |text: &str| compress_to_vec(text.as_bytes(), LEVEL);
        assert!(Texts::unpack(&deflated("1\n2 a\nxy")).is_some());
        for wrong in [
            "",
            "1\n",
            "1\n2 a\nx",
            "1\n2 a\nxyz",
            "1\n2a\nxy",
            "x\n",
            "2\n1 a\nxy",
            "1\n1 a\nö",
        ] {
            assert!(Texts::unpack(&deflated(wrong)).is_none(), "{wrong:?}");
        }
    }
}
