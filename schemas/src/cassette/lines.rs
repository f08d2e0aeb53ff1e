//! Lists of tools, prompts and resources, with each element on its own line.
//!
//! Then a changed tool is a changed line, rather than a change in one line with all tools. Only
//! insignificant white space is inserted, and only if the text was on one line: so it can be
//! removed again, and the recorded text is restored byte for byte.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

use crate::json::{find, valid_elements};
use crate::slices::Part as _;

/// The inserted white space.
const BREAK: &[u8] = b"\n        ";

/// The methods whose answers are lists, and the members of `result` that hold them.
const LISTS: [(&str, &str); 4] = [
    ("tools/list", "tools"),
    ("prompts/list", "prompts"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
];

/// Whether the answers to a method are written with each element on its own line.
#[must_use]
pub fn is_listing(method: &str) -> bool {
    LISTS.iter().any(|(known, _)| *known == method)
}

/// The answer to such a method in the form of the cassette. An answer that already has several
/// lines, or contains no such list, is unchanged.
#[must_use]
pub fn in_lines(answer: &[u8]) -> Cow<'_, [u8]> {
    if memchr(b'\n', answer).is_some() {
        return Cow::Borrowed(answer);
    }
    let mut places = Vec::new();
    for (_, name) in LISTS {
        if let Some(list) = find(answer, &["result", name]) {
            breaks(answer, list, &mut places);
        }
    }
    if places.is_empty() {
        return Cow::Borrowed(answer);
    }
    places.sort_unstable();
    let mut out = Vec::with_capacity(answer.len() + places.len() * BREAK.len());
    let mut at = 0;
    for place in places {
        out.extend_from_slice(answer.part(at..place));
        out.extend_from_slice(BREAK);
        at = place;
    }
    out.extend_from_slice(answer.part(at..));
    Cow::Owned(out)
}

/// The text of a message on one line, if [`in_lines`] has split it; `None` for any other.
#[must_use]
pub fn on_one_line(message: &[u8]) -> Option<Vec<u8>> {
    memchr(b'\n', message)?;
    if !memchr_iter(b'\n', message).all(|at| message.part(at..).starts_with(BREAK)) {
        return None;
    }
    let mut out = Vec::with_capacity(message.len());
    let mut at = 0;
    for place in memchr_iter(b'\n', message) {
        out.extend_from_slice(message.part(at..place));
        at = place + BREAK.len();
    }
    out.extend_from_slice(message.part(at..));
    Some(out)
}

/// Records where the elements of a list begin, and where the last one ends.
fn breaks(answer: &[u8], list: &[u8], places: &mut Vec<usize>) {
    let Some(start) = (list.as_ptr() as usize).checked_sub(answer.as_ptr() as usize) else {
        return;
    };
    let (mut found, mut end) = (Vec::new(), 1);
    let whole = valid_elements(list, |span| {
        // After the bracket, or the comma.
        let comma = memchr(b',', list.part(end..span.start));
        found.push(start + end + comma.map_or(0, |comma| comma + 1));
        end = span.end;
    });
    if whole && !found.is_empty() {
        places.append(&mut found);
        places.push(start + end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).unwrap()
    }

    #[test]
    fn each_tool_has_a_line_and_nothing_else_changes() {
        let answer =
            br#"{"result": {"tools": [{"name":"a, b"}, {"name":"c","x":[1,2]} ],"n":[1,2]}}"#;
        let expected = "{\"result\": {\"tools\": [\n        {\"name\":\"a, b\"},\n         \
                        {\"name\":\"c\",\"x\":[1,2]}\n         ],\"n\":[1,2]}}";
        assert_eq!(text(&in_lines(answer)), expected);
        assert_eq!(on_one_line(expected.as_bytes()).unwrap(), answer);
    }

    #[test]
    fn what_holds_no_list_stays_as_it_is() {
        for answer in [
            r#"{"result":{"tools":[]}}"#,
            r#"{"result":{"tools":{}}}"#,
            r#"{"result":{"tools":[1,}}"#,
            r#"{"error":{"tools":[1]}}"#,
            "{\"result\":{\"tools\":[1,\n2]}}",
            "",
        ] {
            assert_eq!(text(&in_lines(answer.as_bytes())), answer);
            assert_eq!(on_one_line(answer.as_bytes()), None);
        }
        // Written on several lines.
        assert_eq!(on_one_line(b"{\n  \"a\": 1,\n        \"b\": 2}"), None);
        assert!(is_listing("tools/list") && !is_listing("tools/call"));
    }

    proptest! {
        #[test]
        fn any_list_comes_back_as_it_was(
            names in prop::collection::vec("[a-z ,\\[\\]{}\\\\\\\\\"]{0,8}", 0..6),
            space in prop::sample::select(vec!["", " ", "\t", "        ", "          "]),
            other in any::<bool>(),
        ) {
            let names: Vec<_> = names.iter().map(|name| serde_json::to_string(name).unwrap()).collect();
            let list = names.join(&format!("{space},{space}"));
            let more = if other { format!(r#","prompts":[{list}]"#) } else { String::new() };
            let answer = format!(r#"{{"result":{{"tools":{space}[{space}{list}{space}]{more}}}}}"#);
            let broken = in_lines(answer.as_bytes());
            let value = |text: &[u8]| -> serde_json::Value { serde_json::from_slice(text).unwrap() };
            prop_assert_eq!(value(&broken), value(answer.as_bytes()));
            match on_one_line(&broken) {
                Some(line) => prop_assert_eq!(text(&line), answer),
                None => prop_assert!(names.is_empty() && text(&broken) == answer),
            }
        }
    }
}
