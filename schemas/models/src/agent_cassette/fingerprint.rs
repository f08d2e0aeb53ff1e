//! A fingerprint of the tools that a model was offered.

use serde_json::{Value, json};

use crate::conversation::Tool;
use crate::write::sorted;
use tapewright_schemas::order::Order as _;

/// FNV-1a of 64 bits over the tools in the order of their names, as sixteen hexadecimal
/// digits: name, description and schema with its members sorted, set apart by NUL.
#[must_use]
pub fn fingerprint(tools: &[Tool]) -> String {
    let mut entries: Vec<String> = tools.iter().map(entry).collect();
    entries.order();
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |byte: u8| {
        hash ^= u64::from(byte);
        hash = hash.wrapping_mul(0x0000_0100_0000_01b3);
    };
    for entry in entries {
        entry.bytes().for_each(&mut add);
        add(0x1f);
    }
    format!("{hash:016x}")
}

fn entry(tool: &Tool) -> String {
    let schema: Value = match &tool.schema {
        Some(schema) => sorted(schema),
        None => json!({"type": "object"}),
    };
    let description = tool.description.as_deref().unwrap_or_default();
    format!("{}\0{description}\0{schema}", tool.name)
}
