//! Placeholders of secrets, numbered as they come in one request.

use std::collections::HashMap;

use serde_json::Value;
use tapewright_schemas::redact::hidden::{self, Style};
use tapewright_schemas::slices::Part as _;

/// Renumbers tapewright's placeholders in the order in which they first appear: another recording
/// of the same request may have other numbers.
pub(super) fn renumber(value: &mut Value) {
    Numbers::default().walk(value);
}

#[derive(Debug, Default)]
struct Numbers {
    known: HashMap<String, usize>,
    counts: HashMap<String, usize>,
}

impl Numbers {
    /// Values of a key are no deeper than the parsed input.
    fn walk(&mut self, value: &mut Value) {
        match value {
            Value::String(text) if hidden::is_likely(text.as_bytes()) => self.text(text),
            Value::Array(list) => list.iter_mut().for_each(|one| self.walk(one)),
            Value::Object(map) => map.values_mut().for_each(|one| self.walk(one)),
            _ => {}
        }
    }

    fn text(&mut self, text: &mut String) {
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for one in hidden::find(text.as_bytes()) {
            let Some(placeholder) = text.get(one.range.clone()) else {
                continue;
            };
            let Some((kind, _)) = placeholder.split_once('#') else {
                continue;
            };
            if !matches!(one.style, Style::Ours | Style::Environment) {
                continue;
            }
            let number = self.number(kind, placeholder);
            out.push_str(text.part(done..one.range.start));
            out.push_str(kind);
            out.push('#');
            out.push_str(&number.to_string());
            out.push('>');
            done = one.range.end;
        }
        out.push_str(text.part(done..));
        *text = out;
    }

    fn number(&mut self, kind: &str, placeholder: &str) -> usize {
        if let Some(number) = self.known.get(placeholder) {
            return *number;
        }
        let count = self.counts.entry(kind.to_owned()).or_default();
        *count += 1;
        self.known.insert(placeholder.to_owned(), *count);
        *count
    }
}

/// Whether a recorded value matches the live one, where placeholders of unknown values match any
/// text in their place.
pub(super) fn fits(recorded: &Value, live: &Value) -> bool {
    match (recorded, live) {
        (Value::String(one), Value::String(other)) => {
            one == other
                || hidden::is_pattern(one.as_bytes())
                    && hidden::fits(one.as_bytes(), other.as_bytes())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| fits(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let same = |(name, value): (&String, &Value)| {
                other.get(name).is_some_and(|other| fits(value, other))
            };
            one.len() == other.len() && one.iter().all(same)
        }
        (one, other) => one == other,
    }
}
