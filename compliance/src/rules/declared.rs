//! A peer only uses what the other side declared.

use super::prelude::*;
use crate::session::capabilities::{Capabilities, Capability, needed};

pub(crate) static BY_SERVER: Invariant = Invariant {
    code: Code(27),
    category: "capability",
    property: "the client asks only for features that the server declared",
    levels: Levels::NOWHERE
        .should(Revisions::TO_R2)
        .must(Revisions::R3_AND_R4),
    carriers: Carriers::ANY,
    who: Responsible::Client,
    basis: Basis::Session,
    source: "basic/lifecycle §Operation (2024-11-05)",
    why: "What was not declared answers with an error at best. Counted are the lists and calls of tools, prompts and \
          resources, `completion/complete` (from 2025-03-26 on), `logging/setLevel`, `resources/subscribe` and `tasks/*`.",
    holds: r#"
        handshake 2025-06-18 {"prompts":{}}
        > {"jsonrpc":"2.0","id":1,"method":"prompts/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"prompts":[]}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"prompts":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}
    "#,
    checks: &[Check::Holds(
        Plain::SERVED,
        &Check::Request(Directions::ToServer, Methods::All, by_server),
    )],
};

fn by_server(case: &Case<'_>, out: &mut Out<'_>) {
    let revisions = case.message.revisions;
    let Some(needed) = needed(case.method(), Direction::ToServer, revisions) else {
        return;
    };
    let Some(capabilities) = case.session.advertised(revisions) else {
        return;
    };
    judge(case, *capabilities, needed, "the server", out);
}

pub(crate) static BY_CLIENT: Invariant = Invariant {
    code: Code(28),
    category: "capability",
    property: "the server asks only for features that the client declared",
    levels: Levels::NOWHERE
        .should(Revisions::TO_R2)
        .must(Revisions::FROM_R3),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "basic/lifecycle §Operation (2024-11-05); client/elicitation (2025-11-25); MRTR §Server 6 (2026-07-28)",
    why: "Sampling, roots and elicitation cost a client something, money or a user's time. From 2025-11-25 on also the \
          mode of an elicitation and sampling with tools must be declared; in the stateless era each request declares \
          for its own result.",
    holds: r#"
        handshake 2025-06-18 {} {"roots":{}}
        < {"jsonrpc":"2.0","id":0,"method":"roots/list"}
        > {"jsonrpc":"2.0","id":0,"result":{"roots":[]}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {} {"roots":{}}
        < {"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}
        > {"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no"}}
    "#,
    checks: &[
        Check::Request(Directions::ToClient, Methods::All, by_client),
        Check::Silent(
            Plain::TEXT,
            &Check::Response(
                Directions::ToServer,
                Methods::Of(&[Method::ToolsCall, Method::PromptsGet, Method::ResourcesRead]),
                in_result,
            ),
        ),
    ],
};

fn by_client(case: &Case<'_>, out: &mut Out<'_>) {
    let revisions = case.message.revisions;
    let Some(capabilities) = case.session.client else {
        return;
    };
    if let Some(missing) = missing(
        case.method(),
        case.message.params(),
        capabilities,
        revisions,
    ) {
        return judge(case, capabilities, missing, "the client", out);
    }
    if needed(case.method(), Direction::ToClient, revisions).is_some() {
        out.pass();
    }
}

/// The first capability that such a request needs and the client does not declare.
fn missing(
    method: Method,
    params: Option<Value<'_>>,
    capabilities: Capabilities,
    revisions: Revisions,
) -> Option<Capability> {
    let base = needed(method, Direction::ToClient, revisions)?;
    if !capabilities.has(base) {
        return Some(base);
    }
    if !Revisions::FROM_R4.covers(revisions) {
        return None;
    }
    let detail = match method {
        Method::ElicitationCreate => {
            let mode = params.and_then(|params| params.get("mode"));
            let url = mode.is_some_and(|mode| mode.is("url"));
            // An empty object means forms.
            let neither = !capabilities.has(Capability::ELICITATION_URL)
                && !capabilities.has(Capability::ELICITATION_FORM);
            match (url, neither) {
                (true, _) => Capability::ELICITATION_URL,
                (false, true) => return None,
                (false, false) => Capability::ELICITATION_FORM,
            }
        }
        Method::SamplingCreateMessage
            if params.is_some_and(|params| params.get("tools").is_some()) =>
        {
            Capability::SAMPLING_TOOLS
        }
        _ => return None,
    };
    (!capabilities.has(detail)).then_some(detail)
}

/// The requests in a result of the stateless era.
fn in_result(case: &Case<'_>, out: &mut Out<'_>) {
    if case.message.revisions != R5 {
        return;
    }
    let requests = case.message.outcome("inputRequests");
    let (Some(asked), Some(requests)) = (case.asked(), requests) else {
        return;
    };
    let Some(capabilities) = asked.more().and_then(|more| more.capabilities) else {
        return;
    };
    let mut lacking = None;
    requests.members(|_, request| {
        let method = request.get("method").and_then(Value::string);
        let method = method.map_or(Method::Other, |name| Method::named(&name));
        // These are no longer methods of requests, but ask for the same.
        let found = missing(method, request.get("params"), capabilities, R4);
        lacking = lacking.or(found);
    });
    match lacking {
        Some(one) => {
            let what = format!(
                "the result asks for `{}`, which the request did not declare",
                one.name
            );
            let fault = Fault::new(Side::Server, what).at(case.message, "/result/inputRequests");
            out.fail(fault.seen(asked.seq));
        }
        None => out.pass(),
    }
}

fn judge(
    case: &Case<'_>,
    capabilities: Capabilities,
    needed: Capability,
    whose: &str,
    out: &mut Out<'_>,
) {
    if capabilities.has(needed) {
        return out.pass();
    }
    let method = quoted(case.message.spelled());
    let what = format!(
        "{method} although {whose} did not declare `{}`",
        needed.name
    );
    let fault = Fault::new(case.sender(), what).at(case.message, "/method");
    let life = &case.session.lifecycle;
    let declared = if case.sender() == Side::Client {
        life.agreed
    } else {
        life.asked
    };
    out.fail(match declared {
        Some(moment) => fault.seen(moment.seq),
        None => fault,
    });
}

pub(crate) static CHANGES: Invariant = Invariant {
    code: Code(29),
    category: "capability",
    property: "a `list_changed` notification is sent only by who declared `listChanged`",
    levels: Levels::NOWHERE.derived(Revisions::HANDSHAKE),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Session,
    source: "server/tools, server/prompts, server/resources §Capabilities; client/roots (2024-11-05)",
    why: "A client that relies on the declaration does not listen for anything else.",
    holds: r#"
        handshake 2025-06-18 {"tools":{"listChanged":true}}
        < {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        < {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
    "#,
    checks: &[
        Check::Notification(
            Directions::ToClient,
            Methods::Of(&[
                Method::ToolsListChanged,
                Method::PromptsListChanged,
                Method::ResourcesListChanged,
            ]),
            changes,
        ),
        Check::Notification(
            Directions::ToServer,
            Methods::Of(&[Method::RootsListChanged]),
            changes,
        ),
    ],
};

fn changes(case: &Case<'_>, out: &mut Out<'_>) {
    let (needed, declared) = match case.method() {
        Method::ToolsListChanged => (Capability::TOOLS_CHANGED, case.session.server),
        Method::PromptsListChanged => (Capability::PROMPTS_CHANGED, case.session.server),
        Method::ResourcesListChanged => (Capability::RESOURCES_CHANGED, case.session.server),
        _ => (Capability::ROOTS_CHANGED, case.session.client),
    };
    let Some(capabilities) = declared else {
        return out.doubt(Doubt::Unseen);
    };
    if capabilities.has(needed) {
        return out.pass();
    }
    let what = format!(
        "{} although `{}` was not declared",
        quoted(case.message.spelled()),
        needed.name
    );
    out.fail(Fault::new(case.sender(), what).at(case.message, "/method"));
}

pub(crate) static LOGS: Invariant = Invariant {
    code: Code(30),
    category: "capability",
    property: "`notifications/message` is sent only by a server that declared `logging`",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "server/utilities/logging §Capabilities (2024-11-05)",
    why: "A server that logs must say so, or clients have no way to set the level.",
    holds: r#"
        handshake 2025-06-18 {"logging":{}}
        < {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"ready"}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        < {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"ready"}}
    "#,
    checks: &[Check::Notification(
        Directions::ToClient,
        Methods::Of(&[Method::LogMessage]),
        logs,
    )],
};

fn logs(case: &Case<'_>, out: &mut Out<'_>) {
    let session = case.session;
    let Some(capabilities) = session.advertised(case.message.revisions) else {
        // Before the handshake is complete nothing has been declared.
        let early = session.lifecycle.is_waiting() || session.lifecycle.asked.is_none();
        if case.message.revisions != R5 && early {
            return;
        }
        return out.doubt(Doubt::Unseen);
    };
    if capabilities.has(Capability::LOGGING) {
        return out.pass();
    }
    let what = "`notifications/message` although the server did not declare `logging`";
    let fault = Fault::new(Side::Server, what).at(case.message, "/method");
    out.fail(match session.lifecycle.agreed {
        Some(agreed) => fault.seen(agreed.seq),
        None => fault,
    });
}
