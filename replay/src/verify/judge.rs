//! Decides whether two answers to one request are equal.

use bytes::Bytes;
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::redact::Redactor;

use crate::json::{Comparison, Difference, Ignore, Tree, compare, shown};
use crate::options::MatchMode;

/// The maximum number of differences that are reported for one answer.
const DIFFERENCES: usize = 100;

/// How answers are compared.
pub(crate) fn comparison(mode: MatchMode, ignore: &Ignore) -> Comparison<'_> {
    Comparison {
        mode,
        ignore,
        aliases: None,
        skip_incidental: true,
        limit: DIFFERENCES,
    }
}

/// The differences between a recorded answer and a live one. Both are redacted first, so the
/// differences contain no secrets.
pub(crate) fn compared(
    recorded: &[u8],
    live: &[u8],
    comparison: &Comparison<'_>,
    redactor: &mut Redactor,
) -> Vec<Difference> {
    let recorded = redacted(recorded, redactor);
    let live = redacted(live, redactor);
    let (root, ours, theirs) = match (part(&recorded), part(&live)) {
        ((one, ours), (other, theirs)) if one == other => (one, ours, theirs),
        ((_, ours), (_, theirs)) => {
            return vec![Difference {
                path: "$".to_owned(),
                recorded: Some(shown(ours)),
                live: Some(shown(theirs)),
                redacted: false,
            }];
        }
    };
    let found = compare(ours, theirs, root, comparison);
    let unread = || Tree::read(ours).is_err() || Tree::read(theirs).is_err();
    if found.is_empty() && ours != theirs && unread() {
        return vec![Difference {
            path: format!("$.{root}"),
            recorded: Some(shown(ours)),
            live: Some(shown(theirs)),
            redacted: false,
        }];
    }
    found
}

/// A message without its secrets.
pub(crate) fn redacted(message: &[u8], redactor: &mut Redactor) -> Bytes {
    match redactor.json(message) {
        Ok(text) => Bytes::copy_from_slice(&text),
        Err(_) => Bytes::copy_from_slice(&redactor.text(message)),
    }
}

/// The result or error of an answer, with the name of the member.
fn part(message: &[u8]) -> (&'static str, &[u8]) {
    match Envelope::parse(message).kind {
        Kind::Response {
            result: Some(result),
            error: None,
            ..
        } => ("result", result),
        Kind::Response {
            error: Some(error), ..
        } => ("error", error),
        _ => ("message", message),
    }
}
