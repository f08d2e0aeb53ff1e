//! Subscriptions of the stateless era.

use super::prelude::*;
use crate::id::hash;
use crate::session::modern::SubscriptionFilter;
use crate::session::subscription;

pub(crate) static LISTEN: Invariant = Invariant {
    code: Code(78),
    category: "stateless",
    property: "a subscription is acknowledged first, within what was requested, and each of its messages names it and was wanted",
    levels: Levels::NOWHERE.must(R5),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Conduit,
    source: "basic/patterns/subscriptions (2026-07-28)",
    why: "Several subscriptions may share one pipe: the client tells their messages apart by \
          `io.modelcontextprotocol/subscriptionId` alone.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}
        < {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}
    "#,
    checks: &[Check::Notification(
        Directions::ToClient,
        Methods::Of(&[
            Method::SubscriptionsAcknowledged,
            Method::ToolsListChanged,
            Method::PromptsListChanged,
            Method::ResourcesListChanged,
            Method::ResourcesUpdated,
        ]),
        listen,
    )],
};

fn listen(case: &Case<'_>, out: &mut Out<'_>) {
    let fail = |what: &str, pointer: &str| Fault::new(Side::Server, what).at(case.message, pointer);
    let Some(id) = case.message.params().and_then(subscription) else {
        return out.fail(fail("no subscription in the notification", ""));
    };
    let Some(listen) = case.session.modern.listens.get(&id) else {
        if case.session.modern.forgotten {
            return out.doubt(Doubt::Evicted);
        }
        return out.fail(fail(
            "no subscription with this id is open",
            "/params/_meta",
        ));
    };
    let wants = &listen.wants;
    let wanted = match case.method() {
        Method::SubscriptionsAcknowledged => {
            if listen.acknowledged {
                return out.fail(fail("the subscription was acknowledged before", "/method"));
            }
            let honoured = SubscriptionFilter::read(case.message.param("notifications"));
            if !honoured.is_within(wants) {
                let what = "more is acknowledged than was requested";
                return out.fail(fail(what, "/params/notifications"));
            }
            return out.pass();
        }
        _ if !listen.acknowledged => {
            let what = "the subscription has not been acknowledged yet";
            return out.fail(fail(what, "/method"));
        }
        Method::ToolsListChanged => wants.tools,
        Method::PromptsListChanged => wants.prompts,
        Method::ResourcesListChanged => wants.resources,
        _ => {
            let Some(uri) = case.message.param("uri").and_then(Value::string) else {
                return;
            };
            wants.uris.contains(&hash(uri.as_bytes()))
        }
    };
    if wanted {
        out.pass();
    } else {
        out.fail(fail("the subscription did not ask for this", "/method"));
    }
}
