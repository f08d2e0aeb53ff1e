//! Which recorded request another one is.
//!
//! A key holds what decides on the answer: wire, model, instructions, messages, tools, tool
//! choice and parameters. It does not hold headers, whether a stream is wanted, whom the
//! request is accounted to, where caches begin, signatures, or generated ids: the ids of tool
//! uses are numbered in the order in which they first appear.

mod canon;
mod differ;

use serde_json::Value;
use tapewright_schemas::volatile::mask;

pub use differ::Difference;

use crate::conversation::Request;

/// The key of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    value: Value,
    text: String,
}

impl Key {
    /// The key of a request.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        let value = canon::of(request);
        let text = value.to_string();
        Self { value, text }
    }

    /// The key as JSON, always the same text for the same key: equal texts are equal keys.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text with a placeholder for every UUID and every time with a date: for what is
    /// new in every session, once exactness has been tried.
    #[must_use]
    pub fn masked(&self) -> String {
        let mut out = Vec::with_capacity(self.text.len());
        mask(self.text.as_bytes(), &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// The first part in which this request differs from a recorded one; `None` where they
    /// are the same.
    #[must_use]
    pub fn difference(&self, recorded: &Self) -> Option<Difference> {
        differ::first(&recorded.value, &self.value)
    }

    /// The recorded request that is nearest, and the first part in which this one differs
    /// from it: that on the same wire and to the same model whose beginning is the longest
    /// that both share.
    pub fn nearest<'k>(
        &self,
        recorded: impl IntoIterator<Item = &'k Self>,
    ) -> Option<(usize, Option<Difference>)> {
        let mut best: Option<((bool, bool, usize), usize, &Self)> = None;
        for (at, key) in recorded.into_iter().enumerate() {
            let nearness = self.nearness(key);
            if best.as_ref().is_none_or(|(known, ..)| nearness > *known) {
                best = Some((nearness, at, key));
            }
        }
        best.map(|(_, at, key)| (at, self.difference(key)))
    }

    fn nearness(&self, other: &Self) -> (bool, bool, usize) {
        let is_same = |name: &str| self.value.get(name) == other.value.get(name);
        let pairs = self.text.bytes().zip(other.text.bytes());
        let shared = pairs.take_while(|(one, other)| one == other).count();
        (is_same("wire"), is_same("model"), shared)
    }
}

#[cfg(test)]
mod tests;
