//! Text on a single line.

use std::borrow::Cow;

use tapewright_schemas::cassette::on_one_line;

/// The JSON without line breaks: verbatim if the cassette has it one element per line, else without
/// any white space between its tokens. A line of the stdio transport contains no line feed, and
/// hand-written recordings have many.
pub(crate) fn compact(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr2(b'\n', b'\r', text).is_none() {
        return Cow::Borrowed(text);
    }
    if let Some(line) = on_one_line(text) {
        return Cow::Owned(line);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut inside = false;
    let mut escaped = false;
    for byte in text {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' if !inside => continue,
            b'"' if !escaped => inside = !inside,
            _ => {}
        }
        escaped = inside && *byte == b'\\' && !escaped;
        out.push(*byte);
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn only_what_has_no_meaning_goes() {
        let text = b"{\n  \"a \\\" b\\\\\": [1,\r\n 2],\t\"c\":\" \\n \"\n}";
        assert_eq!(
            compact(text).as_ref(),
            b"{\"a \\\" b\\\\\":[1,2],\"c\":\" \\n \"}"
        );
        assert_eq!(compact(b"{ \"a\" : 1 }").as_ref(), b"{ \"a\" : 1 }");
    }
}
