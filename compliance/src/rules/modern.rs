//! The stateless era: every message is self-contained.

use tapewright_schemas::era::PROTOCOL_VERSION_KEY;

use super::prelude::*;
use crate::session::CLIENT_CAPABILITIES_KEY;

pub(crate) static META: Invariant = Invariant {
    code: Code(73),
    category: "stateless",
    property: "every request carries the revision and the client's capabilities in `_meta`",
    levels: Levels::NOWHERE.must(R5),
    carriers: Carriers::ANY,
    who: Responsible::Client,
    basis: Basis::Message,
    source: "basic §_meta (2026-07-28)",
    why: "Without a handshake, a request that does not describe itself cannot be answered.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"missing _meta"}}
    "#,
    checks: &[Check::Request(Directions::ToServer, Methods::All, meta)],
};

fn meta(case: &Case<'_>, out: &mut Out<'_>) {
    let meta = case.message.param("_meta");
    let version = meta.and_then(|meta| meta.get(PROTOCOL_VERSION_KEY));
    let capabilities = meta.and_then(|meta| meta.get(CLIENT_CAPABILITIES_KEY));
    let missing = if !version.is_some_and(Value::is_string) {
        PROTOCOL_VERSION_KEY
    } else if !capabilities.is_some_and(Value::is_object) {
        CLIENT_CAPABILITIES_KEY
    } else {
        return out.pass();
    };
    let method = quoted(case.message.spelled());
    let what = format!("{method} has no `{missing}` in its `_meta`");
    out.fail(Fault::new(Side::Client, what).at(case.message, ""));
}

pub(crate) static RESULT_TYPE: Invariant = Invariant {
    code: Code(74),
    category: "stateless",
    property: "every result has a string `resultType`",
    levels: Levels::NOWHERE.must(R5),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "basic §ResultType (2026-07-28)",
    why: "It tells a final result from one that asks for input. Clients fail the call without it.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
    "#,
    checks: &[Check::Response(
        Directions::ToServer,
        Methods::All,
        result_type,
    )],
};

fn result_type(case: &Case<'_>, out: &mut Out<'_>) {
    let (Some(asked), Some(result)) = (case.asked(), case.message.result()) else {
        return;
    };
    if result.get("resultType").is_some_and(Value::is_string) {
        return out.pass();
    }
    let what = format!(
        "the result of `{}` has no string `resultType`",
        asked.method.name()
    );
    let fault = Fault::new(Side::Server, what).at(case.message, "/result");
    out.fail(fault.seen(asked.seq));
}

pub(crate) static ONE_WAY: Invariant = Invariant {
    code: Code(75),
    category: "stateless",
    property: "the server sends no requests, and the client no responses",
    levels: Levels::NOWHERE.must(R5),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Message,
    source: "basic/patterns; basic/transports (2026-07-28)",
    why: "A server asks for what it needs from the client in a result.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}}}
        < {"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{}}
    "#,
    checks: &[
        Check::Request(Directions::Any, Methods::All, no_request),
        Check::AnyResponse(no_response),
    ],
};

fn no_request(case: &Case<'_>, out: &mut Out<'_>) {
    if case.dir() == Direction::ToServer {
        return out.pass();
    }
    let what = format!(
        "the server sends {} as a request",
        quoted(case.message.spelled())
    );
    out.fail(Fault::new(Side::Server, what).at(case.message, "/method"));
}

fn no_response(case: &Case<'_>, out: &mut Out<'_>) {
    // A reply to a request that a server of the handshake era sent is not of this era.
    let old = case.asked().is_some_and(|asked| asked.revisions != R5);
    if case.dir() == Direction::ToServer && !old {
        let what = "the client sends a response";
        out.fail(Fault::new(Side::Client, what).at(case.message, ""));
    }
}

pub(crate) static CACHE: Invariant = Invariant {
    code: Code(79),
    category: "stateless",
    property: "results that may be cached carry `ttlMs`, an integer from 0 on, and `cacheScope`, `public` or `private`",
    levels: Levels::NOWHERE.must(R5),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "basic/patterns/caching (2026-07-28)",
    why: "These are `server/discover`, the four lists and `resources/read`, once they are complete. Without the two a \
          client cannot know whether to ask again.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":-1,"cacheScope":"public"}}
    "#,
    checks: &[Check::Response(
        Directions::ToServer,
        Methods::Of(&[
            Method::ServerDiscover,
            Method::ToolsList,
            Method::PromptsList,
            Method::ResourcesList,
            Method::ResourcesTemplatesList,
            Method::ResourcesRead,
        ]),
        cache,
    )],
};

fn cache(case: &Case<'_>, out: &mut Out<'_>) {
    let (Some(asked), Some(result)) = (case.asked(), case.message.result()) else {
        return;
    };
    if result
        .get("resultType")
        .is_some_and(|kind| !kind.is("complete"))
    {
        return;
    }
    let fail = |what: &str| {
        let what = format!("the result of `{}` has {what}", asked.method.name());
        let fault = Fault::new(Side::Server, what).at(case.message, "/result");
        fault.seen(asked.seq)
    };
    let ttl = result.get("ttlMs").and_then(Value::integer);
    let scope = result.get("cacheScope");
    if ttl.is_none_or(|ttl| ttl < 0) {
        out.fail(fail("no `ttlMs` that is an integer from 0 on"));
    } else if !scope.is_some_and(|scope| scope.is("public") || scope.is("private")) {
        out.fail(fail("no `cacheScope` that is `public` or `private`"));
    } else {
        out.pass();
    }
}

pub(crate) static REMOVED: Invariant = Invariant {
    code: Code(80),
    category: "stateless",
    property: "messages of the stateless era use no method that it has removed",
    levels: Levels::NOWHERE.derived(R5),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Message,
    source: "changelog (2026-07-28)",
    why: "`ping`, `logging/setLevel`, `resources/subscribe` and their like are answered with an error. A client that \
          speaks both eras may of course go back to the handshake.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}
    "#,
    checks: &[
        Check::Request(Directions::ToServer, Methods::All, removed),
        Check::Notification(Directions::Any, Methods::All, removed),
    ],
};

fn removed(case: &Case<'_>, out: &mut Out<'_>) {
    let defined = case.method().defined(case.dir());
    if defined == Revisions::NONE {
        return;
    }
    if defined.meets(R5) {
        return out.pass();
    }
    let method = quoted(case.message.spelled());
    let what = format!("{method} does not exist in 2026-07-28");
    out.fail(Fault::new(case.sender(), what).at(case.message, "/method"));
}
