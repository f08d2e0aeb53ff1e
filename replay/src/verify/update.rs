//! Updates a cassette: replaces answers that have drifted by the live server's.

use tapewright_schemas::cassette::{in_lines, is_listing};
use tapewright_schemas::json::{self, Span};
use tapewright_schemas::order::Order as _;
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::slices::Part as _;

use super::Findings;
use crate::script::Script;

/// Why a recording cannot be updated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// It is a tape, which records what happened, or a capture, which is made from a tape.
    #[error("only a cassette can be updated, not a {kind}")]
    NotACassette {
        /// The kind of file.
        kind: &'static str,
    },
}

impl Findings {
    /// The number of answers that would be replaced.
    #[must_use]
    pub fn replaced(&self) -> usize {
        self.fresh.len()
    }

    /// The text of the cassette with every answer that has drifted replaced by the live one,
    /// redacted, under the recorded id. All other text is unchanged.
    pub fn updated(&self, script: &Script) -> Result<Vec<u8>, UpdateError> {
        can_update(script)?;
        let mut edits: Vec<(Span, Vec<u8>)> = Vec::new();
        for (ordinal, live) in &self.fresh {
            let take = script.take(*ordinal);
            let Some((take, response)) =
                take.and_then(|take| take.response.map(|response| (take, response)))
            else {
                continue;
            };
            let id = response.id.or(take.id).map(|span| script.source(span));
            let mut answer = with_id(live, id.as_deref());
            let method = String::from_utf8_lossy(script.method_name(take.method));
            if is_listing(&method) {
                answer = in_lines(&answer).into_owned();
            }
            edits.push((response.span, answer));
        }
        edits.order_by_key(|(span, _)| span.start);
        let text = script.text.whole();
        let mut out = Vec::with_capacity(text.len());
        let mut at = 0;
        for (span, live) in edits {
            out.extend_from_slice(text.part(at..span.start));
            out.extend_from_slice(&live);
            at = span.end;
        }
        out.extend_from_slice(text.part(at..));
        // White space around the text was dropped on loading.
        out.push(b'\n');
        Ok(out)
    }
}

/// Checks that this kind of recording can be updated.
pub(crate) fn can_update(script: &Script) -> Result<(), UpdateError> {
    match script.kind {
        FileKind::Cassette => Ok(()),
        kind => Err(UpdateError::NotACassette { kind: kind.name() }),
    }
}

/// A live answer under the recorded id.
fn with_id(live: &[u8], id: Option<&[u8]>) -> Vec<u8> {
    let place = json::find(live, &["id"]);
    let (Some(place), Some(id)) = (place, id) else {
        return live.to_vec();
    };
    let Some(start) = (place.as_ptr() as usize).checked_sub(live.as_ptr() as usize) else {
        return live.to_vec();
    };
    let before = live.part(..start);
    let after = live.part(start + place.len()..);
    [before, id, after].concat()
}
