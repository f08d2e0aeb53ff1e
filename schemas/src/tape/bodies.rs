//! Small bodies that occur in nearly every HTTP exchange: a fast path for the spelling of
//! tapewright's encoder, and a fallback for any JSON.

use super::prefix::At;
use crate::event::{Added, Peer};
use crate::slices::Part as _;

/// Reads the value of `added`.
pub(super) fn added(value: &[u8]) -> Option<Added> {
    plain_added(value).or_else(|| serde_json::from_slice(value).ok())
}

/// Reads the value of `client`.
pub(super) fn client(value: &[u8]) -> Option<Peer> {
    plain_client(value).or_else(|| {
        let client: Client = serde_json::from_slice(value).ok()?;
        Some(client.into())
    })
}

#[derive(serde::Deserialize)]
struct Client {
    connection: u64,
    address: String,
}

impl From<Client> for Peer {
    fn from(client: Client) -> Self {
        Self::Client {
            address: client.address,
            connection: client.connection,
        }
    }
}

fn plain_added(value: &[u8]) -> Option<Added> {
    let mut at = At {
        line: value,
        end: 0,
    };
    let added = Added {
        request_us: at.number(b"{\"request_us\":")?,
        response_us: at.number(b",\"response_us\":")?,
    };
    (value.part(at.end..) == b"}").then_some(added)
}

fn plain_client(value: &[u8]) -> Option<Peer> {
    let mut at = At {
        line: value,
        end: 0,
    };
    let connection = at.number(b"{\"connection\":")?;
    let rest = value.part(at.end..);
    let address = rest.strip_prefix(b",\"address\":\"")?;
    let address = address.strip_suffix(b"\"}")?;
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if !address.iter().all(is_plain) {
        return None;
    }
    let address = std::str::from_utf8(address).ok()?.to_owned();
    let client = Client {
        connection,
        address,
    };
    Some(client.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_bodies_are_read_where_they_are_spelled_as_ours() {
        let wanted = Added {
            request_us: 1,
            response_us: 20,
        };
        assert_eq!(
            plain_added(br#"{"request_us":1,"response_us":20}"#),
            Some(wanted)
        );
        let wanted = Peer::Client {
            address: "[::1]:2".to_owned(),
            connection: 7,
        };
        assert_eq!(
            plain_client(br#"{"connection":7,"address":"[::1]:2"}"#),
            Some(wanted)
        );
        for other in [
            r#"{"request_us":1,"response_us":20,"more":1}"#,
            r#"{"response_us":20,"request_us":1}"#,
            r#"{"request_us":1}"#,
        ] {
            assert_eq!(plain_added(other.as_bytes()), None, "{other}");
            let any = serde_json::from_str(other).unwrap();
            assert_eq!(added(other.as_bytes()), Some(any));
        }
        for other in [
            r#"{"connection":7,"address":"a\"b"}"#,
            r#"{"connection":7,"address":"a\u0062"}"#,
            r#"{"connection":7,"address":"a","more":"b"}"#,
            r#"{"connection":7,"address":"é"}"#,
            r#"{"connection":7}"#,
        ] {
            assert_eq!(plain_client(other.as_bytes()), None, "{other}");
            let any = serde_json::from_str::<Client>(other).ok().map(Peer::from);
            assert_eq!(client(other.as_bytes()), any);
        }
    }
}
