//! Which of the fields that decide something a head has.

use http::HeaderMap;

/// A set of field names.
///
/// Most heads have few of these fields, and each lookup hashes a name: finding all of them in one
/// pass takes as long as two lookups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names(u16);

impl Names {
    pub(crate) const CONNECTION: Self = Self(1);
    pub(crate) const CONTENT_ENCODING: Self = Self(1 << 1);
    pub(crate) const EXPECT: Self = Self(1 << 2);
    /// A field that shows the API of a provider of models ([`FIELDS_OF_WIRES`]).
    ///
    /// [`FIELDS_OF_WIRES`]: tapewright_models::FIELDS_OF_WIRES
    pub(crate) const OF_PROVIDER: Self = Self(1 << 3);
    pub(crate) const KEEP_ALIVE: Self = Self(1 << 4);
    pub(crate) const LAST_EVENT_ID: Self = Self(1 << 5);
    pub(crate) const LOCATION: Self = Self(1 << 6);
    /// Fields of a single connection, other than those with a constant of their own.
    pub(crate) const OTHER_HOP: Self = Self(1 << 7);
    pub(crate) const SESSION_ID: Self = Self(1 << 8);
    pub(crate) const TE: Self = Self(1 << 9);
    pub(crate) const TRANSFER_ENCODING: Self = Self(1 << 10);
    pub(crate) const WWW_AUTHENTICATE: Self = Self(1 << 11);

    /// Fields of a single connection (RFC 9110 §7.6.1), in addition to those listed in
    /// `Connection`. `Trailer` and `TE: trailers` are kept: without them trailers would be lost.
    pub(crate) const OF_ONE_HOP: Self = Self(
        Self::CONNECTION.0
            | Self::KEEP_ALIVE.0
            | Self::OTHER_HOP.0
            | Self::TE.0
            | Self::TRANSFER_ENCODING.0,
    );

    /// Those in a head.
    pub(crate) fn of(head: &HeaderMap) -> Self {
        let all = head.keys().map(|name| Self::named(name.as_str()).0);
        Self(all.fold(0, |names, name| names | name))
    }

    /// The set of one name, which is empty for most.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "connection" => Self::CONNECTION,
            "content-encoding" => Self::CONTENT_ENCODING,
            "expect" => Self::EXPECT,
            "anthropic-version" | "x-goog-api-key" => Self::OF_PROVIDER,
            "keep-alive" => Self::KEEP_ALIVE,
            "last-event-id" => Self::LAST_EVENT_ID,
            "location" => Self::LOCATION,
            "mcp-session-id" => Self::SESSION_ID,
            "proxy-authenticate" | "proxy-authorization" | "proxy-connection" | "upgrade" => {
                Self::OTHER_HOP
            }
            "te" => Self::TE,
            "transfer-encoding" => Self::TRANSFER_ENCODING,
            "www-authenticate" => Self::WWW_AUTHENTICATE,
            _ => Self::default(),
        }
    }

    /// Whether it has any of these.
    pub(crate) fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use tapewright_models::FIELDS_OF_WIRES;

    use super::*;

    #[test]
    fn each_name_is_found_wherever_it_stands_and_no_other() {
        let known = [
            ("connection", Names::CONNECTION),
            ("content-encoding", Names::CONTENT_ENCODING),
            ("expect", Names::EXPECT),
            ("anthropic-version", Names::OF_PROVIDER),
            ("x-goog-api-key", Names::OF_PROVIDER),
            ("keep-alive", Names::KEEP_ALIVE),
            ("last-event-id", Names::LAST_EVENT_ID),
            ("location", Names::LOCATION),
            ("mcp-session-id", Names::SESSION_ID),
            ("proxy-authenticate", Names::OTHER_HOP),
            ("proxy-authorization", Names::OTHER_HOP),
            ("proxy-connection", Names::OTHER_HOP),
            ("upgrade", Names::OTHER_HOP),
            ("te", Names::TE),
            ("transfer-encoding", Names::TRANSFER_ENCODING),
            ("www-authenticate", Names::WWW_AUTHENTICATE),
        ];
        let mut all = HeaderMap::new();
        for (name, set) in known {
            let mut head = HeaderMap::new();
            for name in ["accept", name, "host"] {
                head.append(name, HeaderValue::from_static("x"));
                all.append(name, HeaderValue::from_static("x"));
            }
            assert_eq!(Names::of(&head), set, "{name}");
        }
        let all = Names::of(&all);
        assert!(known.iter().all(|(_, set)| all.has(*set)));
        for (name, _) in FIELDS_OF_WIRES {
            assert_eq!(Names::named(name), Names::OF_PROVIDER, "{name}");
        }
        let none = Names::named("content-length");
        assert!(known.iter().all(|(_, set)| !none.has(*set)));
    }
}
