//! The members of a message's parameters or result: found once, for all rules that need them.

use tapewright_schemas::conversation::plain_call;
use tapewright_schemas::json::{Span, valid_members};
use tapewright_schemas::slices::Part as _;

use crate::value::Value;

/// The positions of the members of an object that has few, as nearly all have.
#[derive(Debug)]
pub(crate) struct Fields {
    known: [(Span, Span); MOST],
    count: usize,
    // There are more, or a name contains escapes: search the source.
    closely: bool,
}

/// The maximum number of members that are remembered.
const MOST: usize = 8;
/// The text before the name of a plain call, and after it up to the first member of its arguments.
const NAME: usize = "{'name':'".len();
const ARGUMENTS: usize = "','arguments':{".len();

impl Fields {
    fn none() -> Self {
        let nothing = Span { start: 0, end: 0 };
        Self {
            known: [(nothing, nothing); MOST],
            count: 0,
            closely: false,
        }
    }

    /// For the parameters of a call that are only a `name` and `arguments`, as most are, if a quick
    /// check shows it.
    fn of_plain_call(params: Value<'_>) -> Option<Self> {
        let name_end = NAME + plain_call(params.0)?.len();
        let end = params.0.len();
        let value = name_end + ARGUMENTS - 1;
        let span = |start, end| Span { start, end };
        let mut fields = Self::none();
        let [name, arguments, ..] = &mut fields.known;
        *name = (span(2, 6), span(8, name_end + 1));
        *arguments = (span(name_end + 3, value - 2), span(value, end - 1));
        fields.count = 2;
        Some(fields)
    }

    /// For any value; one that is not an object has no members.
    pub(crate) fn of(object: Value<'_>) -> Self {
        if let Some(fields) = Self::of_plain_call(object) {
            return fields;
        }
        let mut fields = Self::none();
        valid_members(object.0, |name, value| {
            fields.closely |= name.escaped;
            match fields.known.get_mut(fields.count) {
                Some(free) => *free = (name.span, value),
                None => fields.closely = true,
            }
            fields.count += 1;
        });
        fields
    }

    /// The member with this name of the object; of several, the last.
    pub(crate) fn get<'a>(&self, object: Value<'a>, name: &str) -> Option<Value<'a>> {
        if self.closely {
            return object.get(name);
        }
        let mut all = self.known.iter().take(self.count).rev();
        let (_, value) = all.find(|(found, _)| found.of(object.0) == name.as_bytes())?;
        Some(Value(value.of(object.0)))
    }
}

/// Whether an object consists of a `name` that is a string and `arguments` that are an object, as
/// the parameters of most calls do, if a quick check shows it. False if that takes a closer look.
pub(crate) fn is_plain_call(params: Value<'_>) -> bool {
    plain_call(params.0).is_some()
}

/// Whether the result consists of an array `content` and optionally a valid `isError`, as most do,
/// if a quick check shows it. False if that takes a closer look.
pub(crate) fn is_content_alone(result: Value<'_>) -> bool {
    let Some(content) = result.0.strip_prefix(b"{\"content\":[") else {
        return false;
    };
    // Followed only by this, a bracket can neither be in a string nor close an array within the
    // array.
    let end = memchr::memchr(b']', content).map(|at| content.part(at..));
    matches!(
        end,
        Some(b"]}" | b"],\"isError\":false}" | b"],\"isError\":true}")
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_needs_a_closer_look_is_left_to_it() {
        for (text, plain) in [
            (r#"{"content":[]}"#, true),
            (r#"{"content":[{"type":"text","text":"a\"}"}]}"#, true),
            (r#"{"content":[1],"isError":false}"#, true),
            (r#"{"content":["]}"]}"#, false),
            (r#"{"content":[[]]}"#, false),
            (r#"{"content":[1],"isError":0}"#, false),
            (r#"{"content":[1],"task":{}}"#, false),
            (r#"{"content":[1],"isError":false,"content":1}"#, false),
            (r#"{"content":1}"#, false),
            (r#"{ "content":[]}"#, false),
            ("[]", false),
        ] {
            assert_eq!(is_content_alone(Value(text.as_bytes())), plain, "{text}");
        }
    }

    #[test]
    fn a_plain_call_has_the_members_that_its_source_has() {
        for (text, plain) in [
            (r#"{"name":"a","arguments":{}}"#, true),
            (r#"{"name":"","arguments":{"b":[1,"]"],"c":"\""}}"#, true),
            (r#"{"name":"a","arguments":{"b":{}}}"#, false),
            (r#"{"name":"a","arguments":{"b":"}"}}"#, false),
            (r#"{"name":"a","arguments":{"b":"}}"}}"#, false),
            (r#"{"name":"a","arguments":{},"task":{}}"#, false),
            (r#"{"name":"a","arguments":{},"name":1}"#, false),
            (r#"{"name":"a\"","arguments":{}}"#, false),
            (r#"{"name":"a","arguments":{} }"#, false),
            (r#"{"name":"a","arguments":[]}"#, false),
            (r#"{"name":"a"}"#, false),
            ("[]", false),
        ] {
            let value = Value(text.as_bytes());
            let fields = Fields::of(value);
            assert_eq!(is_plain_call(value), plain, "{text}");
            for name in ["name", "arguments", "_meta"] {
                assert_eq!(fields.get(value, name), value.get(name), "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_object_has_no_members() {
        for text in ["[]", "null", "\"a\"", "1"] {
            let value = Value(text.as_bytes());
            assert_eq!(Fields::of(value).get(value, "a"), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn answers_as_the_source_does(
            members in prop::collection::vec((r"a|b|\\u0061|c|", 0..9_u8), 0..12)
        ) {
            let members: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("\"{name}\" : {{\"a\":{value}}}"))
                .collect();
            let text = format!("{{{}}}", members.join(","));
            let value = Value(text.as_bytes());
            let fields = Fields::of(value);
            for name in ["a", "b", "c", "", "d"] {
                prop_assert_eq!(fields.get(value, name), value.get(name));
            }
        }
    }
}
