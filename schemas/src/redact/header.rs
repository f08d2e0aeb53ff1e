//! The end of a header's value in free text.

use memchr::memchr3_iter;

use super::named;
use super::value::{Around, Separator, is_plausible, unquoted};
use super::work;
use crate::slices::{Front as _, Part as _};

/// The end of a header value that contains white space: cookies, or a scheme word and its
/// credentials.
pub(super) fn value(text: &[u8], kind: &str, name: usize, start: usize) -> Option<usize> {
    let rest = text.part(start..);
    let window = rest.front(256);
    match kind {
        "cookie" => named::cookie_value(window).map(|_| end(text, name, start)),
        "authorization" => {
            let (_, token) = named::scheme(window)?;
            if named::has_parameters(window) {
                return Some(end(text, name, start));
            }
            let word = unquoted(text, start + token, false);
            let value = text.part(start + token..word);
            let around = Around {
                name: b"",
                separator: Separator::Equals,
                spaced: false,
                after: b"",
            };
            is_plausible(value, &around).then_some(word)
        }
        _ => None,
    }
}

/// The end of a header: of the line, or of the quotes around name and value.
fn end(text: &[u8], name: usize, value: usize) -> usize {
    let around = name.checked_sub(1).and_then(|at| text.get(at)).copied();
    let quote = around
        .filter(|byte| matches!(byte, b'"' | b'\'' | b'`'))
        .unwrap_or(b'\n');
    let rest = text.part(value..);
    for at in memchr3_iter(quote, b'\n', b'\\', rest) {
        if rest.get(at) != Some(&b'\\')
            || matches!(rest.get(at + 1), Some(b'n' | b'r' | b'"' | b'\''))
        {
            let line = rest.part(..at);
            work::read(line.len());
            return value + line.trim_ascii_end().len();
        }
    }
    work::read(rest.len());
    value + rest.trim_ascii_end().len()
}
