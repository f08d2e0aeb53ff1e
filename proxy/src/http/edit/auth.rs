//! What `--rewrite-auth` changes, so that a client which compares addresses (RFC 9728
//! §3.3) accepts ours: `resource` in the metadata of a protected resource, and
//! `resource_metadata` in a challenge. Issuers and their documents stay as they are.

use bytes::{Bytes, BytesMut};
use memchr::memmem;
use tapewright_schemas::event::Edit;
use tapewright_schemas::json;

use super::Addresses;

/// Changes `resource` in a metadata document, which is held for that.
#[derive(Debug)]
pub(crate) struct ResourceEditor {
    addresses: Addresses,
    // `None` once the document turned out to be too long for one.
    held: Option<BytesMut>,
}

/// How long a metadata document may be, in bytes.
const LONGEST: usize = 256 * 1024;

impl ResourceEditor {
    /// Whether a document of this path is held and looked at.
    pub(crate) fn wants(path: &str) -> bool {
        path.starts_with("/.well-known/oauth-protected-resource")
    }

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

/// The document with another `resource`; the rest of its text stays.
fn changed(text: &Bytes, addresses: &Addresses) -> Option<(Vec<u8>, Edit)> {
    let value = json::find(text, &["resource"])?;
    let before: String = serde_json::from_slice(value).ok()?;
    let after = addresses.for_client(&before)?;
    let start = text.slice_ref(value);
    let start = start.as_ptr() as usize - text.as_ptr() as usize;
    let mut out = text.get(..start)?.to_vec();
    serde_json::to_writer(&mut out, &after).ok()?;
    out.extend_from_slice(text.get(start + value.len()..)?);
    let edit = Edit {
        what: "resource".to_owned(),
        before,
        after,
    };
    Some((out, edit))
}

/// A `WWW-Authenticate` value with another `resource_metadata` (RFC 9728 §5.1).
pub(crate) fn challenge(value: &str, addresses: &Addresses) -> Option<(String, Edit)> {
    const NAME: &str = "resource_metadata=";
    let at = memmem::find(value.as_bytes(), NAME.as_bytes())? + NAME.len();
    let rest = value.get(at..)?;
    let (start, length) = match rest.strip_prefix('"') {
        Some(quoted) => (at + 1, quoted.find('"')?),
        None => (at, rest.find([',', ' ']).unwrap_or(rest.len())),
    };
    let before = value.get(start..start + length)?;
    let after = addresses.for_client(before)?;
    let whole = format!(
        "{}{after}{}",
        value.get(..start)?,
        value.get(start + length..)?
    );
    let edit = Edit {
        what: "resource_metadata".to_owned(),
        before: before.to_owned(),
        after,
    };
    Some((whole, edit))
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
        assert_eq!(edit.unwrap().what, "resource");
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
}
