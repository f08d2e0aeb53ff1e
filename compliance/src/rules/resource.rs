//! Resources that are not there.

use super::prelude::*;

pub(crate) static MISSING: Invariant = Invariant {
    code: Code(46),
    category: "resources",
    property: "`resources/read` of a missing resource is answered with -32002, and from 2026-07-28 on with -32602",
    levels: Levels::NOWHERE.should(Revisions::HANDSHAKE).must(R5),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "server/resources §Error Handling (2024-11-05); changelog minor 6 (2026-07-28)",
    why: "A client that knows the code can tell a missing resource from a broken server. The server says that a resource \
          is missing by its error's message; -32602 is accepted at every revision, since the latest requires it. From \
          2026-07-28 on -32002 is gone, and an empty `contents` is no answer.",
    holds: r#"
        handshake 2025-06-18 {"resources":{}}
        > {"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///none"}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"Resource not found"}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"resources":{}}
        > {"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///none"}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"Unknown resource: file:///none"}}
    "#,
    checks: &[Check::Response(
        Directions::ToServer,
        Methods::Of(&[Method::ResourcesRead]),
        missing,
    )],
};

fn missing(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(asked) = case.asked() else { return };
    let modern = case.message.revisions == R5;
    let fail = |what: String, pointer: &str| {
        let fault = Fault::new(Side::Server, what).at(case.message, pointer);
        fault.seen(asked.seq)
    };
    if let (Some(result), true) = (case.message.result(), modern) {
        let contents = result.get("contents").filter(|one| one.is_array());
        if contents.is_some_and(|one| one.len() == 0) {
            let what = "a resource without contents was answered with success".to_owned();
            out.fail(fail(what, "/result/contents"));
        }
        return;
    }
    let Some(error) = case.message.error() else {
        return;
    };
    let code = case.message.error_code();
    let text = error
        .get("message")
        .and_then(Value::string)
        .unwrap_or_default();
    let text = text.to_ascii_lowercase();
    let says = [
        "not found",
        "unknown resource",
        "no such",
        "does not exist",
        "unknown uri",
    ]
    .iter()
    .any(|words| text.contains(words));
    match code {
        Some(-32_002) if !modern => out.pass(),
        Some(-32_602) => out.pass(),
        Some(-32_601) => {}
        _ if !says && code != Some(-32_002) => {}
        _ => {
            let found = code.map_or_else(|| "no integer code".to_owned(), |code| code.to_string());
            let wanted = if modern { "-32602" } else { "-32002" };
            let what = format!("a missing resource was answered with {found} and not {wanted}");
            out.fail(fail(what, "/error"));
        }
    }
}
