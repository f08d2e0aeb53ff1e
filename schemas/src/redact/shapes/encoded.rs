//! Secrets in base64: tokens of more parts, tokens within, and JSON.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use memchr::memmem;

use super::super::names::{Class, classify};
use super::super::work;
use super::extent::{LENIENT, base64, signed, url64};
use super::finder::starts_token;
use crate::envelope::for_each_message;
use crate::json;
use crate::slices::Part as _;

/// `eyJ…` that is not a JWT with three parts: an encrypted one of five (RFC 7516), or JSON in
/// base64 with a member that has a secret name.
pub(super) fn encoded(text: &[u8], start: usize) -> Option<Range<usize>> {
    if !starts_token(text, start, false) {
        return None;
    }
    let rest = text.part(start..);
    let run = |at: usize, alphabet: fn(u8) -> bool| {
        let part = rest.part(at..);
        part.iter()
            .take(LONGEST)
            .take_while(|byte| alphabet(**byte))
            .count()
    };
    let head = run(0, url64);
    work::read(head);
    if rest.get(head) == Some(&b'.') {
        let header = LENIENT_URL.decode(rest.part(..head)).ok()?;
        memmem::find(&header, b"\"enc\"")?;
        let mut end = head;
        for _ in 0..4 {
            (rest.get(end) == Some(&b'.')).then_some(())?;
            let part = run(end + 1, url64);
            work::read(part);
            end += 1 + part;
        }
        return Some(start..start + end);
    }
    let (decoded, end) = base64_at(text, start)?;
    has_secret(&decoded, 0).then_some(start..end)
}

/// The decoded content of the run of base64 at `start`, and where it ends.
fn base64_at(text: &[u8], start: usize) -> Option<(Vec<u8>, usize)> {
    // Runs must not overlap: every one is read to its end.
    if matches!(text.get(start.wrapping_sub(1)), Some(b'+' | b'/')) {
        return None;
    }
    let rest = text.part(start..);
    let plain = |byte: &&u8| **byte != b'=' && base64(**byte);
    let unpadded = rest.iter().take(LONGEST).take_while(plain).count();
    let padding = rest.part(unpadded..).iter();
    let padding = padding.take(2).take_while(|byte| **byte == b'=').count();
    let body = rest.part(..unpadded + padding);
    work::read(body.len());
    let decoded = LENIENT
        .decode(body)
        .or_else(|_| LENIENT_URL.decode(body))
        .ok()?;
    Some((decoded, start + body.len()))
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
    let (decoded, end) = base64_at(text, start)?;
    let token = decoded.trim_ascii_end().len();
    (signed(&decoded, 0..3)? == (0..token)).then_some(start..end)
}

/// The maximum size of an encoded text that is read, in bytes.
const LONGEST: usize = 1 << 18;

const LENIENT_URL: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);
