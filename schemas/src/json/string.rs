//! String content: from source text to meaning and back.

use crate::slices::Part as _;

/// The result of [`unescape`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unescaped {
    /// There was a lone surrogate. It is grammatical JSON that no Rust string can represent; it
    /// decodes to U+FFFD.
    pub lone_surrogate: bool,
}

/// Appends the decoded string content (without quotes) to `out`.
///
/// The content must come from a [`Scanner`](super::Scanner): escapes are assumed to be valid, and a
/// broken one is copied unchanged.
pub fn unescape(content: &[u8], out: &mut Vec<u8>) -> Unescaped {
    let mut found = Unescaped::default();
    let mut rest = content;
    while let Some(slash) = memchr::memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at(slash);
        out.extend_from_slice(plain);
        let (length, char, lone) = one_escape(escape);
        found.lone_surrogate |= lone;
        let mut utf8 = [0; 4];
        out.extend_from_slice(char.encode_utf8(&mut utf8).as_bytes());
        rest = escape.part(length..);
    }
    out.extend_from_slice(rest);
    found
}

/// The offset in the source `content` of the byte at `decoded` in the unescaped text.
///
/// Only offsets at character boundaries have an exact source.
#[must_use]
pub fn raw_offset(content: &[u8], decoded: usize) -> usize {
    let mut raw = 0;
    let mut meaning = 0;
    while meaning < decoded {
        let rest = content.part(raw..);
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        if plain >= decoded - meaning {
            return raw + (decoded - meaning);
        }
        let (length, char, _) = one_escape(rest.part(plain..));
        raw += plain + length;
        meaning += plain + char.len_utf8();
    }
    raw
}

/// Appends `text` as the content of a JSON string (without quotes) to `out`.
///
/// Escapes only what the grammar requires, so that the result stays readable.
pub fn escape(text: &str, out: &mut Vec<u8>) {
    for piece in text.as_bytes().chunks(PIECE) {
        if super::plain::is_plain(piece) {
            out.extend_from_slice(piece);
        } else {
            escape_bytes(piece, out);
        }
    }
}

/// The number of bytes that are examined together, which hardly takes longer than one of them.
const PIECE: usize = 64;

/// Whether a byte needs no escape in a string.
fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

fn escape_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    let mut plain = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if is_plain(*byte) {
            continue;
        }
        out.extend_from_slice(bytes.part(plain..at));
        plain = at + 1;
        let short = match byte {
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0..=0x1f => {
                let hex = |nibble: u8| {
                    if nibble < 10 {
                        b'0' + nibble
                    } else {
                        b'a' + nibble - 10
                    }
                };
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 0xf)]);
                continue;
            }
            itself => *itself,
        };
        out.extend_from_slice(&[b'\\', short]);
    }
    out.extend_from_slice(bytes.part(plain..));
}

/// Appends a number in decimal digits. Called four times for every line of a tape.
pub fn push_number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// The escape at the start of `text`: its length, its character, and whether it was a
/// surrogate without its other half.
fn one_escape(text: &[u8]) -> (usize, char, bool) {
    let simple = |char| (2, char, false);
    match text.get(1) {
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'n') => simple('\n'),
        Some(b'r') => simple('\r'),
        Some(b't') => simple('\t'),
        Some(b'u') => unicode(text),
        Some(byte) if byte.is_ascii() => simple(char::from(*byte)),
        _ => (1, '\\', false),
    }
}

fn unicode(text: &[u8]) -> (usize, char, bool) {
    let Some(first) = hex4(text.get(2..6)) else {
        return (2, 'u', false);
    };
    if let Some(char) = char::from_u32(first) {
        return (6, char, false);
    }
    let second = match text.get(6..8) {
        Some(b"\\u") => hex4(text.get(8..12)),
        _ => None,
    };
    if let (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) = (first, second) {
        let code = 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00);
        return (
            12,
            char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
            false,
        );
    }
    (6, char::REPLACEMENT_CHARACTER, true)
}

fn hex4(digits: Option<&[u8]>) -> Option<u32> {
    digits?.iter().try_fold(0, |code, digit| {
        Some(code << 4 | char::from(*digit).to_digit(16)?)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn meaning(content: &str) -> (String, bool) {
        let mut out = Vec::new();
        let found = unescape(content.as_bytes(), &mut out);
        (String::from_utf8(out).unwrap(), found.lone_surrogate)
    }

    #[test]
    fn reads_every_escape() {
        let (text, lone) = meaning(r#"a\"\\\/\b\f\n\r\t\u0041\ud83d\ude00z"#);
        assert_eq!(text, "a\"\\/\u{8}\u{c}\n\r\tA😀z");
        assert!(!lone);
    }

    #[test]
    fn a_lone_surrogate_is_told() {
        assert_eq!(meaning(r"x\ud83dy"), ("x\u{fffd}y".to_owned(), true));
        assert_eq!(
            meaning(r"\ud83d\ud83d\ude00"),
            ("\u{fffd}😀".to_owned(), true)
        );
        assert_eq!(meaning(r"\udc00"), ("\u{fffd}".to_owned(), true));
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(text in prop_oneof![any::<String>(), "[a\\n\\\\\"\u{1}é😀]{0,200}", "a{60,70}[b\"é]{0,9}"]) {
            let theirs = serde_json::to_string(&text).unwrap();
            let content = theirs.get(1..theirs.len() - 1).unwrap();
            prop_assert_eq!(meaning(content).0, text.clone());
            let mut ours = b"\"".to_vec();
            escape(&text, &mut ours);
            ours.push(b'"');
            prop_assert_eq!(serde_json::from_slice::<String>(&ours).unwrap(), text);
        }

        #[test]
        fn offsets_map_back(text in "[a\\n\"\u{1}é😀]{0,20}") {
            let theirs = serde_json::to_string(&text).unwrap();
            let content = theirs.get(1..theirs.len() - 1).unwrap();
            for (at, _) in text.char_indices() {
                let raw = raw_offset(content.as_bytes(), at);
                prop_assert_eq!(meaning(content.get(raw..).unwrap()).0, text.get(at..).unwrap());
            }
        }
    }
}
