//! The positions of secrets in the original text, even if a later pass found them.

use std::ops::Range;

use super::Finding;
use super::edits::Edit;
use crate::json::Span;

/// Follows replacements through several readings.
#[derive(Debug, Default)]
pub(super) struct Origins {
    found: Vec<(Range<usize>, &'static str)>,
    // The positions of the placeholders of the last pass, and of the text that they replace.
    pieces: Vec<(Range<usize>, Range<usize>)>,
    // The same for the current pass.
    fresh: Vec<(Range<usize>, Range<usize>)>,
}

impl Origins {
    /// An edit of the text of this pass, and the position of its placeholder.
    pub(super) fn replaced(&mut self, edit: &Edit, placeholder: Range<usize>) {
        let origin = self.origin(edit.start, true)..self.origin(edit.end, false);
        self.fresh.push((placeholder, origin.clone()));
        self.found.push((origin, edit.kind));
    }

    /// The next edits are of the text that resulted from the last ones.
    pub(super) fn next_round(&mut self) {
        let fresh = std::mem::take(&mut self.fresh);
        let old = std::mem::take(&mut self.pieces);
        // Placeholders that were not changed are still there.
        let mut pieces: Vec<_> = old
            .into_iter()
            .filter(|(_, origin)| !fresh.iter().any(|(_, other)| overlap(origin, other)))
            .collect();
        pieces.extend(fresh);
        pieces.sort_by_key(|(_, origin)| origin.start);
        // Positions follow from the origins: between placeholders every byte is unchanged.
        let (mut at, mut read) = (0, 0);
        for (place, origin) in &mut pieces {
            let start = at + origin.start.saturating_sub(read);
            let length = place.len();
            *place = start..start + length;
            at = start + length;
            read = origin.end;
        }
        self.pieces = pieces;
    }

    /// All findings; those that a later pass joined are one.
    pub(super) fn into_findings(self) -> Vec<Finding> {
        let mut found = self.found;
        found.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
        let mut merged: Vec<(Range<usize>, &'static str)> = Vec::new();
        for (span, kind) in found {
            match merged.last_mut() {
                Some((last, _)) if span.start < last.end => last.end = last.end.max(span.end),
                _ => merged.push((span, kind)),
            }
        }
        merged
            .into_iter()
            .map(|(Range { start, end }, kind)| Finding {
                span: Span { start, end },
                kind: kind.to_owned(),
            })
            .collect()
    }

    /// Converts a position in the text of this pass to one in the original text.
    fn origin(&self, at: usize, is_start: bool) -> usize {
        let (mut text, mut origin) = (0, 0);
        for (place, from) in &self.pieces {
            if at < place.start || (is_start && at == place.start && place.is_empty()) {
                break;
            }
            if at < place.end {
                // Inside a placeholder, or at its start.
                return match (is_start, at == place.start) {
                    (false, true) | (true, _) => from.start,
                    (false, false) => from.end,
                };
            }
            text = place.end;
            origin = from.end;
        }
        origin + (at - text)
    }
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}
