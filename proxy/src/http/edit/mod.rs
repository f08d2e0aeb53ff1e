//! The few changes that a reverse proxy must make in a response, because the client knows the
//! server by tapewright's address. Each change is recorded.

mod auth;
mod endpoint;
pub(crate) mod heads;

use bytes::Bytes;
use tapewright_schemas::event::{Edit, EditTarget};
use tapewright_schemas::slices::Part as _;

use super::origin::OriginUrl;

pub(crate) use self::auth::{MetadataPlaces, ResourceEditor, challenge};
pub(crate) use self::endpoint::EndpointEditor;

/// Changes a body while it passes.
#[derive(Debug)]
pub(crate) enum Editor {
    /// The first event of a legacy stream.
    Endpoint(EndpointEditor),
    /// A metadata document.
    Resource(ResourceEditor),
}

impl Editor {
    /// The bytes to forward for the next bytes, and the edit.
    pub(crate) fn push(&mut self, data: Bytes) -> (Bytes, Option<Edit>) {
        match self {
            Self::Endpoint(editor) => editor.push(data),
            Self::Resource(editor) => (editor.push(data), None),
        }
    }

    /// The remaining bytes at the end.
    pub(crate) fn finish(self) -> (Bytes, Option<Edit>) {
        match self {
            Self::Endpoint(editor) => (editor.finish(), None),
            Self::Resource(editor) => editor.finish(),
        }
    }
}

/// Both addresses of one server: its own, and the one that the client uses.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    /// The server's own URL.
    pub(crate) theirs: OriginUrl,
    /// `scheme://authority` under which the client reaches tapewright.
    pub(crate) ours: String,
}

impl Addresses {
    /// A URL of the server as the client must see it; `None` if it is not a URL of the server, or
    /// is relative and means the same in both places.
    pub(crate) fn for_client(&self, url: &str) -> Option<String> {
        if url.starts_with("//") {
            // Relative to the scheme, which may differ from the client's.
            return self.for_client(&format!("{}:{url}", self.theirs.scheme.name()));
        }
        let scheme_end = url.find("://")?;
        let rest = url.part(scheme_end + 3..);
        let path_start = rest
            .find(['/', '?', '#'])
            .map_or(url.len(), |at| scheme_end + 3 + at);
        let (origin, path) = url.split_at_checked(path_start)?;
        let found = OriginUrl::parse(origin).ok()?;
        found
            .is_same_origin(&self.theirs)
            .then(|| format!("{}{path}", self.ours))
    }

    /// The `Location` that the client must see, if it differs.
    pub(crate) fn location(&self, url: &str) -> Option<Edit> {
        Some(Edit {
            what: EditTarget::Location,
            before: url.to_owned(),
            after: self.for_client(url)?,
            ..Edit::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses() -> Addresses {
        Addresses {
            theirs: OriginUrl::parse("https://up.example/mcp").unwrap(),
            ours: "http://localhost:4000".to_owned(),
        }
    }

    #[test]
    fn only_urls_of_the_server_are_changed() {
        for (url, seen) in [
            (
                "https://up.example/a?b#c",
                Some("http://localhost:4000/a?b#c"),
            ),
            ("https://UP.example:443", Some("http://localhost:4000")),
            ("https://up.example:8443/a", None),
            ("http://up.example/a", None),
            ("https://other.example/?u=https://up.example/", None),
            ("//up.example/a", Some("http://localhost:4000/a")),
            ("//up.example:80/a", None),
            ("///a", None),
            ("/relative", None),
            ("", None),
        ] {
            assert_eq!(addresses().for_client(url).as_deref(), seen, "{url}");
        }
    }
}
