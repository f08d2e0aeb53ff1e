//! The targets of recorded requests: tools, prompts and resources.

use tapewright_schemas::json as text;

use super::search::member;
use crate::index::{Index, method_key};
use crate::json::placeholder;
use crate::script::MethodId;

/// The recorded requests of one method, seen from one target.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// Those with this target, in recorded order.
    pub(super) same: Vec<u32>,
    /// Other targets, without repetition, in recorded order.
    pub(super) others: Vec<String>,
    /// It is certain that no request has this target.
    pub(super) none: bool,
}

/// The maximum number of recorded requests examined, so that a miss is answered immediately.
const LOOKED_AT: usize = 20_000;
/// The maximum number of other targets that are reported.
const TOLD: usize = 8;
/// The maximum length of a reported target, in characters.
const LONGEST: usize = 120;

impl Named {
    /// Looks for a redacted target among the recorded requests of a method. At most `limit`
    /// requests with this target are collected.
    pub(super) fn look(index: &Index, method: MethodId, wanted: &str, limit: usize) -> Self {
        let mut named = Self::default();
        let mut certain = !placeholder::is_likely(wanted.as_bytes());
        let mut looked_at = 0;
        let first = index.by_method.first(method_key(method, None));
        for ordinal in index.by_method.from(first) {
            looked_at += 1;
            if looked_at > LOOKED_AT {
                certain = false;
                break;
            }
            let Some(name) = recorded_name(index, ordinal, "name") else {
                continue;
            };
            // A redacted value may be the same.
            certain &= !placeholder::is_likely(name.as_bytes());
            if name == wanted {
                named.same.push(ordinal);
                if named.same.len() == limit {
                    break;
                }
                continue;
            }
            let name = short(&name);
            if named.others.len() < TOLD && !named.others.contains(&name) {
                named.others.push(name);
            }
        }
        named.none = certain && named.same.is_empty();
        named
    }
}

/// The target of a request, if its method has one: a tool, a prompt, a URI.
pub(super) fn target(params: Option<&[u8]>) -> Option<String> {
    text_of(params, "name").or_else(|| text_of(params, "uri"))
}

/// Like [`target`], for a recorded request, redacted.
pub(super) fn recorded_target(index: &Index, ordinal: u32) -> Option<String> {
    recorded_name(index, ordinal, "name").or_else(|| recorded_name(index, ordinal, "uri"))
}

/// The text of a member of parameters.
pub(super) fn text_of(params: Option<&[u8]>, name: &str) -> Option<String> {
    let [b'"', content @ .., b'"'] = member(params, name)? else {
        return None;
    };
    let mut meaning = Vec::new();
    text::unescape(content, &mut meaning);
    Some(String::from_utf8_lossy(&meaning).into_owned())
}

/// A target, shortened for display.
pub(super) fn short(name: &str) -> String {
    name.chars().take(LONGEST).collect()
}

fn recorded_name(index: &Index, ordinal: u32, name: &str) -> Option<String> {
    let take = index.script.take(ordinal as usize)?;
    let params = index.redacted_params(ordinal, &take)?;
    text_of(Some(&params), name)
}
