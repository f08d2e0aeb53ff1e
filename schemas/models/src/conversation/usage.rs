//! Tokens.

use super::Extra;

/// The tokens of one exchange, counted in the same way for every wire; a count that was not
/// reported is `None`, never zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// All tokens that the model read, those from a cache and those written to one included.
    pub input: Option<u64>,
    /// All tokens that it made, its thoughts included.
    pub output: Option<u64>,
    /// The part of `input` that came from a cache.
    pub cache_read: Option<u64>,
    /// The part of `input` that was written to a cache.
    pub cache_write: Option<u64>,
    /// The part of `output` that was thoughts.
    pub reasoning: Option<u64>,
    /// All other members about tokens.
    pub more: Extra,
}

impl Usage {
    /// All tokens, if both sides are known.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        Some(self.input?.saturating_add(self.output?))
    }

    /// Takes over the values of a later report for the same exchange.
    pub(crate) fn update(&mut self, later: Self) {
        let Self {
            input,
            output,
            cache_read,
            cache_write,
            reasoning,
            more,
        } = later;
        for (mine, newer) in [
            (&mut self.input, input),
            (&mut self.output, output),
            (&mut self.cache_read, cache_read),
            (&mut self.cache_write, cache_write),
            (&mut self.reasoning, reasoning),
        ] {
            if newer.is_some() {
                *mine = newer;
            }
        }
        self.more.extend(more);
    }
}
