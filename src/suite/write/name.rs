//! Names of tests, made of the call and its arguments.

use std::collections::HashSet;

use serde_json::Value;

use super::call::{Asks, Call};

/// How many arguments a name has, and how many characters of each.
const ARGUMENTS: usize = 2;
const CHARS: usize = 24;

/// Unique names.
#[derive(Debug, Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// A unique name for a call.
    pub(super) fn of(&mut self, call: &Call) -> String {
        let name = plain(call);
        let mut unlike = name.clone();
        let mut number = 1;
        while !self.0.insert(unlike.clone()) {
            number += 1;
            unlike = format!("{name}, {number}");
        }
        unlike
    }
}

fn plain(call: &Call) -> String {
    let what = shown(&call.name, 3 * CHARS);
    let mut name = match call.asks {
        Asks::Tool => what,
        Asks::Resource => format!("reads {what}"),
        Asks::Prompt => format!("prompt {what}"),
    };
    let arguments = call.arguments.as_ref().and_then(Value::as_object);
    let told: Vec<String> = arguments
        .into_iter()
        .flatten()
        .filter_map(|(argument, value)| {
            let value = match value {
                Value::String(text) if !text.trim().is_empty() => shown(text, CHARS),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                _ => return None,
            };
            Some(format!("{} {value}", shown(argument, CHARS)))
        })
        .take(ARGUMENTS)
        .collect();
    if !told.is_empty() {
        name.push_str(" with ");
        name.push_str(&told.join(" and "));
    }
    if !call.answers.is_empty() && call.answers.iter().all(fails) {
        name.push_str(" fails");
    }
    name
}

/// Whether an answer is an error, of JSON-RPC or of the tool.
fn fails(answer: &Value) -> bool {
    answer.get("error").is_some()
        || answer.pointer("/result/isError").and_then(Value::as_bool) == Some(true)
}

/// The beginning of a text, on one line and without invisible characters.
fn shown(text: &str, most: usize) -> String {
    let clean = |char: char| if char.is_control() { ' ' } else { char };
    let words: String = text.chars().map(clean).collect();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= most {
        return words;
    }
    let mut short: String = words.chars().take(most).collect();
    short.push('…');
    short
}
