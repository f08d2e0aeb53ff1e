//! The URL of a server: scheme, host, port and path.

use std::fmt;

use http::Uri;
use http::uri::Authority;

/// `http` or `https`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Without TLS.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// The scheme as in a URL.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The default port.
    #[must_use]
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// The URL of a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OriginUrl {
    /// With TLS or without.
    pub scheme: Scheme,
    /// Its host without brackets, in lower case.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Path and query, at least `/`: the endpoint.
    pub path: String,
}

/// Why a text is not the URL of a server.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadUrl {
    /// Not a URL.
    #[error("it is not a URL")]
    NotAUrl,
    /// Another scheme, or none.
    #[error("it must begin with `http://` or `https://`")]
    Scheme,
    /// It has no host.
    #[error("no host in it")]
    Host,
    /// It contains a name and a password.
    #[error("it contains a user name or password: send them with `--header` or `--header-env`")]
    UserInfo,
}

impl OriginUrl {
    /// Parses an absolute URL.
    pub fn parse(text: &str) -> Result<Self, BadUrl> {
        let uri: Uri = text.parse().map_err(|_| BadUrl::NotAUrl)?;
        let scheme = match uri.scheme_str() {
            Some("http") => Scheme::Http,
            Some("https") => Scheme::Https,
            _ => return Err(BadUrl::Scheme),
        };
        let authority = uri.authority().ok_or(BadUrl::Host)?;
        if authority.as_str().contains('@') {
            return Err(BadUrl::UserInfo);
        }
        let mut url = Self::of_authority(scheme, authority).ok_or(BadUrl::Host)?;
        if let Some(path) = uri.path_and_query() {
            path.as_str().clone_into(&mut url.path);
        }
        Ok(url)
    }

    /// The origin of an authority.
    #[must_use]
    pub fn of_authority(scheme: Scheme, authority: &Authority) -> Option<Self> {
        let host = authority.host();
        let host = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host);
        if host.is_empty() {
            return None;
        }
        // `http` ignores a port that is not a number.
        let after = authority.as_str().rsplit(']').next()?;
        let port = match after.rsplit_once(':') {
            Some((_, "")) | None => scheme.default_port(),
            Some((_, port)) => port.parse().ok()?,
        };
        Some(Self {
            scheme,
            host: host.to_ascii_lowercase(),
            port,
            path: "/".to_owned(),
        })
    }

    /// Host and port as in a URL and in `Host`: without the default port.
    #[must_use]
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        };
        if self.port == self.scheme.default_port() {
            host
        } else {
            format!("{host}:{}", self.port)
        }
    }

    /// `scheme://authority`.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme.name(), self.authority())
    }

    /// The URL for display: without the query, which may contain a secret.
    #[must_use]
    pub fn shown(&self) -> String {
        let path = self.path.split('?').next().unwrap_or_default();
        format!("{}{path}", self.origin())
    }

    /// Whether another URL has the same origin.
    #[must_use]
    pub fn is_same_origin(&self, other: &Self) -> bool {
        (self.scheme, &self.host, self.port) == (other.scheme, &other.host, other.port)
    }
}

impl fmt::Display for OriginUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.origin(), self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        for (text, origin, path) in [
            ("http://localhost:3001/mcp", "http://localhost:3001", "/mcp"),
            ("https://Example.COM", "https://example.com", "/"),
            ("https://h:443/a?b=c", "https://h", "/a?b=c"),
            ("http://[::1]:8080/x", "http://[::1]:8080", "/x"),
            ("http://[::1]/x", "http://[::1]", "/x"),
        ] {
            let url = OriginUrl::parse(text).unwrap();
            assert_eq!((url.origin().as_str(), url.path.as_str()), (origin, path));
        }
    }

    #[test]
    fn what_is_no_server_is_refused_with_a_reason() {
        for (text, why) in [
            ("localhost:3001", BadUrl::Scheme),
            ("ftp://host/x", BadUrl::Scheme),
            ("http://user:pass@host/", BadUrl::UserInfo),
            ("/mcp", BadUrl::Scheme),
            ("http://host:99999/", BadUrl::Host),
            ("http://", BadUrl::NotAUrl),
            ("http://a b/", BadUrl::NotAUrl),
        ] {
            assert_eq!(OriginUrl::parse(text), Err(why), "{text}");
        }
    }
}
