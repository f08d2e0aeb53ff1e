//! Splits a line into `key=value` words with quotes, and their columns.

/// One word of a line: `nth=3`, `tool='my tool'`, `hang`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// The part before the equals sign; the whole word without one.
    pub(crate) key: String,
    /// The part after the equals sign.
    pub(crate) value: Option<String>,
    /// The column of its first character, from 1.
    pub(crate) column: usize,
}

/// A quote that is not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenQuote {
    pub(crate) column: usize,
}

/// Splits a line into words. Quotes are single or double and may contain anything but themselves;
/// outside of quotes a backslash escapes the next character.
pub(crate) fn words(line: &str) -> Result<Vec<Word>, OpenQuote> {
    let mut words = Vec::new();
    let mut chars = (1..).zip(line.chars()).peekable();
    loop {
        while chars.next_if(|(_, char)| char.is_whitespace()).is_some() {}
        let Some((column, _)) = chars.peek().copied() else {
            return Ok(words);
        };
        let mut key = String::new();
        let mut value: Option<String> = None;
        while let Some((at, char)) = chars.next_if(|(_, char)| !char.is_whitespace()) {
            if char == '=' && value.is_none() {
                value = Some(String::new());
                continue;
            }
            let text = value.as_mut().unwrap_or(&mut key);
            match char {
                '\'' | '"' => loop {
                    match chars.next() {
                        Some((_, end)) if end == char => break,
                        Some((_, char)) => text.push(char),
                        None => return Err(OpenQuote { column: at }),
                    }
                },
                '\\' => text.push(chars.next().map_or('\\', |(_, char)| char)),
                char => text.push(char),
            }
        }
        words.push(Word { key, value, column });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_keys_values_and_columns() {
        let found = words(r#"  hang tool='my tool' /a="x=\y" \'a=b"#).unwrap();
        let plain: Vec<_> = found
            .iter()
            .map(|word| (word.key.as_str(), word.value.as_deref(), word.column))
            .collect();
        assert_eq!(
            plain,
            [
                ("hang", None, 3),
                ("tool", Some("my tool"), 8),
                ("/a", Some(r"x=\y"), 23),
                ("'a", Some("b"), 33),
            ]
        );
        assert_eq!(words(" "), Ok(Vec::new()));
        assert_eq!(words("a 'b"), Err(OpenQuote { column: 3 }));
    }
}
