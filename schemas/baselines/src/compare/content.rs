//! The contents of an answer.

use serde_json::{Map, Value};

use super::arguments::same;
use super::entry::{Change, TextChange};
use crate::file::{kind_of, text_of};

/// Compares the blocks of two answers by their position.
pub(super) fn compare(before: &[Value], after: &[Value], changes: &mut Vec<Change>) {
    if before.len() != after.len() {
        changes.push(Change::BlockCount {
            before: before.len(),
            after: after.len(),
        });
        return;
    }
    for (at, (before, after)) in before.iter().zip(after).enumerate() {
        let (old, new) = (kind_of(before), kind_of(after));
        if old == new {
            block(at, before, after, changes);
        } else {
            changes.push(Change::BlockType {
                at,
                before: old.to_owned(),
                after: new.to_owned(),
            });
        }
    }
}

/// Compares two blocks of the same type: their texts as texts, everything else as data.
fn block(at: usize, before: &Value, after: &Value, changes: &mut Vec<Change>) {
    let kind = kind_of(before);
    if let (Some(before), Some(after)) = (said(before), said(after))
        && before != after
    {
        changes.push(Change::Text {
            at,
            how: text(before, after),
            before: before.to_owned(),
            after: after.to_owned(),
        });
    }
    let none = Map::new();
    let (old, new) = (before.as_object(), after.as_object());
    let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
    let counts = |name: &&String| !passed_over(kind).contains(&name.as_str());
    let gone_or_changed = old.iter().filter(|(name, before)| {
        let after = new.get(name.as_str());
        after.is_none_or(|after| !same(before, after))
    });
    let gone_or_changed = gone_or_changed.map(|(name, _)| name).filter(counts);
    let mut members: Vec<String> = gone_or_changed.cloned().collect();
    let is_additive = members.is_empty();
    let added = new.keys().filter(|name| !old.contains_key(*name));
    members.extend(added.filter(counts).cloned());
    if !members.is_empty() {
        changes.push(Change::BlockData {
            at,
            kind: kind.to_owned(),
            members,
            is_additive,
        });
    }
}

/// The text of a block: a text, or a model's thoughts.
fn said(block: &Value) -> Option<&str> {
    match kind_of(block) {
        "thinking" => block.get("thinking")?.as_str(),
        _ => text_of(block),
    }
}

/// The members of a block that are not data: its text, and the provider's signature of a thought,
/// which is different each time.
fn passed_over(kind: &str) -> &'static [&'static str] {
    match kind {
        "text" => &["text"],
        "thinking" => &["thinking", "signature"],
        _ => &[],
    }
}

fn text(before: &str, after: &str) -> TextChange {
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    if before.to_lowercase() == after.to_lowercase() {
        TextChange::Case
    } else if words(before) == words(after) {
        TextChange::Whitespace
    } else {
        TextChange::Words
    }
}
