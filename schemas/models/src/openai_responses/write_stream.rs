//! A response as the events of a Responses stream.

use serde_json::{Map, Value, json};

use super::response::{last_event, write_with};
use super::write;
use crate::conversation::Response;
use crate::stream::{Frame, pieces};

/// Numbers the events.
#[derive(Debug, Default)]
struct Events {
    frames: Vec<Frame>,
}

impl Events {
    fn push(&mut self, kind: &str, members: Value) {
        let mut map = Map::new();
        map.insert("type".into(), kind.into());
        map.insert("sequence_number".into(), self.frames.len().into());
        if let Value::Object(members) = members {
            map.extend(members);
        }
        self.frames
            .push(Frame::new(Some(kind), &Value::Object(map)));
    }
}

/// The events; texts are split into pieces of this many characters.
pub(crate) fn write(response: &Response, piece: usize) -> Vec<Frame> {
    let mut events = Events::default();
    let begun = json!({"response": write_with(response, Vec::new(), None)});
    events.push("response.created", begun.clone());
    events.push("response.in_progress", begun);
    let mut items = Vec::new();
    write::items("assistant", response.blocks(), &mut items);
    for (index, item) in items.iter().enumerate() {
        write_item(&mut events, index, item, piece);
    }
    let whole = write_with(response, items, response.finish());
    events.push(last_event(response), json!({"response": whole}));
    events.frames
}

fn write_item(events: &mut Events, index: usize, item: &Value, piece: usize) {
    let own = item.get("id").and_then(Value::as_str);
    let id = own.map_or_else(|| format!("item_{index}"), str::to_owned);
    let mut begun = item.clone();
    let empty = |map: &mut Map<String, Value>, name: &str, value: Value| {
        if map.contains_key(name) {
            map.insert(name.to_owned(), value);
        }
    };
    if let Value::Object(map) = &mut begun {
        empty(map, "content", json!([]));
        empty(map, "summary", json!([]));
        empty(map, "arguments", "".into());
        empty(map, "input", "".into());
    }
    events.push(
        "response.output_item.added",
        json!({"output_index": index, "item": begun}),
    );
    match item.get("type").and_then(Value::as_str) {
        Some("message") => parts(events, index, &id, item, piece),
        Some("function_call") => {
            arguments(
                events,
                index,
                &id,
                item,
                "arguments",
                "function_call_arguments",
                piece,
            );
        }
        Some("custom_tool_call") => {
            arguments(
                events,
                index,
                &id,
                item,
                "input",
                "custom_tool_call_input",
                piece,
            );
        }
        Some("reasoning") => summary(events, index, &id, item, piece),
        _ => {}
    }
    events.push(
        "response.output_item.done",
        json!({"output_index": index, "item": item}),
    );
}

fn list<'i>(item: &'i Value, name: &str) -> &'i [Value] {
    let found = item.get(name).and_then(Value::as_array);
    found.map(Vec::as_slice).unwrap_or_default()
}

fn parts(events: &mut Events, index: usize, id: &str, item: &Value, piece: usize) {
    for (at, part) in list(item, "content").iter().enumerate() {
        let (name, event) = match part.get("type").and_then(Value::as_str) {
            Some("output_text") => ("text", "output_text"),
            Some("refusal") => ("refusal", "refusal"),
            _ => continue,
        };
        let place = |more: Value| {
            let mut map = json!({"item_id": id, "output_index": index, "content_index": at});
            if let (Value::Object(map), Value::Object(more)) = (&mut map, more) {
                map.extend(more);
            }
            map
        };
        let text = part.get(name).and_then(Value::as_str).unwrap_or_default();
        let begun = json!({"type": part.get("type"), name: "", "annotations": []});
        events.push("response.content_part.added", place(json!({"part": begun})));
        for piece in pieces(text, piece) {
            let delta = place(json!({"delta": piece}));
            events.push(&format!("response.{event}.delta"), delta);
        }
        events.push(
            &format!("response.{event}.done"),
            place(json!({name: text})),
        );
        events.push("response.content_part.done", place(json!({"part": part})));
    }
}

fn arguments(
    events: &mut Events,
    index: usize,
    id: &str,
    item: &Value,
    member: &str,
    event: &str,
    piece: usize,
) {
    let text = item.get(member).and_then(Value::as_str).unwrap_or_default();
    for piece in pieces(text, piece) {
        let delta = json!({"item_id": id, "output_index": index, "delta": piece});
        events.push(&format!("response.{event}.delta"), delta);
    }
    let done = json!({"item_id": id, "output_index": index, member: text});
    events.push(&format!("response.{event}.done"), done);
}

fn summary(events: &mut Events, index: usize, id: &str, item: &Value, piece: usize) {
    for (at, part) in list(item, "summary").iter().enumerate() {
        let text = part.get("text").and_then(Value::as_str).unwrap_or_default();
        let place = |name: &str, value: Value| {
            let mut map = Map::new();
            map.insert("item_id".into(), id.into());
            map.insert("output_index".into(), index.into());
            map.insert("summary_index".into(), at.into());
            map.insert(name.to_owned(), value);
            Value::Object(map)
        };
        let begun = json!({"type": "summary_text", "text": ""});
        events.push(
            "response.reasoning_summary_part.added",
            place("part", begun),
        );
        for piece in pieces(text, piece) {
            let delta = place("delta", piece.into());
            events.push("response.reasoning_summary_text.delta", delta);
        }
        let done = place("text", text.into());
        events.push("response.reasoning_summary_text.done", done);
        events.push(
            "response.reasoning_summary_part.done",
            place("part", part.clone()),
        );
    }
}
