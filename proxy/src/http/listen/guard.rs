//! Which requests are allowed: `Host`, `Origin`, `Sec-Fetch-Site`, and the token if one is
//! required.
//!
//! A gateway rewrites `Host`, and so disables the server's own protection against web pages whose
//! name resolves to this machine. It must check by itself (2025-11-25, basic/transports, Security
//! Warning).
//!
//! Not every request of a page has an `Origin`: images, links and forms that use GET have none. In
//! that case browsers send where a request comes from (Fetch Metadata).

use std::net::{IpAddr, SocketAddr};

use http::uri::Authority;
use http::{HeaderMap, Method, StatusCode, Uri, header};

use super::token::ClientToken;
use tapewright_schemas::event::InPlaceCause;

/// Decides which requests are allowed.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    // Additional host names of this server, in lower case.
    names: Vec<String>,
    // Additional origins whose pages may use this server.
    origins: Vec<String>,
    // The listener is not restricted to this machine: any IP address may be its own.
    anywhere: bool,
    // Pages may navigate here: sign-in pages of the server are behind the gateway, and browsers
    // send no credentials of the gateway.
    navigation: bool,
    // The token that every client must present.
    token: Option<ClientToken>,
}

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("unknown host in the `Host` header; allow it with --allow-host")]
    Host,
    #[error("this `Origin` is not allowed; allow it with --allow-origin")]
    Origin,
    #[error("cross-site request refused; allow its Origin with --allow-origin")]
    Site,
    #[error(
        "the token of --client-token is missing or wrong; send it as `Proxy-Authorization: Bearer TOKEN`"
    )]
    Token,
}

impl Refused {
    /// The cause as a token.
    pub(crate) fn cause(self) -> InPlaceCause {
        match self {
            Self::Host => InPlaceCause::Host,
            Self::Origin => InPlaceCause::Origin,
            Self::Site => InPlaceCause::Site,
            Self::Token => InPlaceCause::ClientToken,
        }
    }

    /// The status of the answer. 407 is for proxies: with 401, clients would sign in at the server.
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Token => StatusCode::PROXY_AUTHENTICATION_REQUIRED,
            Self::Host | Self::Origin | Self::Site => StatusCode::FORBIDDEN,
        }
    }
}

impl Guard {
    pub(crate) fn new(listen: SocketAddr, names: &[String], origins: &[String]) -> Self {
        Self {
            names: names.iter().map(|name| name.to_ascii_lowercase()).collect(),
            origins: origins
                .iter()
                .map(|origin| origin.trim_end_matches('/').to_ascii_lowercase())
                .collect(),
            anywhere: !listen.ip().is_loopback(),
            navigation: false,
            token: None,
        }
    }

    /// The same guard for another listener, without a token.
    pub(crate) fn at(&self, listen: SocketAddr) -> Self {
        Self {
            anywhere: !listen.ip().is_loopback(),
            token: None,
            ..self.clone()
        }
    }

    /// Allows pages of other sites to navigate here.
    pub(crate) fn with_navigation(self, navigation: bool) -> Self {
        Self { navigation, ..self }
    }

    /// Requires a token from every client.
    pub(crate) fn with_token(self, token: Option<ClientToken>) -> Self {
        Self { token, ..self }
    }

    /// Checks whether a request is allowed.
    pub(crate) fn check(
        &self,
        method: &Method,
        uri: &Uri,
        head: &HeaderMap,
    ) -> Result<(), Refused> {
        let mut hosts = head.get_all(header::HOST).iter();
        let host = hosts.next().map(|host| host.to_str().unwrap_or_default());
        // A target in absolute form, and `:authority`, contain the host as well, and take
        // precedence (RFC 9112 §3.2.2): all of them must be allowed.
        let target = uri.authority().map(Authority::as_str);
        let mut named = [target, host].into_iter().flatten().peekable();
        let own = named.peek().is_some() && named.all(|host| self.is_ours(host));
        if !own || hosts.next().is_some() {
            return Err(Refused::Host);
        }
        self.check_origin(method, head)?;
        self.check_token(head)
    }

    /// Checks whether a request to a forward proxy is allowed. No page can send one, unless its
    /// browser is configured to use the proxy; in that case the server's own check works, since
    /// nothing that it checks is rewritten.
    pub(crate) fn check_proxied(
        &self,
        method: &Method,
        uri: &Uri,
        head: &HeaderMap,
    ) -> Result<(), Refused> {
        if uri.authority().is_some() {
            return self.check_token(head);
        }
        self.check(method, uri, head)
    }

    fn check_token(&self, head: &HeaderMap) -> Result<(), Refused> {
        let passes = self.token.as_ref().is_none_or(|token| token.is_shown(head));
        if passes { Ok(()) } else { Err(Refused::Token) }
    }

    fn check_origin(&self, method: &Method, head: &HeaderMap) -> Result<(), Refused> {
        for origin in head.get_all(header::ORIGIN) {
            let allowed = origin.to_str().is_ok_and(|origin| self.may_talk(origin));
            if !allowed {
                return Err(Refused::Origin);
            }
        }
        // An allowed page may be from any site.
        let passes = head.contains_key(header::ORIGIN)
            || !comes_from_elsewhere(head)
            || self.navigation && is_navigation(method, head);
        if passes { Ok(()) } else { Err(Refused::Site) }
    }

    fn may_talk(&self, origin: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        if self
            .origins
            .iter()
            .any(|known| *known == origin || known == "*")
        {
            return true;
        }
        let rest = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"));
        rest.is_some_and(|host| self.is_ours(host))
    }

    fn is_ours(&self, authority: &str) -> bool {
        let Some(host) = host_of(authority) else {
            return false;
        };
        let is_host = |name: &str| name.eq_ignore_ascii_case(host);
        if is_host("localhost") || self.names.iter().any(|name| is_host(name)) {
            return true;
        }
        // A page cannot redirect an IP address: only names can be rebound.
        let address: Option<IpAddr> = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host)
            .parse()
            .ok();
        address.is_some_and(|address| self.anywhere || address.is_loopback())
    }
}

/// Whether a page of another site caused the request (Fetch Metadata §2.3). Other ports of this
/// machine are the same site, but are treated as another one.
pub(crate) fn comes_from_elsewhere(head: &HeaderMap) -> bool {
    let mut sites = head.get_all("sec-fetch-site").iter();
    sites.any(|site| !matches!(site.as_bytes(), b"none" | b"same-origin"))
}

/// Whether a user followed a link, so that no page can read the answer.
fn is_navigation(method: &Method, head: &HeaderMap) -> bool {
    let is = |name: &str, value: &str| head.get(name).is_some_and(|one| one == value);
    let reads = matches!(*method, Method::GET | Method::HEAD);
    reads && is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document")
}

/// The host of `host[:port]`; `None` if it is invalid.
fn host_of(authority: &str) -> Option<&str> {
    if let Some(end) = authority.find(']') {
        let (host, port) = authority.split_at_checked(end + 1)?;
        let ends = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
        return (host.starts_with('[') && ends).then_some(host);
    }
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    (!host.is_empty() && port.is_none_or(is_port)).then_some(host)
}

/// Whether a text is a port: only digits (RFC 3986 §3.2.3), whereas parsing a number allows a sign.
pub(crate) fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(guard: &Guard, host: Option<&str>, origin: Option<&str>) -> Result<(), Refused> {
        let mut head = HeaderMap::new();
        if let Some(host) = host {
            head.insert(header::HOST, host.parse().unwrap());
        }
        if let Some(origin) = origin {
            head.insert(header::ORIGIN, origin.parse().unwrap());
        }
        guard.check(&Method::GET, &Uri::from_static("/mcp"), &head)
    }

    #[test]
    fn only_our_own_names_are_served() {
        let guard = Guard::new(
            "127.0.0.1:4000".parse().unwrap(),
            &["dev.box".to_owned()],
            &[],
        );
        for host in [
            "localhost",
            "localhost:4000",
            "LOCALHOST:1",
            "127.0.0.1:4000",
            "127.0.0.2",
            "[::1]:4000",
            "[::1]",
            "dev.box:80",
        ] {
            assert_eq!(check(&guard, Some(host), None), Ok(()), "{host}");
        }
        for host in [
            "evil.example.com",
            "localhost.evil.com",
            "192.168.1.1",
            "",
            "localhost:x",
            "localhost:+1",
            "[::1",
            "[::1]x",
            "user@localhost",
            "127.0.0.1.evil.com",
        ] {
            assert_eq!(
                check(&guard, Some(host), None),
                Err(Refused::Host),
                "{host}"
            );
        }
        assert_eq!(check(&guard, None, None), Err(Refused::Host));
    }

    #[test]
    fn only_our_own_pages_may_talk() {
        let guard = Guard::new(
            "127.0.0.1:4000".parse().unwrap(),
            &[],
            &["https://app.example".to_owned()],
        );
        for origin in [
            "http://localhost:6274",
            "http://127.0.0.1",
            "https://[::1]:1",
            "https://app.example",
        ] {
            assert_eq!(
                check(&guard, Some("localhost"), Some(origin)),
                Ok(()),
                "{origin}"
            );
        }
        for origin in [
            "http://evil.example.com",
            "null",
            "",
            "file://",
            "http://localhost.evil.com",
            "https://app.example.evil.com",
            "http://app.example",
        ] {
            assert_eq!(
                check(&guard, Some("localhost"), Some(origin)),
                Err(Refused::Origin),
                "{origin}"
            );
        }
    }

    #[test]
    fn pages_of_other_sites_get_nothing_without_an_allowed_origin() {
        let guard = Guard::new("127.0.0.1:4000".parse().unwrap(), &[], &[]);
        let open = guard.clone().with_navigation(true);
        let ask = |guard: &Guard, method: Method, fields: &[(&'static str, &str)]| {
            let mut head = HeaderMap::new();
            head.insert(header::HOST, "localhost:4000".parse().unwrap());
            for (name, value) in fields {
                head.append(*name, value.parse().unwrap());
            }
            guard.check(&method, &Uri::from_static("/mcp"), &head)
        };
        let site = |site| ("sec-fetch-site", site);
        for fine in ["none", "same-origin"] {
            assert_eq!(ask(&guard, Method::GET, &[site(fine)]), Ok(()));
        }
        let navigation = [
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        for other in ["cross-site", "same-site", "", "new-word"] {
            let plain = [site(other)];
            let twice = [site("none"), site(other)];
            let link = [site(other), navigation[0], navigation[1]];
            let frame = [site(other), navigation[0], ("sec-fetch-dest", "iframe")];
            for fields in [&plain[..], &twice, &link, &frame] {
                let refused = Err(Refused::Site);
                assert_eq!(ask(&guard, Method::GET, fields), refused, "{fields:?}");
                let opened = if fields == link { Ok(()) } else { refused };
                assert_eq!(ask(&open, Method::GET, fields), opened, "{fields:?}");
                assert_eq!(ask(&open, Method::POST, fields), refused, "{fields:?}");
                let allowed = [&[("origin", "http://localhost:6274")], fields].concat();
                assert_eq!(ask(&guard, Method::POST, &allowed), Ok(()), "{fields:?}");
                let foreign = [&[("origin", "http://evil.example")], fields].concat();
                assert_eq!(ask(&open, Method::GET, &foreign), Err(Refused::Origin));
            }
        }
    }

    #[test]
    fn beyond_this_machine_addresses_are_served_but_names_must_be_allowed() {
        let guard = Guard::new("0.0.0.0:4000".parse().unwrap(), &[], &[]);
        assert_eq!(check(&guard, Some("192.168.1.7:4000"), None), Ok(()));
        assert_eq!(
            check(&guard, Some("evil.example.com"), None),
            Err(Refused::Host)
        );
    }
}
