//! The number of tokens of an answer for a model.

mod published;
mod vocabulary;

use std::sync::LazyLock;

use self::published::Encoding;
use crate::json::Json;

/// How text is split into tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tokenizer {
    /// For GPT-4, and an estimate for models whose own is not published.
    #[default]
    Cl100k,
    /// For GPT-2 and GPT-3.
    Gpt2,
    /// For GPT-4o and its successors.
    O200k,
    /// Words between white space.
    Whitespace,
}

impl Tokenizer {
    /// The names that a suite may use.
    pub(crate) const NAMES: [&str; 5] =
        ["cl100k_base", "o200k_base", "gpt2", "claude", "whitespace"];

    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "cl100k_base" | "claude" => Some(Self::Cl100k),
            "gpt2" => Some(Self::Gpt2),
            "o200k_base" => Some(Self::O200k),
            "whitespace" => Some(Self::Whitespace),
            _ => None,
        }
    }

    fn count(self, text: &str) -> u64 {
        let count = match self {
            Self::Cl100k => with(&published::CL100K, text),
            Self::Gpt2 => with(&published::GPT2, text),
            Self::O200k => with(&published::O200K, text),
            Self::Whitespace => text.split_whitespace().count(),
        };
        count as u64
    }
}

fn with(encoding: &LazyLock<Option<Encoding>>, text: &str) -> usize {
    match &**encoding {
        Some(encoding) => encoding.count(text),
        // Embedded data can be read, as a test shows; a byte is at most a token.
        None => text.len(),
    }
}

/// The tokens of the content blocks of a result: text by the tokenizer, an image by its flat price,
/// and a resource by its text, if it is text. Anything else counts as one.
pub(crate) fn count(envelope: &Json, tokenizer: Tokenizer, image: u64) -> u64 {
    let content = envelope
        .get("result")
        .and_then(|result| result.get("content"));
    let blocks = content.and_then(Json::as_array).unwrap_or_default();
    blocks
        .iter()
        .map(|block| block_tokens(block, tokenizer, image))
        .fold(0, u64::saturating_add)
}

fn block_tokens(block: &Json, tokenizer: Tokenizer, image: u64) -> u64 {
    let text = |value: &Json, name: &str| value.get(name).and_then(Json::as_str).map(str::to_owned);
    match text(block, "type").as_deref() {
        Some("text") => text(block, "text").map_or(1, |text| tokenizer.count(&text)),
        Some("image") => image,
        Some("resource") => {
            let Some(resource) = block.get("resource") else {
                return 1;
            };
            let is_text = text(resource, "mimeType").is_none_or(|mime| is_text(&mime));
            match text(resource, "text") {
                Some(text) if is_text => tokenizer.count(&text),
                _ => 0,
            }
        }
        _ => 1,
    }
}

fn is_text(mime: &str) -> bool {
    let essence = mime.split(';').next().unwrap_or_default().trim();
    essence.starts_with("text/")
        || essence.ends_with("+json")
        || essence == "application/json"
        || essence == "application/xml"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(content: &str, tokenizer: Tokenizer) -> u64 {
        let text = format!(r#"{{"result":{{"content":{content}}}}}"#);
        count(&Json::read(text.as_bytes()).unwrap(), tokenizer, 1000)
    }

    #[test]
    fn each_kind_of_block_counts() {
        let words = Tokenizer::Whitespace;
        assert_eq!(tokens(r#"[{"type":"text","text":"a b  c"}]"#, words), 3);
        assert_eq!(tokens(r#"[{"type":"image","data":"x"}]"#, words), 1000);
        assert_eq!(
            tokens(r#"[{"type":"resource","resource":{"text":"a b"}}]"#, words),
            2
        );
        assert_eq!(
            tokens(
                r#"[{"type":"resource","resource":{"blob":"a b","mimeType":"image/png"}}]"#,
                words
            ),
            0
        );
        assert_eq!(tokens(r#"[{"type":"audio"},{}]"#, words), 2);
        assert_eq!(tokens("null", words), 0);
    }

    #[test]
    fn text_is_cut_as_the_models_cut_it() {
        let block = r#"[{"type":"text","text":"hello world"}]"#;
        assert_eq!(tokens(block, Tokenizer::Cl100k), 2);
        assert_eq!(tokens(block, Tokenizer::O200k), 2);
        assert_eq!(tokens(block, Tokenizer::Gpt2), 2);
        // GPT-2 has no tokens for runs of spaces, unlike its successors.
        let spaces = r#"[{"type":"text","text":"        x"}]"#;
        assert_eq!(tokens(spaces, Tokenizer::Gpt2), 8);
        assert_eq!(tokens(spaces, Tokenizer::Cl100k), 2);
    }
}
