//! Where one request goes.

use std::sync::Arc;

use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Uri, header};
use hyper::body::Incoming;
use tapewright_schemas::event::{Edit, EditTarget};

use crate::http::edit::Addresses;
use crate::http::listen::Client;
use crate::http::origin::{Origin, Scheme};

/// Where one request goes.
pub(crate) struct RequestTarget {
    pub(crate) origin: Arc<Origin>,
    /// The client knows the server under this address, which is ours; `None` where it
    /// knows the server's own.
    pub(crate) ours: Option<LocalAddress>,
    /// What the path begins with for us alone, such as `/anthropic`.
    pub(crate) mount: Option<Arc<str>>,
}

/// An address of ours, as a client named it.
#[derive(Clone, Debug)]
pub(crate) struct LocalAddress {
    scheme: Scheme,
    authority: HeaderValue,
}

impl LocalAddress {
    /// What a request names; `None` when that is no text.
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
    /// To a server whose own address the client knows.
    pub(crate) fn known(origin: Arc<Origin>) -> Self {
        Self {
            origin,
            ours: None,
            mount: None,
        }
    }

    /// Both addresses of the server, where the client knows it under ours.
    pub(crate) fn addresses(&self) -> Option<Addresses> {
        let mount = self.mount.as_deref().unwrap_or_default();
        Some(Addresses {
            ours: format!("{}{mount}", self.ours.as_ref()?.origin()),
            theirs: self.origin.url().clone(),
        })
    }

    /// Takes from a target what is in it for us alone, and says so.
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
        // What was a URI with one path is one with another.
        *uri = Uri::from_parts(parts).unwrap_or_default();
        Some(Edit {
            what: EditTarget::Target,
            before,
            after,
            ..Edit::default()
        })
    }
}
