//! The destination of one request.

use std::sync::Arc;

use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Uri, header};
use hyper::body::Incoming;
use tapewright_schemas::event::{Edit, EditTarget};

use crate::http::edit::Addresses;
use crate::http::listen::Client;
use crate::http::origin::{Origin, Scheme};

/// The destination of one request.
pub(crate) struct RequestTarget {
    pub(crate) origin: Arc<Origin>,
    /// The address of tapewright by which the client knows the server; `None` if it uses the
    /// server's own.
    pub(crate) ours: Option<LocalAddress>,
    /// The prefix of the path for tapewright, such as `/anthropic`.
    pub(crate) mount: Option<Arc<str>>,
}

/// An address of tapewright, as used by a client.
#[derive(Clone, Debug)]
pub(crate) struct LocalAddress {
    scheme: Scheme,
    authority: HeaderValue,
}

impl LocalAddress {
    /// The address in a request; `None` if it is not text.
    pub(crate) fn by(client: Client, request: &Request<Incoming>) -> Option<Self> {
        let authority = match request.uri().authority() {
            Some(authority) => HeaderValue::try_from(authority.as_str()).ok()?,
            None => request.headers().get(header::HOST)?.clone(),
        };
        authority.to_str().ok()?;
        Some(Self {
            scheme: if client.secure {
                Scheme::Https
            } else {
                Scheme::Http
            },
            authority,
        })
    }

    /// `scheme://authority`.
    fn origin(&self) -> String {
        let authority = self.authority.to_str().unwrap_or_default();
        format!("{}://{authority}", self.scheme.name())
    }
}

impl RequestTarget {
    /// A server whose own address the client uses.
    pub(crate) fn known(origin: Arc<Origin>) -> Self {
        Self {
            origin,
            ours: None,
            mount: None,
        }
    }

    /// Both addresses of the server, if the client uses tapewright's.
    pub(crate) fn addresses(&self) -> Option<Addresses> {
        let mount = self.mount.as_deref().unwrap_or_default();
        Some(Addresses {
            ours: format!("{}{mount}", self.ours.as_ref()?.origin()),
            theirs: self.origin.url().clone(),
        })
    }

    /// Removes the prefix for tapewright from a target, and returns the edit.
    pub(crate) fn unmount(&self, uri: &mut Uri) -> Option<Edit> {
        let before = uri.path_and_query()?.as_str();
        let rest = before.strip_prefix(self.mount.as_deref()?)?;
        let after = if rest.starts_with('/') {
            rest.to_owned()
        } else {
            format!("/{rest}")
        };
        let before = before.to_owned();
        let mut parts = std::mem::take(uri).into_parts();
        parts.path_and_query = PathAndQuery::try_from(after.as_str()).ok();
        // A URI stays valid with another path.
        *uri = Uri::from_parts(parts).unwrap_or_default();
        Some(Edit {
            what: EditTarget::Target,
            before,
            after,
            ..Edit::default()
        })
    }
}
