//! Header fields: which end at us, and how they are recorded.

use http::header::{self, HeaderMap, HeaderName};
use tapewright_schemas::event::Fields;

/// Fields that belong to one connection (RFC 9110 §7.6.1), beside those that `Connection`
/// names. `Trailer` and `TE: trailers` stay: without them trailers would be lost.
const ONE_HOP: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Removes the fields that end at us.
pub(crate) fn strip(fields: &mut HeaderMap) {
    let named: Vec<HeaderName> = fields
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        // A peer may not take away what frames the message or names its goal.
        .filter(|name| !matches!(*name, header::CONTENT_LENGTH | header::HOST))
        .collect();
    let trailers = fields
        .get_all(header::TE)
        .iter()
        .any(|value| value.as_bytes().eq_ignore_ascii_case(b"trailers"));
    for name in named {
        fields.remove(name);
    }
    for name in ONE_HOP {
        fields.remove(*name);
    }
    if trailers {
        fields.insert(header::TE, header::HeaderValue::from_static("trailers"));
    }
}

/// The fields in the words of the tape. Secrets are taken out later, by the encoder.
pub(crate) fn to_vocabulary(fields: &HeaderMap) -> Fields {
    Fields(
        fields
            .iter()
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                (name.as_str().to_owned(), value)
            })
            .collect(),
    )
}
