//! Redacted signatures of thoughts.
//!
//! Google's clients decode a `thoughtSignature` from base64 and reject anything else, so a
//! placeholder in its place would break them. The placeholder is served in base64; it is never
//! read, and is not part of a key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use memchr::memmem;
use tapewright_schemas::slices::Part as _;

/// The members with a signature, and the start of a placeholder.
const MEMBERS: [&[u8]; 2] = [b"thoughtSignature", b"thought_signature"];
const PLACEHOLDER: &[u8] = b"<REDACTED:";

/// The text with the placeholders of such signatures in base64; `None` if it has none.
pub(super) fn in_base64(text: &Bytes) -> Option<Bytes> {
    let mut out = Vec::new();
    let mut copied = 0;
    for start in memmem::find_iter(text, PLACEHOLDER) {
        let Some(length) = memchr::memchr(b'"', text.part(start..)) else {
            break;
        };
        let end = start + length;
        if !is_signature(text.part(..start)) {
            continue;
        }
        out.extend_from_slice(text.part(copied..start));
        out.extend_from_slice(STANDARD.encode(text.part(start..end)).as_bytes());
        copied = end;
    }
    if copied == 0 {
        return None;
    }
    out.extend_from_slice(text.part(copied..));
    Some(out.into())
}

/// Whether the text ends before the value of such a member.
fn is_signature(before: &[u8]) -> bool {
    let quoted = |text: &[u8]| text.trim_ascii_end().strip_suffix(b"\"").map(<[u8]>::len);
    let Some(value) = before.strip_suffix(b"\"") else {
        return false;
    };
    let Some(colon) = value.trim_ascii_end().strip_suffix(b":") else {
        return false;
    };
    let Some(name) = quoted(colon) else {
        return false;
    };
    let name = colon.part(..name);
    MEMBERS.iter().any(|member| {
        let rest = name.strip_suffix(*member);
        rest.is_some_and(|rest| rest.ends_with(b"\""))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_signature_is_base64_and_nothing_else_changes() {
        let text = Bytes::from_static(
            br#"{"parts":[{"text":"<REDACTED:token#1>","thoughtSignature": "<REDACTED:signature#1>"},{"thought_signature":"<REDACTED:signature#2>"},{"signature":"<REDACTED:signature#3>"}]}"#,
        );
        let served = in_base64(&text).unwrap();
        let served: serde_json::Value = serde_json::from_slice(&served).unwrap();
        let expected = serde_json::json!({"parts": [
            {"text": "<REDACTED:token#1>", "thoughtSignature": STANDARD.encode("<REDACTED:signature#1>")},
            {"thought_signature": STANDARD.encode("<REDACTED:signature#2>")},
            {"signature": "<REDACTED:signature#3>"},
        ]});
        assert_eq!(served, expected);
    }

    #[test]
    fn a_signature_that_is_told_stays() {
        let text = Bytes::from_static(br#"{"thoughtSignature":"c2ln","text":"<REDACTED:x#1>"}"#);
        assert_eq!(in_base64(&text), None);
        assert_eq!(in_base64(&Bytes::from_static(b"<REDACTED:")), None);
    }
}
