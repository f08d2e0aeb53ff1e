//! Rows of the definitions of tools that servers listed.

use std::collections::HashMap;

use parquet::errors::Result;
use serde_json::{Map, Value};

use super::fold::Tape;
use super::table::{Table, Times, long, longs, micros, of_tape, texts, write};
use crate::hash;

/// The columns.
const COLUMNS: &str = "message tool {
    REQUIRED BYTE_ARRAY gateway (STRING);
    REQUIRED BYTE_ARRAY tape (STRING);
    REQUIRED BYTE_ARRAY label (STRING);
    OPTIONAL BYTE_ARRAY server (STRING);
    OPTIONAL BYTE_ARRAY server_version (STRING);
    OPTIONAL INT64 at (TIMESTAMP(MICROS, true));
    REQUIRED INT64 seq;
    REQUIRED INT64 session;
    REQUIRED BYTE_ARRAY tool (STRING);
    REQUIRED BYTE_ARRAY definition (STRING);
}";

/// A definition that is new on this tape, or differs from the tool's latest one.
#[derive(Clone, Debug)]
pub(super) struct Defined {
    pub(super) seq: u64,
    pub(super) at_us: u64,
    pub(super) session: u32,
    pub(super) server: Option<(String, String)>,
    pub(super) tool: String,
    /// The SHA-256 of the definition.
    pub(super) definition: String,
}

/// The latest definitions, by server, version and tool.
#[derive(Debug, Default)]
pub(super) struct Definitions(HashMap<Key, String>);

/// A server with its version, and a tool.
type Key = (Option<(String, String)>, String);

/// How many definitions are kept. Those of further tools have no rows.
const REMEMBERED: usize = 4_096;
/// The longest list to parse, in bytes.
pub(super) const LIST_LIMIT: usize = 4 << 20;

impl Definitions {
    /// The tools of a list, of at most [`LIST_LIMIT`] bytes, with the hashes of their definitions,
    /// if they are new or changed.
    pub(super) fn listed(
        &mut self,
        server: Option<&(String, String)>,
        result: &[u8],
    ) -> Vec<(String, String)> {
        let list: Value = serde_json::from_slice(result).unwrap_or_default();
        let tools = list.get("tools").and_then(Value::as_array);
        let mut changed = Vec::new();
        for tool in tools.into_iter().flatten().filter_map(Value::as_object) {
            let Some(name) = tool.get("name").and_then(Value::as_str) else {
                continue;
            };
            let key = (server.cloned(), name.to_owned());
            let definition = hash_of(tool);
            let known = self.0.get(&key);
            let is_full = self.0.len() >= REMEMBERED && known.is_none();
            if known == Some(&definition) || is_full {
                continue;
            }
            self.0.insert(key, definition.clone());
            changed.push((name.to_owned(), definition));
        }
        changed
    }
}

/// The hash of a definition, independent of the order of its members. `_meta` is not part of it.
fn hash_of(tool: &Map<String, Value>) -> String {
    let members = tool.iter().filter(|(name, _)| *name != "_meta");
    let mut text = String::new();
    canonical(members, &mut text);
    hash::of(text.as_bytes())
}

/// Writes an object with its members sorted. The parser bounds its depth.
fn canonical<'a>(members: impl Iterator<Item = (&'a String, &'a Value)>, text: &mut String) {
    let mut members: Vec<_> = members.collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    text.push('{');
    for (name, value) in members {
        text.push_str(&Value::from(name.as_str()).to_string());
        text.push(':');
        canonical_value(value, text);
        text.push(',');
    }
    text.push('}');
}

fn canonical_value(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => canonical(members.iter(), text),
        Value::Array(items) => {
            text.push('[');
            for item in items {
                canonical_value(item, text);
                text.push(',');
            }
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

/// The file of these definitions; `None` if there are none.
pub(super) fn table(tape: &Tape, rows: &[Defined]) -> Result<Option<Table>> {
    let times = Times::of(tape);
    let at = |row: &Defined| times.at(Some(micros(row.at_us)));
    let mut columns = of_tape(tape, rows.len());
    columns.extend([
        texts(rows, |row| Some(row.server.as_ref()?.0.as_str())),
        texts(rows, |row| Some(row.server.as_ref()?.1.as_str())),
        longs(rows, at),
        longs(rows, |row| Some(long(row.seq))),
        longs(rows, |row| Some(row.session.into())),
        texts(rows, |row| Some(&row.tool)),
        texts(rows, |row| Some(&row.definition)),
    ]);
    let tools = rows.iter().map(|row| row.tool.clone()).collect();
    write(COLUMNS, &columns, rows.iter().map(at), rows.len(), tools)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(tool: &str) -> Vec<u8> {
        format!("{{\"tools\":[{tool}]}}").into_bytes()
    }

    #[test]
    fn a_definition_is_told_when_it_is_new_or_changed() {
        let mut known = Definitions::default();
        let one = r#"{"name":"a","inputSchema":{"type":"object","properties":{"x":{},"y":{}}}}"#;
        let first = known.listed(None, &list(one));
        assert_eq!((first.len(), first[0].0.as_str()), (1, "a"));
        // The same in another order, with another `_meta`.
        let same = r#"{"_meta":{"n":1},"inputSchema":{"properties":{"y":{},"x":{}},"type":"object"},"name":"a"}"#;
        assert_eq!(known.listed(None, &list(same)), []);
        let changed = one.replace("\"y\"", "\"z\"");
        let second = known.listed(None, &list(&changed));
        assert_ne!(second[0].1, first[0].1);
        // Another version of the server, which lists it for the first time.
        let server = ("s".to_owned(), "2".to_owned());
        assert_eq!(known.listed(Some(&server), &list(one)), first);
    }

    #[test]
    fn what_is_no_list_tells_nothing_and_what_is_too_much_is_forgotten() {
        let mut known = Definitions::default();
        for text in [
            "",
            "[]",
            "{}",
            r#"{"tools":[1,{"name":7}]}"#,
            r#"{"tools":7}"#,
        ] {
            assert_eq!(known.listed(None, text.as_bytes()), [], "{text}");
        }
        let many: Vec<String> = (0..REMEMBERED + 10)
            .map(|number| format!("{{\"name\":\"t{number}\"}}"))
            .collect();
        assert_eq!(known.listed(None, &list(&many.join(","))).len(), REMEMBERED);
    }
}
