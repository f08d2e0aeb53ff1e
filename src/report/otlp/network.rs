//! The transport between client and server.

use tapewright_schemas::tape::Header;

use super::span::Attributes;

/// The transport between the peers.
#[derive(Debug)]
pub(super) struct Network {
    is_http: bool,
    attributes: Attributes,
}

impl Network {
    /// The transport by a tape's header.
    pub(super) fn of(header: &Header) -> Self {
        let url = header.upstream.parse::<http::Uri>().ok();
        let address = url.as_ref().and_then(|url| url.host()).map(str::to_owned);
        let known = url.as_ref().and_then(|url| match url.scheme_str() {
            Some("https") => Some(443),
            Some("http") => Some(80),
            _ => None,
        });
        let port = url.as_ref().and_then(http::Uri::port_u16).or(known);
        let is_http = header.transport == "http" || address.is_some();
        let mut attributes = Attributes::default();
        attributes.text("network.transport", if is_http { "tcp" } else { "pipe" });
        attributes.text_of("network.protocol.name", is_http.then_some("http"));
        attributes.text_of("server.address", address.as_deref());
        attributes.number("server.port", port.map(u64::from));
        Self {
            is_http: header.transport == "http",
            attributes,
        }
    }

    /// Whether clients use HTTP.
    pub(super) fn is_http(&self) -> bool {
        self.is_http
    }

    /// Adds it to a span.
    pub(super) fn tell(&self, attributes: &mut Attributes) {
        attributes.all(&self.attributes);
    }
}
