//! The vocabularies that OpenAI published with tiktoken, and how each splits text into pieces.
//!
//! Their tokens are in `vocabularies/*.tokens.zst`: compressed, since they are 5 MB and few suites
//! count tokens, and unpacked when they are first used. A test compares them with the crate
//! `tiktoken-rs` and writes them.

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use super::vocabulary::Vocabulary;
use tapewright_schemas::slices::Part as _;

/// Tokens, and the expressions that cut text before it is read as tokens.
pub(super) struct Encoding {
    vocabulary: Vocabulary,
    pieces: Regex,
}

/// GPT-2 and GPT-3, which is also called `r50k_base`.
pub(super) static GPT2: LazyLock<Option<Encoding>> = LazyLock::new(|| {
    let words = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+$";
    Encoding::new(include_bytes!("vocabularies/r50k_base.tokens.zst"), words)
});

/// GPT-4.
pub(super) static CL100K: LazyLock<Option<Encoding>> = LazyLock::new(|| {
    let words = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+$";
    Encoding::new(include_bytes!("vocabularies/cl100k_base.tokens.zst"), words)
});

/// GPT-4o and its successors.
pub(super) static O200K: LazyLock<Option<Encoding>> = LazyLock::new(|| {
    let words = [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+$",
    ];
    Encoding::new(
        include_bytes!("vocabularies/o200k_base.tokens.zst"),
        &words.join("|"),
    )
});

/// Replaces the look-ahead of the originals, `\s+(?!\S)`, in an engine without look-ahead: the last
/// character does not count.
const AHEAD: &str = r"\s+\s";

/// The most that a vocabulary unpacks to, in bytes.
const LARGEST: usize = 4 << 20;

impl Encoding {
    fn new(compressed: &[u8], words: &str) -> Option<Self> {
        let packed = zstd::bulk::decompress(compressed, LARGEST).ok()?;
        // Once per process and vocabulary: its keys live as long as the program.
        let vocabulary = Vocabulary::unpack(Vec::leak(packed))?;
        let pieces = Regex::new_many(&[words, AHEAD, r"\s+"]).ok()?;
        Some(Self { vocabulary, pieces })
    }

    /// The number of tokens of a text.
    pub(super) fn count(&self, text: &str) -> usize {
        let mut count = 0;
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, after) = self.cut(rest);
            count += self.vocabulary.count(piece.as_bytes());
            rest = after;
        }
        count
    }

    /// The first piece of a text, and the rest.
    fn cut<'t>(&self, text: &'t str) -> (&'t str, &'t str) {
        let found = self
            .pieces
            .search(&Input::new(text).anchored(Anchored::Yes));
        let end = found.map_or(text.len(), |found| {
            let last = text.part(..found.end()).chars().next_back();
            let spared = last
                .filter(|_| found.pattern().as_usize() == 1)
                .map_or(0, char::len_utf8);
            found.end() - spared
        });
        // Text that no expression matches is one piece, so that this terminates.
        text.split_at_checked(end)
            .filter(|_| end > 0)
            .unwrap_or((text, ""))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tiktoken_rs::CoreBPE;

    use super::*;

    /// Ours, its name, theirs, and how many tokens it has without the special ones, which tests/vocabularies.rs holds against theirs.
    fn all() -> [(
        &'static LazyLock<Option<Encoding>>,
        &'static str,
        &'static CoreBPE,
        usize,
    ); 3] {
        [
            (
                &GPT2,
                "r50k_base",
                tiktoken_rs::r50k_base_singleton(),
                50_256,
            ),
            (
                &CL100K,
                "cl100k_base",
                tiktoken_rs::cl100k_base_singleton(),
                100_256,
            ),
            (
                &O200K,
                "o200k_base",
                tiktoken_rs::o200k_base_singleton(),
                199_998,
            ),
        ]
    }

    #[test]
    fn every_token_is_there() {
        for (ours, name, _, count) in all() {
            assert_eq!(ours.as_ref().unwrap().vocabulary.len(), count, "{name}");
        }
    }

    fn same(text: &str) -> Result<(), TestCaseError> {
        for (ours, name, theirs, _) in all() {
            let ours = ours.as_ref().unwrap().count(text);
            prop_assert_eq!(ours, theirs.count_ordinary(text), "{}", name);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn words_are_counted_as_tiktoken_counts_them(text in r"([a-zA-Z0-9'’ß漢🙂.,;!/\-]{0,9}[ \t\r\n]{0,4}){0,12}") {
            same(&text)?;
        }

        #[test]
        fn any_text_is_counted_as_tiktoken_counts_it(text in any::<String>()) {
            same(&text)?;
        }

        #[test]
        fn long_words_are_counted_as_tiktoken_counts_them(text in r"(.)\PC{0,3}|[ab]{200,900}|[a-z]{0,2000}|( |\n){0,700}|[A-Z0-9]{500}") {
            same(&text)?;
        }
    }
}
