//! The contents of a POST, and its answers.

use super::prelude::*;
use crate::http::HttpCase;
use crate::http::session::VERSION;
use tapewright_schemas::slices::Part as _;

pub(crate) static VERSION_SENT: Invariant = Invariant {
    code: Code(58),
    category: "http",
    property: "after the handshake every request carries `MCP-Protocol-Version`, and it is the agreed revision",
    levels: Levels::NOWHERE.must(Revisions::R3_AND_R4),
    carriers: Carriers::STREAMABLE,
    who: Responsible::Client,
    basis: Basis::Session,
    source: "basic/transports §Protocol Version Header (2025-06-18)",
    why: "Without it a server takes the client for one of 2025-03-26. That it equals the agreed revision is a SHOULD.",
    holds: r#"
        opening-http 2025-06-18
        post 2 - 2025-06-18
        > {"jsonrpc":"2.0","method":"notifications/initialized"}
        status 202
        close <
    "#,
    breaks: r#"
        opening-http 2025-06-18
        conduit 2 POST /mcp
        > {"jsonrpc":"2.0","method":"notifications/initialized"}
        status 202
        close <
    "#,
    checks: &[Check::HttpRequest(version_sent)],
};

fn version_sent(case: &HttpCase<'_>, out: &mut Out<'_>) {
    let Some(agreed) = case.session.lifecycle.agreed else {
        return;
    };
    if case
        .message
        .is_some_and(|one| one.method == Method::Initialize)
    {
        return;
    }
    let fault = |what: String| {
        let fault = Fault::new(Side::Client, what).seen(case.conduit.asked_at());
        fault.seen(agreed.seq)
    };
    let Some(sent) = case.conduit.asked_field(VERSION) else {
        return out.fail(fault("a request without `MCP-Protocol-Version`".to_owned()));
    };
    if Revisions::named(sent) == Some(case.session.negotiated) {
        out.pass();
    } else {
        let what = format!(
            "`MCP-Protocol-Version` is {} and not what was agreed on",
            quoted(sent)
        );
        out.fail(fault(what).only(crate::finding::Severity::Should));
    }
}

pub(crate) static VERSION_REFUSED: Invariant = Invariant {
    code: Code(59),
    category: "http",
    property: "a `MCP-Protocol-Version` that no revision has is answered with 400",
    levels: Levels::NOWHERE.must(Revisions::FROM_R3),
    carriers: Carriers::STREAMABLE,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "basic/transports §Protocol Version Header (2025-06-18)",
    why: "Otherwise a server uses a revision that the client did not expect. Refusals for another reason count as \
          refusals.",
    holds: r#"
        post 1 - 1999-01-01
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        status 400
        close <
    "#,
    breaks: r#"
        post 1 - 1999-01-01
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        json
        < {"jsonrpc":"2.0","id":1,"result":{}}
        close <
    "#,
    checks: &[Check::HttpResponse(version_refused)],
};

fn version_refused(case: &HttpCase<'_>, out: &mut Out<'_>) {
    let Some(sent) = case.conduit.asked_field(VERSION) else {
        return;
    };
    if Revisions::named(sent).is_some() || sent.starts_with('<') {
        return;
    }
    match case.conduit.status() {
        Some(status) if status >= 400 => out.pass(),
        Some(status) => {
            let what = format!(
                "`MCP-Protocol-Version` {} was answered with {status}",
                quoted(sent)
            );
            let fault = Fault::new(Side::Server, what).seen(case.conduit.answered_at());
            out.fail(fault.seen(case.conduit.asked_at()));
        }
        None => {}
    }
}

pub(crate) static ACCEPTED: Invariant = Invariant {
    code: Code(60),
    category: "http",
    property: "a POST of notifications or responses is answered with 202 and nothing more, or refused",
    levels: Levels::NOWHERE.must(Revisions::FROM_R2),
    carriers: Carriers::POST,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "basic/transports §Sending Messages 4 (2025-03-26)",
    why: "No answer is needed, and some clients take an unexpected body for a message.",
    holds: r#"
        post 1 - 2025-06-18
        > {"jsonrpc":"2.0","method":"notifications/roots/list_changed"}
        status 202
        close <
    "#,
    breaks: r#"
        post 1 - 2025-06-18
        > {"jsonrpc":"2.0","method":"notifications/roots/list_changed"}
        status 200
        close <
    "#,
    checks: &[Check::HttpEnd(accepted)],
};

fn accepted(case: &HttpCase<'_>, out: &mut Out<'_>) {
    let conduit = case.conduit;
    let Some(status) = conduit.status() else {
        return;
    };
    if !conduit.is_post() || conduit.sent.is_empty() || conduit.asks() {
        return;
    }
    let fault = |what: String| {
        let fault = Fault::new(Side::Server, what).seen(conduit.answered_at());
        fault.seen(conduit.asked_at())
    };
    if status >= 400 {
        out.pass();
    } else if status != 202 {
        out.fail(fault(format!(
            "notifications were answered with {status} and not with 202"
        )));
    } else if conduit.received > 0 || conduit.other_bytes > 0 {
        out.fail(fault("a 202 has a body".to_owned()));
    } else {
        out.pass();
    }
}

pub(crate) static CONTENT: Invariant = Invariant {
    code: Code(61),
    category: "http",
    property: "a POST of a request is answered with one message as `application/json`, or with `text/event-stream`",
    levels: Levels::NOWHERE.must(Revisions::FROM_R2),
    carriers: Carriers::POST,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "basic/transports §Sending Messages 5 (2025-03-26)",
    why: "By its type a client knows how to read the body. Refusals and redirections are left out.",
    holds: r#"
        post 1 - 2025-06-18
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        status 200
        header content-type: application/json; charset=utf-8
        < {"jsonrpc":"2.0","id":1,"result":{}}
        close <
    "#,
    breaks: r#"
        post 1 - 2025-06-18
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        status 200
        header content-type: text/plain
        < {"jsonrpc":"2.0","id":1,"result":{}}
        close <
    "#,
    checks: &[Check::HttpEnd(content)],
};

fn content(case: &HttpCase<'_>, out: &mut Out<'_>) {
    let conduit = case.conduit;
    let success = conduit
        .status()
        .is_some_and(|status| (200..300).contains(&status));
    if !success || !conduit.is_post() || !conduit.asks() {
        return;
    }
    let fault = |what: String| {
        let fault = Fault::new(Side::Server, what).seen(conduit.answered_at());
        fault.seen(conduit.asked_at())
    };
    match conduit.content_type().as_str() {
        "text/event-stream" => out.pass(),
        "application/json" => {
            let cut = conduit.closed.is_none_or(|(_, reason)| {
                reason != tapewright_schemas::event::CloseReason::EndOfInput
            });
            if conduit.received == 1 || cut {
                out.pass();
            } else {
                let count = conduit.received;
                out.fail(fault(format!(
                    "a JSON body with {count} messages and not one"
                )));
            }
        }
        "" => out.fail(fault(
            "the answer to a request has no `Content-Type`".to_owned(),
        )),
        other => out.fail(fault(format!(
            "the answer to a request is {}",
            quoted(other)
        ))),
    }
}

pub(crate) static ACCEPT: Invariant = Invariant {
    code: Code(62),
    category: "http",
    property: "`Accept` lists `application/json` and `text/event-stream` on a POST, and `text/event-stream` on a GET",
    levels: Levels::NOWHERE.must(Revisions::FROM_R2),
    carriers: Carriers::STREAMABLE,
    who: Responsible::Client,
    basis: Basis::Exchange,
    source: "basic/transports §Sending Messages 2, §Listening for Messages 2 (2025-03-26)",
    why: "Servers refuse with 406 what does not. A wildcard is not in the list, and servers differ about it: it is let \
          pass.",
    holds: r#"
        conduit 1 POST /mcp
        header accept: application/json, text/event-stream
        header mcp-protocol-version: 2025-06-18
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        json
        < {"jsonrpc":"2.0","id":1,"result":{}}
        close <
    "#,
    breaks: r#"
        conduit 1 POST /mcp
        header accept: application/json
        header mcp-protocol-version: 2025-06-18
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        status 406
        close <
    "#,
    checks: &[Check::HttpRequest(accept)],
};

fn accept(case: &HttpCase<'_>, out: &mut Out<'_>) {
    let conduit = case.conduit;
    let is_message = conduit.is_post() && case.message.is_some();
    // Other GETs of the origin are not judged.
    let is_stream = conduit.verb() == "GET" && case.session.http.id.is_some();
    if !is_message && !is_stream {
        return;
    }
    let fields = conduit.request.as_ref().map(|(_, head)| &head.fields);
    let all: Vec<String> = fields
        .into_iter()
        .flat_map(|fields| fields.all("accept"))
        .map(str::to_ascii_lowercase)
        .collect();
    let lists = |kind: &str| {
        all.iter()
            .any(|one| one.contains(kind) || one.contains("*/*"))
    };
    let json = !conduit.is_post() || lists("application/json");
    if json && lists("text/event-stream") {
        return out.pass();
    }
    let what = if json {
        "`Accept` does not list `text/event-stream`"
    } else {
        "`Accept` does not list `application/json`"
    };
    out.fail(Fault::new(Side::Client, what).seen(conduit.asked_at()));
}

pub(crate) static ORIGIN: Invariant = Invariant {
    code: Code(72),
    category: "http",
    property: "a request with a foreign `Origin` is refused, from 2025-11-25 on with 403",
    levels: Levels::NOWHERE.must(Revisions::FROM_R2),
    carriers: Carriers::HTTP,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "basic/transports §Security Warning (2025-03-26)",
    why: "Otherwise any page in a browser can speak to a server on the same machine. An origin is foreign when its host is \
          not the one of the request.",
    holds: r#"
        conduit 1 POST /mcp
        header host: localhost:3000
        header origin: http://evil.example
        header mcp-protocol-version: 2025-11-25
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        status 403
        close <
    "#,
    breaks: r#"
        conduit 1 POST /mcp
        header host: localhost:3000
        header origin: http://evil.example
        header mcp-protocol-version: 2025-11-25
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        json
        < {"jsonrpc":"2.0","id":1,"result":{}}
        close <
    "#,
    checks: &[Check::HttpResponse(origin)],
};

fn origin(case: &HttpCase<'_>, out: &mut Out<'_>) {
    let conduit = case.conduit;
    let (Some(origin), Some(host)) = (conduit.asked_field("origin"), conduit.asked_field("host"))
    else {
        return;
    };
    let authority = origin.split_once("://").map_or("", |(_, rest)| rest);
    let name = |authority: &str| {
        let end = authority.rfind(':').filter(|_| !authority.ends_with(']'));
        let name = end.map_or(authority, |end| authority.part(..end));
        name.to_ascii_lowercase()
    };
    let local = |name: &str| matches!(name, "localhost" | "127.0.0.1" | "[::1]");
    let (from, to) = (name(authority), name(host));
    if from.is_empty() || from == to || local(&from) && local(&to) {
        return;
    }
    let Some(status) = conduit.status() else {
        return;
    };
    // The older transport requires the check, but does not define how to report a failure.
    let strict = !conduit.legacy && Revisions::FROM_R4.covers(case.revisions);
    if status == 403 || status >= 400 && !strict {
        return out.pass();
    }
    let what = format!(
        "a request from {} was answered with {status}",
        quoted(origin)
    );
    let fault = Fault::new(Side::Server, what).seen(conduit.answered_at());
    out.fail(fault.seen(conduit.asked_at()));
}
