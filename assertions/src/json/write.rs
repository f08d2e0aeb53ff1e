//! Serializing a value.

use std::fmt::{self, Display, Write as _};

use tapewright_schemas::json::escape;

use super::Json;

/// Compact JSON; with `{:#}` indented by two blanks.
impl Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pretty = out.alternate();
        write(self, out, pretty.then_some(0))
    }
}

fn write(value: &Json, out: &mut fmt::Formatter<'_>, indent: Option<usize>) -> fmt::Result {
    match value {
        Json::Null => out.write_str("null"),
        Json::Bool(value) => write!(out, "{value}"),
        Json::Number(text) => out.write_str(text),
        Json::String(text) => string(text, out),
        Json::Array(elements) => {
            let items = elements.iter().map(|one| (None, one));
            container(items, ['[', ']'], out, indent)
        }
        Json::Object(members) => {
            let items = members.iter().map(|(name, one)| (Some(name), one));
            container(items, ['{', '}'], out, indent)
        }
    }
}

fn container<'a>(
    items: impl ExactSizeIterator<Item = (Option<&'a String>, &'a Json)>,
    [open, close]: [char; 2],
    out: &mut fmt::Formatter<'_>,
    indent: Option<usize>,
) -> fmt::Result {
    let inner = indent.map(|depth| depth + 1);
    let empty = items.len() == 0;
    out.write_char(open)?;
    for (index, (name, value)) in items.enumerate() {
        if index > 0 {
            out.write_char(',')?;
        }
        line(out, inner)?;
        if let Some(name) = name {
            string(name, out)?;
            out.write_str(if indent.is_some() { ": " } else { ":" })?;
        }
        write(value, out, inner)?;
    }
    if !empty {
        line(out, indent)?;
    }
    out.write_char(close)
}

fn line(out: &mut fmt::Formatter<'_>, indent: Option<usize>) -> fmt::Result {
    match indent {
        Some(depth) => write!(out, "\n{:1$}", "", depth * 2),
        None => Ok(()),
    }
}

fn string(text: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut escaped = Vec::with_capacity(text.len());
    escape(text, &mut escaped);
    write!(out, "\"{}\"", String::from_utf8_lossy(&escaped))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alternate_form_is_indented() {
        let value = Json::read(br#"{"a":[1,{}],"b":{"c":[]}}"#).unwrap();
        assert_eq!(
            format!("{value:#}"),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": {\n    \"c\": []\n  }\n}"
        );
    }
}
