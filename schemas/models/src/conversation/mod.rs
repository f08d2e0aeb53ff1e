//! One neutral conversation, regardless of its wire.
//!
//! Content that this vocabulary does not cover is preserved: members in an [`Extra`], blocks as
//! [`Content::Other`]. A member that is `null` counts as absent.

mod answer;
mod block;
mod error;
mod event;
mod request;
mod usage;

pub use answer::{Answer, Finish, FinishReason, Response};
pub use block::{
    Block, Content, Extra, Input, Media, MediaKind, Source, Thinking, ToolResult, ToolUse,
};
pub use error::{ApiError, ErrorKind};
pub use event::{StreamEnd, StreamEvent};
pub use request::{Message, Request, Role, Sampling, Tool, ToolChoice, ToolSpec};
pub use usage::Usage;
