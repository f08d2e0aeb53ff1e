//! Prepares a recorded request for a live server.

use bytes::Bytes;
use tapewright_schemas::json::{self, Span};
use tapewright_schemas::order::Order as _;
use tapewright_schemas::slices::Part as _;

use super::names::Names;
use crate::json::volatile::Volatile;
use crate::json::{Tree, compact, placeholder};
use crate::script::{Script, Take};

/// The message to send for a recorded request.
pub(super) enum Prepared {
    /// A value that is needed was redacted.
    Hidden { path: String },
    /// This envelope, on one line.
    Request(Bytes),
    /// It has no id.
    Strange,
}

/// Puts the live id and the live server's names into a recorded request.
pub(super) fn prepare(script: &Script, take: &Take, id: u64, names: &Names) -> Prepared {
    let text = script.source(take.request);
    let text = compact(&text);
    let Ok(tree) = Tree::read(&text) else {
        return Prepared::Strange;
    };
    let Some(place) = tree.find(&["id"]) else {
        return Prepared::Strange;
    };
    let mut edits: Vec<(Span, Vec<u8>)> = vec![(tree.span(place), id.to_string().into_bytes())];
    if let Some(params) = tree.find(&["params"]) {
        // Depth first, with the path for messages about placeholders.
        let mut open = vec![(params, "$.params".to_owned())];
        while let Some((place, path)) = open.pop() {
            if let Some(string) = tree.string(place) {
                if let Some(live) = names.live(&string) {
                    let mut source = vec![b'"'];
                    json::escape(&String::from_utf8_lossy(live), &mut source);
                    source.push(b'"');
                    edits.push((tree.span(place), source));
                } else if is_hidden(&string) {
                    return Prepared::Hidden { path };
                }
                continue;
            }
            let members = tree.members(place);
            if members.iter().all(|(name, _)| name.is_empty()) {
                let elements = tree.children(place).enumerate();
                open.extend(elements.map(|(at, place)| (place, format!("{path}[{at}]"))));
            } else {
                open.extend(members.into_iter().map(|(name, place)| {
                    (place, format!("{path}.{}", String::from_utf8_lossy(&name)))
                }));
            }
        }
    }
    edits.order_by_key(|(span, _)| span.start);
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut at = 0;
    for (span, live) in edits {
        out.extend_from_slice(text.part(at..span.start));
        out.extend_from_slice(&live);
        at = span.end;
    }
    out.extend_from_slice(text.part(at..));
    Prepared::Request(out.into())
}

/// Whether a text contains a placeholder of a recorder.
pub(super) fn is_hidden(text: &[u8]) -> bool {
    placeholder::is_likely(text) && !placeholder::find(text).is_empty()
        || Volatile::of_placeholder(text).is_some()
}
