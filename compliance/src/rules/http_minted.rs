//! Session ids that were never issued.

use super::prelude::*;
use crate::http::HttpCase;
use crate::http::session::SESSION_ID;

pub(crate) static MINTED: Invariant = Invariant {
    code: Code(91),
    category: "http-session",
    property: "a session id that a client sends is one that the server issued",
    levels: Levels::NOWHERE.must(Revisions::HANDSHAKE_FROM_R2),
    carriers: Carriers::STREAMABLE,
    who: Responsible::Client,
    basis: Basis::Exchange,
    source: "basic/transports §Session Management 1, 2 (2025-03-26)",
    why: "A made-up id belongs to no session, or to that of another client. An id may be older \
          than the recording: it counts only on a connection that was used for a session before whose id was issued \
          here, and which has not ended.",
    holds: r#"
        opening-http 2025-06-18 abc
        post 2 abc 2025-06-18
        > {"jsonrpc":"2.0","method":"notifications/initialized"}
        status 202
        close <
    "#,
    breaks: r#"
        opening-http 2025-06-18 abc
        post 2 abd 2025-06-18
        > {"jsonrpc":"2.0","method":"notifications/initialized"}
        status 202
        close <
    "#,
    checks: &[Check::HttpRequest(minted)],
};

fn minted(case: &HttpCase<'_>, out: &mut Out<'_>) {
    let Some(id) = case.conduit.asked_field(SESSION_ID) else {
        return;
    };
    let initialize = case
        .message
        .is_some_and(|one| one.method == Method::Initialize);
    if initialize {
        return;
    }
    if case.world.find(id).is_some_and(|known| known.minted) {
        return out.pass();
    }
    let before = case.world.used(case.conduit.connection);
    let alive =
        before.is_some_and(|one| one.minted && one.deleted.is_none() && one.refused.is_none());
    if alive {
        let what = "a session id that the server never issued, on a connection that was used with one that it did";
        out.fail(Fault::new(Side::Client, what).seen(case.conduit.asked_at()));
    } else {
        out.doubt(Doubt::StartUnknown);
    }
}
