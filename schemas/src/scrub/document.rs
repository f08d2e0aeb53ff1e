//! Scrubbing a cassette or a capture, which are one JSON text each.

use std::borrow::Cow;

use super::cassette;
use crate::json::{self, Invalid, Scanner, Token};
use crate::order::Order as _;
use crate::redact::Redactor;

/// The position of a secret, and its kind; never the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSecret {
    /// JSON pointer to the value.
    pub pointer: String,
    /// Kind of the secret.
    pub kind: String,
}

/// Scrubs a document; returns the new text, and where secrets were.
pub fn document<'t>(
    redactor: &mut Redactor,
    text: &'t [u8],
) -> Result<(Cow<'t, [u8]>, Vec<FoundSecret>), Invalid> {
    let mut places = Vec::new();
    let beside = cassette::beside_messages(redactor, text, &mut places);
    places.extend(found(redactor, &beside));
    let scrubbed = match redactor.json(&beside)? {
        Cow::Owned(new) => Cow::Owned(new),
        Cow::Borrowed(_) => beside,
    };
    if scrubbed != text && places.is_empty() {
        let kinds = redactor.counts().iter().filter(|(_, count)| **count > 0);
        places.extend(kinds.map(|(kind, _)| FoundSecret {
            pointer: String::new(),
            kind: kind.clone(),
        }));
    }
    Ok((scrubbed, places))
}

/// The positions of secrets in a JSON text.
pub(super) fn found(redactor: &mut Redactor, text: &[u8]) -> Vec<FoundSecret> {
    let mut findings = redactor.findings(text);
    if findings.is_empty() {
        return Vec::new();
    }
    findings.order_by_key(|finding| finding.span.start);
    let mut findings = findings.into_iter().peekable();
    let mut places = Vec::new();
    walk(text, |end, pointer| {
        while let Some(finding) = findings.next_if(|finding| finding.span.start < end) {
            places.push(FoundSecret {
                pointer: pointer.to_owned(),
                kind: finding.kind,
            });
        }
    });
    places.extend(findings.map(|finding| FoundSecret {
        pointer: String::new(),
        kind: finding.kind,
    }));
    places.dedup();
    places
}

/// Calls `each` for every scalar of a JSON text, with its end and its JSON pointer.
fn walk(text: &[u8], mut each: impl FnMut(usize, &str)) {
    let mut scanner = Scanner::new(text);
    let mut pointer = String::new();
    // For each open container: the length of its pointer, and the next index of an array.
    let mut open: Vec<(usize, Option<usize>)> = Vec::new();
    while let Ok(Some(token)) = scanner.next_token() {
        let end = scanner.offset();
        match token {
            Token::Close { .. } => {
                if let Some((length, _)) = open.pop() {
                    pointer.truncate(length);
                }
                continue;
            }
            Token::Key(key) => {
                let mut name = Vec::new();
                json::unescape(key.span.of(text), &mut name);
                let name = String::from_utf8_lossy(&name)
                    .replace('~', "~0")
                    .replace('/', "~1");
                if let Some((length, _)) = open.last() {
                    pointer.truncate(*length);
                }
                pointer.push('/');
                pointer.push_str(&name);
                continue;
            }
            _ => {}
        }
        if let Some((length, Some(index))) = open.last_mut() {
            pointer.truncate(*length);
            pointer.push('/');
            pointer.push_str(&index.to_string());
            *index += 1;
        }
        match token {
            Token::Open { object, .. } => open.push((pointer.len(), (!object).then_some(0))),
            _ => each(end, &pointer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scalar_has_its_pointer() {
        let mut found = Vec::new();
        let text = br#"{"a":[1,{"b/c":"x"},[true]],"d":null}"#;
        walk(text, |_, pointer| found.push(pointer.to_owned()));
        assert_eq!(found, ["/a/0", "/a/1/b~1c", "/a/2/0", "/d"]);
    }
}
