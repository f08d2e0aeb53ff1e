//! Implements `--rewrite-auth`, for clients that compare addresses (RFC 9728 §3.3): replaces the
//! server's address by tapewright's in the `resource` of the metadata of a protected resource, and
//! in the `resource_metadata` of a challenge. Issuers and their documents are unchanged.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use tapewright_schemas::event::{Edit, EditTarget};
use tapewright_schemas::json;
use tapewright_schemas::slices::Part as _;

use super::Addresses;

/// Changes `resource` in a metadata document, which it holds until it is complete.
#[derive(Debug)]
pub(crate) struct ResourceEditor {
    addresses: Addresses,
    // `None` after the document exceeded the limit.
    held: Option<BytesMut>,
}

/// The maximum length of a metadata document, in bytes.
const LONGEST: usize = 256 * 1024;

/// The paths of metadata of protected resources: the well-known path (RFC 9728 §3.1), and those in
/// challenges of the server (§5.1).
#[derive(Debug, Default)]
pub(crate) struct MetadataPlaces(Mutex<VecDeque<String>>);

/// The maximum number of remembered paths; beyond it the oldest is dropped.
const PLACES: usize = 64;
/// The maximum length of a remembered path, in bytes.
const LONGEST_PATH: usize = 1_024;

impl MetadataPlaces {
    /// Whether a document at this path is held and examined.
    pub(crate) fn has(&self, path: &str) -> bool {
        path.starts_with("/.well-known/oauth-protected-resource")
            || self.lock().iter().any(|known| known == path)
    }

    /// Learns the URL of metadata from a challenge, if it has the server's origin.
    pub(crate) fn learn(&self, url: &str, addresses: &Addresses) {
        let Some(target) = url.strip_prefix(addresses.ours.as_str()) else {
            return;
        };
        let path = target.split(['?', '#']).next().unwrap_or_default();
        if !path.starts_with('/') || path.len() > LONGEST_PATH || self.has(path) {
            return;
        }
        let mut known = self.lock();
        if known.len() >= PLACES {
            known.pop_front();
        }
        known.push_back(path.to_owned());
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResourceEditor {
    pub(crate) fn new(addresses: Addresses) -> Self {
        Self {
            addresses,
            held: Some(BytesMut::new()),
        }
    }

    pub(crate) fn push(&mut self, data: Bytes) -> Bytes {
        let Some(held) = &mut self.held else {
            return data;
        };
        held.extend_from_slice(&data);
        if held.len() <= LONGEST {
            return Bytes::new();
        }
        self.held.take().unwrap_or_default().freeze()
    }

    pub(crate) fn finish(self) -> (Bytes, Option<Edit>) {
        let text = self.held.unwrap_or_default().freeze();
        match changed(&text, &self.addresses) {
            Some((out, edit)) => (out.into(), Some(edit)),
            None => (text, None),
        }
    }
}

/// The document with another `resource`; the rest of its text is unchanged.
fn changed(text: &Bytes, addresses: &Addresses) -> Option<(Vec<u8>, Edit)> {
    let value = json::find(text, &["resource"])?;
    let before: String = serde_json::from_slice(value).ok()?;
    let after = addresses.for_client(&before)?;
    let start = text.slice_ref(value);
    let start = start.as_ptr() as usize - text.as_ptr() as usize;
    let mut out = text.part(..start).to_vec();
    serde_json::to_writer(&mut out, &after).ok()?;
    out.extend_from_slice(text.part(start + value.len()..));
    let edit = Edit {
        what: EditTarget::Resource,
        before,
        after,
        ..Edit::default()
    };
    Some((out, edit))
}

/// A `WWW-Authenticate` value with other `resource_metadata` (RFC 9728 §5.1), and the edits; `None`
/// if it contains no URL of the server.
pub(crate) fn challenge(value: &str, addresses: &Addresses) -> Option<(String, Vec<Edit>)> {
    let mut out = String::with_capacity(value.len());
    let mut edits = Vec::new();
    let mut copied = 0;
    for span in parameters(value, "resource_metadata") {
        let before = value.part(span.clone());
        let Some(after) = addresses.for_client(before) else {
            continue;
        };
        out.push_str(value.part(copied..span.start));
        out.push_str(&after);
        copied = span.end;
        edits.push(Edit {
            what: EditTarget::ResourceMetadata,
            before: before.to_owned(),
            after,
            ..Edit::default()
        });
    }
    out.push_str(value.part(copied..));
    (!edits.is_empty()).then_some((out, edits))
}

/// The positions of a parameter's values in a list of challenges (RFC 9110 §11.2), without their
/// quotes. Text within another parameter's quotes does not count, nor does a value with escapes.
fn parameters(text: &str, name: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let is_token = |at: usize| bytes.get(at).is_some_and(|byte| is_token(*byte));
    let skip_space = |mut at: usize| {
        while matches!(bytes.get(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        at
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes.get(at) == Some(&b'"') {
            at = end_of_quoted(bytes, at);
            continue;
        }
        if !is_token(at) {
            at += 1;
            continue;
        }
        let start = at;
        while is_token(at) {
            at += 1;
        }
        let named = text.part(start..at).eq_ignore_ascii_case(name);
        let equals = skip_space(at);
        if bytes.get(equals) != Some(&b'=') {
            continue;
        }
        let value = skip_space(equals + 1);
        at = value;
        let span = if bytes.get(value) == Some(&b'"') {
            at = end_of_quoted(bytes, value);
            value + 1..at.saturating_sub(1)
        } else {
            // Not restricted to the characters of a token: a URL without quotes is common.
            while bytes
                .get(at)
                .is_some_and(|byte| !matches!(byte, b',' | b' ' | b'\t' | b'"'))
            {
                at += 1;
            }
            value..at
        };
        let plain = bytes
            .get(span.clone())
            .is_some_and(|value| !value.contains(&b'\\'));
        let ended = value == span.start || (at > span.end && bytes.get(at - 1) == Some(&b'"'));
        if named && plain && ended {
            found.push(span);
        }
    }
    found
}

/// The end of the quoted string that starts at a position.
fn end_of_quoted(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// RFC 9110 §5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::origin::OriginUrl;

    fn addresses() -> Addresses {
        Addresses {
            theirs: OriginUrl::parse("https://up.example/mcp").unwrap(),
            ours: "http://localhost:4000".to_owned(),
        }
    }

    #[test]
    fn a_document_keeps_everything_but_its_resource() {
        let text = r#"{ "authorization_servers":["https://up.example"],"resource" : "https://up.example/mcp", "x":1.0 }"#;
        let mut editor = ResourceEditor::new(addresses());
        for byte in text.as_bytes() {
            assert!(editor.push(Bytes::copy_from_slice(&[*byte])).is_empty());
        }
        let (out, edit) = editor.finish();
        let wanted = text.replace(
            "\"https://up.example/mcp\"",
            "\"http://localhost:4000/mcp\"",
        );
        assert_eq!(out, wanted);
        assert_eq!(edit.unwrap().what, EditTarget::Resource);
    }

    #[test]
    fn a_document_of_another_resource_passes_as_it_is() {
        for text in [
            "{\"resource\":\"https://other/mcp\"}",
            "{\"resource\":1}",
            "<html>",
            "[]",
            "",
        ] {
            let mut editor = ResourceEditor::new(addresses());
            drop(editor.push(Bytes::from_static(text.as_bytes())));
            assert_eq!(editor.finish(), (Bytes::from_static(text.as_bytes()), None));
        }
    }

    #[test]
    fn a_challenge_keeps_everything_but_its_metadata() {
        let value = r#"Bearer error="x", resource_metadata="https://up.example/.well-known/oauth-protected-resource/mcp", scope="a b""#;
        let (out, _) = challenge(value, &addresses()).unwrap();
        let wanted = value.replace("https://up.example/", "http://localhost:4000/");
        assert_eq!(out, wanted);
        let (out, _) = challenge(
            "Bearer resource_metadata=https://up.example/m, a=b",
            &addresses(),
        )
        .unwrap();
        assert_eq!(out, "Bearer resource_metadata=http://localhost:4000/m, a=b");
        assert!(challenge("Bearer scope=\"x\"", &addresses()).is_none());
    }

    #[test]
    fn every_challenge_of_a_list_is_looked_at() {
        let value = "Basic realm=x, Bearer Resource_Metadata = \"https://up.example/a\", DPoP resource_metadata=https://up.example/b";
        let (out, edits) = challenge(value, &addresses()).unwrap();
        assert_eq!(
            out,
            value.replace("https://up.example/", "http://localhost:4000/")
        );
        assert_eq!(edits.len(), 2);
    }

    #[test]
    fn what_only_looks_like_metadata_stays() {
        for value in [
            r#"Bearer error_description="resource_metadata=https://up.example/a""#,
            r#"Bearer error_description="say \" resource_metadata=\"https://up.example/a""#,
            "Bearer x_resource_metadata=https://up.example/a",
            "Bearer resource_metadata=https://other.example/a",
            r#"Bearer resource_metadata="https://up.example/\a""#,
            r#"Bearer resource_metadata="https://up.example/"#,
            "Bearer resource_metadata",
            "resource_metadata=",
            "\"",
        ] {
            assert!(challenge(value, &addresses()).is_none(), "{value}");
        }
    }
}
