//! The client of an exchange, for the tape.

use std::fmt::Write as _;
use std::net::SocketAddr;

use tapewright_schemas::event::Peer;

use crate::http::listen::Client;

/// The client.
pub(crate) fn peer(client: Client) -> Peer {
    Peer::Client {
        address: text_of(client.address),
        connection: client.connection,
    }
}

/// Like `to_string`, which allocates three times, for a function that is called with every
/// exchange.
fn text_of(address: Option<SocketAddr>) -> String {
    let mut text = String::with_capacity("[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535".len());
    match address {
        None => text.push_str("unix"),
        Some(SocketAddr::V4(address)) => {
            let mut before = "";
            for octet in address.ip().octets() {
                text.push_str(before);
                push_decimal(octet.into(), &mut text);
                before = ".";
            }
            text.push(':');
            push_decimal(address.port(), &mut text);
        }
        // Writing to a string cannot fail.
        Some(address) => write!(text, "{address}").unwrap_or_default(),
    }
    text
}

/// The formatting of the standard library takes ten times as long.
fn push_decimal(number: u16, text: &mut String) {
    let mut unit = 10_000;
    while unit > 1 && number < unit {
        unit /= 10;
    }
    while unit > 0 {
        text.extend(char::from_digit(u32::from(number / unit % 10), 10));
        unit /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_as_the_standard_library_writes_it() {
        for text in [
            "127.0.0.1:80",
            "0.10.255.9:0",
            "203.100.1.99:65535",
            "1.2.3.4:10000",
            "[::1]:8080",
            "[fe80::1]:9999",
        ] {
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(text_of(Some(address)), address.to_string());
        }
        assert_eq!(text_of(None), "unix");
    }
}
