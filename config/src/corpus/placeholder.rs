//! Placeholders in calls, for names that only the server under test knows.

use tapewright_schemas::slices::Part as _;

use crate::issue::Code;
use crate::near::did_you_mean;
use crate::read::Cursor;

/// A name in a call that is filled in from the server's own lists.
#[derive(Clone, Copy, Debug)]
pub struct Placeholder {
    /// The placeholder as written: `${tool:first}`.
    pub text: &'static str,
    /// What replaces it.
    pub meaning: &'static str,
}

/// Every placeholder.
pub const PLACEHOLDERS: &[Placeholder] = &[
    Placeholder {
        text: "${tool:first}",
        meaning: "the name of the first tool that needs no arguments. A tool with `readOnlyHint: true` goes before \
                  others, and one with `destructiveHint: true` is not taken",
    },
    Placeholder {
        text: "${tool:structured}",
        meaning: "as `${tool:first}`, of the tools that have an `outputSchema`",
    },
    Placeholder {
        text: "${tool:needs-arguments}",
        meaning: "the name of the first tool whose `inputSchema` has `required` members",
    },
    Placeholder {
        text: "${tool:unknown}",
        meaning: "a name that no tool of the server has",
    },
    Placeholder {
        text: "${resource:first}",
        meaning: "the URI of the first resource",
    },
    Placeholder {
        text: "${resource:unknown}",
        meaning: "a URI that the server cannot have",
    },
    Placeholder {
        text: "${template:first}",
        meaning: "the `uriTemplate` of the first resource template",
    },
    Placeholder {
        text: "${prompt:first}",
        meaning: "the name of the first prompt without required arguments",
    },
    Placeholder {
        text: "${prompt:with-argument}",
        meaning: "the name of the first prompt that has an argument",
    },
    Placeholder {
        text: "${prompt:needs-arguments}",
        meaning: "the name of the first prompt that has a required argument",
    },
    Placeholder {
        text: "${prompt:unknown}",
        meaning: "a name that no prompt of the server has",
    },
    Placeholder {
        text: "${argument:first}",
        meaning: "the name of the first argument of `${prompt:with-argument}`",
    },
    Placeholder {
        text: "${cursor:bad}",
        meaning: "a cursor that the server has not given",
    },
    Placeholder {
        text: "${auth:resource}",
        meaning: "the path of the metadata of the protected resource (RFC 9728): what a refusal names, where that is of \
                  the same origin, else the well-known path",
    },
    Placeholder {
        text: "${auth:server}",
        meaning: "the path of the metadata of its authorization server (RFC 8414), if it exists and has the same \
                  origin",
    },
];

/// Checks that every placeholder within is one of [`PLACEHOLDERS`].
pub(super) fn check(at: &Cursor<'_>) {
    if at.is_object() {
        at.entries().iter().for_each(|(_, at)| check(at));
    } else if let Some(items) = at.items_if_array() {
        items.iter().for_each(check);
    } else if at.is_text() {
        text(at, &at.text());
    }
}

fn text(at: &Cursor<'_>, text: &str) {
    for (start, _) in text.match_indices("${") {
        let rest = text.part(start..);
        let end = rest.find('}').map_or(rest.len(), |end| end + 1);
        let written = rest.part(..end);
        if PLACEHOLDERS.iter().any(|known| known.text == written) {
            continue;
        }
        let near = did_you_mean(written, PLACEHOLDERS.iter().map(|known| known.text));
        let help = near.unwrap_or_else(|| "docs/compliance.md lists them".to_owned());
        let message = format!("`{}` is not a placeholder", written.escape_debug());
        at.error(Code::Value, message, help);
    }
}
