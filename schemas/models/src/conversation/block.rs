//! The parts of a message.

use serde_json::{Map, Value};

/// Members that this vocabulary has no word for, under the names that the wire gave them.
pub type Extra = Map<String, Value>;

/// One part of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its content.
    pub content: Content,
    /// Further members of it: `cache_control`, `citations`, `thoughtSignature`, …
    pub more: Extra,
}

/// The content of a block.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// A model's explanation of why it refuses to answer.
    Refusal(String),
    /// An image, a document, a sound.
    Media(Media),
    /// Structured data: a tool's result, if the wire supports it.
    Json(Value),
    /// A model asks for a tool.
    ToolUse(ToolUse),
    /// The result of a tool use.
    ToolResult(ToolResult),
    /// A model's thoughts before its answer.
    Thinking(Thinking),
    /// Anything else, unchanged: for example a tool that a provider ran itself.
    Other(Value),
}

/// A model asks for a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolUse {
    /// The id that the result refers to; Gemini often has none.
    pub id: Option<String>,
    /// The name of the tool, as declared.
    pub name: String,
    /// Its arguments.
    pub input: Input,
}

impl ToolUse {
    /// The arguments as JSON; if there were none, an empty object. `None` if they are not JSON, for
    /// example because a turn was cut off at its limit.
    #[must_use]
    pub fn arguments(&self) -> Option<Value> {
        match &self.input {
            Input::Json(value) => Some(value.clone()),
            Input::Text(text) if text.trim().is_empty() => Some(Value::Object(Map::new())),
            Input::Text(_) => None,
        }
    }
}

/// Arguments of a tool use.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// Valid JSON.
    Json(Value),
    /// Anything else: an empty text, or text that is not JSON.
    Text(String),
}

impl Input {
    /// From a wire that carries arguments as text.
    #[must_use]
    pub fn of_text(text: String) -> Self {
        serde_json::from_str(&text).map_or(Self::Text(text), Self::Json)
    }

    /// As text, for such a wire.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::Json(value) => value.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// The outcome of a tool use.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The tool use that it belongs to.
    pub id: Option<String>,
    /// The name of the tool, if the wire has it: Gemini does.
    pub name: Option<String>,
    /// Whether the tool failed. Chat Completions and Responses cannot represent it.
    pub is_error: bool,
    /// Its content.
    pub content: Vec<Block>,
}

/// A model's thoughts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thinking {
    /// The thought, or its summary; empty if the provider does not return it.
    pub text: String,
    /// Opaque data that must be returned to the provider: a signature, or encrypted content.
    pub signature: Option<String>,
    /// Whether the provider hid the text, so that only the signature is available.
    pub is_redacted: bool,
}

/// An image, a document, a sound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// Its kind.
    pub kind: MediaKind,
    /// Its media type, if given.
    pub mime: Option<String>,
    /// Its source.
    pub source: Source,
}

/// Kinds of media that wires distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    /// A picture.
    Image,
    /// A text, a PDF, any other file.
    Document,
    /// A sound.
    Audio,
    /// A film.
    Video,
}

impl MediaKind {
    /// The kind for a media type.
    #[must_use]
    pub fn of_mime(mime: &str) -> Self {
        match mime.split('/').next() {
            Some("image") => Self::Image,
            Some("audio") => Self::Audio,
            Some("video") => Self::Video,
            _ => Self::Document,
        }
    }
}

/// The source of a medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// In the message, as Base64.
    Base64(String),
    /// In the message, as text.
    Text(String),
    /// A URL.
    Url(String),
    /// Stored by the provider, with this name.
    File(String),
}

impl Block {
    /// A block without further members.
    #[must_use]
    pub fn new(content: Content) -> Self {
        Self {
            content,
            more: Extra::new(),
        }
    }

    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Content::Text(text.into()))
    }

    /// Its text, if it is only text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The tool use, if it is one.
    #[must_use]
    pub fn as_tool_use(&self) -> Option<&ToolUse> {
        match &self.content {
            Content::ToolUse(found) => Some(found),
            _ => None,
        }
    }

    pub(crate) fn is_result(&self) -> bool {
        matches!(self.content, Content::ToolResult(_))
    }
}
