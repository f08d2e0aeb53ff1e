//! `key=value` words with quotes, and where each of them stands.

/// One word of a line: `nth=3`, `tool='my tool'`, `hang`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// What stands before the equals sign; the whole word where there is none.
    pub(crate) key: String,
    /// What stands behind it.
    pub(crate) value: Option<String>,
    /// The column of its first character, from 1 on.
    pub(crate) column: usize,
}

/// A quote that is not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenQuote {
    pub(crate) column: usize,
}

/// Cuts a line into words. Quotes are single or double and hold anything but themselves;
/// outside of them a backslash takes the next character as it is.
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
