//! Rows of comma-separated values (RFC 4180), the first of which names the columns.

use serde_json::Value;

use crate::source::Span;
use crate::yaml::{Kind, Member, Node};

/// A field, and whether it was quoted.
#[derive(Debug, Default)]
struct Field {
    text: String,
    quoted: bool,
}

/// Reads rows as objects. An unquoted number, `true`, `false` or `null` becomes that value,
/// everything else a string. The error has the reason and the position.
pub(super) fn rows(text: &str, span: Span) -> Result<Vec<Node>, String> {
    let mut lines = split(text)?.into_iter();
    let header = lines.next().ok_or("it is empty")?;
    let mut rows = Vec::new();
    for (number, line) in lines.enumerate() {
        if line.len() != header.len() {
            return Err(format!(
                "row {} has {} fields, and the first line names {} columns",
                number + 1,
                line.len(),
                header.len()
            ));
        }
        let member = |(name, field): (&Field, &Field)| Member {
            key: name.text.clone(),
            key_span: span,
            value: value(field, span),
        };
        let members = header.iter().zip(&line).map(member).collect();
        let kind = Kind::Object(members);
        rows.push(Node { kind, span });
    }
    Ok(rows)
}

fn value(field: &Field, span: Span) -> Node {
    let parsed = serde_json::from_str(&field.text).ok();
    let kind = match parsed.filter(|_| !field.quoted) {
        Some(Value::Null) => Kind::Null,
        Some(Value::Bool(value)) => Kind::Bool(value),
        Some(Value::Number(value)) => Kind::Number(value),
        _ => return Node::text(field.text.clone(), span),
    };
    Node { kind, span }
}

/// The fields of every line. Empty lines are skipped.
fn split(text: &str) -> Result<Vec<Vec<Field>>, String> {
    let mut lines = Vec::new();
    let mut line: Vec<Field> = Vec::new();
    let mut field = Field::default();
    let mut inside = false;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' if inside && chars.next_if_eq(&'"').is_some() => field.text.push('"'),
            '"' if inside => inside = false,
            '"' if field.text.is_empty() && !field.quoted => {
                field.quoted = true;
                inside = true;
            }
            ',' if !inside => line.push(std::mem::take(&mut field)),
            '\r' if !inside && chars.peek() == Some(&'\n') => {}
            '\n' if !inside => {
                line.push(std::mem::take(&mut field));
                keep(&mut lines, std::mem::take(&mut line));
            }
            other => field.text.push(other),
        }
    }
    if inside {
        return Err("unclosed quote".to_owned());
    }
    line.push(field);
    keep(&mut lines, line);
    Ok(lines)
}

fn keep(lines: &mut Vec<Vec<Field>>, line: Vec<Field>) {
    let is_blank = matches!(line.as_slice(), [only] if only.text.is_empty() && !only.quoted);
    if !is_blank {
        lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::{Span, rows};

    #[test]
    fn fields_have_the_types_that_they_look_like() {
        let text = "n,flag,text\r\n1.5,true,\"a, \"\"b\"\"\nc\"\r\n\r\n010,,\"2\"";
        let rows = rows(text, Span::default()).unwrap();
        let rows: Vec<_> = rows.iter().map(|row| row.to_value().to_string()).collect();
        assert_eq!(
            rows,
            [
                r#"{"n":1.5,"flag":true,"text":"a, \"b\"\nc"}"#,
                r#"{"n":"010","flag":"","text":"2"}"#
            ]
        );
    }

    #[test]
    fn what_is_no_table_is_refused() {
        for text in ["", "a,b\n1", "a\n\"b"] {
            assert!(rows(text, Span::default()).is_err(), "{text}");
        }
    }
}
