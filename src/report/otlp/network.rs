//! How client and server reach each other.

use tapewright_schemas::tape::Header;

use super::span::Attributes;

/// How the peers reach each other.
#[derive(Debug)]
pub(super) struct Network {
    is_http: bool,
    transport: &'static str,
    protocol: Option<&'static str>,
    address: Option<String>,
    port: Option<u64>,
}

impl Network {
    /// As a tape says it.
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
        Self {
            is_http: header.transport == "http",
            transport: if is_http { "tcp" } else { "pipe" },
            protocol: is_http.then_some("http"),
            address,
            port: port.map(u64::from),
        }
    }

    /// Whether clients speak HTTP.
    pub(super) fn is_http(&self) -> bool {
        self.is_http
    }

    /// Adds it to a span.
    pub(super) fn tell(&self, attributes: &mut Attributes) {
        attributes.text("network.transport", self.transport);
        attributes.text_of("network.protocol.name", self.protocol);
        attributes.text_of("server.address", self.address.as_deref());
        attributes.number("server.port", self.port);
    }
}
