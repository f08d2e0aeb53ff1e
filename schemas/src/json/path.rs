//! Finding a member without building a tree.

use super::grammar::{colon, space, string_end, value_end};
use super::unescape;
use crate::slices::Part as _;

/// The source text of the value that a path of member names leads to.
///
/// With duplicate names the last one wins, as in JavaScript and Python. `None` if a step is missing
/// or not an object, or the text is not JSON.
#[must_use]
pub fn find<'a>(text: &'a [u8], path: &[&str]) -> Option<&'a [u8]> {
    let mut here = text;
    for name in path {
        let mut hit = None;
        members(here, |key, value| {
            if key == name.as_bytes() {
                hit = Some(value);
            }
        })?;
        here = hit?;
    }
    Some(here.trim_ascii())
}

/// Calls `each` with the unescaped name and the source text of every member of the object `text`;
/// `None` if it is not a complete object.
pub fn members<'a>(text: &'a [u8], each: impl FnMut(&[u8], &'a [u8])) -> Option<()> {
    visit_members(text, &mut Each(each))
}

/// Receives the members of an object.
pub(crate) trait Members<'a> {
    /// The length of the value at the start of `rest`, if it is known without validating its
    /// grammar again.
    fn length(&mut self, _name: &[u8], _rest: &[u8]) -> Option<usize> {
        None
    }

    /// Handles a member: its unescaped name, and the source text of its value.
    fn member(&mut self, name: &[u8], value: &'a [u8]);
}

struct Each<F>(F);

impl<'a, F: FnMut(&[u8], &'a [u8])> Members<'a> for Each<F> {
    fn member(&mut self, name: &[u8], value: &'a [u8]) {
        (self.0)(name, value);
    }
}

/// Like [`members`], for code that recognizes repeated values.
pub(crate) fn visit_members<'a>(text: &'a [u8], to: &mut impl Members<'a>) -> Option<()> {
    let open = space(text, 0);
    if text.get(open) != Some(&b'{') {
        return None;
    }
    let at = space(text, open + 1);
    if text.get(at) == Some(&b'}') {
        return Some(());
    }
    visit_from(text, at, to)
}

/// Like [`visit_members`], but only for those after the one that ends at `end`, for code that has
/// read the first ones.
pub(crate) fn visit_behind<'a>(
    text: &'a [u8],
    end: usize,
    to: &mut impl Members<'a>,
) -> Option<()> {
    let next = space(text, end);
    match text.get(next) {
        Some(b',') => visit_from(text, space(text, next + 1), to),
        Some(b'}') => Some(()),
        _ => None,
    }
}

/// Visits the member that begins at `at` and those after it.
fn visit_from<'a>(text: &'a [u8], mut at: usize, to: &mut impl Members<'a>) -> Option<()> {
    let mut name = Vec::new();
    loop {
        if text.get(at) != Some(&b'"') {
            return None;
        }
        let (after, escaped) = string_end(text, at).ok()?;
        let start = space(text, colon(text, after).ok()?);
        let source = text.part(at + 1..after - 1);
        let end = match to.length(source, text.part(start..)) {
            Some(length) => start + length,
            None => value_end(text, start, 1)?,
        };
        if escaped {
            name.clear();
            unescape(source, &mut name);
            to.member(&name, text.part(start..end));
        } else {
            to.member(source, text.part(start..end));
        }
        let next = space(text, end);
        match text.get(next) {
            Some(b',') => at = space(text, next + 1),
            Some(b'}') => return Some(()),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_a_path_and_takes_the_last_duplicate() {
        let text = br#"{"a":{"b":1,"b": [2] },"c":3}"#;
        assert_eq!(find(text, &["a", "b"]), Some(b"[2]".as_slice()));
        assert_eq!(find(text, &["c"]), Some(b"3".as_slice()));
        assert_eq!(find(text, &["a", "x"]), None);
        assert_eq!(find(text, &["c", "x"]), None);
        assert_eq!(find(b"[1]", &["c"]), None);
    }

    #[test]
    fn escaped_names_are_the_same_names() {
        assert_eq!(find(br#"{"\u0061":1}"#, &["a"]), Some(b"1".as_slice()));
    }
}
