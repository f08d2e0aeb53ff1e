//! Ids: used once, and answered once.

use super::prelude::*;
use crate::id::Key;
use crate::session::SessionKind;
use crate::session::ids::Requests;
use crate::session::pending_request::PendingRequest;

pub(crate) static REUSED: Invariant = Invariant {
    code: Code(10),
    category: "envelope",
    property: "a sender never uses a request id a second time in a session",
    levels: Levels::NOWHERE.must(Revisions::HANDSHAKE),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Sent,
    source: "basic §Requests (2024-11-05)",
    why: "A late response to the first request would be taken for the answer to the second. Client and server number on \
          their own: both may begin with 0. `8` and `8.0` are the same id, `\"8\"` is another.",
    holds: r#"
        handshake 2025-06-18
        < {"jsonrpc":"2.0","id":0,"method":"ping"}
        > {"jsonrpc":"2.0","id":0,"result":{}}
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        < {"jsonrpc":"2.0","id":1,"result":{}}
    "#,
    breaks: r#"
        handshake 2025-06-18
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        < {"jsonrpc":"2.0","id":1,"result":{}}
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        < {"jsonrpc":"2.0","id":1,"result":{}}
    "#,
    checks: &[Check::Holds(
        Plain::NEW,
        &Check::Request(Directions::Any, Methods::All, reused),
    )],
};

fn reused(case: &Case<'_>, out: &mut Out<'_>) {
    if case.message.key == Key::Null {
        return;
    }
    let (first, paired) = (case.session.shares_id(case.message), case.message.paired);
    // A resumed stream repeats lost messages, including requests; INV-066 covers a request of the
    // server that is on a second stream.
    let twice = case.is_http()
        && case.dir() == Direction::ToClient
        && first.is_some_and(|first| first.conduit != case.message.conduit);
    if paired.again && (case.resumes() || twice) {
        return;
    }
    if paired.again {
        let what = format!(
            "{} has an id that was used before",
            quoted(case.message.spelled())
        );
        let fault = Fault::new(case.sender(), what).at(case.message, "/id");
        return out.fail(match first {
            Some(first) => fault.seen(first.seq),
            None => fault,
        });
    }
    if paired.forgotten {
        out.doubt(Doubt::Evicted);
    } else {
        out.pass();
    }
}

pub(crate) static IN_FLIGHT: Invariant = Invariant {
    code: Code(11),
    category: "envelope",
    property: "a request id differs from every id that its sender has in flight",
    levels: Levels::NOWHERE.must(R5),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Session,
    source: "basic §Requests (2026-07-28)",
    why: "The stateless era lets ids come back once their request was answered, and no sooner. Over HTTP every exchange \
          stands alone.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        > {"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
    "#,
    checks: &[Check::Holds(
        Plain::NEW,
        &Check::Request(Directions::Any, Methods::All, in_flight),
    )],
};

fn in_flight(case: &Case<'_>, out: &mut Out<'_>) {
    if case.message.key == Key::Null {
        return;
    }
    match case.session.shares_id(case.message) {
        // The sender of a cancelled request need not wait for an answer.
        Some(first) if first.cancelled.is_none() => {
            let what = format!(
                "{} has the id of a `{}` that still waits for its answer",
                quoted(case.message.spelled()),
                first.method.name()
            );
            let fault = Fault::new(case.sender(), what).at(case.message, "/id");
            out.fail(fault.seen(first.seq));
        }
        _ => out.pass(),
    }
}

pub(crate) static ANSWERS_SOMETHING: Invariant = Invariant {
    code: Code(12),
    category: "envelope",
    property: "every response answers a request that the other side has in flight",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Conduit,
    source: "basic §Responses (2024-11-05)",
    why: "A response that answers nothing is dropped, and the request that it was meant for waits for ever. Errors \
          without an id answer what could not be read, and bodies of refused HTTP requests need not name a request: both \
          are left out.",
    holds: r#"
        handshake 2025-06-18
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        < {"jsonrpc":"2.0","id":1,"result":{}}
        < {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        < {"jsonrpc":"2.0","id":"1","result":{}}
    "#,
    checks: &[Check::Holds(
        Plain::ANSWER,
        &Check::AnyResponse(answers_something),
    )],
};

fn answers_something(case: &Case<'_>, out: &mut Out<'_>) {
    if case.is_refusal() {
        return;
    }
    if case.is_elsewhere() {
        return out.doubt(Doubt::NoSession);
    }
    let fail = |what: &str| Fault::new(case.sender(), what).at(case.message, "/id");
    match case.answer {
        Answer::Pairs(asked) => beside(case, asked, out),
        // Repeated messages are counted elsewhere.
        Answer::Again => {}
        Answer::Forgotten => out.doubt(Doubt::Evicted),
        Answer::Nameless if case.message.error().is_some() => {}
        Answer::Nameless => {
            let fault = Fault::new(case.sender(), "a result without an id answers nothing");
            out.fail(fault.at(case.message, ""));
        }
        Answer::Nobody if case.resumes() => out.doubt(Doubt::StartUnknown),
        Answer::Nobody => out.fail(fail("no request with this id was in flight")),
    }
}

/// In a capture a response is next to its request, even if their ids differ.
fn beside(case: &Case<'_>, asked: &PendingRequest, out: &mut Out<'_>) {
    let beside = case.session.beside.as_ref();
    let Some(request) = beside.and_then(|beside| beside.key) else {
        return out.pass();
    };
    if case.message.key == request {
        return out.pass();
    }
    let what = "the response has another id than its request";
    let fault = Fault::new(case.sender(), what).at(case.message, "");
    out.fail(fault.seen(asked.seq));
}

pub(crate) static ANSWERED_ONCE: Invariant = Invariant {
    code: Code(13),
    category: "envelope",
    property: "a request is answered at most once",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Conduit,
    source: "JSON-RPC 2.0 §5 via basic §Responses (2024-11-05)",
    why: "The second answer goes nowhere, or to a later request with the same id. A response that a stream repeats after \
          it was resumed is the same answer and is left out.",
    holds: r#"
        handshake 2025-06-18
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        < {"jsonrpc":"2.0","id":1,"result":{}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        < {"jsonrpc":"2.0","id":1,"result":{}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"late"}}
    "#,
    checks: &[Check::Holds(
        Plain::ANSWER,
        &Check::AnyResponse(answered_once),
    )],
};

fn answered_once(case: &Case<'_>, out: &mut Out<'_>) {
    match case.answer {
        Answer::Pairs(_) => out.pass(),
        Answer::Again if case.resumes() || case.is_refusal() => {}
        Answer::Again => {
            let what = "a request was answered a second time";
            out.fail(Fault::new(case.sender(), what).at(case.message, "/id"));
        }
        _ => {}
    }
}

pub(crate) static ALL_ANSWERED: Invariant = Invariant {
    code: Code(16),
    category: "envelope",
    property: "when a session ends in order, every request has been answered",
    levels: Levels::NOWHERE.should(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Session,
    source: "basic/transports §Sending Messages (2025-03-26)",
    why: "What was neither answered nor cancelled is a hang, also where the server had to be ended by a signal. Left out \
          are requests that were cancelled, sessions that were broken off, subscriptions, what was asked within a second \
          before the end, and what may have waited for an answer of the other side.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}
        close >
        exit 0
        close <
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        wait 5000
        close >
        exit 0
        close <
    "#,
    checks: &[Check::End(all_answered)],
};

fn all_answered(closing: &Closing<'_>, out: &mut Out<'_>) {
    let session = closing.session;
    // A document does not record how its session ended, and a hand-written one may omit answers.
    if session.sort == SessionKind::Document {
        for way in [Direction::ToServer, Direction::ToClient] {
            if !session.requests(way).is_idle() {
                out.doubt(Doubt::NotKept);
            }
        }
        return;
    }
    let Some(ended) = session.ended_in_order() else {
        let waits = !session.requests(Direction::ToServer).is_idle()
            || !session.requests(Direction::ToClient).is_idle();
        if !closing.whole && session.exited.is_none() && waits {
            out.doubt(Doubt::CutShort);
        }
        return;
    };
    for way in [Direction::ToServer, Direction::ToClient] {
        let requests = session.requests(way);
        if requests.is_idle() {
            if requests.has_any() {
                out.pass();
            }
            continue;
        }
        for asked in requests.in_flight() {
            // Answering a request of the server is invalid in the stateless era.
            let unanswerable = way == Direction::ToClient && asked.revisions == R5;
            let lasts = asked.method == Method::SubscriptionsListen;
            if asked.cancelled.is_some() || lasts || unanswerable {
                continue;
            }
            // A side that waits for the other's answer cannot send its own.
            if waits_itself(session.requests(way.opposite()), asked) {
                out.doubt(Doubt::Unseen);
                continue;
            }
            let what = format!("`{}` was never answered", asked.method.name());
            let fault = Fault::new(Side::sender(way.opposite()), what).seen(asked.seq);
            if !session.facts.timed {
                out.doubt(Doubt::Unseen);
            } else if ended.at.since(asked.at) > session.facts.grace {
                out.fail(fault);
            }
        }
    }
}

/// Whether a later request in the other direction has no answer either.
fn waits_itself(back: &Requests, asked: &PendingRequest) -> bool {
    let mut asked_back = back.in_flight();
    asked_back.any(|one| one.seq > asked.seq && one.cancelled.is_none())
}
