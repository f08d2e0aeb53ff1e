//! Which servers a forward proxy can reach.
//!
//! The resolved addresses are checked, and then used for the connection: a name may resolve to
//! anything, and differently a moment later.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Which servers a forward proxy can reach; by default all but those that only this machine can
/// reach: its link-local network, and metadata services of clouds.
#[derive(Clone, Debug, Default)]
pub struct Destinations {
    // In lower case, without a trailing dot.
    names: Vec<String>,
    // IPv4-mapped addresses as IPv4.
    addresses: Vec<IpAddr>,
}

/// Addresses of cloud metadata services with secrets, in addition to link-local ones.
const METADATA: [IpAddr; 5] = [
    // Azure, Alibaba.
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    // Google, Oracle, Scaleway.
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42)),
];

impl Destinations {
    /// Allows only these hosts, names or addresses; an empty list means the default.
    #[must_use]
    pub fn only(allowed: &[String]) -> Self {
        let mut all = Self::default();
        for host in allowed {
            let host = host.trim_matches(['[', ']']);
            match host.parse::<IpAddr>() {
                Ok(address) => all.addresses.push(address.to_canonical()),
                Err(_) => all.names.push(plain(host)),
            }
        }
        all
    }

    /// The addresses of a host that connections are allowed to; if there are none, an error of the
    /// kind `PermissionDenied`.
    ///
    /// A name never allows a reserved address: the owner of the name could choose it. A name that
    /// is not allowed is not even looked up, since the lookup reveals it.
    pub(crate) async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let is_open = self.names.is_empty() && self.addresses.is_empty();
        let is_named = is_open || self.names.contains(&plain(host));
        if !is_named && !is_number(host) {
            return Err(denied(None));
        }
        let found = tokio::net::lookup_host((host, port)).await?;
        let (addresses, others): (Vec<SocketAddr>, Vec<SocketAddr>) = found.partition(|found| {
            let address = found.ip().to_canonical();
            self.addresses.contains(&address) || is_named && !is_reserved(address)
        });
        if addresses.is_empty() {
            let reserved = others.first().filter(|_| is_named);
            return Err(denied(reserved.map(SocketAddr::ip)));
        }
        Ok(addresses)
    }
}

/// The error for a connection that is not allowed; with the resolved address if it is reserved.
fn denied(reserved: Option<IpAddr>) -> io::Error {
    let why = match reserved {
        Some(address) => format!(
            "this forward proxy does not connect to {address}, which is link-local or a metadata service with credentials; allow it with `--allow-destination {address}`"
        ),
        None => "this forward proxy does not connect to it; allow it with --allow-destination"
            .to_owned(),
    };
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

fn plain(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// Whether a host is an IP address in any notation, such as `2130706433`, `0x7f.1` or `127.1`: no
/// name ends in a label that starts with a digit.
fn is_number(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let last = host.rsplit('.').next().unwrap_or_default();
    host.contains(':') || last.starts_with(|char: char| char.is_ascii_digit())
}

fn is_reserved(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let is_reserved = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => {
            let within = embedded(address).is_some_and(|inner| is_reserved(IpAddr::V4(inner)));
            // All addresses reserved by AWS, including the credentials of containers.
            let is_aws = address.segments().starts_with(&[0xfd00, 0xec2]);
            within || is_aws || address.is_unicast_link_local()
        }
    };
    is_reserved || METADATA.contains(&address)
}

/// The IPv4 address that a gateway would extract from an IPv6 address: IPv4-compatible (RFC 4291
/// §2.5.5.1), NAT64 (RFC 6052 §2.1) and 6to4 (RFC 3056 §2).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let pair = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(pair(high, low))
        }
        [0x2002, high, low, ..] => Some(pair(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_reached(allowed: &[&str], host: &str) -> bool {
        let allowed: Vec<String> = allowed.iter().map(|one| (*one).to_owned()).collect();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let found = runtime.block_on(Destinations::only(&allowed).resolve(host, 80));
        if let Err(error) = &found {
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{host}");
        }
        found.is_ok()
    }

    #[test]
    fn what_only_this_machine_has_is_not_reached_unless_its_address_is_named() {
        for host in [
            "169.254.169.254",
            "169.254.0.1",
            "::ffff:169.254.169.254",
            "::169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::1",
            "fe80::1",
            "fe80::a9fe:a9fe",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd20:ce::254",
            "fd00:c1::a9fe:a9fe",
            "fd00:42::42",
            "168.63.129.16",
            "::ffff:100.100.100.200",
            "100.100.100.200",
        ] {
            assert!(!is_reached(&[], host), "{host}");
            assert!(is_reached(&[host], host), "{host}");
            assert!(!is_reached(&["127.0.0.1"], host), "{host}");
        }
        for host in ["127.0.0.1", "192.168.1.1", "10.0.0.1", "::1", "203.0.113.9"] {
            assert!(is_reached(&[], host), "{host}");
            assert!(!is_reached(&["example.com"], host), "{host}");
        }
        assert!(is_reached(&["[::1]"], "::1"));
    }

    #[test]
    fn an_address_is_the_same_however_it_is_written() {
        for host in [
            "2852039166",
            "0xa9fea9fe",
            "0251.0376.0251.0376",
            "169.254.43518",
        ] {
            assert!(!is_reached(&[], host), "{host}");
            assert!(is_reached(&["169.254.169.254"], host), "{host}");
        }
        for host in [
            "2130706433",
            "0x7f.1",
            "127.1",
            "::ffff:127.0.0.1",
            "127.0.0.1",
        ] {
            assert!(is_reached(&["127.0.0.1"], host), "{host}");
            assert!(is_reached(&["::ffff:127.0.0.1"], host), "{host}");
            assert!(!is_reached(&["127.0.0.2"], host), "{host}");
        }
    }

    #[test]
    fn names_are_allowed_as_names_and_never_what_is_reserved() {
        for host in ["localhost", "LOCALHOST"] {
            assert!(is_reached(&["Localhost."], host), "{host}");
            // Allowing its address is not sufficient: a name that is not allowed is not looked up.
            assert!(!is_reached(&["127.0.0.1"], host), "{host}");
        }
        // A host that resolves to a reserved address, here in another notation.
        assert!(!is_reached(&["2852039166"], "2852039166"));
        assert!(is_reached(&["2852039166", "169.254.169.254"], "2852039166"));
    }
}
