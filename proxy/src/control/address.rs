//! The address of a control: a port of this machine, or a socket in the file system.

use std::net::SocketAddr;
use std::path::PathBuf;

pub use crate::http::listen::ListenAddress;

/// Why a text is not an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither a port of this machine, such as `127.0.0.1:0`, nor `unix:PATH`")]
pub struct BadListenAddress(String);

impl ListenAddress {
    /// Parses `127.0.0.1:4001`, `4001`, an `http://` URL of the same, or `unix:PATH`.
    pub fn parse(text: &str) -> Result<Self, BadListenAddress> {
        let bad = || BadListenAddress(text.to_owned());
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => Err(bad()),
                path => Ok(Self::Unix(PathBuf::from(path))),
            };
        }
        let plain = text.strip_prefix("http://").unwrap_or(text);
        let plain = plain.trim_end_matches('/');
        let address = match plain.parse::<u16>() {
            Ok(port) => SocketAddr::from(([127, 0, 0, 1], port)),
            Err(_) => plain.parse().map_err(|_| bad())?,
        };
        address
            .ip()
            .is_loopback()
            .then_some(Self::Tcp(address))
            .ok_or_else(bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        let local = |port| Ok(ListenAddress::Tcp(SocketAddr::from(([127, 0, 0, 1], port))));
        assert_eq!(ListenAddress::parse("4001"), local(4001));
        assert_eq!(ListenAddress::parse("127.0.0.1:0"), local(0));
        assert_eq!(ListenAddress::parse("http://127.0.0.1:7/"), local(7));
        assert_eq!(
            ListenAddress::parse("unix:/tmp/x"),
            Ok(ListenAddress::Unix("/tmp/x".into()))
        );
        for text in ["", "unix:", "0.0.0.0:1", "example.com:1", "99999"] {
            assert!(ListenAddress::parse(text).is_err(), "{text}");
        }
    }
}
