//! Where announcements go, and what says how the server is reached.

use std::path::PathBuf;

use crate::store::Secrets;

/// The name of the stream where none is given.
const NAME: &str = "tapewright";
/// The longest one.
const NAME_LIMIT: usize = 32;

/// A server of NATS, and the stream on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// `nats://HOST:PORT`, or `tls://…`.
    pub server: String,
    /// The name of the stream; the first part of its subjects.
    pub name: String,
    is_near: bool,
}

/// A text is no address. What it was may hold a secret and is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid server for announcements; write it like `nats://HOST:4222` or `tls://HOST/STREAM`; a user, a password and a token come from the environment"
)]
pub struct AddressError;

impl Address {
    /// Reads `nats://HOST[:PORT][/STREAM]` or `tls://…`.
    pub fn read(url: &str) -> Result<Self, AddressError> {
        let (scheme, rest) = url.split_once("://").ok_or(AddressError)?;
        let (place, name) = match rest.split_once('/') {
            None | Some((_, "")) => (rest.trim_end_matches('/'), NAME),
            Some(parts) => parts,
        };
        let (host, port) = split(place).ok_or(AddressError)?;
        let is_name = name.len() <= NAME_LIMIT
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if !matches!(scheme, "nats" | "tls") || !is_name {
            return Err(AddressError);
        }
        Ok(Self {
            server: format!("{scheme}://{host}:{port}"),
            name: name.to_owned(),
            is_near: matches!(host, "localhost" | "127.0.0.1" | "[::1]"),
        })
    }
}

impl std::str::FromStr for Address {
    type Err = AddressError;

    fn from_str(url: &str) -> Result<Self, AddressError> {
        Self::read(url)
    }
}

/// Host and port. A host is a name or an address, and nothing that could be a user.
fn split(place: &str) -> Option<(&str, u16)> {
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let end = rest.find(']')?;
            let (host, port) = place.split_at_checked(end + 2)?;
            (host, port.strip_prefix(':').unwrap_or("4222"))
        }
        None => place.split_once(':').unwrap_or((place, "4222")),
    };
    let inner = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_host = match inner {
        Some(host) => host.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty()
                && host
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        }
    };
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    (is_host && is_port).then_some((host, port.parse().ok().filter(|port| *port > 0)?))
}

/// How a server is reached: from the environment, and from nowhere else.
#[derive(Clone, Default)]
pub struct Access {
    user: Option<(String, String)>,
    token: Option<String>,
    roots: Option<PathBuf>,
    /// What no error tells.
    pub(super) secrets: Secrets,
}

impl Access {
    /// As the variables `NATS_…` say.
    #[must_use]
    pub fn of(environment: impl Iterator<Item = (String, String)>) -> Self {
        let (mut user, mut password) = (None, None);
        let mut access = Self::default();
        for (name, value) in environment.filter(|(_, value)| !value.is_empty()) {
            match name.as_str() {
                "NATS_USER" => user = Some(value),
                "NATS_PASSWORD" => password = Some(value),
                "NATS_TOKEN" => access.token = Some(value),
                "NATS_CA" => access.roots = Some(value.into()),
                _ => {}
            }
        }
        let secrets = [&password, &access.token];
        access.secrets = Secrets::new(secrets.into_iter().flatten().cloned());
        access.user = user.map(|user| (user, password.unwrap_or_default()));
        access
    }

    /// The same for the client. What is secret goes to another machine by TLS only.
    pub(super) fn options(&self, address: &Address) -> async_nats::ConnectOptions {
        // Whoever was first has chosen the same.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut options = async_nats::ConnectOptions::new();
        let is_secret = self.user.is_some() || self.token.is_some();
        if let Some((user, password)) = &self.user {
            options = options.user_and_password(user.clone(), password.clone());
        } else if let Some(token) = &self.token {
            options = options.token(token.clone());
        }
        if let Some(roots) = &self.roots {
            options = options.add_root_certificates(roots.clone());
        }
        if is_secret && !address.is_near {
            options = options.require_tls(true);
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_and_a_stream_are_named_by_a_url() {
        for (url, server, name) in [
            (
                "nats://127.0.0.1:4222",
                "nats://127.0.0.1:4222",
                "tapewright",
            ),
            ("nats://bus", "nats://bus:4222", "tapewright"),
            ("tls://bus.example/", "tls://bus.example:4222", "tapewright"),
            ("nats://[::1]:1/ci_2", "nats://[::1]:1", "ci_2"),
        ] {
            let address = Address::read(url).unwrap();
            assert_eq!(
                (address.server.as_str(), address.name.as_str()),
                (server, name)
            );
        }
    }

    #[test]
    fn what_names_none_is_refused_and_not_told() {
        for url in [
            "",
            "bus:4222",
            "http://bus",
            "nats://",
            "nats://user:s3cr3t@bus",
            "nats://s3cr3t@bus",
            "nats://bus:0",
            "nats://bus:99999",
            "nats://bus:1:2",
            "nats://bus/a.b",
            "nats://bus/a/b",
            "nats://bus/>",
            "nats://[bus]",
            "nats://[::1",
            "nats://bus?token=s3cr3t",
        ] {
            let error = Address::read(url).unwrap_err();
            assert!(!error.to_string().contains("s3cr3t"), "{url}");
        }
    }
}
