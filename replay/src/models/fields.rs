//! The fields of a recorded response that are sent again.

use tapewright_schemas::event::Fields;

/// Fields that describe the recorded connection, encoding or time.
const OVER: [&str; 24] = [
    "age",
    "alt-svc",
    "cf-cache-status",
    "cf-ray",
    "connection",
    "content-encoding",
    "content-length",
    "content-security-policy",
    "date",
    "expires",
    "keep-alive",
    "nel",
    "proxy-authenticate",
    "proxy-connection",
    "report-to",
    "server",
    "set-cookie",
    "strict-transport-security",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "vary",
    "via",
];

/// The fields of a recorded response that are sent again; `kind` replaces the type of its body.
pub(super) fn again(fields: &Fields, kind: Option<&str>) -> Fields {
    let is_sent = |name: &str| {
        let name = name.to_ascii_lowercase();
        !OVER.contains(&name.as_str()) && (kind.is_none() || name != "content-type")
    };
    let mut sent: Fields = fields.iter().filter(|(name, _)| is_sent(name)).collect();
    if let Some(kind) = kind {
        sent.push("content-type", kind);
    }
    sent
}
