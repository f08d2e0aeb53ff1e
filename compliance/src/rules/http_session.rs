//! Session ids over HTTP.

use super::prelude::*;
use crate::http::HttpCase;
use crate::http::session::SESSION_ID;

pub(crate) static KEPT: Invariant = Invariant {
    code: Code(55),
    category: "http-session",
    property: "once the server has issued a session id, the client sends it with every request",
    levels: Levels::NOWHERE.must(Revisions::HANDSHAKE_FROM_R2),
    carriers: Carriers::STREAMABLE,
    who: Responsible::Client,
    basis: Basis::Exchange,
    source: "basic/transports §Session Management 2 (2025-03-26)",
    why: "A request without the id belongs to no session and is refused. Who a client is can only be seen by its \
          connection: a request without an id counts when the same connection was used for a session before that has not \
          ended.",
    holds: r#"
        opening-http 2025-06-18 abc
        post 2 abc 2025-06-18
        > {"jsonrpc":"2.0","method":"notifications/initialized"}
        status 202
        close <
    "#,
    breaks: r#"
        opening-http 2025-06-18 abc
        session 0
        post 2 - 2025-06-18
        > {"jsonrpc":"2.0","method":"notifications/initialized"}
        status 400
        close <
    "#,
    checks: &[Check::HttpRequest(kept)],
};

fn kept(case: &HttpCase<'_>, out: &mut Out<'_>) {
    let initialize = case
        .message
        .is_some_and(|one| one.method == Method::Initialize);
    let stream = case.conduit.verb() == "GET"
        && case
            .conduit
            .asked_field("accept")
            .is_some_and(|accept| accept.contains("text/event-stream"));
    if initialize || !(case.conduit.is_post() || stream) {
        return;
    }
    if case.conduit.asked_field(SESSION_ID).is_some() {
        if case.session.http.id.is_some() {
            out.pass();
        }
        return;
    }
    let known = case.world.used(case.conduit.connection);
    let alive = known.is_some_and(|known| known.deleted.is_none() && known.refused.is_none());
    if alive {
        let what = "a request without the session id, on a connection that was used with one";
        out.fail(Fault::new(Side::Client, what).seen(case.conduit.asked_at()));
    }
}

pub(crate) static HONOURED: Invariant = Invariant {
    code: Code(56),
    category: "http-session",
    property: "a session id is visible ASCII, stays as it is, and is answered with 404 once the session has ended",
    levels: Levels::NOWHERE.must(Revisions::HANDSHAKE_FROM_R2),
    carriers: Carriers::STREAMABLE,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "basic/transports §Session Management 1, 3 (2025-03-26)",
    why: "Only on a 404 does a client begin a new session; anything else it takes for a fault of its request. That a later \
          response must not bring another id follows from the rest.",
    holds: r#"
        opening-http 2025-06-18 abc
        post 2 abc 2025-06-18
        > {"jsonrpc":"2.0","method":"notifications/initialized"}
        status 202
        close <
        delete 3 abc 2025-06-18
        status 200
        close <
        ended deleted
        session 0
        conduit 4 GET /mcp
        header accept: text/event-stream
        header mcp-session-id: abc
        header mcp-protocol-version: 2025-06-18
        status 404
        close <
    "#,
    breaks: r#"
        opening-http 2025-06-18 abc
        delete 3 abc
        status 200
        close <
        ended deleted
        session 0
        post 4 abc 2025-06-18
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        status 400
        close <
    "#,
    checks: &[Check::HttpResponse(honoured)],
};

fn honoured(case: &HttpCase<'_>, out: &mut Out<'_>) {
    let conduit = case.conduit;
    let fault = |what: &str| Fault::new(Side::Server, what).seen(conduit.answered_at());
    if let Some(id) = conduit.answered_field(SESSION_ID) {
        let visible = |byte: u8| (0x21..=0x7e).contains(&byte);
        if id.is_empty() || !id.bytes().all(visible) {
            return out.fail(fault(
                "the session id is not made of visible ASCII characters",
            ));
        }
        if let Some((issued, seq)) = case.session.http.id
            && issued != crate::id::hash(id.as_bytes())
        {
            let fault = fault("a response brings another session id");
            let derived = fault.only(crate::finding::Severity::Derived);
            return out.fail(derived.seen(seq));
        }
        out.pass();
    }
    let ended = conduit
        .asked_field(SESSION_ID)
        .and_then(|id| case.world.find(id)?.deleted);
    let (Some(ended), Some(status)) = (ended, conduit.status()) else {
        return;
    };
    let sent = conduit.request.as_ref().map(|(moment, _)| *moment);
    if sent.is_some_and(|sent| sent.seq < ended.seq) {
        return;
    }
    if status == 404 {
        out.pass();
    } else {
        let what = format!("a session that had ended was answered with {status} and not with 404");
        out.fail(fault(&what).seen(conduit.asked_at()).seen(ended.seq));
    }
}

pub(crate) static STARTS_OVER: Invariant = Invariant {
    code: Code(57),
    category: "http-session",
    property: "after a 404 for its session id the client begins a new session, with `initialize` and without the id",
    levels: Levels::NOWHERE.must(Revisions::HANDSHAKE_FROM_R2),
    carriers: Carriers::STREAMABLE,
    who: Responsible::Client,
    basis: Basis::Exchange,
    source: "basic/transports §Session Management 4 (2025-03-26)",
    why: "A client that keeps using the old id is always refused. Requests that were sent before the 404 arrived are a race.",
    holds: r#"
        post 1 abc 2025-06-18
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        status 404
        close <
        conduit 2 POST /mcp
        > {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
        json
        < {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
        close <
    "#,
    breaks: r#"
        post 1 abc 2025-06-18
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        status 404
        close <
        wait 2000
        post 2 abc 2025-06-18
        > {"jsonrpc":"2.0","id":2,"method":"ping"}
        status 404
        close <
    "#,
    checks: &[Check::HttpRequest(starts_over)],
};

fn starts_over(case: &HttpCase<'_>, out: &mut Out<'_>) {
    let conduit = case.conduit;
    let initialize = case
        .message
        .is_some_and(|one| one.method == Method::Initialize);
    if let Some(id) = conduit.asked_field(SESSION_ID) {
        let Some(refused) = case.world.find(id).and_then(|known| known.refused) else {
            return;
        };
        let late = case.moment.at.since(refused.at) > case.session.facts.grace;
        let what = "a session id is used again that was answered with 404";
        let fault = Fault::new(Side::Client, what).seen(conduit.asked_at());
        return out.fail_if_known(late && case.session.facts.timed, fault.seen(refused.seq));
    }
    let known = case.world.used(conduit.connection);
    if initialize && known.is_some_and(|known| known.refused.is_some()) {
        out.pass();
    }
}
