//! Checks that need HTTP: a request without its headers, and the metadata of an authorization
//! server.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, header};
use tapewright_corpus::migration::{Doctor, Probed};
use tapewright_proxy::http::fetch::{Ask, Fetched, fetch};
use tapewright_proxy::http::origin::Origin;
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::json;

use crate::command::upstream::Field;

/// A request of 2026-07-28 that is valid except for its headers.
const BODY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"tapewright","version":"1"}}}}"#;

/// Where an authorization server on the same origin would describe itself (RFC 8414 §3).
pub(super) const METADATA: &str = "/.well-known/oauth-authorization-server";

/// Sends a request without `Mcp-Method`, to a server that answers those of 2026-07-28.
pub(super) fn without_method(
    doctor: &mut Doctor,
    origin: &Arc<Origin>,
    own: Vec<Field>,
    timeout: Duration,
) {
    let text = |value: &'static str| HeaderValue::from_static(value);
    let mut fields = vec![
        (header::CONTENT_TYPE, text("application/json")),
        (header::ACCEPT, text("application/json, text/event-stream")),
        (
            HeaderName::from_static("mcp-protocol-version"),
            text("2026-07-28"),
        ),
    ];
    fields.extend(own);
    let ask = Ask {
        method: Method::POST,
        fields,
        body: Bytes::from_static(BODY.as_bytes()),
        timeout,
    };
    if let Ok(fetched) = fetch(origin, ask) {
        doctor.probed(probed(&fetched));
    }
}

/// Asks whether an authorization server on the same origin declares that it sends `iss`. One on
/// another origin is not asked, since its address comes from the server.
pub(super) fn metadata(doctor: &mut Doctor, origin: &Arc<Origin>, timeout: Duration) {
    let ask = Ask {
        method: Method::GET,
        fields: Vec::new(),
        body: Bytes::new(),
        timeout,
    };
    if let Ok(fetched) = fetch(origin, ask)
        && fetched.status.is_success()
    {
        doctor.fetched(&origin.url().origin(), METADATA, &fetched.body);
    }
}

/// The response: a message, or an event that contains one.
fn probed(fetched: &Fetched) -> Probed {
    let lines = fetched.body.split(|byte| *byte == b'\n');
    let data = lines.filter_map(|line| line.strip_prefix(b"data:"));
    let mut said = data.chain([&*fetched.body]).filter_map(response);
    let (code, is_result) = said.next().unwrap_or((None, false));
    Probed {
        status: fetched.status.as_u16(),
        code,
        is_result: is_result && fetched.status.is_success(),
    }
}

/// The code of an error, and whether it is a result; `None` if it is not a response.
fn response(text: &[u8]) -> Option<(Option<i64>, bool)> {
    let Kind::Response { result, error, .. } = Envelope::parse(text.trim_ascii()).kind else {
        return None;
    };
    let code = error.and_then(|error| json::find(error, &["code"]));
    let code = code.and_then(|code| std::str::from_utf8(code).ok()?.parse().ok());
    Some((code, result.is_some()))
}
