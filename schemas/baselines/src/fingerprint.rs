//! A digest for the shape of all exchanges, and the distance between two of them.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use crate::file::Exchange;
use tapewright_models::slices::Part as _;

/// How the fingerprints of two captures compare.
#[derive(Clone, Debug, PartialEq)]
pub struct Fingerprint {
    /// That of the baseline, in hexadecimal digits.
    pub baseline: String,
    /// That of the candidate.
    pub candidate: String,
    /// Whether the tools, in order, differ.
    pub tool_sequence_changed: bool,
    /// Whether the finish reasons, in order, differ.
    pub finish_reasons_changed: bool,
    /// From 0 for equal to 1: the mean of the normalized edit distances of tools and of reasons;
    /// 0.1 if both are 0 but the digests differ.
    pub distance: f64,
}

impl Fingerprint {
    /// Whether both are the same.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.baseline == self.candidate
    }

    /// Compares exchanges, each in the order of their ids.
    pub(crate) fn of(baseline: &[&Exchange], candidate: &[&Exchange]) -> Self {
        let mut names = Names::default();
        let (tools, ends) = sequences(baseline, &mut names);
        let (new_tools, new_ends) = sequences(candidate, &mut names);
        let (baseline, candidate) = (digest_of(baseline), digest_of(candidate));
        let mean = f64::midpoint(normalized(&tools, &new_tools), normalized(&ends, &new_ends));
        let is_far = mean > 0.0 || baseline == candidate;
        Self {
            tool_sequence_changed: tools != new_tools,
            finish_reasons_changed: ends != new_ends,
            distance: if is_far { mean } else { ONLY_DIGESTS },
            baseline,
            candidate,
        }
    }
}

/// The tools of exchanges as numbers, and how they ended.
fn sequences<'e>(exchanges: &[&'e Exchange], names: &mut Names<'e>) -> (Vec<u32>, Vec<u32>) {
    let (mut tools, mut ends) = (Vec::new(), Vec::new());
    for Exchange { answer, .. } in exchanges {
        let calls = answer.tool_calls.iter();
        tools.extend(calls.map(|call| names.number(&call.name)));
        ends.push(answer.finish_reason as u32);
    }
    (tools, ends)
}

/// The distance where only the digests differ.
const ONLY_DIGESTS: f64 = 0.1;

/// The digest of exchanges in the order of their ids: of their ids, how they ended, and the
/// tools with the names of their arguments.
#[must_use]
pub fn digest(exchanges: &[Exchange]) -> String {
    digest_of(&exchanges.iter().collect::<Vec<_>>())
}

fn digest_of(exchanges: &[&Exchange]) -> String {
    let mut hash = Sha256::new();
    for Exchange { id, answer, .. } in exchanges {
        hash.update("exchange:");
        hash.update(id);
        hash.update("|finish:");
        hash.update(answer.finish_reason.name());
        for call in &answer.tool_calls {
            hash.update("|tool:");
            hash.update(&call.name);
            hash.update("|args:");
            let members = call.arguments.as_object();
            let mut names: Vec<&String> = members.into_iter().flat_map(|map| map.keys()).collect();
            names.sort_unstable();
            for name in names {
                hash.update(name);
                hash.update(",");
            }
        }
    }
    crate::config::hex(&hash.finalize())
}

/// Numbers for names.
#[derive(Default)]
struct Names<'n>(HashMap<&'n str, u32>);

impl<'n> Names<'n> {
    fn number(&mut self, name: &'n str) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry(name).or_insert(next)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a share of counts far below 2^52"
)]
fn normalized(one: &[u32], other: &[u32]) -> f64 {
    match one.len().max(other.len()) {
        0 => 0.0,
        longest => edit_distance(one, other) as f64 / longest as f64,
    }
}

/// The maximum length of sequences that are compared at once: the time is proportional to the
/// product of the lengths.
const AT_ONCE: usize = 1 << 17;

/// The number of insertions, deletions and replacements that turn one sequence into the other. Very
/// long sequences are compared in parts, which may yield a higher count.
fn edit_distance(one: &[u32], other: &[u32]) -> usize {
    let same = one
        .iter()
        .zip(other)
        .take_while(|(one, other)| one == other);
    let same = same.count();
    let (one, other) = (one.part(same..), other.part(same..));
    let pairs = one.iter().rev().zip(other.iter().rev());
    let tail = pairs.take_while(|(one, other)| one == other).count();
    let one = one.part(..one.len() - tail);
    let other = other.part(..other.len() - tail);
    let parts = one.len().max(other.len()).div_ceil(AT_ONCE);
    let part = |list: &[u32], at: usize| {
        let part = list.chunks(AT_ONCE).nth(at);
        part.unwrap_or_default().to_vec()
    };
    let each = (0..parts).map(|at| blocks(&part(one, at), &part(other, at)));
    each.sum()
}

/// Myers' bit-vector algorithm in Hyyrö's form for any length ("A Bit-Vector Algorithm for
/// Computing Levenshtein and Damerau Edit Distances", 2003): one column of the matrix at a time, 64
/// rows in a word.
fn blocks(pattern: &[u32], text: &[u32]) -> usize {
    let Some(last) = pattern.len().checked_sub(1) else {
        return text.len();
    };
    let words = pattern.len().div_ceil(64);
    let mut places: HashMap<u32, Vec<u64>> = HashMap::new();
    for (at, symbol) in pattern.iter().enumerate() {
        let words = places.entry(*symbol).or_insert_with(|| vec![0; words]);
        if let Some(word) = words.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }
    let (nowhere, last) = (vec![0; words], 1_u64 << (last % 64));
    let mut column = vec![Rows::START; words];
    let mut score = pattern.len();
    for symbol in text {
        let matches = places.get(symbol).unwrap_or(&nowhere);
        let mut carry = Rows { more: 1, less: 0 };
        let mut step = Rows { more: 0, less: 0 };
        for (rows, found) in column.iter_mut().zip(matches) {
            (carry, step) = rows.step(*found, carry);
        }
        // For the last row of the matrix.
        score += usize::from(step.more & last != 0);
        score -= usize::from(step.less & last != 0);
    }
    score
}

/// How 64 rows of a column differ from the rows above, or from the column before: by plus or minus
/// one.
#[derive(Clone, Copy)]
struct Rows {
    more: u64,
    less: u64,
}

impl Rows {
    const START: Self = Self {
        more: u64::MAX,
        less: 0,
    };

    /// Computes the next column. Returns the carry into the rows below, and how these rows differ
    /// from the column before.
    fn step(&mut self, found: u64, carry: Self) -> (Self, Self) {
        let found = found | carry.less;
        let along = (found & self.more).wrapping_add(self.more) ^ self.more;
        let same = along | found | self.less;
        let more = self.less | !(same | self.more);
        let less = same & self.more;
        let (up, down) = ((more << 1) | carry.more, (less << 1) | carry.less);
        self.more = down | !(same | up);
        self.less = up & same;
        let carried = Self {
            more: more >> 63,
            less: less >> 63,
        };
        (carried, Self { more, less })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The textbook's matrix.
    fn plain(one: &[u32], other: &[u32]) -> usize {
        let mut row: Vec<usize> = (0..=other.len()).collect();
        for (at, symbol) in one.iter().enumerate() {
            let mut next = vec![at + 1];
            for (column, (with, above)) in other.iter().zip(row.windows(2)).enumerate() {
                let replaced = above[0] + usize::from(symbol != with);
                next.push(replaced.min(above[1] + 1).min(next[column] + 1));
            }
            row = next;
        }
        row[other.len()]
    }

    proptest! {
        #[test]
        fn the_distance_is_that_of_the_textbook(
            one in prop::collection::vec(0_u32..4, 0..200),
            other in prop::collection::vec(0_u32..4, 0..200),
        ) {
            prop_assert_eq!(edit_distance(&one, &other), plain(&one, &other));
        }
    }
}
