//! An envelope from an outline that another reading has left.

use super::{Envelope, Members};
use crate::json::{Span, Text, unescape};

impl<'a> Envelope<'a> {
    /// Looks at one message that is known to be an object with these members: names, and
    /// values with the white space before them.
    pub(crate) fn of_members(message: &'a [u8], outline: &[(Text, Span)]) -> Self {
        let mut members = Members::default();
        let mut meaning = Vec::new();
        for (name, value) in outline {
            let source = name.span.of(message);
            let value = trimmed(*value, message);
            if name.escaped {
                meaning.clear();
                unescape(source, &mut meaning);
                members.member(&meaning, value, message);
            } else {
                members.member(source, value, message);
            }
        }
        Envelope {
            repeated_member: members.repeated,
            version: members.version.map(|version| version.of(message)),
            kind: members.kind(message),
        }
    }
}

/// A span without the white space at its ends.
fn trimmed(span: Span, message: &[u8]) -> Span {
    let text = span.of(message);
    let start = span.start + (text.len() - text.trim_ascii_start().len());
    Span {
        start,
        end: start + text.trim_ascii().len(),
    }
}
