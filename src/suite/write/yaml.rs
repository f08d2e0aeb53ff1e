//! Writes YAML as a person would: block style, quotes only where needed.
//!
//! A library parses YAML, but none writes comments and small maps on one line. The tests read the
//! output with the loader.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// The longest line for a small map or list, in characters.
const LINE: usize = 72;

/// The value with `$` doubled in its texts, so that none of them refers to a variable. Names of
/// members have no variables.
pub(super) fn literal(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace('$', "$$")),
        Value::Array(all) => all.iter().map(literal).collect(),
        Value::Object(all) => all
            .iter()
            .map(|(name, one)| (name.clone(), literal(one)))
            .collect(),
        other => other.clone(),
    }
}

/// Appends `name: value` at this depth.
pub(super) fn member(name: &str, value: &Value, depth: usize, out: &mut String) {
    indent(depth, out);
    out.push_str(&scalar(name));
    out.push(':');
    behind(value, depth, out);
}

/// Appends a value after a colon, and ends the line.
fn behind(value: &Value, depth: usize, out: &mut String) {
    if let Some(flow) = flow(value, LINE.saturating_sub(2 * depth)) {
        out.push(' ');
        out.push_str(&flow);
        out.push('\n');
        return;
    }
    match value {
        Value::Object(members) => {
            out.push('\n');
            for (name, value) in members {
                member(name, value, depth + 1, out);
            }
        }
        Value::Array(elements) => {
            out.push('\n');
            for element in elements {
                item(element, depth + 1, out);
            }
        }
        Value::String(text) => block_text(text, depth, out),
        // Scalars always fit on a line.
        other => {
            out.push(' ');
            out.push_str(&other.to_string());
            out.push('\n');
        }
    }
}

/// Appends one element of a list.
pub(super) fn item(value: &Value, depth: usize, out: &mut String) {
    indent(depth, out);
    out.push('-');
    if let Some(flow) = flow(value, LINE.saturating_sub(2 * depth)) {
        out.push(' ');
        out.push_str(&flow);
        out.push('\n');
        return;
    }
    match value {
        // The first member follows the dash.
        Value::Object(members) => {
            let from = out.len();
            for (name, value) in members {
                member(name, value, depth + 1, out);
            }
            let blank = 2 * (depth + 1);
            out.replace_range(from..from + blank, " ");
        }
        other => behind(other, depth, out),
    }
}

/// The value on one line of at most `room` characters.
fn flow(value: &Value, room: usize) -> Option<String> {
    let text = match value {
        Value::String(text) if is_block(text) => return None,
        // A text on its own line may have any length.
        Value::String(text) => return Some(scalar(text)),
        Value::Array(elements) if elements.is_empty() => "[]".to_owned(),
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Array(elements) => {
            let all: Option<Vec<String>> = elements.iter().map(|one| flow(one, room)).collect();
            format!("[{}]", all?.join(", "))
        }
        Value::Object(members) => format!("{{ {} }}", flow_members(members, room)?.join(", ")),
        other => other.to_string(),
    };
    (text.chars().count() <= room).then_some(text)
}

fn flow_members(members: &Map<String, Value>, room: usize) -> Option<Vec<String>> {
    // Nested values are easier to read in block style.
    let nested = |value: &Value| match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(elements) => elements.iter().any(|one| one.is_object() || one.is_array()),
        _ => false,
    };
    members
        .iter()
        .map(|(name, value)| {
            let value = (!nested(value)).then(|| flow(value, room))??;
            Some(format!("{}: {value}", scalar(name)))
        })
        .collect()
}

/// Whether a text is written as a block.
fn is_block(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let plain = |line: &str| {
        !line.ends_with([' ', '\t'])
            && !line.starts_with('\t')
            && line.chars().all(|char| is_shown(char) || char == '\t')
    };
    let first = body.lines().next().unwrap_or_default();
    body.contains('\n')
        && !body.starts_with('\n')
        && !body.ends_with('\n')
        && !first.starts_with(' ')
        && body.split('\n').all(plain)
}

fn block_text(text: &str, depth: usize, out: &mut String) {
    let body = text.strip_suffix('\n');
    out.push_str(if body.is_some() { " |\n" } else { " |-\n" });
    for line in body.unwrap_or(text).split('\n') {
        if !line.is_empty() {
            indent(depth + 1, out);
            out.push_str(line);
        }
        out.push('\n');
    }
}

/// A text as a scalar on one line.
fn scalar(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for char in text.chars() {
        match char {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            // In the log of a CI, `##[` would be a command.
            '#' if quoted.ends_with('#') => quoted.push_str("\\x23"),
            char if is_shown(char) => quoted.push(char),
            char => {
                // Writing to a string does not fail.
                let _never_fails = match u32::from(char) {
                    code @ ..=0xff => write!(quoted, "\\x{code:02x}"),
                    code @ ..=0xffff => write!(quoted, "\\u{code:04x}"),
                    code => write!(quoted, "\\U{code:08x}"),
                };
            }
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a text keeps its meaning without quotes, also in a small map.
fn is_plain(text: &str) -> bool {
    let begins = text.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
    let word = |char: char| char.is_alphanumeric() || " _-./()+=@".contains(char);
    // Words with a special meaning for some readers of YAML.
    let taken = [
        "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf",
    ];
    begins
        && text.chars().all(|char| word(char) && is_shown(char))
        && !text.ends_with(' ')
        && !taken.contains(&text.to_ascii_lowercase().as_str())
}

/// Whether a character is visible and unambiguous.
fn is_shown(char: char) -> bool {
    let hidden = char.is_control()
        || matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || matches!(char, '\u{fff0}'..='\u{ffff}' | '\u{e000}'..='\u{f8ff}')
        || u32::from(char) >= 0xe_0000;
    !hidden
}

fn indent(depth: usize, out: &mut String) {
    for _ in 0..depth {
        out.push_str("  ");
    }
}
