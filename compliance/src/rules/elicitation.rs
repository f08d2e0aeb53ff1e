//! Elicitations: the requested form, and their end.

use super::prelude::*;
use crate::revision::R3;
use crate::session::elicitations::IdState;
use crate::shapes;

pub(crate) static FORM: Invariant = Invariant {
    code: Code(89),
    category: "elicitation",
    property: "the `requestedSchema` of an elicitation is a flat object of primitive values",
    levels: Levels::NOWHERE.derived(Revisions::FROM_R3),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Message,
    source: "client/elicitation §Requested Schema (2025-06-18)",
    why: "Clients draw a form from it, and have no field for an object within an object. From 2025-11-25 on a field may \
          be a choice of several from a list.",
    holds: r#"
        handshake 2025-06-18 {} {"elicitation":{}}
        < {"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}
        > {"jsonrpc":"2.0","id":0,"result":{"action":"decline"}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {} {"elicitation":{}}
        < {"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{"name":{"type":"object","properties":{}}}}}}
        > {"jsonrpc":"2.0","id":0,"result":{"action":"decline"}}
    "#,
    checks: &[
        Check::Request(
            Directions::ToClient,
            Methods::Of(&[Method::ElicitationCreate]),
            form,
        ),
        Check::Silent(
            Plain::TEXT,
            &Check::Response(
                Directions::ToServer,
                Methods::Of(&[Method::ToolsCall, Method::PromptsGet, Method::ResourcesRead]),
                forms,
            ),
        ),
    ],
};

fn form(case: &Case<'_>, out: &mut Out<'_>) {
    let schema = case.message.param("requestedSchema");
    // INV-025 covers whether such a request is allowed at all.
    let possible = case.message.revisions.meets(R3 | R4);
    let Some(schema) = schema.filter(|one| one.is_object() && possible) else {
        return;
    };
    match shapes::form::check(schema, case.message.revisions) {
        Ok(()) => out.pass(),
        Err(wrong) => {
            let pointer = format!("/params/requestedSchema{}", wrong.pointer);
            let what = wrong.told("the requested schema");
            out.fail(Fault::new(Side::Server, what).at(case.message, &pointer));
        }
    }
}

/// The forms that a result of the stateless era asks for.
fn forms(case: &Case<'_>, out: &mut Out<'_>) {
    if case.message.revisions != R5 {
        return;
    }
    let Some(requests) = case.message.outcome("inputRequests") else {
        return;
    };
    let mut first = None;
    requests.members(|_, request| {
        let schema = request.at(&["params", "requestedSchema"]);
        let outcome = schema
            .filter(|one| one.is_object())
            .map(|schema| shapes::form::check(schema, R5));
        if let (Some(Err(wrong)), None) = (outcome, &first) {
            first = Some(wrong);
        }
    });
    match first {
        None => out.pass(),
        Some(wrong) => {
            let what = wrong.told("the requested schema");
            out.fail(Fault::new(Side::Server, what).at(case.message, "/result/inputRequests"));
        }
    }
}

pub(crate) static ELICITED: Invariant = Invariant {
    code: Code(90),
    category: "elicitation",
    property: "`notifications/elicitation/complete` names an elicitation that the server requested",
    levels: Levels::NOWHERE.must(R4),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Sent,
    source: "client/elicitation §Completion Notifications for URL Mode Elicitation (2025-11-25)",
    why: "The client knows by `elicitationId` which of its windows is done: the id must be that of an \
          `elicitation/create` in URL mode, or of an error -32042.",
    holds: r#"
        handshake 2025-11-25 {} {"elicitation":{"url":{}}}
        < {"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"mode":"url","message":"sign in","url":"https://example.com","elicitationId":"e"}}
        > {"jsonrpc":"2.0","id":0,"result":{"action":"accept"}}
        < {"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}
    "#,
    breaks: r#"
        handshake 2025-11-25 {} {"elicitation":{"url":{}}}
        < {"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}
    "#,
    checks: &[Check::Notification(
        Directions::ToClient,
        Methods::Of(&[Method::ElicitationComplete]),
        elicited,
    )],
};

fn elicited(case: &Case<'_>, out: &mut Out<'_>) {
    let id = case.message.param("elicitationId").and_then(Value::string);
    let Some(id) = id else { return };
    match case.session.elicitations.find(&id) {
        IdState::Yes => out.pass(),
        IdState::Perhaps => out.doubt(Doubt::Evicted),
        IdState::No => {
            let what = "the elicitation that is complete was never requested";
            let pointer = "/params/elicitationId";
            out.fail(Fault::new(Side::Server, what).at(case.message, pointer));
        }
    }
}
