//! Which servers a forward proxy reaches.
//!
//! Judged by the addresses that are then connected to: a name may mean anything, and
//! something else a moment later.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Which servers a forward proxy reaches; by default all but those that only this machine
/// has: its network segment without a router, and what a cloud tells its machines.
#[derive(Clone, Debug, Default)]
pub struct Destinations {
    // Hosts in lower case, addresses without brackets.
    allowed: Vec<String>,
}

/// Where clouds tell their machines secrets, beside link-local addresses.
const METADATA: [IpAddr; 3] = [
    // Azure, Alibaba, and AWS over IPv6.
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
];

impl Destinations {
    /// Only these hosts, names or addresses; with none of them the default.
    #[must_use]
    pub fn only(allowed: &[String]) -> Self {
        let plain = |host: &String| host.trim_matches(['[', ']']).to_ascii_lowercase();
        Self {
            allowed: allowed.iter().map(plain).collect(),
        }
    }

    /// The addresses of a host that may be connected to; none is an error of the kind
    /// `PermissionDenied`.
    pub(crate) async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let is_named = self
            .allowed
            .iter()
            .any(|one| one.eq_ignore_ascii_case(host));
        if !self.allowed.is_empty() && !is_named {
            return Err(denied());
        }
        let found = tokio::net::lookup_host((host, port)).await?;
        let may = |address: &SocketAddr| is_named || !is_reserved(address.ip());
        let addresses: Vec<SocketAddr> = found.filter(may).collect();
        if addresses.is_empty() {
            return Err(denied());
        }
        Ok(addresses)
    }
}

fn denied() -> io::Error {
    let why = "this forward proxy does not connect to it; allow it with --allow-destination";
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

fn is_reserved(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    is_link_local || METADATA.contains(&address)
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
    fn what_only_this_machine_has_is_not_reached_unless_it_is_named() {
        for host in [
            "169.254.169.254",
            "169.254.0.1",
            "::ffff:169.254.169.254",
            "fe80::1",
            "fd00:ec2::254",
            "168.63.129.16",
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
}
