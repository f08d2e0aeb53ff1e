//! Words: quotes, variables, commands in place of words, and patterns.

use super::parse::{self, part};
use super::run::Shell;

/// A word after its expansion; characters that were quoted mean only themselves in a pattern.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    characters: Vec<(char, bool)>,
    /// Where unquoted white space of a value divides it, or arguments end.
    breaks: Vec<usize>,
    is_quoted: bool,
}

impl Expanded {
    fn push(&mut self, text: &str, is_quoted: bool) {
        self.is_quoted |= is_quoted;
        self.characters
            .extend(text.chars().map(|one| (one, is_quoted)));
    }

    /// A value outside of quotes, which becomes several words.
    fn push_divided(&mut self, text: &str) {
        for (count, piece) in text.split_ascii_whitespace().enumerate() {
            if count > 0 {
                self.breaks.push(self.characters.len());
            }
            self.push(piece, false);
        }
    }

    pub(crate) fn words(&self) -> Vec<String> {
        if self.characters.is_empty() && !self.is_quoted {
            return Vec::new();
        }
        let mut words = vec![String::new()];
        for at in 0..=self.characters.len() {
            let breaks = self.breaks.iter().filter(|place| **place == at);
            words.extend(breaks.map(|_| String::new()));
            if let (Some(last), Some((one, _))) = (words.last_mut(), self.characters.get(at)) {
                last.push(*one);
            }
        }
        words
    }

    /// Whether a text fits this pattern.
    pub(crate) fn fits(&self, text: &str) -> bool {
        fits(&self.characters, &text.chars().collect::<Vec<_>>())
    }
}

fn fits(pattern: &[(char, bool)], text: &[char]) -> bool {
    match (pattern, text) {
        ([], text) => text.is_empty(),
        ([('*', false), rest @ ..], _) => {
            (0..=text.len()).any(|skipped| text.get(skipped..).is_some_and(|text| fits(rest, text)))
        }
        ([(wanted, is_quoted), rest @ ..], [found, behind @ ..]) => {
            (wanted == found || (*wanted == '?' && !is_quoted)) && fits(rest, behind)
        }
        _ => false,
    }
}

/// A word that may become several, or none.
pub(crate) fn expand(shell: &mut Shell, word: &str) -> Result<Expanded, String> {
    expanded(shell, word, Expanded::push_divided)
}

/// A word that stays one.
pub(crate) fn whole(shell: &mut Shell, word: &str) -> Result<String, String> {
    let out = expanded(shell, word, |out, value| out.push(value, false))?;
    Ok(out.characters.iter().map(|(one, _)| *one).collect())
}

fn expanded(
    shell: &mut Shell,
    word: &str,
    push: fn(&mut Expanded, &str),
) -> Result<Expanded, String> {
    let mut out = Expanded::default();
    let mut rest = word;
    while !rest.is_empty() {
        let (one, behind) = rest.split_at(part(rest)?);
        rest = behind;
        if let Some(text) = one.strip_prefix('\'') {
            out.push(text.strip_suffix('\'').unwrap_or(text), true);
        } else if let Some(text) = one.strip_prefix('"') {
            quoted(shell, text.strip_suffix('"').unwrap_or(text), &mut out)?;
        } else if one == "$" {
            let name = name(rest);
            rest = rest.get(name.len()..).unwrap_or_default();
            let value = shell.value(name);
            push(&mut out, &value);
        } else if one.starts_with('$') {
            let value = computed(shell, one)?;
            push(&mut out, &value);
        } else {
            let escaped = one.strip_prefix('\\').filter(|text| !text.is_empty());
            out.push(escaped.unwrap_or(one), escaped.is_some());
        }
    }
    Ok(out)
}

fn quoted(shell: &mut Shell, text: &str, out: &mut Expanded) -> Result<(), String> {
    out.push("", true);
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let special = matches!(
            rest.as_bytes(),
            [b'\\', b'$' | b'`' | b'"' | b'\\', ..] | [b'$', b'(' | b'{', ..]
        );
        let length = if special {
            part(rest)?
        } else {
            next.len_utf8()
        };
        let (one, behind) = rest.split_at(length);
        rest = behind;
        if special && next == '\\' {
            out.push(one.get(1..).unwrap_or_default(), true);
        } else if special {
            out.push(&computed(shell, one)?, true);
        } else if next == '$' {
            let name = name(rest);
            rest = rest.get(name.len()..).unwrap_or_default();
            if name == "@" {
                for (count, argument) in shell.arguments().into_iter().enumerate() {
                    if count > 0 {
                        out.breaks.push(out.characters.len());
                    }
                    out.push(&argument, true);
                }
            } else {
                out.push(&shell.value(name), true);
            }
        } else {
            out.push(one, true);
        }
    }
    Ok(())
}

/// The name of a variable at the start of a text.
fn name(text: &str) -> &str {
    let first = text.chars().next().unwrap_or_default();
    let length = if "@#?$!".contains(first) || first.is_ascii_digit() {
        1
    } else {
        let is_part = |one: char| one.is_ascii_alphanumeric() || one == '_';
        text.find(|one| !is_part(one)).unwrap_or(text.len())
    };
    text.get(..length).unwrap_or_default()
}

/// `${…}`, `$(…)` or `$((…))`.
fn computed(shell: &mut Shell, text: &str) -> Result<String, String> {
    let inner = |open: usize, close: usize| text.get(open..text.len() - close).unwrap_or_default();
    if text.starts_with("$((") {
        return sum(shell, inner(3, 2)).map(|sum| sum.to_string());
    }
    if text.starts_with("$(") {
        let list = parse::script(inner(2, 1))?;
        return Ok(shell.captured(&list).trim_end_matches('\n').to_owned());
    }
    let inner = inner(2, 1);
    let name = name(inner);
    let value = shell.value(name);
    let operation = inner.get(name.len()..).unwrap_or_default();
    let (from_end, longest, pattern) = match operation.as_bytes() {
        [b':', b'-', ..] if value.is_empty() => {
            return Ok(operation.get(2..).unwrap_or_default().to_owned());
        }
        [] | [b':', b'-', ..] => return Ok(value),
        [b'%', b'%', ..] => (true, true, operation.get(2..)),
        [b'%', ..] => (true, false, operation.get(1..)),
        [b'#', b'#', ..] => (false, true, operation.get(2..)),
        [b'#', ..] => (false, false, operation.get(1..)),
        _ => return Err(format!("{text} is not known")),
    };
    let pattern = expand(shell, pattern.unwrap_or_default())?;
    Ok(without(&value, &pattern, from_end, longest))
}

/// A value without the part at one end that fits a pattern.
fn without(value: &str, pattern: &Expanded, from_end: bool, longest: bool) -> String {
    let mut places: Vec<usize> = value.char_indices().map(|(at, _)| at).collect();
    places.push(value.len());
    // The longest part first: at the end, that is the one that begins first.
    if longest != from_end {
        places.reverse();
    }
    for at in places {
        let (before, behind) = value.split_at(at);
        let (part, rest) = if from_end {
            (behind, before)
        } else {
            (before, behind)
        };
        if pattern.fits(part) {
            return rest.to_owned();
        }
    }
    value.to_owned()
}

/// Numbers and variables that are added and subtracted.
fn sum(shell: &mut Shell, text: &str) -> Result<i64, String> {
    let mut total = 0;
    let mut sign = 1;
    for word in text
        .replace('+', " + ")
        .replace('-', " - ")
        .split_whitespace()
    {
        match word {
            "+" => sign = 1,
            "-" => sign = -1,
            _ => {
                let value = match word.parse() {
                    Ok(number) => number,
                    Err(_) => shell
                        .value(word.trim_start_matches('$'))
                        .parse()
                        .unwrap_or(0),
                };
                total += sign * value;
                sign = 1;
            }
        }
    }
    if text.contains(['*', '/', '%', '<', '>']) {
        return Err(format!("$(({text})) is not known"));
    }
    Ok(total)
}
