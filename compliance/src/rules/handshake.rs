//! The contents of the handshake, and the messages that are allowed during it.

use super::prelude::*;

pub(crate) static RESULT: Invariant = Invariant {
    code: Code(21),
    category: "lifecycle",
    property: "the `initialize` result names a known revision, the server's capabilities, and the server",
    levels: Levels::NOWHERE.must(Revisions::HANDSHAKE),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "basic/lifecycle §Initialization, §Version Negotiation; schema InitializeResult (2024-11-05)",
    why: "`protocolVersion` is the requested revision or another one that exists, `capabilities` is an object, \
          `serverInfo` has a string `name` and `version`.",
    holds: "handshake 2025-11-25 {}",
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
        < {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"1.0","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
    "#,
    checks: &[Check::Response(
        Directions::ToServer,
        Methods::Of(&[Method::Initialize]),
        result,
    )],
};

fn result(case: &Case<'_>, out: &mut Out<'_>) {
    let (Some(asked), Some(result)) = (case.asked(), case.message.result()) else {
        return;
    };
    let fail = |what: &str, pointer: &str| {
        let fault = Fault::new(Side::Server, what).at(case.message, pointer);
        fault.seen(asked.seq)
    };
    let Some(version) = result.get("protocolVersion").and_then(Value::string) else {
        return out.fail(fail(
            "the result has no string `protocolVersion`",
            "/result",
        ));
    };
    let wanted = asked.more().and_then(|more| more.version.as_deref());
    if Revisions::named(&version).is_none() && wanted != Some(&*version) {
        let what = format!(
            "{} is neither the requested revision nor one that exists",
            quoted(&version)
        );
        return out.fail(fail(&what, "/result/protocolVersion"));
    }
    if !result.get("capabilities").is_some_and(Value::is_object) {
        return out.fail(fail("the result has no object `capabilities`", "/result"));
    }
    for name in ["name", "version"] {
        if !result
            .at(&["serverInfo", name])
            .is_some_and(Value::is_string)
        {
            let what = format!("the result has no string `serverInfo.{name}`");
            return out.fail(fail(&what, "/result"));
        }
    }
    out.pass();
}

pub(crate) static QUIET_CLIENT: Invariant = Invariant {
    code: Code(22),
    category: "lifecycle",
    property: "until `initialize` is answered the client sends no request but `ping`",
    levels: Levels::NOWHERE.should(Revisions::HANDSHAKE),
    carriers: Carriers::ANY,
    who: Responsible::Client,
    basis: Basis::Session,
    source: "basic/lifecycle §Initialization (2024-11-05)",
    why: "The client does not know yet what the server can do, nor at which revision. Requests of the stateless era, with \
          which a dual-era client probes, are left out.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}
    "#,
    checks: &[Check::Holds(
        Plain::SERVED,
        &Check::Request(Directions::ToServer, Methods::All, quiet_client),
    )],
};

fn quiet_client(case: &Case<'_>, out: &mut Out<'_>) {
    let life = &case.session.lifecycle;
    if matches!(case.method(), Method::Ping | Method::Initialize) {
        return;
    }
    match life.asked {
        Some(asked) if life.is_waiting() => {
            let method = quoted(case.message.spelled());
            let what = format!("{method} was sent before `initialize` was answered");
            let fault = Fault::new(Side::Client, what).at(case.message, "/method");
            out.fail(fault.seen(asked.seq));
        }
        Some(_) => out.pass(),
        None => {}
    }
}

pub(crate) static QUIET_SERVER: Invariant = Invariant {
    code: Code(23),
    category: "lifecycle",
    property: "before `notifications/initialized` the server sends no request but `ping` and no notification but `notifications/message`",
    levels: Levels::NOWHERE.should(Revisions::HANDSHAKE),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "basic/lifecycle §Initialization (2024-11-05)",
    why: "A client that is not ready may drop what comes, and the server waits for an answer that never will.",
    holds: r#"
        handshake 2025-06-18 {} {"roots":{}}
        < {"jsonrpc":"2.0","id":0,"method":"roots/list"}
        > {"jsonrpc":"2.0","id":0,"result":{"roots":[]}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}
        < {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
        < {"jsonrpc":"2.0","id":0,"method":"roots/list"}
        > {"jsonrpc":"2.0","method":"notifications/initialized"}
        > {"jsonrpc":"2.0","id":0,"result":{"roots":[]}}
    "#,
    checks: &[
        Check::Request(Directions::ToClient, Methods::All, quiet_server),
        Check::Notification(Directions::ToClient, Methods::All, quiet_server),
    ],
};

fn quiet_server(case: &Case<'_>, out: &mut Out<'_>) {
    if matches!(case.method(), Method::Ping | Method::LogMessage) {
        return;
    }
    let life = &case.session.lifecycle;
    if life.initialized.is_some() {
        return out.pass();
    }
    let method = quoted(case.message.spelled());
    let what = format!("{method} was sent before `notifications/initialized`");
    let fault = Fault::new(Side::Server, what).at(case.message, "/method");
    out.fail(match life.agreed.or(life.asked) {
        Some(moment) => fault.seen(moment.seq),
        None => fault,
    });
}

pub(crate) static ONCE: Invariant = Invariant {
    code: Code(24),
    category: "lifecycle",
    property: "`initialize` is sent once in a session, and never cancelled",
    levels: Levels::NOWHERE.must(Revisions::HANDSHAKE),
    carriers: Carriers::ANY,
    who: Responsible::Client,
    basis: Basis::Session,
    source: "basic/lifecycle; basic/utilities/cancellation §Behavior Requirements 2 (2024-11-05)",
    why: "A second `initialize` would change the rules under requests in flight; one that follows an error is a new \
          attempt. That it comes once follows from the lifecycle, that it is not cancelled is a MUST.",
    holds: "handshake 2025-06-18",
    breaks: r#"
        handshake 2025-06-18
        > {"jsonrpc":"2.0","id":9,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
    "#,
    checks: &[
        Check::Request(
            Directions::ToServer,
            Methods::Of(&[Method::Initialize]),
            once,
        ),
        Check::Notification(
            Directions::ToServer,
            Methods::Of(&[Method::Cancelled]),
            uncancelled,
        ),
    ],
};

fn once(case: &Case<'_>, out: &mut Out<'_>) {
    let life = &case.session.lifecycle;
    let failed = life.answered.is_some_and(|(_, agreed)| !agreed);
    match life.asked {
        Some(first) if !failed => {
            let what = "`initialize` was sent a second time";
            let fault = Fault::new(Side::Client, what).at(case.message, "/method");
            let derived = fault.only(crate::finding::Severity::Derived);
            out.fail(derived.seen(first.seq));
        }
        _ => out.pass(),
    }
}

fn uncancelled(case: &Case<'_>, out: &mut Out<'_>) {
    let requests = case.session.requests(case.dir());
    let asked = case.message.paired.handle;
    let asked = asked.and_then(|handle| requests.get(handle));
    if let Some(asked) = asked.filter(|asked| asked.method == Method::Initialize) {
        let what = "`initialize` was cancelled";
        let fault = Fault::new(Side::Client, what).at(case.message, "/params/requestId");
        out.fail(fault.seen(asked.seq));
    }
}

pub(crate) static AS_AGREED: Invariant = Invariant {
    code: Code(25),
    category: "lifecycle",
    property: "after the handshake both sides use only what the agreed revision has",
    levels: Levels::NOWHERE
        .should(Revisions::TO_R2)
        .must(Revisions::R3_AND_R4),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Session,
    source: "basic/lifecycle §Version Negotiation, §Operation (2024-11-05)",
    why: "A client that requested one revision and got another uses the other, or disconnects; a server that \
          agreed to an old revision sends nothing of a later one. Requests and notifications count. Methods that no \
          revision has are not checked here.",
    holds: r#"
        handshake 2025-11-25 {"tasks":{"list":{}}}
        > {"jsonrpc":"2.0","id":1,"method":"tasks/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tasks":[]}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tasks":{"list":{}}}
        > {"jsonrpc":"2.0","id":1,"method":"tasks/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tasks":[]}}
    "#,
    checks: &[
        Check::Holds(
            Plain::SERVED,
            &Check::Request(Directions::Any, Methods::All, as_agreed),
        ),
        Check::Notification(Directions::Any, Methods::All, as_agreed),
    ],
};

fn as_agreed(case: &Case<'_>, out: &mut Out<'_>) {
    let defined = case.method().defined(case.dir());
    let life = &case.session.lifecycle;
    let Some(agreed) = life.agreed.filter(|_| defined != Revisions::NONE) else {
        return;
    };
    if case.method() == Method::ServerDiscover || defined.meets(case.message.revisions) {
        return out.pass();
    }
    let what = format!(
        "{} belongs to {} and the session to {}",
        quoted(case.message.spelled()),
        defined.words(),
        case.message.revisions.words()
    );
    let fault = Fault::new(case.sender(), what).at(case.message, "/method");
    out.fail(fault.seen(agreed.seq));
}
