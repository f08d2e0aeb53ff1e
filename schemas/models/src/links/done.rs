//! The tool calls of MCP on a recording.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::Value;
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::{Direction, Event, EventBody};
use tapewright_schemas::json::valid_member;
use tapewright_schemas::order::Order as _;

/// A `tools/call` that a client sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// The tape, in the order in which tapes were taken.
    pub part: usize,
    /// Its number on that tape.
    pub seq: u64,
    /// The label of the server.
    pub server: String,
    /// The tool.
    pub tool: String,
    pub(super) at_us: u64,
    pub(super) arguments: Option<u64>,
    // The texts of `_meta` that may be the id of a tool use.
    pub(super) marks: Vec<String>,
}

const METHOD: &[u8] = b"tools/call";
/// The maximum number of texts of `_meta`, the maximum length of each in bytes, and how deep they
/// are searched for.
const MARKS: usize = 32;
const MARK_BYTES: usize = 256;
const DEPTH: usize = 4;

/// Whether a parsed message is a tool call; `None` for a batch, which needs a closer look.
pub(super) fn is_call(event: &Event, message: &Envelope<'_>) -> Option<bool> {
    let named = |params| valid_member(params, "name").is_some_and(|name| name.starts_with(b"\""));
    match &message.kind {
        Kind::Batch { .. } => None,
        Kind::Request { method, params, .. } => Some(
            event.dir == Direction::ToServer
                && method.as_bytes() == METHOD
                && !event.is_made_by_us()
                && params.is_some_and(named),
        ),
        _ => Some(false),
    }
}

/// The calls that an event is; several in a batch.
pub(super) fn calls(event: &Event) -> Vec<ToolCall> {
    let EventBody::Message { payload, .. } = &event.body else {
        return Vec::new();
    };
    let text = payload.kept();
    if event.dir != Direction::ToServer || event.is_made_by_us() || !holds(text) {
        return Vec::new();
    }
    let Ok(value) = serde_json::from_slice::<Value>(text) else {
        return Vec::new();
    };
    let messages = match &value {
        Value::Array(messages) => messages.as_slice(),
        one => std::slice::from_ref(one),
    };
    messages
        .iter()
        .filter_map(|message| call(message, event.seq))
        .collect()
}

fn holds(text: &[u8]) -> bool {
    // The slash may be escaped.
    let mut words = text.windows(METHOD.len());
    words.any(|word| word == METHOD) || text.windows(7).any(|word| word == br"tools\/")
}

fn call(message: &Value, seq: u64) -> Option<ToolCall> {
    let method = message.get("method")?.as_str()?;
    let params = message.get("params")?;
    if method.as_bytes() != METHOD || message.get("id").is_none() {
        return None;
    }
    let mut marks = Vec::new();
    if let Some(meta) = params.get("_meta") {
        texts(meta, 0, &mut marks);
    }
    let none = Value::Object(serde_json::Map::new());
    Some(ToolCall {
        seq,
        tool: params.get("name")?.as_str()?.to_owned(),
        arguments: Some(digest(params.get("arguments").unwrap_or(&none))),
        marks,
        ..ToolCall::default()
    })
}

fn texts(value: &Value, depth: usize, out: &mut Vec<String>) {
    if out.len() >= MARKS || depth > DEPTH {
        return;
    }
    match value {
        Value::String(text) if text.len() <= MARK_BYTES => out.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| texts(value, depth + 1, out)),
        Value::Object(map) => map.values().for_each(|value| texts(value, depth + 1, out)),
        _ => {}
    }
}

/// A hash that is equal for arguments with the same meaning: it ignores the order of members, how a
/// number is written, and the number of a placeholder, which differs between tapes.
pub(crate) fn digest(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    add(value, &mut hasher);
    hasher.finish()
}

fn add(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Null => 0_u8.hash(hasher),
        Value::Bool(is) => (1_u8, is).hash(hasher),
        Value::Number(number) => (2_u8, number.as_f64().map(f64::to_bits)).hash(hasher),
        Value::String(text) => (3_u8, without_numbers(text)).hash(hasher),
        Value::Array(list) => {
            (4_u8, list.len()).hash(hasher);
            for value in list {
                add(value, hasher);
            }
        }
        Value::Object(map) => {
            (5_u8, map.len()).hash(hasher);
            let mut members: Vec<_> = map.iter().collect();
            members.order_by_key(|(name, _)| name.as_str());
            for (name, value) in members {
                name.hash(hasher);
                add(value, hasher);
            }
        }
    }
}

/// `<REDACTED:password#1>` without its number.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, piece) in text.split("<REDACTED:").enumerate() {
        if at == 0 {
            out.push_str(piece);
            continue;
        }
        let rest = piece.split_once('>').map_or("", |(_, rest)| rest);
        out.push_str("<REDACTED>");
        out.push_str(rest);
    }
    out
}
