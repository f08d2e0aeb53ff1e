//! The handshake comes first, and is completed.

use crate::carrier::Carriers;
use crate::checker::{Case, Closing, Fault, Out};
use crate::code::Code;
use crate::finding::{Doubt, Side};
use crate::invariant::{Basis, Check, Directions, Invariant, Levels, Methods, Responsible};
use crate::method::Method;
use crate::revision::Revisions;
use crate::value::quoted;

pub(crate) static FIRST: Invariant = Invariant {
    code: Code(1),
    category: "lifecycle",
    property: "`initialize` is the first request the client sends",
    levels: Levels::NOWHERE.must(Revisions::HANDSHAKE),
    carriers: Carriers::ANY,
    who: Responsible::Client,
    basis: Basis::Sent,
    source: "basic/lifecycle §Initialization (2024-11-05)",
    why: "Before the handshake neither side knows the revision nor what the other can do. A `ping` may come earlier, and \
          so may `server/discover` and other requests of the stateless era, with which a dual-era client finds out whom \
          it speaks to. A capture of another tool is judged by the letter: there a `ping` counts as a request, and a \
          session without any request fails.",
    holds: r#"
        > {"jsonrpc":"2.0","id":0,"method":"ping"}
        < {"jsonrpc":"2.0","id":0,"result":{}}
        > {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
        < {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
        > {"jsonrpc":"2.0","method":"notifications/initialized"}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}
    "#,
    checks: &[
        Check::Opening(first_request),
        Check::Notification(Directions::ToServer, Methods::All, first_notification),
        Check::End(no_request),
    ],
};

fn first_request(case: &Case<'_>, out: &mut Out<'_>) {
    if case.session.lifecycle.first.is_some() {
        return;
    }
    match case.method() {
        Method::Initialize => out.pass(),
        Method::Ping if !case.session.by_the_letter() => {}
        _ => {
            let method = quoted(case.message.spelled());
            let what = format!("the first request is {method} and not `initialize`");
            out.fail(Fault::new(Side::Client, what).at(case.message, "/method"));
        }
    }
}

/// In a capture of another tool a request may lack its id.
fn first_notification(case: &Case<'_>, out: &mut Out<'_>) {
    let named = case.message.spelled().starts_with("notifications/");
    if case.session.by_the_letter() && !named {
        first_request(case, out);
    }
}

fn no_request(closing: &Closing<'_>, out: &mut Out<'_>) {
    let session = closing.session;
    if session.by_the_letter() && !session.lifecycle.spoke {
        out.fail(Fault::new(
            Side::Client,
            "the session has no `initialize`, nor any other request",
        ));
    }
}

pub(crate) static INITIALIZED: Invariant = Invariant {
    code: Code(2),
    category: "lifecycle",
    property: "the `notifications/initialized` notification follows the `initialize` response",
    levels: Levels::NOWHERE.must(Revisions::HANDSHAKE),
    carriers: Carriers::ANY,
    who: Responsible::Client,
    basis: Basis::Session,
    source: "basic/lifecycle §Initialization (2024-11-05)",
    why: "With this notification the client says that it has understood the result and that normal operation begins. It \
          must not come before the result nor after an error, and no request but `ping` may come in its place. A capture \
          of another tool may leave notifications out: there only a notification in the wrong place fails, and a \
          response of any kind completes the handshake.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
        < {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
        > {"jsonrpc":"2.0","method":"notifications/initialized"}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"initialize"}
        > {"jsonrpc":"2.0","method":"notifications/initialized"}
        < {"jsonrpc":"2.0","id":1,"result":{}}
    "#,
    checks: &[
        Check::Notification(
            Directions::ToServer,
            Methods::Of(&[Method::Initialized]),
            in_its_place,
        ),
        Check::Opening(in_place_of_it),
        Check::End(never_sent),
    ],
};

fn in_its_place(case: &Case<'_>, out: &mut Out<'_>) {
    let life = &case.session.lifecycle;
    let fail = |what: &str| {
        let fault = Fault::new(Side::Client, what).at(case.message, "/method");
        match life.asked {
            Some(asked) => fault.seen(asked.seq),
            None => fault,
        }
    };
    let letter = case.session.by_the_letter();
    match (life.agreed, life.answered) {
        (Some(_), _) => out.pass(),
        (None, Some(_)) if letter => out.pass(),
        (None, Some(_)) => out.fail(fail(
            "`notifications/initialized` follows an `initialize` that was answered with an error",
        )),
        (None, None) if life.asked.is_some() => {
            out.fail(fail(
                "`notifications/initialized` comes before the `initialize` response",
            ));
        }
        (None, None) => out.fail(fail(
            "`notifications/initialized` comes without an answered `initialize`",
        )),
    }
}

/// The first request that comes while the notification is missing.
fn in_place_of_it(case: &Case<'_>, out: &mut Out<'_>) {
    let life = &case.session.lifecycle;
    let exempt = matches!(case.method(), Method::Ping | Method::Initialize);
    if case.session.by_the_letter() || exempt || life.hasty.is_some() {
        return;
    }
    if let (Some(agreed), None) = (life.agreed, life.initialized) {
        let method = quoted(case.message.spelled());
        let what = format!("{method} comes where `notifications/initialized` is due");
        let fault = Fault::new(Side::Client, what).at(case.message, "/method");
        out.fail(fault.seen(agreed.seq));
    }
}

fn never_sent(closing: &Closing<'_>, out: &mut Out<'_>) {
    let life = &closing.session.lifecycle;
    let missing = life.initialized.is_none() && life.hasty.is_none();
    let (Some(agreed), true) = (life.agreed, missing) else {
        return;
    };
    if closing.session.by_the_letter() {
        return;
    }
    if !closing.whole {
        return out.doubt(Doubt::CutShort);
    }
    let what = "the handshake was never completed with `notifications/initialized`";
    let fault = Fault::new(Side::Client, what);
    out.fail(fault.seen(agreed.seq));
}
