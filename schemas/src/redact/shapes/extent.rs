//! Alphabets, checks and the shapes that are more than a prefix and a run of bytes.

use std::ops::Range;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use memchr::memmem;

use super::super::work;
use super::encoded::encoded;
use super::finder::starts_token;
use crate::slices::{Front as _, Part as _};

pub(super) fn alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// Upper-case letters and digits.
pub(super) fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

pub(super) fn hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

/// Letters, digits and `_`.
pub(super) fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Letters, digits, `_` and `-`: base64url.
pub(super) fn url64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// base64url and full stops.
pub(super) fn dotted(byte: u8) -> bool {
    url64(byte) || byte == b'.'
}

/// base64 of either alphabet.
pub(super) fn base64(byte: u8) -> bool {
    url64(byte) || matches!(byte, b'+' | b'/' | b'=')
}

/// No further check.
pub(super) fn any(_: &[u8]) -> bool {
    true
}

/// Words have no digits.
pub(super) fn digit(body: &[u8]) -> bool {
    body.iter().any(u8::is_ascii_digit)
}

/// A digit, or letters of both cases after each other's like: `camelCase` alone is not
/// enough, five changes of case are.
pub(super) fn mixed(body: &[u8]) -> bool {
    let letters = body.iter().any(u8::is_ascii_alphabetic);
    let changes = body.windows(2).filter(|pair| match pair {
        [a, b] => a.is_ascii_lowercase() != b.is_ascii_lowercase(),
        _ => false,
    });
    digit(body) && letters || changes.count() > 4
}

/// One part between hyphens that is not a word: long, or with letters and digits mixed.
/// `sk-top-container-id-1` is a class name, `sk-or-v1-0a1b…` is a key.
pub(super) fn opaque_part(body: &[u8]) -> bool {
    let mut parts = body.split(|byte| matches!(byte, b'-' | b'_'));
    parts.any(|part| part.len() >= 20 || part.len() >= 12 && mixed(part))
}

/// Not an ordinary word or two: a digit, or a long run.
pub(super) fn digit_or_long(body: &[u8]) -> bool {
    digit(body) || body.len() >= 24 || body.iter().any(u8::is_ascii_uppercase)
}

/// A signed token, an encrypted one, or JSON in base64 that holds a secret. Anything else is a
/// cursor or other data.
pub(super) fn jwt(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let start = prefix.start;
    signed(text, prefix).or_else(|| encoded(text, start))
}

/// `eyJ…`, `.`, `eyJ…`, `.`, signature.
pub(super) fn signed(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let mut end = prefix.start;
    if !starts_token(text, end, false) {
        return None;
    }
    for (begins, least) in [("eyJ", 8), ("eyJ", 5), ("", 3)] {
        let rest = text.part(end..);
        let length = rest
            .iter()
            .take(LONGEST_PART)
            .take_while(|byte| url64(**byte))
            .count();
        work::read(length);
        if length < least || !rest.starts_with(begins.as_bytes()) {
            return None;
        }
        end += length;
        if !begins.is_empty() {
            if text.get(end) != Some(&b'.') {
                return None;
            }
            end += 1;
        }
    }
    Some(prefix.start..end)
}

/// A private key between its first and last line; a missing last line means the end.
pub(super) fn pem(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let body = prefix.start + pem_header(text.part(prefix.start..))?;
    let rest = text.part(body..);
    let end = match memmem::find(rest, b"-----END ") {
        None => {
            work::read(rest.len());
            text.len()
        }
        Some(last) => {
            work::read(last);
            let label = rest.part(last + 9..);
            let label = label.front(LONGEST_LABEL);
            let close = memmem::find(label, b"-----").map_or(label.len(), |close| close + 5);
            body + last + 9 + close
        }
    };
    Some(prefix.start..end)
}

/// The length of `-----BEGIN … PRIVATE KEY…-----` at the start of `text`.
pub(in crate::redact) fn pem_header(text: &[u8]) -> Option<usize> {
    let label = text.strip_prefix(b"-----BEGIN ")?;
    let label = label.front(LONGEST_LABEL);
    let length = memmem::find(label, b"-----")?;
    memmem::find(label.part(..length), b"PRIVATE KEY")?;
    Some(11 + length + 5)
}

/// `bot` and digits, `:AA…`: the number before the colon belongs to it.
pub(super) fn telegram(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let before = text.part(..prefix.start);
    let digits = before
        .iter()
        .rev()
        .take(13)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let start = prefix.start - digits;
    let bot = before.part(..start).ends_with(b"bot");
    let body = text.part(prefix.start + 1..);
    let length = body
        .iter()
        .take(65)
        .take_while(|byte| url64(**byte))
        .count();
    let fits = (6..13).contains(&digits) && (20..65).contains(&length);
    (fits && (bot || starts_token(text, start, true))).then_some(start..prefix.start + 1 + length)
}

/// 32 hex digits before `-us` and a number.
pub(super) fn mailchimp(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let before = text.part(..prefix.start);
    let length = before
        .iter()
        .rev()
        .take(33)
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    let digits = text
        .part(prefix.end..)
        .iter()
        .take(3)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let start = prefix.start - length.min(prefix.start);
    let fits = length == 32 && matches!(digits, 1 | 2) && starts_token(text, start, false);
    fits.then_some(start..prefix.end + digits)
}

/// The path of a Slack webhook; the host before it is kept.
pub(super) fn slack_webhook(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let body = text.part(prefix.end..);
    let length = body
        .iter()
        .take(256)
        .take_while(|byte| alnum(**byte) || **byte == b'/')
        .count();
    (length >= 16).then_some(prefix.end..prefix.end + length)
}

/// The path of a Discord webhook: a number, which is kept, and a token.
pub(super) fn discord_webhook(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let rest = text.part(prefix.end..);
    let digits = rest
        .iter()
        .take(25)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let start = prefix.end + digits + 1;
    let length = text
        .get(start..)?
        .iter()
        .take(128)
        .take_while(|byte| url64(**byte))
        .count();
    (digits > 0 && rest.get(digits) == Some(&b'/') && length >= 16).then_some(start..start + length)
}

/// `SG.`, a part, `.`, a part.
pub(super) fn sendgrid(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    if !starts_token(text, prefix.start, true) {
        return None;
    }
    let part = |at: usize| {
        let rest = text.part(at..);
        rest.iter()
            .take(128)
            .take_while(|byte| url64(**byte))
            .count()
    };
    let first = part(prefix.end);
    let dot = prefix.end + first;
    if text.get(dot) != Some(&b'.') {
        return None;
    }
    let second = part(dot + 1);
    let end = dot + 1 + second;
    let fits = first >= 8 && second >= 8 && digit(text.part(prefix.end..end));
    fits.then_some(prefix.start..end)
}

/// `sig=` of a query: only the value.
pub(super) fn azure_sas(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let rest = text.part(prefix.end..);
    let length = rest
        .iter()
        .take(256)
        .take_while(|byte| base64(**byte) || **byte == b'%')
        .count();
    let body = rest.part(..length);
    let fits = length >= 16 && digit(body) && starts_token(text, prefix.start, false);
    fits.then_some(prefix.end..prefix.end + length)
}

/// The credential after `Bearer `, unless it is a word of a sentence.
pub(super) fn bearer(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let span = credential(text, &prefix)?;
    let token = text.part(span.clone());
    let upper = token.part(1..).iter().any(u8::is_ascii_uppercase);
    let lower = token.iter().any(u8::is_ascii_lowercase);
    let fits = token.len() >= 8
        && (digit(token) || upper && lower || token.len() >= 24 && !token.contains(&b'_'));
    fits.then_some(span)
}

/// The credential after `Basic `, if it is base64 of something with a colon.
pub(super) fn basic(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let span = credential(text, &prefix)?;
    let token = text.part(span.clone());
    let decoded = LENIENT.decode(token).ok()?;
    let printable = |byte: &u8| !byte.is_ascii_control();
    (decoded.contains(&b':') && decoded.iter().all(printable)).then_some(span)
}

fn credential(text: &[u8], prefix: &Range<usize>) -> Option<Range<usize>> {
    if !starts_token(text, prefix.start, true) {
        return None;
    }
    let rest = text.part(prefix.end..);
    let spaces = rest
        .iter()
        .take(8)
        .take_while(|byte| **byte == b' ')
        .count();
    let allowed = |byte: &&u8| base64(**byte) || matches!(**byte, b'.' | b'~');
    let token = rest.part(spaces..);
    let length = token.iter().take(LONGEST_PART).take_while(allowed).count();
    let token = token.part(..length);
    let length = token
        .iter()
        .rposition(|byte| *byte != b'.')
        .map_or(0, |last| last + 1);
    let start = prefix.end + spaces;
    (length > 0).then_some(start..start + length)
}

pub(super) const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Bounds the walk over one part of a token.
const LONGEST_PART: usize = 16_384;

/// `ENCRYPTED PRIVATE KEY` and the like.
const LONGEST_LABEL: usize = 64;
