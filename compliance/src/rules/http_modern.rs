//! The stateless era over HTTP: headers that mirror the body, and the meaning of statuses.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::prelude::*;
use crate::http::HttpCase;
use crate::http::session::{SESSION_ID, VERSION};
use crate::message::Message;
use crate::session::Session;
use tapewright_schemas::era::PROTOCOL_VERSION_KEY;

pub(crate) static MIRRORED: Invariant = Invariant {
    code: Code(69),
    category: "http-stateless",
    property: "`MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name` and `Mcp-Param-…` are sent as headers and agree with the body",
    levels: Levels::NOWHERE.must(R5),
    carriers: Carriers::STREAMABLE,
    who: Responsible::Client,
    basis: Basis::Exchange,
    source: "basic/transports/streamable-http §Request Metadata (2026-07-28)",
    why: "Gateways route by the head and servers act by the body: who can make them differ, gets around the gateway. \
          `Mcp-Name` belongs to `tools/call`, `prompts/get` and `resources/read`. Values that a header cannot carry are \
          written as `=?base64?…?=`. `Mcp-Param-…` is looked at when the tool's schema is known.",
    holds: r#"
        post 1 - 2026-07-28
        header mcp-method: tools/call
        header mcp-name: =?base64?w6RjaG8=?=
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ächo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        json
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}
        close <
    "#,
    breaks: r#"
        post 1 - 2026-07-28
        header mcp-method: tools/list
        header mcp-name: echo
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        status 400
        close <
    "#,
    checks: &[Check::HttpRequest(mirrored)],
};

fn mirrored(case: &HttpCase<'_>, out: &mut Out<'_>) {
    let Some(message) = case.message else { return };
    if !matches!(message.envelope.kind, Kind::Request { .. }) {
        return;
    }
    match mismatch(case.conduit, message, case.session) {
        Mirror::Agrees => out.pass(),
        Mirror::Hidden => out.doubt(Doubt::NotKept),
        Mirror::Differs(what) => {
            let fault = Fault::new(Side::Client, what).seen(case.conduit.asked_at());
            out.fail(fault.at(message, ""));
        }
    }
}

/// Whether head and body agree.
pub(crate) enum Mirror {
    Agrees,
    Differs(String),
    /// A value was redacted.
    Hidden,
}

pub(crate) fn mismatch(
    conduit: &crate::http::conduit::Conduit,
    message: &Message<'_>,
    session: &Session,
) -> Mirror {
    let params = message.params();
    let version = params.and_then(|params| params.at(&["_meta", PROTOCOL_VERSION_KEY]));
    let name = match message.method {
        Method::ToolsCall | Method::PromptsGet => params.and_then(|params| params.get("name")),
        Method::ResourcesRead => params.and_then(|params| params.get("uri")),
        _ => None,
    };
    let mut pairs = vec![
        (VERSION.to_owned(), version.and_then(Value::string)),
        ("mcp-method".to_owned(), Some(message.spelled().into())),
    ];
    if let Some(name) = name {
        pairs.push(("mcp-name".to_owned(), name.string()));
    }
    for (argument, header) in annotated(message, session) {
        let value = params.and_then(|params| params.at(&["arguments", &argument]));
        let value = value.filter(|value| !value.is_null()).map(|value| {
            value
                .string()
                .unwrap_or_else(|| String::from_utf8_lossy(value.0))
        });
        let header = format!("mcp-param-{}", header.to_ascii_lowercase());
        if value.is_some() || conduit.asked_field(&header).is_some() {
            pairs.push((header, value));
        }
    }
    for (header, wanted) in pairs {
        let found = conduit.asked_field(&header).map(decode);
        let hidden =
            |text: &str| text.contains("<REDACTED") || text.contains('#') && text.starts_with('<');
        if found.as_deref().is_some_and(hidden) || wanted.as_deref().is_some_and(hidden) {
            return Mirror::Hidden;
        }
        match (found, wanted) {
            (Some(found), Some(wanted)) if same(&found, &wanted) => {}
            (None, None) => {}
            (None, Some(_)) => {
                return Mirror::Differs(format!("`{header}` is missing in the head"));
            }
            (Some(_), _) => {
                return Mirror::Differs(format!("`{header}` says something else than the body"));
            }
        }
    }
    Mirror::Agrees
}

fn annotated(message: &Message<'_>, session: &Session) -> Vec<(String, String)> {
    if message.method != Method::ToolsCall {
        return Vec::new();
    }
    let name = message.param("name").and_then(Value::string);
    let listed = name.map(|name| session.tools.look_up(&name));
    match listed {
        Some(crate::session::tools::Listed::Known(key)) => session
            .tools
            .get(key)
            .map(|tool| tool.headers.clone())
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The decoded value of a header.
fn decode(value: &str) -> String {
    let inner = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    let bytes = inner.and_then(|text| STANDARD.decode(text).ok());
    match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(text) => text,
        None => value.to_owned(),
    }
}

/// Integers are compared as numbers.
fn same(found: &str, wanted: &str) -> bool {
    found == wanted
        || matches!((found.parse::<i64>(), wanted.parse::<i64>()), (Ok(a), Ok(b)) if a == b)
}

pub(crate) static STATUS: Invariant = Invariant {
    code: Code(70),
    category: "http-stateless",
    property: "an unknown method has status 404; a wrong version, a lacking capability and a head that does not agree with the body have 400",
    levels: Levels::NOWHERE.must(R5),
    carriers: Carriers::STREAMABLE,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "basic/transports/streamable-http §Protocol Version Header, §Server Validation; basic §_meta (2026-07-28)",
    why: "A client that speaks both eras decides by the status whether to look into the body. A server that accepts a \
          head which contradicts its body lets a client around every gateway.",
    holds: r#"
        post 1 - 2026-07-28
        header mcp-method: no/such
        > {"jsonrpc":"2.0","id":1,"method":"no/such","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        status 404
        header content-type: application/json
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}
        close <
    "#,
    breaks: r#"
        post 1 - 2026-07-28
        header mcp-method: no/such
        > {"jsonrpc":"2.0","id":1,"method":"no/such","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        json
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}
        close <
    "#,
    checks: &[Check::HttpEnd(status)],
};

fn status(case: &HttpCase<'_>, out: &mut Out<'_>) {
    let conduit = case.conduit;
    let Some(status) = conduit.status() else {
        return;
    };
    let fault = |what: String| {
        let fault = Fault::new(Side::Server, what).seen(conduit.answered_at());
        fault.seen(conduit.asked_at())
    };
    if let Some(seq) = conduit.mismatch
        && status < 400
    {
        let what = format!("a head that does not agree with the body was answered with {status}");
        return out.fail(fault(what).seen(seq));
    }
    let Some((code, seq)) = conduit.error else {
        return;
    };
    let wanted = match code {
        -32_601 => 404,
        -32_022..=-32_020 => 400,
        _ => return,
    };
    if status == wanted {
        out.pass();
    } else {
        let what = format!("the error {code} has status {status} and not {wanted}");
        out.fail(fault(what).seen(seq));
    }
}

pub(crate) static NO_SESSION: Invariant = Invariant {
    code: Code(71),
    category: "http-stateless",
    property: "no session id is issued and no event has an id",
    levels: Levels::NOWHERE.should(R5),
    carriers: Carriers::STREAMABLE,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "basic/transports/streamable-http §Earlier Revisions (2026-07-28)",
    why: "Nothing can be resumed, and sessions are gone; clients may rely on an id that is issued.",
    holds: r#"
        post 1 - 2026-07-28
        header mcp-method: tools/list
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        json
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}}
        close <
    "#,
    breaks: r#"
        post 1 - 2026-07-28
        header mcp-method: tools/list
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        json
        header mcp-session-id: abc
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}}
        close <
    "#,
    checks: &[Check::HttpEnd(no_session), Check::Sse(no_event_id)],
};

fn no_session(case: &HttpCase<'_>, out: &mut Out<'_>) {
    if case.conduit.answered_field(SESSION_ID).is_some() {
        let what = "a session id was issued";
        out.fail(Fault::new(Side::Server, what).seen(case.conduit.answered_at()));
    } else {
        out.pass();
    }
}

fn no_event_id(case: &HttpCase<'_>, out: &mut Out<'_>) {
    if case.note.is_some_and(|note| note.id.is_some()) {
        let what = "an event has an id";
        out.fail(Fault::new(Side::Server, what).seen(case.moment.seq));
    }
}
