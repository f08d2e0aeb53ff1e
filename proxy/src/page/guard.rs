//! Decides which requests to a page are allowed.
//!
//! A page of another site can make its browser send any request, and a name of another site can
//! resolve to this machine. So every request must have the right `Host`, a request by a page must
//! come from this page (`Origin`, Fetch Metadata), and a request for more than the files of the
//! page, which contain no secrets, must present the token of this run. The token is in the fragment
//! of the link, which browsers do not send; it is never a cookie, which a browser would send to
//! every port of this machine.

use std::net::SocketAddr;

use http::uri::Authority;
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};

use crate::http::listen::{comes_from_elsewhere, is_port, is_same};

/// Decides which requests to a page are allowed.
#[derive(Clone)]
pub(super) struct Guard {
    address: SocketAddr,
    // In lower case.
    names: Vec<String>,
    token: String,
}

/// The subject of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestedThing {
    /// A file of the page.
    File,
    /// The content of the recording.
    Knowledge,
    /// A change.
    Change,
}

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("the Host header does not name this page; allow another name with --page-host")]
    Host,
    #[error("the Origin header is not this page")]
    Origin,
    #[error("the request comes from another site")]
    Site,
    #[error("the token is missing or wrong; open the link that was printed")]
    Token,
}

impl Refused {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Token => StatusCode::UNAUTHORIZED,
            Self::Host | Self::Origin | Self::Site => StatusCode::FORBIDDEN,
        }
    }
}

impl Guard {
    pub(super) fn new(address: SocketAddr, names: &[String], token: String) -> Self {
        let names = names.iter().map(|name| name.to_ascii_lowercase());
        Self {
            address,
            names: names.collect(),
            token,
        }
    }

    /// Checks whether a request is allowed.
    pub(super) fn check(
        &self,
        wants: RequestedThing,
        uri: &Uri,
        head: &HeaderMap,
    ) -> Result<(), Refused> {
        let host = self.host(uri, head).ok_or(Refused::Host)?;
        for origin in head.get_all(header::ORIGIN) {
            if !self.is_own(origin, &host) {
                return Err(Refused::Origin);
            }
        }
        Self::check_site(wants, head)?;
        if wants == RequestedThing::File || self.shows_token(head) {
            Ok(())
        } else {
            Err(Refused::Token)
        }
    }

    /// The host of the request, if it is allowed. A target in absolute form and `:authority`
    /// contain it as well (RFC 9112 §3.2.2): all of them must be equal.
    fn host(&self, uri: &Uri, head: &HeaderMap) -> Option<String> {
        let hosts = head.get_all(header::HOST).iter();
        let named = hosts.map(|host| host.to_str().unwrap_or_default());
        let target = uri.authority().map(Authority::as_str);
        let mut named = target.into_iter().chain(named).map(str::to_ascii_lowercase);
        let first = named.next()?;
        (named.all(|other| other == first) && self.is_ours(&first)).then_some(first)
    }

    fn is_ours(&self, host: &str) -> bool {
        let port = self.address.port();
        if host == self.address.to_string() || host == format!("localhost:{port}") {
            return true;
        }
        // A proxy in front has its own port, or the default one.
        let name = match host.rsplit_once(':') {
            Some((name, port)) if is_port(port) => name,
            _ => host,
        };
        self.names.iter().any(|known| known == name)
    }

    /// Whether an origin is that of the page itself.
    fn is_own(&self, origin: &HeaderValue, host: &str) -> bool {
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        if let Some(rest) = origin.strip_prefix("http://") {
            return rest == host;
        }
        // A proxy with a certificate may be in front.
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let is_named = self.names.iter().any(|known| known == name);
        is_named && origin.strip_prefix("https://") == Some(host)
    }

    fn check_site(wants: RequestedThing, head: &HeaderMap) -> Result<(), Refused> {
        let is = |name: &str, value: &str| {
            let mut all = head.get_all(name).iter();
            all.next().is_some_and(|one| one == value) && all.next().is_none()
        };
        let passes = match wants {
            RequestedThing::Change => is("sec-fetch-site", "same-origin"),
            // A link may lead here from anywhere; it carries no credentials.
            RequestedThing::File if is("sec-fetch-mode", "navigate") => {
                is("sec-fetch-dest", "document")
            }
            RequestedThing::File | RequestedThing::Knowledge => !comes_from_elsewhere(head),
        };
        if passes { Ok(()) } else { Err(Refused::Site) }
    }

    fn shows_token(&self, head: &HeaderMap) -> bool {
        let mut given = head.get_all(header::AUTHORIZATION).iter();
        let first = given.next().map_or(b"".as_slice(), HeaderValue::as_bytes);
        let first = first.strip_prefix(b"Bearer ").unwrap_or_default();
        given.next().is_none() && is_same(first, &self.token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";
    const BEARER: &str = "Bearer 0123456789abcdef0123456789abcdef";

    fn check(wants: RequestedThing, fields: &[(&'static str, &str)]) -> Result<(), Refused> {
        let address = "127.0.0.1:4001".parse().unwrap();
        let guard = Guard::new(address, &["Dev.box".to_owned()], TOKEN.to_owned());
        let mut head = HeaderMap::new();
        for (name, value) in fields {
            head.append(*name, value.parse().unwrap());
        }
        guard.check(wants, &Uri::from_static("/api/rows"), &head)
    }

    fn file(fields: &[(&'static str, &str)]) -> Result<(), Refused> {
        check(RequestedThing::File, fields)
    }

    #[test]
    fn only_our_own_names_are_answered_to_and_with_our_own_port() {
        for host in [
            "127.0.0.1:4001",
            "localhost:4001",
            "LOCALHOST:4001",
            "dev.box",
            "dev.box:8443",
        ] {
            assert_eq!(file(&[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "",
            "localhost",
            "localhost:4002",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.2:4001",
            "[::1]:4001",
            "evil.example:4001",
            "localhost.evil.example:4001",
            "127.0.0.1.evil.example:4001",
            "x@localhost:4001",
            "dev.box.evil.example",
            "evil.dev.box",
            "dev.box:x",
            "dev.box:+1",
        ] {
            assert_eq!(file(&[("host", host)]), Err(Refused::Host), "{host}");
        }
        assert_eq!(file(&[]), Err(Refused::Host));
        let two = [("host", "localhost:4001"), ("host", "evil.example")];
        assert_eq!(file(&two), Err(Refused::Host));
        let guard = Guard::new("127.0.0.1:4001".parse().unwrap(), &[], TOKEN.to_owned());
        let mut head = HeaderMap::new();
        head.insert("host", "localhost:4001".parse().unwrap());
        let absolute = Uri::from_static("http://evil.example/api/rows");
        assert_eq!(
            guard.check(RequestedThing::File, &absolute, &head),
            Err(Refused::Host)
        );
    }

    #[test]
    fn only_our_own_pages_may_talk() {
        let with = |host: &str, origin: &str| {
            check(
                RequestedThing::Knowledge,
                &[
                    ("host", host),
                    ("origin", origin),
                    ("authorization", BEARER),
                ],
            )
        };
        for (host, origin) in [
            ("localhost:4001", "http://localhost:4001"),
            ("127.0.0.1:4001", "http://127.0.0.1:4001"),
            ("dev.box", "https://dev.box"),
            ("dev.box:80", "http://dev.box:80"),
        ] {
            assert_eq!(with(host, origin), Ok(()), "{origin}");
        }
        for (host, origin) in [
            ("localhost:4001", "http://127.0.0.1:4001"),
            ("localhost:4001", "http://localhost:4002"),
            ("localhost:4001", "https://localhost:4001"),
            ("localhost:4001", "http://evil.example"),
            ("localhost:4001", "null"),
            ("localhost:4001", ""),
            ("dev.box", "http://localhost:4001"),
        ] {
            assert_eq!(with(host, origin), Err(Refused::Origin), "{origin}");
        }
    }

    #[test]
    fn other_sites_get_nothing_and_only_the_page_itself_changes_anything() {
        let host = ("host", "localhost:4001");
        let token = ("authorization", BEARER);
        let ask = |wants, site: Option<&str>| {
            let mut fields = vec![host, token];
            fields.extend(site.map(|site| ("sec-fetch-site", site)));
            check(wants, &fields)
        };
        for (site, reads, changes) in [
            (Some("same-origin"), true, true),
            (Some("none"), true, false),
            (None, true, false),
            (Some("same-site"), false, false),
            (Some("cross-site"), false, false),
            (Some("new-word"), false, false),
        ] {
            for (wants, passes) in [
                (RequestedThing::File, reads),
                (RequestedThing::Knowledge, reads),
                (RequestedThing::Change, changes),
            ] {
                let wanted = if passes { Ok(()) } else { Err(Refused::Site) };
                assert_eq!(ask(wants, site), wanted, "{wants:?} {site:?}");
            }
        }
        let link = |dest| {
            let fields = [
                host,
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", dest),
            ];
            file(&fields)
        };
        assert_eq!(link("document"), Ok(()));
        assert_eq!(link("iframe"), Err(Refused::Site));
    }

    #[test]
    fn whatever_is_known_needs_the_token() {
        let with = |wants, value: &str| {
            check(
                wants,
                &[
                    ("host", "localhost:4001"),
                    ("sec-fetch-site", "same-origin"),
                    ("authorization", value),
                ],
            )
        };
        for wants in [RequestedThing::Knowledge, RequestedThing::Change] {
            assert_eq!(with(wants, BEARER), Ok(()));
            for wrong in [
                "",
                "Bearer ",
                "Bearer 0",
                TOKEN,
                "Basic x",
                &format!("{BEARER}0"),
                "bearer 0123456789abcdef0123456789abcdef",
            ] {
                assert_eq!(with(wants, wrong), Err(Refused::Token), "{wrong}");
            }
        }
        let twice = [
            ("host", "localhost:4001"),
            ("authorization", BEARER),
            ("authorization", BEARER),
        ];
        assert_eq!(
            check(RequestedThing::Knowledge, &twice),
            Err(Refused::Token)
        );
    }
}
