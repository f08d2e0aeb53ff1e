//! Checks that make a readable capture invalid.

use std::path::Path;

use tapewright_schemas::json::{Scanner, Token, unescape};
use tapewright_schemas::slices::Part as _;

use crate::files::unreadable;

/// Refuses a document that begins with a byte order mark, or that has a duplicate member where it
/// would be unclear which one is meant. Messages are evidence, and may have any form.
pub(super) fn check(path: &Path) -> anyhow::Result<()> {
    let text = std::fs::read(path)?;
    if text.starts_with(b"\xef\xbb\xbf") {
        return Err(unreadable(
            path,
            "line 1, column 1: unexpected byte order mark",
            "save it as UTF-8 without a byte order mark",
        ));
    }
    let Some((pointer, at)) = repeated(&text) else {
        return Ok(());
    };
    let before = text.part(..at);
    let line = before.split(|byte| *byte == b'\n').count();
    let start = before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |feed| feed + 1);
    let column = before.len() - start + 1;
    Err(unreadable(
        path,
        &format!("line {line}, column {column}: duplicate `{pointer}`"),
        "keep one of the two",
    ))
}

/// The first duplicate member in the frame of a document: its pointer, and the offset of the second
/// one.
fn repeated(text: &[u8]) -> Option<(String, usize)> {
    let mut scanner = Scanner::new(text);
    match scanner.next_token() {
        Ok(Some(Token::Open { object: true, .. })) => members(&mut scanner, text, ""),
        Ok(Some(Token::Open { object: false, .. })) => elements(&mut scanner, text, ""),
        _ => None,
    }
}

/// Walks an object after its opening brace.
fn members(scanner: &mut Scanner<'_>, text: &[u8], pointer: &str) -> Option<(String, usize)> {
    let mut seen: Vec<Vec<u8>> = Vec::new();
    loop {
        let Ok(Some(Token::Key(key))) = scanner.next_token() else {
            return None;
        };
        let mut name = Vec::new();
        unescape(key.span.of(text), &mut name);
        let here = format!("{pointer}/{}", String::from_utf8_lossy(&name));
        if seen.contains(&name) {
            return Some((here, key.span.start.saturating_sub(1)));
        }
        if FRAME.contains(&name.as_slice()) {
            let found = match scanner.next_token() {
                Ok(Some(Token::Open { object: true, .. })) => members(scanner, text, &here),
                Ok(Some(Token::Open { object: false, .. })) => elements(scanner, text, &here),
                Ok(Some(_)) => None,
                _ => return None,
            };
            if found.is_some() {
                return found;
            }
        } else if scanner.skip_value().is_err() {
            return None;
        }
        if seen.len() < MEMBERS {
            seen.push(name);
        }
    }
}

/// Walks an array after its opening bracket.
fn elements(scanner: &mut Scanner<'_>, text: &[u8], pointer: &str) -> Option<(String, usize)> {
    let mut number = 0_usize;
    loop {
        let found = match scanner.next_token() {
            Ok(Some(Token::Open { object: true, .. })) => {
                members(scanner, text, &format!("{pointer}/{number}"))
            }
            Ok(Some(Token::Open { object: false, .. })) => {
                elements(scanner, text, &format!("{pointer}/{number}"))
            }
            Ok(Some(Token::Close { .. }) | None) | Err(_) => return None,
            Ok(Some(_)) => None,
        };
        if found.is_some() {
            return found;
        }
        number += 1;
    }
}

/// The members that lead to messages; other members are not searched.
const FRAME: [&[u8]; 4] = [b"exchanges", b"messages", b"stream", b"unanswered"];
/// How many member names of one object are compared.
const MEMBERS: usize = 64;

#[cfg(test)]
mod tests {
    use super::repeated;

    #[test]
    fn members_of_the_frame_stand_once_and_messages_are_let_be() {
        let found = |text: &str| repeated(text.as_bytes()).map(|(pointer, _)| pointer);
        assert_eq!(
            found(r#"{"server_label":"x","server_label":"y","exchanges":[]}"#).as_deref(),
            Some("/server_label")
        );
        assert_eq!(
            found(
                r#"[{"exchanges":[{"request":{}},{"request":{},"response":1,"\u0072equest":2}]}]"#
            )
            .as_deref(),
            Some("/0/exchanges/1/request")
        );
        assert_eq!(
            found(r#"{"server_label":"x","exchanges":[{"request":{"id":1,"id":2}}]}"#),
            None
        );
        assert_eq!(found("not json"), None);
    }
}
