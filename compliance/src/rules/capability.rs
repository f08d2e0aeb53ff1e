//! The capabilities that a server declares, compared with its behaviour.

use tapewright_schemas::event::Direction;

use crate::carrier::Carriers;
use crate::checker::{Case, Closing, Fault, Out};
use crate::code::Code;
use crate::finding::{Doubt, Severity, Side};
use crate::invariant::{Basis, Check, Directions, Invariant, Levels, Methods, Responsible};
use crate::method::Method;
use crate::plain::Plain;
use crate::revision::Revisions;
use crate::session::capabilities::{Capability, needed};
use crate::session::lists::Use;
use crate::value::quoted;

pub(crate) static LISTED: Invariant = Invariant {
    code: Code(3),
    category: "capability",
    property: "a server that answers `tools/list`, `resources/list` or `prompts/list` advertised the matching capability at `initialize`",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "basic/lifecycle §Capability Negotiation, server/tools §Capabilities (2024-11-05)",
    why: "A client goes by what was advertised: what was not, it never asks for. Every other request that needs a \
          capability counts as well, where it was answered with a result. In the stateless era `server/discover` is where \
          a server advertises; without it nothing can be said. A capture carries what was advertised in \
          `server_capabilities`.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"prompts":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}
    "#,
    checks: &[Check::Holds(
        Plain::SERVED,
        &Check::Response(
            Directions::ToServer,
            Methods::Of(&[
                Method::ToolsList,
                Method::ResourcesList,
                Method::PromptsList,
                Method::ToolsCall,
                Method::PromptsGet,
                Method::ResourcesRead,
                Method::ResourcesTemplatesList,
                Method::CompletionComplete,
                Method::LoggingSetLevel,
            ]),
            advertised,
        ),
    )],
};

fn advertised(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(asked) = case.asked().filter(|_| case.message.error().is_none()) else {
        return;
    };
    let documented = matches!(
        asked.method,
        Method::ToolsList | Method::ResourcesList | Method::PromptsList
    );
    if case.session.by_the_letter() && !documented {
        return;
    }
    let Some(needed) = needed(asked.method, Direction::ToServer, case.message.revisions) else {
        return;
    };
    let session = case.session;
    let advertised = match (
        session.advertised(case.message.revisions),
        &session.declared,
    ) {
        (Some(capabilities), _) => capabilities.has(needed),
        (None, Some(_)) => false,
        (None, None) => return out.doubt(Doubt::Unseen),
    };
    if advertised {
        return out.pass();
    }
    let what = format!(
        "{} was answered although the server did not advertise `{}`",
        quoted(asked.method.name()),
        needed.name
    );
    let fault = Fault::new(Side::Server, what)
        .at(case.message, "/result")
        .seen(asked.seq);
    out.fail(match session.lifecycle.agreed {
        Some(agreed) => fault.seen(agreed.seq),
        None => fault,
    });
}

pub(crate) static USABLE: Invariant = Invariant {
    code: Code(4),
    category: "capability",
    property: "a server that advertised a capability does not answer every call to it with an error",
    levels: Levels::NOWHERE.should(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "basic/lifecycle §Capability Negotiation (2024-11-05)",
    why: "A capability of which nothing works was advertised in vain. Errors about wrong arguments (-32602) say nothing \
          about the capability and are left out; with less than three calls it is no more than a hint. In a capture of \
          another tool every error counts.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"starting"}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"broken"}}
    "#,
    checks: &[Check::End(usable)],
};

fn usable(closing: &Closing<'_>, out: &mut Out<'_>) {
    let session = closing.session;
    let Some(capabilities) = session.advertised(out.revisions()) else {
        return;
    };
    let uses = session.uses;
    for (capability, one) in [
        (Capability::TOOLS, uses.tools),
        (Capability::RESOURCES, uses.resources),
        (Capability::PROMPTS, uses.prompts),
    ] {
        let Use {
            answered,
            errors,
            last_error,
        } = one;
        if answered == 0 || !capabilities.has(capability) {
            continue;
        }
        if errors < answered {
            out.pass();
            continue;
        }
        let name = capability.name;
        let what = if answered == 1 {
            format!("`{name}` was advertised, and the only call to it was answered with an error")
        } else {
            format!(
                "`{name}` was advertised, and each of {answered} calls to it was answered with an error"
            )
        };
        let fault = Fault::new(Side::Server, what).seen(last_error);
        out.fail(if answered < 3 && !session.by_the_letter() {
            fault.only(Severity::Derived)
        } else {
            fault
        });
    }
}
