//! Messages as plain text for the trace.

use tapewright_models::conversation::{Block, Content, MediaKind};

/// The text of blocks; other blocks are named in brackets.
pub(crate) fn of_blocks(blocks: &[Block]) -> String {
    let texts: Vec<String> = blocks.iter().filter_map(of_block).collect();
    texts.join("\n")
}

fn of_block(block: &Block) -> Option<String> {
    match &block.content {
        Content::Text(text) | Content::Refusal(text) => Some(text.clone()),
        Content::Json(value) => Some(value.to_string()),
        Content::Media(media) => {
            let kind = match media.kind {
                MediaKind::Image => "image",
                MediaKind::Document => "document",
                MediaKind::Audio => "audio",
                MediaKind::Video => "video",
            };
            Some(format!("[{kind}]"))
        }
        Content::ToolResult(result) => Some(of_blocks(&result.content)),
        Content::ToolUse(_) | Content::Thinking(_) | Content::Other(_) => None,
    }
}
