//! Cancellations.

use super::prelude::*;
use crate::id::Key;
use crate::session::pending_request::PendingRequest;
use crate::session::tokens::TokenState;

pub(crate) static OWN_REQUEST: Invariant = Invariant {
    code: Code(38),
    category: "cancellation",
    property: "`notifications/cancelled` names a request in flight of its own sender",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Session,
    source: "basic/utilities/cancellation §Behavior Requirements 1 (2024-11-05)",
    why: "A cancellation that crosses with the response is a race that both sides must bear. A request that became a task \
          is cancelled by `tasks/cancel` (2025-11-25).",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
    "#,
    checks: &[Check::Notification(
        Directions::Any,
        Methods::Of(&[Method::Cancelled]),
        own_request,
    )],
};

fn own_request(case: &Case<'_>, out: &mut Out<'_>) {
    // The server of the stateless era ends subscriptions, which are requests of the client.
    if case.message.revisions == R5 && case.dir() == Direction::ToClient {
        return;
    }
    if case.message.param("requestId").is_none() {
        return;
    }
    let paired = case.message.paired;
    let requests = case.session.requests(case.dir());
    let asked = paired.handle.and_then(|handle| requests.get(handle));
    let fault = |what: &str| Fault::new(case.sender(), what).at(case.message, "/params/requestId");
    match asked {
        Some(asked) if asked.task => {
            let what = "a request that asked for a task is cancelled by `tasks/cancel`";
            out.fail(fault(what).seen(asked.seq));
        }
        Some(_) => out.pass(),
        None if paired.again => {
            out.race(fault("the request that is cancelled was answered before"));
        }
        None if paired.forgotten => out.doubt(Doubt::Evicted),
        None => out.fail(fault("no request with this id was in flight")),
    }
}

pub(crate) static HEEDED: Invariant = Invariant {
    code: Code(39),
    category: "cancellation",
    property: "a request that was cancelled gets no response and no more progress",
    levels: Levels::NOWHERE.should(Revisions::HANDSHAKE).must(R5),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Session,
    source: "basic/utilities/cancellation §Behavior Requirements (2024-11-05); basic/transports §stdio Cancellation (2026-07-28)",
    why: "The one who cancelled has forgotten the request. What crosses with the cancellation is a race; an error that \
          says it was cancelled, or an answer to something later, shows that the cancellation had been read.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}
        > {"jsonrpc":"2.0","id":2,"method":"ping"}
        < {"jsonrpc":"2.0","id":2,"result":{}}
        close >
        exit 0
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"Request cancelled"}}
    "#,
    checks: &[
        Check::Silent(Plain::ANSWER, &Check::AnyResponse(heeded)),
        Check::Notification(Directions::Any, Methods::Of(&[Method::Progress]), quiet),
        Check::End(obeyed),
    ],
};

fn heeded(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(asked) = case.asked() else { return };
    let Some(cancelled) = asked.cancelled else {
        return;
    };
    if asked.method == Method::SubscriptionsListen || asked.task {
        return;
    }
    let says_so = case.message.error().is_some_and(|error| {
        let text = error.get("message").and_then(Value::string);
        text.is_some_and(|text| text.to_ascii_lowercase().contains("cancel"))
    });
    let known = says_so
        || case
            .session
            .knew(case.dir().opposite(), cancelled, case.message.at);
    let what = format!(
        "`{}` was answered after it was cancelled",
        asked.method.name()
    );
    let fault = Fault::new(case.sender(), what).at(case.message, "");
    out.fail_if_known(known, evidence(fault, asked));
}

fn quiet(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(token) = case.message.param("progressToken") else {
        return;
    };
    let way = case.dir().opposite();
    let key = Key::by_value_of(token.0);
    let TokenState::Active(token) = case.session.tokens(way).find(key) else {
        return;
    };
    let Some(cancelled) = token.cancelled else {
        return;
    };
    let known = case.session.knew(way, cancelled, case.message.at);
    let what = "progress of a request that was cancelled";
    let fault = Fault::new(case.sender(), what).at(case.message, "");
    out.fail_if_known(known, fault.seen(cancelled.seq).seen(token.request.seq));
}

/// Cancelled requests that were never answered.
fn obeyed(closing: &Closing<'_>, out: &mut Out<'_>) {
    for way in [Direction::ToServer, Direction::ToClient] {
        let requests = closing.session.requests(way);
        if requests.any_cancelled && requests.in_flight().any(|one| one.cancelled.is_some()) {
            out.pass();
        }
    }
}

fn evidence(fault: Fault, asked: &PendingRequest) -> Fault {
    match asked.cancelled {
        Some(cancelled) => fault.seen(cancelled.seq).seen(asked.seq),
        None => fault.seen(asked.seq),
    }
}

pub(crate) static STATELESS: Invariant = Invariant {
    code: Code(40),
    category: "cancellation",
    property: "the server cancels only subscriptions, and over HTTP the client sends no cancellation at all",
    levels: Levels::NOWHERE.must(R5),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Conduit,
    source: "basic/utilities/cancellation (2026-07-28)",
    why: "Over HTTP the client cancels by closing the response. The server has no requests of its own to cancel; the end \
          of a subscription is all it may announce.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}
        < {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}
    "#,
    checks: &[Check::Notification(
        Directions::Any,
        Methods::Of(&[Method::Cancelled]),
        stateless,
    )],
};

fn stateless(case: &Case<'_>, out: &mut Out<'_>) {
    let fault = |what: &str| Fault::new(case.sender(), what).at(case.message, "/method");
    if case.dir() == Direction::ToServer {
        if case.is_http() {
            out.fail(fault(
                "a cancellation over HTTP, where closing the response is one",
            ));
        } else if case.carrier == Carrier::Document {
            // Its carrier is unknown.
            out.doubt(Doubt::NotKept);
        }
        return;
    }
    let id = case
        .message
        .param("requestId")
        .map(|id| Key::by_value_of(id.0));
    match id {
        Some(id) if case.session.modern.listens.contains_key(&id) => out.pass(),
        None => {}
        Some(_) => out.fail(fault(
            "the server cancels something that is not a subscription",
        )),
    }
}
