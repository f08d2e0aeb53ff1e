//! The address of the NATS server, and the access to it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::store::Secrets;

/// The default name of the stream.
const NAME: &str = "tapewright";
/// The longest name of a stream.
const NAME_LIMIT: usize = 32;

/// A NATS server, and the stream on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// `nats://HOST:PORT`, or `tls://…`.
    pub server: String,
    /// The name of the stream; the first part of its subjects.
    pub name: String,
    is_near: bool,
}

/// A text that is not an address. It may contain a secret, and is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid server for announcements; write it like `nats://HOST:4222` or `tls://HOST/STREAM`; credentials come from the environment"
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

/// Host and port. A host is a name or an address, without a user.
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

/// How to connect to a server, from the environment only.
#[derive(Clone, Default)]
pub struct Access {
    user: Option<(String, String)>,
    token: Option<String>,
    nkey: Option<PathBuf>,
    credentials: Option<PathBuf>,
    roots: Option<PathBuf>,
    /// Values that errors must not contain.
    pub(super) secrets: Secrets,
}

impl Access {
    /// From the variables `NATS_…`.
    #[must_use]
    pub fn of(environment: impl Iterator<Item = (String, String)>) -> Self {
        let (mut user, mut password) = (None, None);
        let mut access = Self::default();
        for (name, value) in environment.filter(|(_, value)| !value.is_empty()) {
            match name.as_str() {
                "NATS_USER" => user = Some(value),
                "NATS_PASSWORD" => password = Some(value),
                "NATS_TOKEN" => access.token = Some(value),
                "NATS_NKEY" => access.nkey = Some(value.into()),
                "NATS_CREDS" => access.credentials = Some(value.into()),
                "NATS_CA" => access.roots = Some(value.into()),
                _ => {}
            }
        }
        let secrets = [&password, &access.token];
        access.secrets = Secrets::new(secrets.into_iter().flatten().cloned());
        access.user = user.map(|user| (user, password.unwrap_or_default()));
        access
    }

    /// The client's options; other machines are only reached with TLS. Files are read each time, so
    /// that they can be replaced.
    pub(super) fn options(
        &self,
        address: &Address,
    ) -> Result<async_nats::ConnectOptions, CredentialsError> {
        // If a provider is installed already, it is the same one.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut options = async_nats::ConnectOptions::new();
        let mut is_known = true;
        if let Some(path) = &self.credentials {
            let text = read(path)?;
            let options_with = options.credentials(&text);
            options = options_with.map_err(|_| CredentialsError::new(path, NO_CREDENTIALS))?;
        } else if let Some(path) = &self.nkey {
            options = options.nkey(seed(path)?);
        } else if let Some((user, password)) = &self.user {
            options = options.user_and_password(user.clone(), password.clone());
        } else if let Some(token) = &self.token {
            options = options.token(token.clone());
        } else {
            is_known = false;
        }
        if let Some(roots) = &self.roots {
            options = options.add_root_certificates(roots.clone());
        }
        if is_known && !address.is_near {
            options = options.require_tls(true);
        }
        Ok(options)
    }
}

/// A credentials file that cannot be used. Its contents are not repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot use the credentials in `{}`: {why}", .path.display())]
pub(super) struct CredentialsError {
    path: PathBuf,
    why: String,
}

impl CredentialsError {
    fn new(path: &Path, why: &str) -> Self {
        Self {
            path: path.to_owned(),
            why: why.to_owned(),
        }
    }
}

/// The longest credentials file, in bytes.
const FILE_LIMIT: u64 = 64 << 10;
const NO_CREDENTIALS: &str = "expected a JWT and the seed of its user";
const NO_SEED: &str = "expected the seed of a user, which begins with `SU`";

fn read(path: &Path) -> Result<String, CredentialsError> {
    let failed = |error: std::io::Error| CredentialsError::new(path, &error.to_string());
    let file = File::open(path).map_err(failed)?;
    let mut text = String::new();
    let mut file = file.take(FILE_LIMIT + 1);
    file.read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > FILE_LIMIT {
        return Err(CredentialsError::new(
            path,
            "the file is longer than 64 KiB",
        ));
    }
    Ok(text)
}

/// The seed of a user in a file, on a separate line.
fn seed(path: &Path) -> Result<String, CredentialsError> {
    let text = read(path)?;
    let is_seed = |line: &&str| {
        let is_base32 = |byte: u8| byte.is_ascii_uppercase() || (b'2'..=b'7').contains(&byte);
        line.len() == 58 && line.starts_with("SU") && line.bytes().all(is_base32)
    };
    let seed = text.lines().map(str::trim).find(is_seed);
    seed.map(str::to_owned)
        .ok_or_else(|| CredentialsError::new(path, NO_SEED))
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

    #[test]
    fn what_is_no_file_of_credentials_is_refused_and_not_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("creds").display().to_string();
        let address = Address::read("nats://127.0.0.1").unwrap();
        for (name, wanted) in [("NATS_CREDS", NO_CREDENTIALS), ("NATS_NKEY", NO_SEED)] {
            let told = || {
                let access = Access::of([(name.to_owned(), path.clone())].into_iter());
                access.options(&address).unwrap_err().to_string()
            };
            std::fs::write(&path, "SUs3cr3t\n").unwrap();
            assert_eq!(
                told(),
                format!("cannot use the credentials in `{path}`: {wanted}")
            );
            std::fs::write(&path, vec![b'x'; 65_537]).unwrap();
            assert!(told().ends_with("the file is longer than 64 KiB"));
            std::fs::remove_file(&path).unwrap();
            assert!(told().contains("No such file"), "{}", told());
        }
    }
}
