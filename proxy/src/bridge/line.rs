//! Converts the body of a response or the data of an event to a line.

use std::borrow::Cow;

use bytes::Bytes;
use memchr::memchr2;
use tapewright_schemas::envelope::RequestId;
use tapewright_schemas::json;

/// A JSON text as one line for stdio; `None` if it is only white space.
///
/// JSON allows a raw line end only between tokens, where a space has the same meaning. Nothing else
/// changes; a text that is already one line is not copied.
pub(crate) fn one_line(text: &Bytes) -> Option<Bytes> {
    let start = text.len() - text.trim_ascii_start().len();
    let end = text.trim_ascii_end().len();
    if start >= end {
        return None;
    }
    let text = text.slice(start..end);
    if memchr2(b'\n', b'\r', &text).is_none() {
        return Some(text);
    }
    let spaced: Vec<u8> = text.iter().map(|byte| space(*byte)).collect();
    Some(Bytes::from(spaced))
}

fn space(byte: u8) -> u8 {
    if matches!(byte, b'\n' | b'\r') {
        b' '
    } else {
        byte
    }
}

/// The source text of an id.
pub(crate) fn id_source(id: &RequestId<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    match id {
        RequestId::Number(text) | RequestId::Other(text) => out.extend_from_slice(text.as_bytes()),
        RequestId::Text(text) => {
            out.push(b'"');
            json::escape(text, &mut out);
            out.push(b'"');
        }
        _ => out.extend_from_slice(b"null"),
    }
    out
}

/// The decoded string of a source text with quotes; `None` for any other value.
pub(crate) fn text_of(source: &[u8]) -> Option<Cow<'_, str>> {
    match RequestId::of_source(source.trim_ascii()) {
        RequestId::Text(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &'static str) -> Option<String> {
        let line = one_line(&Bytes::from_static(text.as_bytes()))?;
        Some(String::from_utf8(line.to_vec()).unwrap())
    }

    #[test]
    fn line_ends_between_tokens_become_spaces() {
        assert_eq!(line("{\"a\":1}").unwrap(), "{\"a\":1}");
        assert_eq!(line("{\r\n  \"a\": 1\n}\n").unwrap(), "{    \"a\": 1 }");
        assert_eq!(line(" \r\n"), None);
        assert_eq!(line(""), None);
    }

    #[test]
    fn a_line_is_not_copied() {
        let text = Bytes::from_static(b"{}\n");
        assert_eq!(one_line(&text).unwrap().as_ptr(), text.as_ptr());
    }

    #[test]
    fn ids_keep_their_type() {
        for (source, same) in [("1", "1"), ("\"a\\u0062\"", "\"ab\""), ("1e3", "1e3")] {
            let id = RequestId::of_source(source.as_bytes());
            assert_eq!(id_source(&id), same.as_bytes());
        }
        assert_eq!(id_source(&RequestId::Null), b"null");
    }
}
