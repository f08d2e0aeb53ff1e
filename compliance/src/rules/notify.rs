//! Notifications that must have been requested, and roots.

use super::prelude::*;
use crate::session::lists::{Subscribed, level, rank};

pub(crate) static UPDATED: Invariant = Invariant {
    code: Code(31),
    category: "resources",
    property: "`notifications/resources/updated` names a resource that the client is subscribed to, or one below it",
    levels: Levels::NOWHERE.derived(Revisions::HANDSHAKE),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "server/resources §Subscriptions (2024-11-05)",
    why: "Nobody waits for an update that was not subscribed to. An update that crosses with the end of the subscription \
          is a race.",
    holds: r#"
        handshake 2025-06-18 {"resources":{"subscribe":true}}
        > {"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///logs"}}
        < {"jsonrpc":"2.0","id":1,"result":{}}
        < {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///logs/today"}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"resources":{"subscribe":true}}
        > {"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///logs"}}
        < {"jsonrpc":"2.0","id":1,"result":{}}
        < {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///other"}}
    "#,
    checks: &[Check::Notification(
        Directions::ToClient,
        Methods::Of(&[Method::ResourcesUpdated]),
        updated,
    )],
};

fn updated(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(uri) = case.message.param("uri").and_then(Value::string) else {
        return;
    };
    let fail = |what: &str| {
        let what = format!("{} {what}", quoted(&uri));
        Fault::new(Side::Server, what).at(case.message, "/params/uri")
    };
    match case.session.subscriptions.find(&uri) {
        Subscribed::Yes => out.pass(),
        Subscribed::Perhaps => out.doubt(Doubt::Evicted),
        Subscribed::No => out.fail(fail("was never subscribed to")),
        Subscribed::Ended(moment, confirmed) => {
            let known = confirmed
                || case
                    .session
                    .knew(Direction::ToServer, moment, case.message.at);
            out.fail_if_known(known, fail("is no longer subscribed to").seen(moment.seq));
        }
    }
}

pub(crate) static LEVEL: Invariant = Invariant {
    code: Code(32),
    category: "logging",
    property: "no log message is below the level that the client has set",
    levels: Levels::NOWHERE.should(Revisions::HANDSHAKE).must(R5),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "server/utilities/logging (2024-11-05, 2026-07-28)",
    why: "Up to 2025-11-25 the level comes with `logging/setLevel`, and what crosses with it is a race. From 2026-07-28 on \
          it comes with each request, and without one no log message may be sent at all.",
    holds: r#"
        handshake 2025-06-18 {"logging":{}}
        > {"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"warning"}}
        < {"jsonrpc":"2.0","id":1,"result":{}}
        < {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"x"}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"logging":{}}
        > {"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"warning"}}
        < {"jsonrpc":"2.0","id":1,"result":{}}
        < {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":"x"}}
    "#,
    checks: &[Check::Notification(
        Directions::ToClient,
        Methods::Of(&[Method::LogMessage]),
        at_level,
    )],
};

fn at_level(case: &Case<'_>, out: &mut Out<'_>) {
    let sent = case.message.param("level").and_then(Value::string);
    let Some(sent) = sent.and_then(|name| rank(&name)) else {
        return;
    };
    let fail = |what: String| Fault::new(Side::Server, what).at(case.message, "/params/level");
    if case.message.revisions == R5 {
        let requests = case.session.requests(Direction::ToServer);
        if requests.in_flight_count() > FEW {
            return out.doubt(Doubt::TooCostly);
        }
        let wanted = requests
            .in_flight()
            .filter_map(|asked| asked.more()?.level)
            .min();
        return match wanted {
            Some(wanted) if sent >= wanted => out.pass(),
            Some(wanted) => out.fail(fail(format!(
                "a message of level `{}` where `{}` was asked for",
                level(sent),
                level(wanted)
            ))),
            None => out.fail(fail("a log message that no request asked for".to_owned())),
        };
    }
    let Some((wanted, moment, confirmed)) = case.session.logging.level else {
        return;
    };
    if sent >= wanted {
        return out.pass();
    }
    let before = case.session.logging.before.unwrap_or(0);
    let known = confirmed
        || case
            .session
            .knew(Direction::ToServer, moment, case.message.at);
    let what = format!(
        "a message of level `{}` after `{}` was set",
        level(sent),
        level(wanted)
    );
    let allowed_before = sent >= before;
    out.fail_if_known(known || !allowed_before, fail(what).seen(moment.seq));
}

/// The maximum number of requests in flight that are examined for one log message.
const FEW: usize = 256;

pub(crate) static ROOTS: Invariant = Invariant {
    code: Code(33),
    category: "roots",
    property: "the URI of every root starts with `file://`",
    levels: Levels::NOWHERE.must(Revisions::HANDSHAKE),
    carriers: Carriers::ANY,
    who: Responsible::Client,
    basis: Basis::Exchange,
    source: "client/roots §Data Types (2024-11-05)",
    why: "Servers turn roots into paths. In the stateless era roots travel inside of other requests.",
    holds: r#"
        handshake 2025-06-18 {} {"roots":{}}
        < {"jsonrpc":"2.0","id":0,"method":"roots/list"}
        > {"jsonrpc":"2.0","id":0,"result":{"roots":[{"uri":"file:///home"}]}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {} {"roots":{}}
        < {"jsonrpc":"2.0","id":0,"method":"roots/list"}
        > {"jsonrpc":"2.0","id":0,"result":{"roots":[{"uri":"/home"}]}}
    "#,
    checks: &[Check::Response(
        Directions::ToClient,
        Methods::Of(&[Method::RootsList]),
        roots,
    )],
};

fn roots(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(roots) = case.message.result().and_then(|result| result.get("roots")) else {
        return;
    };
    let (mut number, mut bad) = (0_usize, None);
    roots.elements(|root| {
        let uri = root.get("uri").and_then(Value::string);
        if uri.is_some_and(|uri| !uri.starts_with("file://")) {
            bad.get_or_insert(number);
        }
        number += 1;
    });
    match bad {
        Some(number) => {
            let what = "the URI of a root does not start with `file://`";
            let pointer = format!("/result/roots/{number}/uri");
            out.fail(Fault::new(Side::Client, what).at(case.message, &pointer));
        }
        None => out.pass(),
    }
}
