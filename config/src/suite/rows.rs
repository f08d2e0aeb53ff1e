//! `data`: a test that is written once and runs for each row.

use crate::issue::Code;
use crate::near::suggestion;
use crate::read::{Cursor, Fields};
use crate::template::Piece;
use crate::yaml::{Kind, Node, Text};

/// The word by which strings refer to the row.
pub(crate) const ROW: &str = "data";
/// The maximum number of rows of one test.
pub(crate) const MOST_ROWS: usize = 10_000;

/// Checks `data` as written: rows, or the name of a file with them.
pub(super) fn check(fields: &mut Fields<'_>) {
    let Some(at) = fields.optional("data") else {
        return;
    };
    if at.is_text() {
        at.name();
        return;
    }
    if !at.is_array() {
        at.wrong_type("an array of objects, or a string with the path of a file");
        return;
    }
    for row in at.some_items() {
        row.object();
    }
}

/// Reads a test, once for each of its rows. Before variables are replaced it is read as written.
pub(super) fn each<T>(at: &Cursor<'_>, read: impl Fn(&Cursor<'_>) -> T) -> Vec<T> {
    let rows = at.node().member("data").map(|member| &member.value.kind);
    let Some(Kind::Array(rows)) = rows.filter(|_| at.is_filled()) else {
        return vec![read(at)];
    };
    if rows.len() > MOST_ROWS {
        let message = format!("`data` has more than {MOST_ROWS} rows");
        at.error_at_key(Code::Value, message, "split the test".to_owned());
        return Vec::new();
    }
    let mut tests = Vec::with_capacity(rows.len());
    for (number, row) in rows.iter().enumerate() {
        let Some(node) = filled(at, row, number + 1) else {
            break;
        };
        tests.push(read(&at.with(&node)));
    }
    tests
}

/// The test for a row; reports an issue and returns `None` if the row lacks a referenced value.
fn filled(at: &Cursor<'_>, row: &Node, number: usize) -> Option<Node> {
    let mut node = at.node().clone();
    let Kind::Object(members) = &mut node.kind else {
        return Some(node);
    };
    members.retain(|member| member.key != "data");
    for member in members.iter_mut() {
        if member.key == "name"
            && let Kind::Text(text) = &mut member.value.kind
            && text.pieces.is_none()
        {
            text.value = format!("{} [{number}]", text.value);
        }
    }
    fill(&mut node, row, at).then_some(node)
}

/// Fills the values of a row into every string below; returns whether all of them exist.
fn fill(node: &mut Node, row: &Node, at: &Cursor<'_>) -> bool {
    let span = node.span;
    match &mut node.kind {
        Kind::Array(items) => items.iter_mut().all(|item| fill(item, row, at)),
        Kind::Object(members) => members
            .iter_mut()
            .all(|member| fill(&mut member.value, row, at)),
        Kind::Text(text) => {
            let Some(pieces) = text.pieces.take() else {
                return true;
            };
            match put(&pieces, row) {
                Ok(mut kind) => {
                    if let Kind::Text(new) = &mut kind {
                        new.interpolated |= text.interpolated;
                    }
                    node.kind = kind;
                    true
                }
                Err(path) => {
                    missing(at, span, &path, row);
                    false
                }
            }
        }
        _ => true,
    }
}

/// The value of a string: for a single reference the value with its type, otherwise text. The error
/// is the path that does not exist.
fn put(pieces: &[Piece], row: &Node) -> Result<Kind, String> {
    let look = |path: &str| look_up(row, path).ok_or_else(|| path.to_owned());
    if let [Piece::Output(reference)] = pieces {
        return look(&reference.path).map(|node| node.kind.clone());
    }
    let mut value = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(part) => value.push_str(part),
            Piece::Output(reference) => match look(&reference.path)?.to_value() {
                serde_json::Value::String(part) => value.push_str(&part),
                other => value.push_str(&other.to_string()),
            },
        }
    }
    Ok(Kind::Text(Text {
        value,
        interpolated: false,
        pieces: None,
    }))
}

/// A value of a row, by names and indices such as `[0]`.
fn look_up<'n>(row: &'n Node, path: &str) -> Option<&'n Node> {
    let mut here = row;
    let steps = path
        .split(['.', '['])
        .map(|step| step.trim_end_matches(']'));
    for step in steps.filter(|step| !step.is_empty()) {
        here = match &here.kind {
            Kind::Array(items) => items.get(step.parse::<usize>().ok()?)?,
            _ => &here.member(step)?.value,
        };
    }
    Some(here)
}

fn missing(at: &Cursor<'_>, span: crate::source::Span, path: &str, row: &Node) {
    let Kind::Object(members) = &row.kind else {
        return;
    };
    let names: Vec<&str> = members.iter().map(|member| member.key.as_str()).collect();
    let help = suggestion(path, "columns", &names);
    at.error_within(
        span,
        Code::Reference,
        format!("a row of `data` has no `{path}`"),
        help,
    );
}
