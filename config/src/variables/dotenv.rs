//! Files of variables, one `NAME=value` a line.

use std::collections::HashMap;

use crate::suite::variable::is_variable_name;

/// Why a file of variables cannot be read. Never shows a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DotenvError {
    /// The line, from 1.
    pub(crate) line: usize,
    /// The error.
    pub(crate) what: &'static str,
    /// The hint.
    pub(crate) help: &'static str,
}

/// Reads a file. The first line wins when a name is given twice.
pub(crate) fn parse(text: &str) -> Result<HashMap<String, String>, DotenvError> {
    let mut values: HashMap<String, String> = HashMap::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fail = |what, help| DotenvError {
            line: number,
            what,
            help,
        };
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line
            .split_once('=')
            .ok_or_else(|| fail("missing `=`", "write `NAME=value`"))?;
        let name = name.trim();
        if !is_variable_name(name) {
            let help = "names are letters, digits and `_`, and do not begin with a digit";
            return Err(fail("invalid name", help));
        }
        let value =
            parse_value(value.trim_start(), &values).map_err(|(what, help)| fail(what, help))?;
        values.entry(name.to_owned()).or_insert(value);
    }
    Ok(values)
}

type Mistake = (&'static str, &'static str);

fn parse_value(text: &str, earlier: &HashMap<String, String>) -> Result<String, Mistake> {
    if let Some(rest) = text.strip_prefix('\'') {
        let (value, _) = rest
            .split_once('\'')
            .ok_or(("unclosed quote", "close it with `'`"))?;
        return Ok(value.to_owned());
    }
    if let Some(rest) = text.strip_prefix('"') {
        let (value, _) = rest
            .split_once('"')
            .ok_or(("unclosed quote", "close it with `\"`"))?;
        return substitute(value, earlier);
    }
    let value = text.split_once(" #").map_or(text, |(value, _)| value);
    Ok(value.trim().to_owned())
}

/// Replaces `${NAME}` by the value from earlier lines, or by an empty text.
fn substitute(text: &str, earlier: &HashMap<String, String>) -> Result<String, Mistake> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let (name, after) = after
            .split_once('}')
            .ok_or(("a `${` is never closed", "close it with `}`"))?;
        if !is_variable_name(name) {
            return Err((
                "a `${…}` holds no name",
                "write `${NAME}`, or use single quotes",
            ));
        }
        out.push_str(earlier.get(name).map_or("", String::as_str));
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn lines_are_read_as_documented() {
        let text = "\u{feff}# comment\n  A=1\nexport B = two words  # not part\nC=a#b\nD='$x ${A} #'\nE=\"é ${A}/${NO}\" rest\nA=2\nF=\nG=x=y\r\n";
        let values = parse(text).unwrap();
        let get = |name: &str| values.get(name).map(String::as_str);
        assert_eq!(get("A"), Some("1"));
        assert_eq!(get("B"), Some("two words"));
        assert_eq!(get("C"), Some("a#b"));
        assert_eq!(get("D"), Some("$x ${A} #"));
        assert_eq!(get("E"), Some("é 1/"));
        assert_eq!(get("F"), Some(""));
        assert_eq!(get("G"), Some("x=y"));
        assert_eq!(values.len(), 7);
    }

    #[test]
    fn mistakes_name_the_line() {
        let cases = [
            ("A=1\nB\n", 2),
            ("1A=x", 1),
            ("\n\nA=\"x", 3),
            ("A='x", 1),
            ("A=\"${x\"", 1),
            ("A=\"${-}\"", 1),
        ];
        for (text, line) in cases {
            assert_eq!(parse(text).unwrap_err().line, line, "{text}");
        }
    }
}
