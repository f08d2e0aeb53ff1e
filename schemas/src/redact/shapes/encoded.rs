//! Secrets in base64: tokens of more parts, tokens within, and JSON.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use memchr::memmem;

use super::super::names::{Class, classify};
use super::extent::{LENIENT, base64, signed, url64};
use super::finder::starts_token;
use crate::envelope::for_each_message;
use crate::json;

/// `eyJ…` that is no JWT with three parts: an encrypted one of five (RFC 7516), or JSON in base64
/// in which a member with a secret name stands.
pub(super) fn encoded(text: &[u8], start: usize) -> Option<Range<usize>> {
    if !starts_token(text, start, false) {
        return None;
    }
    let rest = text.get(start..)?;
    let run = |at: usize, alphabet: fn(u8) -> bool| {
        let part = rest.get(at..).unwrap_or_default();
        part.iter()
            .take(LONGEST)
            .take_while(|byte| alphabet(**byte))
            .count()
    };
    let head = run(0, url64);
    if rest.get(head) == Some(&b'.') {
        let header = LENIENT_URL.decode(rest.get(..head)?).ok()?;
        memmem::find(&header, b"\"enc\"")?;
        let mut end = head;
        for _ in 0..4 {
            (rest.get(end) == Some(&b'.')).then_some(())?;
            end += 1 + run(end + 1, url64);
        }
        return Some(start..start + end);
    }
    // Runs must not overlap: every one is read to its end.
    if matches!(text.get(start.wrapping_sub(1)), Some(b'+' | b'/')) {
        return None;
    }
    let unpadded = run(0, |byte| byte != b'=' && base64(byte));
    let padding = rest.get(unpadded..).unwrap_or_default().iter();
    let padding = padding.take(2).take_while(|byte| **byte == b'=').count();
    let length = unpadded + padding;
    let body = rest.get(..length)?;
    let decoded = LENIENT
        .decode(body)
        .or_else(|_| LENIENT_URL.decode(body))
        .ok()?;
    has_secret(&decoded, 0).then_some(start..start + length)
}

/// Whether a member of an object, or of one inside it, has a secret name and a value.
fn has_secret(text: &[u8], depth: usize) -> bool {
    let mut found = false;
    if text.starts_with(b"[") {
        if json::is_valid(text) && depth < 4 {
            for_each_message(text, |one| found |= has_secret(one, depth + 1));
        }
        return found;
    }
    let read = json::members(text, |name, value| {
        let value = value.trim_ascii();
        found |= match value.first() {
            Some(b'"') => value.len() > 2 && classify(name, &[]).class == Class::Secret,
            Some(b'{' | b'[') => depth < 4 && has_secret(value, depth + 1),
            _ => false,
        };
    });
    read.is_some() && found
}

/// A signed token (RFC 7519) in base64.
pub(super) fn encoded_jwt(text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
    let start = prefix.start;
    if !starts_token(text, start, false) {
        return None;
    }
    let rest = text.get(start..)?;
    let run = rest.iter().take(LONGEST).take_while(|byte| base64(**byte));
    let end = start + run.count();
    let body = text.get(start..end)?;
    let decoded = LENIENT
        .decode(body)
        .or_else(|_| LENIENT_URL.decode(body))
        .ok()?;
    (signed(&decoded, 0..3)? == (0..decoded.trim_ascii_end().len())).then_some(start..end)
}

/// How much of an encoded text is read, in bytes.
const LONGEST: usize = 1 << 18;

const LENIENT_URL: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);
