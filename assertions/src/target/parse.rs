//! Parsing a target.

use super::{Step, Target};
use crate::error::LoadError;
use tapewright_schemas::slices::Part as _;

impl Target {
    /// Parses a target. Every bracket must have valid contents: a typing error must not widen an
    /// assertion.
    pub fn parse(text: &str) -> Result<Self, LoadError> {
        let mut steps = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            match first {
                '.' => rest = rest.part(1..),
                '[' => {
                    let (step, behind) = bracket(rest, text)?;
                    steps.push(step);
                    rest = behind;
                }
                _ => {
                    let end = rest.find(['.', '[']).unwrap_or(rest.len());
                    let (name, behind) = rest.split_at(end);
                    if name.contains(']') {
                        return Err(LoadError::here(format!(
                            "the target `{text}` has a `]` without its `[`"
                        )));
                    }
                    steps.push(Step::Name(name.to_owned()));
                    rest = behind;
                }
            }
            if steps.len() > STEPS {
                return Err(LoadError::here(format!(
                    "the target is longer than {STEPS} steps"
                )));
            }
        }
        Ok(Self {
            text: text.to_owned(),
            steps,
        })
    }
}

/// Reads the bracket at the start of `rest`.
fn bracket<'t>(rest: &'t str, whole: &str) -> Result<(Step, &'t str), LoadError> {
    let inner = rest.part(1..);
    if let Some(quoted) = inner.strip_prefix('"') {
        let (name, behind) = quoted.split_once('"').ok_or_else(|| {
            LoadError::here(format!(
                "the target `{whole}` has a `[\"` without its `\"]`"
            ))
        })?;
        let behind = behind.strip_prefix(']').ok_or_else(|| {
            LoadError::here(format!(
                "the target `{whole}` has something between `\"` and `]`"
            ))
        })?;
        return Ok((Step::Name(name.to_owned()), behind));
    }
    let (body, behind) = inner.split_once(']').ok_or_else(|| {
        LoadError::here(format!("the target `{whole}` has a `[` without its `]`"))
    })?;
    let digits = !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_digit());
    let index = digits.then(|| body.parse().ok()).flatten();
    match index {
        Some(index) => Ok((Step::Index(index), behind)),
        None => Err(LoadError::here(format!(
            "the target `{whole}` has `[{body}]`, which is neither an index nor a quoted name"
        ))
        .help(help(body))),
    }
}

fn help(body: &str) -> String {
    if let Some(name) = body
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''))
    {
        return format!("write [\"{name}\"] with double quotes");
    }
    match body {
        "*" => "wildcards are not supported; use the matcher `cel` or `schema` on the array".to_owned(),
        _ if body.starts_with('-') => {
            "negative indices are not supported; use the matcher `cel`, as in `value[size(value) - 1]`"
                .to_owned()
        }
        _ => "write [0] for an element and [\"a.b\"] for a member".to_owned(),
    }
}

/// The maximum number of steps of a target.
const STEPS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<String> {
        let target = Target::parse(text).unwrap();
        let shown = target.steps.iter().map(|step| match step {
            Step::Index(index) => format!("#{index}"),
            Step::Name(name) => name.clone(),
        });
        shown.collect()
    }

    #[test]
    fn what_can_be_written() {
        assert_eq!(
            steps("result.content[0].text"),
            ["result", "content", "#0", "text"]
        );
        assert_eq!(
            steps(r#"result["a.b"][01].c d"#),
            ["result", "a.b", "#1", "c d"]
        );
        assert_eq!(steps("result..s"), ["result", "s"]);
        assert_eq!(steps("content[0]text"), ["content", "#0", "text"]);
        assert_eq!(steps(r#"["]["]"#), ["]["]);
        assert!(Target::parse("").unwrap().is_whole());
    }

    #[test]
    fn a_bracket_holds_an_index_or_a_quoted_name() {
        for text in [
            "arr[-1]",
            "arr[*]",
            "arr[]",
            "arr[ 0 ]",
            "result['a.b']",
            "arr[1",
            "arr[+1]",
            "a[\"b]",
            "a[\"b\"x]",
            "a]b",
            "a[99999999999999999999999]",
        ] {
            let error = Target::parse(text).unwrap_err();
            assert!(error.message.contains(text), "{text}: {error}");
        }
    }

    #[test]
    fn the_start_of_a_path_is_known_however_it_is_spelled() {
        for text in ["result.error.code", "result[\"error\"]", "result.error"] {
            assert!(
                Target::parse(text)
                    .unwrap()
                    .starts_with(&["result", "error"])
            );
        }
        assert!(
            !Target::parse("result")
                .unwrap()
                .starts_with(&["result", "error"])
        );
        assert!(
            !Target::parse("result[0]")
                .unwrap()
                .starts_with(&["result", "error"])
        );
    }
}
