//! For which hosts tunnels are intercepted, and the resulting constraints of an authority.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use rcgen::{CidrSubnet, GeneralSubtree, NameConstraints};
use tapewright_schemas::order::Order as _;

/// The hosts whose tunnels are intercepted, including their subdomains; an empty list means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    // In lower case, sorted, without duplicates.
    names: Vec<String>,
    addresses: Vec<IpAddr>,
}

/// Why a text is not a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadHost {
    /// Subdomains of a host need no pattern.
    #[error("a host includes its subdomains; omit `*.`")]
    Pattern,
    /// Neither a name nor an address.
    #[error("expected a host name in ASCII or an IP address, without scheme, port or path")]
    NoHost,
}

/// The maximum length of a folder name made from hosts, in bytes.
const LONGEST: usize = 128;

impl Hosts {
    /// Parses the given hosts.
    pub fn of(texts: &[String]) -> Result<Self, BadHost> {
        let mut hosts = Self::default();
        for text in texts {
            match address(text) {
                Some(address) => hosts.addresses.push(address),
                None => hosts.names.push(name(text)?),
            }
        }
        hosts.names.order();
        hosts.names.dedup();
        hosts.addresses.order();
        hosts.addresses.dedup();
        Ok(hosts)
    }

    /// Whether all tunnels are intercepted.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.names.is_empty() && self.addresses.is_empty()
    }

    /// Whether tunnels to this host are intercepted.
    #[must_use]
    pub fn cover(&self, host: &str) -> bool {
        if self.is_any() {
            return true;
        }
        if let Some(address) = address(host) {
            return self.addresses.contains(&address);
        }
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.names.iter().any(|name| {
            host.strip_suffix(name.as_str())
                .is_some_and(|below| below.is_empty() || below.ends_with('.'))
        })
    }

    /// One of the hosts, to test a certificate.
    pub(super) fn example(&self) -> String {
        let address = || self.addresses.first().map(ToString::to_string);
        let name = self.names.first().cloned();
        name.or_else(address)
            .unwrap_or_else(|| "localhost".to_owned())
    }

    /// All hosts as a canonical text.
    pub(super) fn text(&self) -> String {
        let addresses = self.addresses.iter().map(ToString::to_string);
        let all: Vec<String> = self.names.iter().cloned().chain(addresses).collect();
        all.join("+")
    }

    /// The name of their folder. Sets of hosts with the same name are distinguished by the text in
    /// the folder.
    pub(super) fn folder(&self) -> String {
        let text = self.text();
        let Some(start) = text.get(..LONGEST).filter(|start| start.len() < text.len()) else {
            return text;
        };
        let mut name = start.split('+').next().unwrap_or_default().to_owned();
        // FNV-1a: stable across versions of the program.
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        // Writing to a string cannot fail.
        write!(name, "+{hash:016x}").ok();
        name
    }

    /// The names that certificates may be issued for (RFC 5280 §4.1.2.10). Kinds of names without
    /// constraints are unrestricted, so both kinds are constrained, even if only hosts of one kind
    /// are given.
    pub(super) fn constraints(&self) -> Option<NameConstraints> {
        if self.is_any() {
            return None;
        }
        let address = |address: &IpAddr| {
            let bits = if address.is_ipv4() { 32 } else { 128 };
            GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(*address, bits))
        };
        let mut permitted: Vec<GeneralSubtree> = self
            .names
            .iter()
            .cloned()
            .map(GeneralSubtree::DnsName)
            .collect();
        if permitted.is_empty() {
            // A reserved name (RFC 6761 §6.4).
            permitted.push(GeneralSubtree::DnsName("invalid".to_owned()));
        }
        permitted.extend(self.addresses.iter().map(address));
        let all = [
            IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        ];
        let excluded = all
            .into_iter()
            .filter(|_| self.addresses.is_empty())
            .map(|address| GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(address, 0)))
            .collect();
        Some(NameConstraints {
            permitted_subtrees: permitted,
            excluded_subtrees: excluded,
        })
    }
}

fn address(text: &str) -> Option<IpAddr> {
    let plain = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .unwrap_or(text);
    plain
        .parse()
        .ok()
        .map(|address: IpAddr| address.to_canonical())
}

/// A host name in lower case, as in certificates.
fn name(text: &str) -> Result<String, BadHost> {
    if text.contains('*') {
        return Err(BadHost::Pattern);
    }
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let is_label = |label: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (1..=63).contains(&label.len()) && label.bytes().all(plain)
    };
    // An address in another notation, such as `127.1`, is not in any certificate.
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = last.starts_with(|char: char| char.is_ascii_digit());
    if name.len() > 253 || !name.split('.').all(is_label) || is_number {
        return Err(BadHost::NoHost);
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(texts: &[&str]) -> Hosts {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        Hosts::of(&texts).unwrap()
    }

    #[test]
    fn a_host_stands_for_itself_and_those_below_it() {
        let hosts = hosts(&["Example.com.", "[::1]", "127.0.0.1"]);
        for host in [
            "example.com",
            "API.example.com",
            "a.b.example.com.",
            "::1",
            "[::1]",
            "127.0.0.1",
            "::ffff:127.0.0.1",
        ] {
            assert!(hosts.cover(host), "{host}");
        }
        for host in [
            "example.org",
            "notexample.com",
            "com",
            "example.com.evil.test",
            "127.0.0.2",
            "::2",
            "2130706433",
            "",
        ] {
            assert!(!hosts.cover(host), "{host}");
            assert!(Hosts::default().cover(host), "{host}");
        }
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for (text, why) in [
            ("*.example.com", BadHost::Pattern),
            ("", BadHost::NoHost),
            ("https://example.com", BadHost::NoHost),
            ("example.com:443", BadHost::NoHost),
            ("a..b", BadHost::NoHost),
            ("127.1", BadHost::NoHost),
            ("0x7f.0x1", BadHost::NoHost),
            ("../x", BadHost::NoHost),
            ("bücher.example", BadHost::NoHost),
        ] {
            assert_eq!(Hosts::of(&[text.to_owned()]), Err(why), "{text}");
        }
    }

    #[test]
    fn the_same_hosts_have_the_same_folder_in_any_order() {
        assert_eq!(
            hosts(&["b.test", "a.test", "B.test"]).folder(),
            "a.test+b.test"
        );
        let many: Vec<String> = (0..50).map(|n| format!("host-{n}.example")).collect();
        let name = Hosts::of(&many).unwrap().folder();
        assert!(
            name.len() < 255 && name.starts_with("host-0.example+"),
            "{name}"
        );
        let fewer = Hosts::of(&many[..49]).unwrap().folder();
        assert_ne!(name, fewer);
    }
}
