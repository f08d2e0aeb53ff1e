//! Streams of events over HTTP.

use super::prelude::*;
use crate::http::HttpCase;

pub(crate) static NO_ANSWERS: Invariant = Invariant {
    code: Code(63),
    category: "http-stream",
    property: "a GET stream carries no response, unless it resumes another stream",
    levels: Levels::NOWHERE.must(Revisions::HANDSHAKE_FROM_R2),
    carriers: Carriers::STREAMABLE,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "basic/transports §Listening for Messages 4 (2025-03-26)",
    why: "A client waits for the response on the stream of its request.",
    holds: r#"
        handshake-http
        post 2 abc 2025-11-25
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        stream
        sse message
        < {"jsonrpc":"2.0","id":1,"result":{}}
        close <
        get 3 abc 2025-11-25
        header last-event-id: 7
        stream
        sse message
        < {"jsonrpc":"2.0","id":1,"result":{}}
    "#,
    breaks: r#"
        handshake-http
        post 2 abc
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        get 3 abc
        stream
        sse message
        < {"jsonrpc":"2.0","id":1,"result":{}}
    "#,
    checks: &[Check::AnyResponse(no_answers)],
};

fn no_answers(case: &Case<'_>, out: &mut Out<'_>) {
    if case.dir() != Direction::ToClient {
        return;
    }
    if case.carrier != Carrier::GetStream {
        return out.pass();
    }
    let what = "a response on a GET stream that resumes nothing";
    out.fail(Fault::new(Side::Server, what).at(case.message, ""));
}

pub(crate) static UNIQUE: Invariant = Invariant {
    code: Code(64),
    category: "http-stream",
    property: "the ids of events are unique over all streams of a session",
    levels: Levels::NOWHERE.must(Revisions::HANDSHAKE_FROM_R2),
    carriers: Carriers::RESUMABLE,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "basic/transports §Resumability and Redelivery 1 (2025-03-26)",
    why: "`Last-Event-ID` is all that a client sends to be given what it missed. Events that are repeated on a resumed \
          stream keep their ids.",
    holds: r#"
        handshake-http
        post 2 abc 2025-11-25
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        stream
        sse id=1
        sse id=2 message
        < {"jsonrpc":"2.0","id":1,"result":{}}
        close <
    "#,
    breaks: r#"
        handshake-http
        post 2 abc
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        stream
        sse id=1
        get 3 abc
        stream
        sse id=1
    "#,
    checks: &[Check::Sse(unique)],
};

fn id<'a>(case: &HttpCase<'a>) -> Option<&'a str> {
    let id = case.note?.id.as_deref()?;
    // An empty id resets the client's memory and names nothing.
    Some(id).filter(|id| !id.is_empty())
}

fn unique(case: &HttpCase<'_>, out: &mut Out<'_>) {
    let Some(id) = id(case) else { return };
    match case.session.http.events.find(id) {
        Some(_) if case.conduit.resumes() => {}
        Some(first) => {
            let what = format!("two events have the id {}", quoted(id));
            let fault = Fault::new(Side::Server, what).seen(case.moment.seq);
            out.fail(fault.seen(first.seq));
        }
        None if case.session.http.events.forgotten => out.doubt(Doubt::Evicted),
        None => out.pass(),
    }
}

pub(crate) static REPLAY: Invariant = Invariant {
    code: Code(65),
    category: "http-stream",
    property: "messages repeated after `Last-Event-ID` are from that stream only, in order, and are repeated once",
    levels: Levels::NOWHERE.must(Revisions::HANDSHAKE_FROM_R2),
    carriers: Carriers::RESUMABLE,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "basic/transports §Resumability and Redelivery 2 (2025-03-26)",
    why: "Messages of other streams reach the client twice, or on a stream where it does not expect them.",
    holds: r#"
        handshake-http
        post 2 abc 2025-11-25
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        stream
        sse id=1
        sse id=2 message
        < {"jsonrpc":"2.0","id":1,"result":{}}
        close < aborted
        get 3 abc 2025-11-25
        header last-event-id: 1
        stream
        sse id=2 message
        < {"jsonrpc":"2.0","id":1,"result":{}}
    "#,
    breaks: r#"
        handshake-http
        post 2 abc
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        stream
        sse id=a1
        close < aborted
        get 3 abc
        stream
        sse id=b1
        close < aborted
        get 4 abc
        header last-event-id: a1
        stream
        sse id=b1
    "#,
    checks: &[Check::Sse(replay)],
};

fn replay(case: &HttpCase<'_>, out: &mut Out<'_>) {
    let Some(id) = id(case).filter(|_| case.conduit.resumes()) else {
        return;
    };
    let events = &case.session.http.events;
    let Some(before) = events.find(id) else {
        return;
    };
    let from = case
        .conduit
        .asked_field("last-event-id")
        .and_then(|id| events.find(id));
    let Some(from) = from else {
        return out.doubt(Doubt::Unseen);
    };
    let fault = |what: &str| {
        let fault = Fault::new(Side::Server, what).seen(case.moment.seq);
        fault.seen(before.seq)
    };
    let last = case.conduit.replayed.unwrap_or(from.number);
    if before.stream != from.stream {
        out.fail(fault("an event of another stream is repeated"));
    } else if before.number <= last {
        out.fail(fault(
            "an event is repeated out of order, or had been received",
        ));
    } else {
        out.pass();
    }
}

pub(crate) static ONE_STREAM: Invariant = Invariant {
    code: Code(66),
    category: "http-stream",
    property: "a request of the server travels on one stream only",
    levels: Levels::NOWHERE.must(Revisions::HANDSHAKE_FROM_R2),
    carriers: Carriers::RESUMABLE,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "basic/transports §Multiple Connections 2 (2025-03-26)",
    why: "The client would carry it out twice.",
    holds: r#"
        handshake-http
        get 3 abc 2025-11-25
        stream
        sse message
        < {"jsonrpc":"2.0","id":"s1","method":"ping"}
    "#,
    breaks: r#"
        handshake-http
        get 3 abc
        stream
        sse message
        < {"jsonrpc":"2.0","id":"s1","method":"ping"}
        get 4 abc
        stream
        sse message
        < {"jsonrpc":"2.0","id":"s1","method":"ping"}
    "#,
    checks: &[Check::Request(
        Directions::ToClient,
        Methods::All,
        one_stream,
    )],
};

fn one_stream(case: &Case<'_>, out: &mut Out<'_>) {
    match case.session.shares_id(case.message) {
        Some(other) if other.conduit != case.message.conduit && !case.resumes() => {
            let what = "a request is sent on two streams";
            let fault = Fault::new(Side::Server, what).at(case.message, "/id");
            out.fail(fault.seen(other.seq));
        }
        _ => out.pass(),
    }
}

pub(crate) static RELATED: Invariant = Invariant {
    code: Code(67),
    category: "http-stream",
    property: "the response to a POST carries no response to another request",
    levels: Levels::NOWHERE
        .should(Revisions::HANDSHAKE_FROM_R2)
        .must(R5),
    carriers: Carriers::POST,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "basic/transports §Sending Messages 6 (2025-03-26); §Receiving Messages (2026-07-28)",
    why: "A client looks for a response on the stream of its request.",
    holds: r#"
        handshake-http
        post 2 abc 2025-11-25
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        json
        < {"jsonrpc":"2.0","id":1,"result":{}}
        close <
    "#,
    breaks: r#"
        handshake-http
        post 2 abc
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        post 3 abc
        > {"jsonrpc":"2.0","id":2,"method":"ping"}
        stream
        sse message
        < {"jsonrpc":"2.0","id":1,"result":{}}
    "#,
    checks: &[Check::AnyResponse(related)],
};

fn related(case: &Case<'_>, out: &mut Out<'_>) {
    if case.dir() != Direction::ToClient || case.is_refusal() {
        return;
    }
    let Some(asked) = case.asked() else { return };
    if asked.conduit == case.message.conduit {
        return out.pass();
    }
    let what = "a response on the stream of another request";
    let fault = Fault::new(Side::Server, what).at(case.message, "/id");
    out.fail(fault.seen(asked.seq));
}

pub(crate) static PATIENT: Invariant = Invariant {
    code: Code(68),
    category: "http-stream",
    property: "a client does not reconnect before the `retry` time",
    levels: Levels::NOWHERE.must(R4),
    carriers: Carriers::GET,
    who: Responsible::Client,
    basis: Basis::Session,
    source: "basic/transports §Sending Messages 6 (2025-11-25)",
    why: "A server that closes its streams to save connections is flooded otherwise. Fifty milliseconds are let pass.",
    holds: r#"
        handshake-http
        post 2 abc 2025-11-25
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        stream
        sse id=1 retry=500
        close <
        wait 600
        get 3 abc 2025-11-25
        header last-event-id: 1
        stream
        sse id=2 message
        < {"jsonrpc":"2.0","id":1,"result":{}}
    "#,
    breaks: r#"
        handshake-http
        post 2 abc
        > {"jsonrpc":"2.0","id":1,"method":"ping"}
        stream
        sse id=1 retry=500
        close <
        wait 100
        get 3 abc
        header last-event-id: 1
        status 200
    "#,
    checks: &[Check::HttpRequest(patient)],
};

fn patient(case: &HttpCase<'_>, out: &mut Out<'_>) {
    let events = &case.session.http.events;
    let from = case
        .conduit
        .asked_field("last-event-id")
        .and_then(|id| events.find(id));
    let stream = from.and_then(|from| events.stream(from.stream));
    let Some((closed, (retry, seq))) = stream.and_then(|one| Some((one.closed?, one.retry_ms?)))
    else {
        return;
    };
    let waited = case.moment.at.since(closed.at).0 / 1_000;
    if waited + LENIENCY_MS >= retry {
        return out.pass();
    }
    let what = format!("the client reconnected after {waited} ms instead of {retry} ms");
    let fault = Fault::new(Side::Client, what).seen(case.conduit.asked_at());
    out.fail(fault.seen(closed.seq).seen(seq));
}

const LENIENCY_MS: u64 = 50;
