//! Progress: its request, its values, and its end.

use super::prelude::*;
use crate::id::Key;
use crate::session::tokens::{Progress, TokenState};

const PROGRESS: Methods = Methods::Of(&[Method::Progress]);

pub(crate) static KNOWN: Invariant = Invariant {
    code: Code(34),
    category: "progress",
    property: "a progress notification names a token that a request of the other side handed out",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Conduit,
    source: "basic/utilities/progress §Behavior Requirements 1 (2024-11-05)",
    why: "Unrequested progress is either lost or shown for the wrong request. Progress for a request \
          that was answered already is INV-036.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":"p"}}}
        < {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}
        < {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
    "#,
    checks: &[Check::Notification(Directions::Any, PROGRESS, known)],
};

/// The state of the token in a progress notification.
fn token(case: &Case<'_>) -> Option<TokenState> {
    let token = case.message.param("progressToken")?;
    let key = Key::by_value_of(token.0);
    Some(case.session.tokens(case.dir().opposite()).find(key))
}

fn known(case: &Case<'_>, out: &mut Out<'_>) {
    if case.is_elsewhere() {
        return out.doubt(Doubt::NoSession);
    }
    match token(case) {
        Some(TokenState::Active(_)) => out.pass(),
        // INV-086 covers an unknown token.
        Some(TokenState::Done(_)) | None => {}
        Some(TokenState::Perhaps) => out.doubt(Doubt::Evicted),
        Some(TokenState::Never) => {
            let what = "progress for a token that no request handed out";
            let pointer = "/params/progressToken";
            out.fail(Fault::new(case.sender(), what).at(case.message, pointer));
        }
    }
}

pub(crate) static INCREASES: Invariant = Invariant {
    code: Code(35),
    category: "progress",
    property: "`progress` increases with every notification for the same token",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Conduit,
    source: "basic/utilities/progress §Progress Flow (2024-11-05)",
    why: "Progress that stands still or moves backwards looks like a hang.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":1}}}
        < {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5}}
        < {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":1}}}
        < {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}
        < {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2.0}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
    "#,
    checks: &[Check::Notification(Directions::Any, PROGRESS, increases)],
};

fn increases(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(TokenState::Active(token) | TokenState::Done(token)) = token(case) else {
        return;
    };
    let value = case.message.param("progress");
    let Some(now) = value.and_then(|one| Progress::read(one.0)) else {
        return;
    };
    let Some((before, seq)) = token.progress else {
        return out.pass();
    };
    match now.exceeds(before) {
        Some(true) => out.pass(),
        None => out.doubt(Doubt::TooCostly),
        Some(false) => {
            let what = "`progress` is not greater than the time before";
            let fault = Fault::new(case.sender(), what).at(case.message, "/params/progress");
            out.fail(fault.seen(seq));
        }
    }
}

pub(crate) static ENDS: Invariant = Invariant {
    code: Code(36),
    category: "progress",
    property: "no progress is sent after the response to the request",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Conduit,
    source: "basic/utilities/progress §Behavior Requirements (2024-11-05)",
    why: "By then the receiver has forgotten the token. The token of a request that became a task lives until the task is \
          over. What counts is the order on the wire: a client that handles the response first is no fault of the server's.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":1}}}
        < {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":1}}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
        < {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}
    "#,
    checks: &[Check::Notification(Directions::Any, PROGRESS, ends)],
};

fn ends(case: &Case<'_>, out: &mut Out<'_>) {
    match token(case) {
        Some(TokenState::Active(_)) => out.pass(),
        Some(TokenState::Done(token)) => {
            let Some(answered) = token.answered else {
                return;
            };
            let what = "progress for a request that was answered before";
            let pointer = "/params/progressToken";
            let fault = Fault::new(case.sender(), what).at(case.message, pointer);
            // Streams have no common order: the sender's order is only known on one pipe.
            let ordered = token.answered_on == case.message.conduit.0;
            let late = case.message.at.since(answered.at) > case.session.facts.grace;
            let known = ordered || case.session.facts.timed && late;
            out.fail_if_known(known, fault.seen(answered.seq).seen(token.request.seq));
        }
        _ => {}
    }
}

pub(crate) static TOKEN: Invariant = Invariant {
    code: Code(37),
    category: "progress",
    property: "a progress token is a string or an integer, and no other request in flight has it",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Session,
    source: "basic/utilities/progress §Progress Flow (2024-11-05)",
    why: "With one token for two requests it is unclear whose progress it is. A request that was cancelled is not in \
          flight any more.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":1}}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":"1"}}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
        < {"jsonrpc":"2.0","id":2,"result":{"content":[]}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":1}}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":1}}}
    "#,
    checks: &[Check::Silent(
        Plain::CALL,
        &Check::Request(Directions::Any, Methods::All, unique),
    )],
};

fn unique(case: &Case<'_>, out: &mut Out<'_>) {
    let meta = case.message.param("_meta");
    let Some(token) = meta.and_then(|meta| meta.get("progressToken")) else {
        return;
    };
    let pointer = "/params/_meta/progressToken";
    if !token.is_string() && !token.is_integer() {
        let what = format!("the progress token is {}", token.kind());
        return out.fail(Fault::new(case.sender(), what).at(case.message, pointer));
    }
    match case
        .session
        .tokens(case.dir())
        .find(Key::by_value_of(token.0))
    {
        // The sender of a cancelled request may reuse its token.
        TokenState::Active(other) if other.cancelled.is_none() => {
            let what = "a request in flight has this progress token already";
            let fault = Fault::new(case.sender(), what).at(case.message, pointer);
            out.fail(fault.seen(other.request.seq));
        }
        TokenState::Perhaps => out.doubt(Doubt::Evicted),
        _ => out.pass(),
    }
}
