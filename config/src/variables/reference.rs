//! The grammar of references in strings.
//!
//! `${NAME}`, `${NAME:-default}`, `${NAME:?message}`, `$NAME` and `$$`. Anything that only
//! resembles one of them is text. A default ends at the first `}`.

use tapewright_schemas::slices::Part as _;

use crate::suite::composition::is_id;

/// A part of a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Literal text.
    Text(&'a str),
    /// `$$`: a dollar sign.
    Dollar,
    /// A variable, with its source text.
    Variable(Variable<'a>),
    /// `${id.path}` or `${id[…]…}`; text outside of compositions.
    Output {
        written: &'a str,
        id: &'a str,
        path: &'a str,
    },
}

/// A reference to a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable<'a> {
    pub(super) written: &'a str,
    pub(super) name: &'a str,
    pub(super) fallback: Fallback<'a>,
}

/// What happens if a variable has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fallback<'a> {
    /// It is an error.
    None,
    /// It is an error, with this message unless it is empty.
    Message(&'a str),
    /// This is its value.
    Default(&'a str),
}

/// Takes a string apart. The tokens in order are the string.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut plain_from = text;
    while let Some(at) = rest.find('$') {
        let (_, here) = rest.split_at(at);
        let Some((token, length)) = token(here) else {
            rest = here.part(1..);
            continue;
        };
        let before = plain_from.len() - here.len();
        if before > 0 {
            tokens.push(Token::Text(plain_from.part(..before)));
        }
        tokens.push(token);
        rest = here.part(length..);
        plain_from = rest;
    }
    if !plain_from.is_empty() {
        tokens.push(Token::Text(plain_from));
    }
    tokens
}

/// The token at a dollar sign and its length; nothing when the sign is text.
fn token(here: &str) -> Option<(Token<'_>, usize)> {
    let after = here.strip_prefix('$')?;
    if after.starts_with('$') {
        return Some((Token::Dollar, 2));
    }
    let Some(inner) = after.strip_prefix('{') else {
        let name = leading_name(after)?;
        let length = 1 + name.len();
        let written = here.part(..length);
        let fallback = Fallback::None;
        return Some((
            Token::Variable(Variable {
                written,
                name,
                fallback,
            }),
            length,
        ));
    };
    let (inner, _) = inner.split_once('}')?;
    let length = inner.len() + "${}".len();
    let written = here.part(..length);
    let token = variable(written, inner).or_else(|| output(written, inner))?;
    Some((token, length))
}

fn variable<'a>(written: &'a str, inner: &'a str) -> Option<Token<'a>> {
    let inner = inner.trim_ascii_start();
    let name = leading_name(inner)?;
    let rest = inner.get(name.len()..)?;
    let fallback = if let Some(default) = rest.strip_prefix(":-") {
        Fallback::Default(default)
    } else if let Some(message) = rest.strip_prefix(":?") {
        Fallback::Message(message.trim_ascii())
    } else if rest.trim_ascii().is_empty() {
        Fallback::None
    } else {
        return None;
    };
    Some(Token::Variable(Variable {
        written,
        name,
        fallback,
    }))
}

fn output<'a>(written: &'a str, inner: &'a str) -> Option<Token<'a>> {
    let inner = inner.trim_ascii();
    let end = inner.find(['.', '[']).unwrap_or(inner.len());
    let (id, path) = inner.split_at_checked(end)?;
    let path = path.strip_prefix('.').unwrap_or(path);
    is_id(id).then_some(Token::Output { written, id, path })
}

fn leading_name(text: &str) -> Option<&str> {
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let end = text.find(|char| !is_word(char)).unwrap_or(text.len());
    let name = text.part(..end);
    let starts = name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
    starts.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{Fallback, Token, Variable, tokens};

    fn variable<'a>(written: &'a str, name: &'a str, fallback: Fallback<'a>) -> Token<'a> {
        Token::Variable(Variable {
            written,
            name,
            fallback,
        })
    }

    #[test]
    fn every_form_is_read() {
        assert_eq!(
            tokens("a ${x}$$b$y_1-${Z:-d e}${R:?why}"),
            [
                Token::Text("a "),
                variable("${x}", "x", Fallback::None),
                Token::Dollar,
                Token::Text("b"),
                variable("$y_1", "y_1", Fallback::None),
                Token::Text("-"),
                variable("${Z:-d e}", "Z", Fallback::Default("d e")),
                variable("${R:?why}", "R", Fallback::Message("why")),
            ]
        );
        assert_eq!(tokens("${ x }"), [variable("${ x }", "x", Fallback::None)]);
        assert_eq!(
            tokens("$$${x}"),
            [Token::Dollar, variable("${x}", "x", Fallback::None)]
        );
    }

    #[test]
    fn a_default_ends_at_the_first_brace() {
        assert_eq!(
            tokens("${A:-${B}}"),
            [
                variable("${A:-${B}", "A", Fallback::Default("${B")),
                Token::Text("}")
            ]
        );
    }

    #[test]
    fn what_is_almost_a_reference_is_text() {
        for text in [
            "", "$5", "a$", "${}", "${1A}", "${Z:x}", "${Z:+x}", "${x", "^foo$", "$-", "é$é",
            "${ }",
        ] {
            let found = tokens(text);
            assert!(
                matches!(found.as_slice(), [] | [Token::Text(_)]),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn references_to_outputs_are_told_apart() {
        let output = |written, id, path| Token::Output { written, id, path };
        assert_eq!(
            tokens("${a.b[0].c}"),
            [output("${a.b[0].c}", "a", "b[0].c")]
        );
        assert_eq!(tokens("${a-b}"), [output("${a-b}", "a-b", "")]);
        assert_eq!(tokens("${a[0]}"), [output("${a[0]}", "a", "[0]")]);
        assert_eq!(tokens("$${a.b}"), [Token::Dollar, Token::Text("{a.b}")]);
    }

    proptest::proptest! {
        #[test]
        fn the_tokens_are_the_string(text in r"[a$:{}.?\-é ]{0,24}") {
            let written: String = tokens(&text)
                .iter()
                .map(|token| match token {
                    Token::Text(text) => *text,
                    Token::Dollar => "$$",
                    Token::Variable(variable) => variable.written,
                    Token::Output { written, .. } => *written,
                })
                .collect();
            proptest::prop_assert_eq!(written, text);
        }
    }
}
