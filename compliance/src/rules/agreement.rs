//! Consistency between the answers of a stateless server: the scope of a cache over all pages, and
//! the revision.

use super::prelude::*;
use crate::session::lists::Scope;

pub(crate) static SCOPE: Invariant = Invariant {
    code: Code(92),
    category: "stateless",
    property: "all pages of a list have one `cacheScope`",
    levels: Levels::NOWHERE.must(R5),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "basic/patterns/caching (2026-07-28)",
    why: "A list is cached whole: with a public and a private page a cache either shares what is private or keeps what it \
          may share. A page is known by its cursor. Over HTTP every exchange stands alone, and pages cannot be told to \
          belong together.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private","nextCursor":"2"}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"2","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public","nextCursor":"2"}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"2","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}}
    "#,
    checks: &[Check::Response(
        Directions::ToServer,
        Methods::Of(&[
            Method::ToolsList,
            Method::PromptsList,
            Method::ResourcesList,
            Method::ResourcesTemplatesList,
        ]),
        scope,
    )],
};

fn scope(case: &Case<'_>, out: &mut Out<'_>) {
    let (Some(asked), Some(result)) = (case.asked(), case.message.result()) else {
        return;
    };
    let cursor = asked.more().and_then(|more| more.cursor);
    let before = cursor.and_then(|cursor| case.session.cursors.scope(cursor));
    let (Some((before, seq)), Some(now)) = (before, Scope::of(result)) else {
        return;
    };
    if before == now {
        return out.pass();
    }
    let what = format!(
        "a page of `{}` is `{}` and the page before it `{}`",
        asked.method.name(),
        now.name(),
        before.name()
    );
    let fault = Fault::new(Side::Server, what).at(case.message, "/result/cacheScope");
    out.fail(fault.seen(seq).seen(asked.seq));
}

pub(crate) static REVISION: Invariant = Invariant {
    code: Code(93),
    category: "stateless",
    property: "a request of an unknown revision is refused with -32022",
    levels: Levels::NOWHERE.must(R5),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "basic §Protocol Version; basic/versioning (2026-07-28)",
    why: "Otherwise a server answers by rules that the client did not expect. A server that only knows the handshake does \
          not read `_meta` and is left out. Over HTTP the header says the same, and INV-059 is about its status.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"unsupported version","data":{"supported":["2026-07-28"],"requested":"2099-01-01"}}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}}
    "#,
    checks: &[Check::Response(
        Directions::ToServer,
        Methods::All,
        revision,
    )],
};

/// The code of the error about an unsupported revision.
const UNSUPPORTED: i64 = -32_022;

fn revision(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(asked) = case.asked() else { return };
    let version = asked.more().and_then(|more| more.version.as_deref());
    let Some(version) = version.filter(|name| Revisions::named(name).is_none()) else {
        return;
    };
    if version.starts_with("<REDACTED") {
        return;
    }
    if case.message.error_code() == Some(UNSUPPORTED) {
        return out.pass();
    }
    let typed = case
        .message
        .result()
        .is_some_and(|result| result.get("resultType").is_some());
    if typed {
        let what = format!("{} is not a revision, and was accepted", quoted(version));
        let fault = Fault::new(Side::Server, what).at(case.message, "/result");
        out.fail(fault.seen(asked.seq));
    }
}
