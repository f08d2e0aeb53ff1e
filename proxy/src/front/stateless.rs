//! Header fields and statuses of the stateless era (2026-07-28, basic/transports/streamable-http,
//! "Server Validation" and "Protocol Version Header").

use http::{HeaderMap, HeaderName, StatusCode};
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::json;

use super::check::{Refusal, single};
use crate::bridge::mirror;
use crate::bridge::tools::Tools;
use tapewright_schemas::event::InPlaceCause;

/// The header fields do not match the body.
const MISMATCH: i32 = -32_020;

/// Checks that the header fields of a request repeat its body.
pub(crate) fn check(
    head: &HeaderMap,
    method: &str,
    params: Option<&[u8]>,
    tools: &Tools,
) -> Result<(), Refusal> {
    let version = mirror::version(params);
    agree(head, &mirror::VERSION, version.as_deref())?;
    agree(head, &mirror::METHOD, Some(method))?;
    let name = mirror::name(method, params);
    if name.is_some() {
        agree(head, &mirror::NAME, name.as_deref())?;
    }
    let (Some(tool), "tools/call") = (&name, method) else {
        return Ok(());
    };
    let arguments = params.and_then(|params| json::find(params, &["arguments"]));
    for mirrored in tools.of(tool) {
        let value = mirrored.value(arguments.unwrap_or_default());
        let said = said(head, &mirrored.header)?;
        let same = match (&said, &value) {
            (Some(said), Some(value)) => said == value || is_same_number(said, value),
            (None, None) => true,
            _ => false,
        };
        if !same {
            return Err(mismatch(&mirrored.header));
        }
    }
    Ok(())
}

fn agree(head: &HeaderMap, name: &HeaderName, value: Option<&str>) -> Result<(), Refusal> {
    // A member that is missing in the body is for the server to report.
    match (said(head, name)?, value) {
        (Some(said), Some(value)) if said != value => Err(mismatch(name)),
        (None, Some(_)) => Err(mismatch(name)),
        _ => Ok(()),
    }
}

fn said(head: &HeaderMap, name: &HeaderName) -> Result<Option<String>, Refusal> {
    let Some(text) = single(head, name).map_err(|_| mismatch(name))? else {
        return Ok(None);
    };
    match mirror::decode(text.as_bytes()) {
        Some(text) => Ok(Some(text)),
        None => Err(mismatch(name)),
    }
}

/// Whether two texts are the same integer, in any notation.
fn is_same_number(one: &str, two: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
    match (number(one), number(two)) {
        (Some(one), Some(two)) => one.total_cmp(&two).is_eq(),
        _ => false,
    }
}

fn mismatch(name: &HeaderName) -> Refusal {
    let why = format!("the header {name} does not match the body");
    let refusal = Refusal::bad(InPlaceCause::FieldMismatch, why);
    refusal.coded(MISMATCH).about(name)
}

/// The status of an answer that is one message.
pub(crate) fn status(answer: &[u8], params: Option<&[u8]>) -> StatusCode {
    let Kind::Response {
        error: Some(error), ..
    } = Envelope::parse(answer).kind
    else {
        return StatusCode::OK;
    };
    match json::find(error, &["code"]) {
        Some(b"-32601") => StatusCode::NOT_FOUND,
        Some(b"-32020" | b"-32021" | b"-32022" | b"-32700" | b"-32600") => StatusCode::BAD_REQUEST,
        Some(b"-32602") if !describes_itself(params) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// Whether a request has the required members of `_meta`.
fn describes_itself(params: Option<&[u8]>) -> bool {
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    mirror::version(params).is_some()
        && params.is_some_and(|params| json::find(params, &["_meta", capabilities]).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

    fn checked(fields: &[(&str, &str)], method: &str, more: &str) -> bool {
        let mut head = HeaderMap::new();
        for (name, value) in fields {
            let name: HeaderName = name.parse().unwrap();
            head.append(name, value.parse().unwrap());
        }
        let mut tools = Tools::default();
        tools.learn(br#"{"tools":[{"name":"t","inputSchema":{"properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}]}"#);
        let params = format!("{{{more}{META}}}");
        let checked = check(&head, method, Some(params.as_bytes()), &tools);
        if let Err(refusal) = &checked {
            assert_eq!(
                (refusal.status, refusal.code),
                (StatusCode::BAD_REQUEST, -32_020)
            );
        }
        checked.is_ok()
    }

    #[test]
    fn head_and_body_must_agree() {
        let version = ("MCP-Protocol-Version", "2026-07-28");
        let method = ("Mcp-Method", "tools/call");
        let call = r#""name":"t","arguments":{"n":8.0},"#;
        let name = ("mcp-name", "t");
        let encoded = ("mcp-name", "=?base64?dA==?=");
        let number = ("MCP-Param-N", "8");
        assert!(checked(
            &[version, method, name, number],
            "tools/call",
            call
        ));
        assert!(checked(
            &[version, method, encoded, number],
            "tools/call",
            call
        ));
        assert!(checked(
            &[version, ("mcp-method", "tools/list")],
            "tools/list",
            ""
        ));
        for wrong in [
            &[version, method, name][..],
            &[version, method, name, ("mcp-param-n", "9")],
            &[version, method, number],
            &[version, name, number],
            &[method, name, number],
            &[("mcp-protocol-version", "2025-11-25"), method, name, number],
            &[version, ("mcp-method", "Tools/Call"), name, number],
            &[version, method, name, name, number],
            &[version, method, ("mcp-name", "=?base64?!?="), number],
        ] {
            assert!(!checked(wrong, "tools/call", call), "{wrong:?}");
        }
    }

    #[test]
    fn errors_have_the_status_of_their_code() {
        let whole = format!("{{{META}}}");
        for (code, params, expected) in [
            ("-32601", whole.as_str(), 404),
            ("-32022", &whole, 400),
            ("-32602", &whole, 200),
            ("-32602", "{}", 400),
            ("1", &whole, 200),
        ] {
            let answer = format!(r#"{{"id":1,"error":{{"code":{code},"message":""}}}}"#);
            let status = status(answer.as_bytes(), Some(params.as_bytes()));
            assert_eq!(status, expected, "{code} {params}");
        }
        assert_eq!(status(br#"{"id":1,"result":{}}"#, None), StatusCode::OK);
    }
}
