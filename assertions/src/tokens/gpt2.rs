//! The tokenizer of GPT-2 and GPT-3, which is also called `r50k_base`.

use std::sync::LazyLock;

use bpe_openai::Tokenizer;
use bpe_openai::byte_pair_encoding::BytePairEncoding;

/// How many tokens stand for bytes; behind them is only the end of a text.
const TOKENS: u32 = 50_256;

/// Keeps hashes of these tokens apart; found by trying, and the test tries it again.
const HASH_FACTOR: u64 = 17_846_336_922_010_275_747;

/// Made at the first use: tiktoken brings the vocabulary, and counting takes time in
/// proportion to the text, which tiktoken's own does not promise.
static TOKENIZER: LazyLock<Option<Tokenizer>> = LazyLock::new(|| {
    let vocabulary = tiktoken_rs::r50k_base().ok()?;
    let tokens: Option<Vec<Vec<u8>>> = (0..TOKENS)
        .map(|token| vocabulary.decode_bytes(&[token]).ok())
        .collect();
    let bpe = BytePairEncoding::from_dictionary(tokens?, Some(HASH_FACTOR));
    // The look-ahead of the original, `\s+(?!\S)`, is a last character that does not count.
    let words = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+$";
    let patterns = [(words, false), (r"\s+\s", true), (r"\s+", false)];
    Tokenizer::new_lookahead(bpe, &patterns, false).ok()
});

/// How many tokens a text has.
pub(super) fn count(text: &str) -> usize {
    match &*TOKENIZER {
        Some(tokenizer) => tokenizer.count(text),
        // What is built in can be read, as the test shows; a byte is at most a token.
        None => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::count;

    #[test]
    fn it_is_there_and_counts_words() {
        assert!(super::TOKENIZER.is_some());
        assert_eq!(count("hello world"), 2);
        assert_eq!(count(""), 0);
        // GPT-2 knows no runs of spaces, unlike its successors.
        assert_eq!(count("        x"), 8);
    }

    proptest! {
        #[test]
        fn it_counts_as_tiktoken_does(text in r"([a-zA-Z0-9'’ß漢🙂.,;!\-]{0,9}[ \t\r\n]{0,4}){0,12}") {
            let original = tiktoken_rs::r50k_base_singleton();
            prop_assert_eq!(count(&text), original.count_ordinary(&text));
        }

        #[test]
        fn it_counts_any_text_as_tiktoken_does(text in any::<String>()) {
            let original = tiktoken_rs::r50k_base_singleton();
            prop_assert_eq!(count(&text), original.count_ordinary(&text));
        }
    }
}
