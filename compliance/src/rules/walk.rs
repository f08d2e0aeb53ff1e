//! Lists that come in pages.

use super::prelude::*;
use crate::session::lists::Cursors;

const LISTS: Methods = Methods::Of(&[
    Method::ToolsList,
    Method::PromptsList,
    Method::ResourcesList,
    Method::ResourcesTemplatesList,
    Method::TasksList,
]);

pub(crate) static ISSUED: Invariant = Invariant {
    code: Code(48),
    category: "pagination",
    property: "a cursor that the client sends was issued by the server for the same list, and is unchanged",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Client,
    basis: Basis::Session,
    source: "server/utilities/pagination §Implementation Guidelines 3 (2024-11-05)",
    why: "Cursors are opaque: a client that makes them up, or keeps them from another session, gets an error or the wrong \
          page.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"2"}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"2"}}
        < {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"2"}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"3"}}
        < {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}
    "#,
    checks: &[Check::Request(Directions::ToServer, LISTS, issued)],
};

fn issued(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(cursor) = case.message.param("cursor").and_then(Value::string) else {
        return;
    };
    let cursors = &case.session.cursors;
    if cursors.was_issued(Cursors::key(case.method(), &cursor)) {
        return out.pass();
    }
    if cursors.forgotten {
        return out.doubt(Doubt::Evicted);
    }
    let what = format!(
        "a cursor of {} that the server never issued for it",
        quoted(case.message.spelled())
    );
    out.fail(Fault::new(Side::Client, what).at(case.message, "/params/cursor"));
}

pub(crate) static ENDS: Invariant = Invariant {
    code: Code(49),
    category: "pagination",
    property: "a list ends: no cursor is issued twice while it is read",
    levels: Levels::NOWHERE.derived(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "server/utilities/pagination (2024-11-05)",
    why: "A client that follows such cursors never stops.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"2"}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"2"}}
        < {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"2"}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"2"}}
        < {"jsonrpc":"2.0","id":2,"result":{"tools":[],"nextCursor":"2"}}
    "#,
    checks: &[Check::Response(Directions::ToServer, LISTS, ends)],
};

fn ends(case: &Case<'_>, out: &mut Out<'_>) {
    let (Some(asked), Some(result)) = (case.asked(), case.message.result()) else {
        return;
    };
    let Some(cursor) = result.get("nextCursor").and_then(Value::string) else {
        return out.pass();
    };
    let key = Cursors::key(asked.method, &cursor);
    if !case.session.cursors.is_repeated(asked.method, key) {
        return out.pass();
    }
    let what = format!(
        "`{}` leads to a page that it led to before",
        asked.method.name()
    );
    let fault = Fault::new(Side::Server, what).at(case.message, "/result/nextCursor");
    out.fail(fault.seen(asked.seq));
}

pub(crate) static REFUSED: Invariant = Invariant {
    code: Code(50),
    category: "pagination",
    property: "a cursor that the server never issued is answered with -32602",
    levels: Levels::NOWHERE.should(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "server/utilities/pagination §Error Handling (2024-11-05)",
    why: "A client that is given some page instead never finds out that it lost its place.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"2"}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"2"}}
        < {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"this cursor has expired"}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"made-up"}}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}
    "#,
    checks: &[Check::Response(Directions::ToServer, LISTS, refused)],
};

fn refused(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(asked) = case.asked() else { return };
    let issued = asked.more().and_then(|more| more.issued);
    if case.message.error_code() == Some(-32_602) && issued.is_some() {
        return out.pass();
    }
    if issued != Some(false) {
        return;
    }
    let what = match case.message.error_code() {
        Some(code) => {
            format!("a cursor that was never issued was answered with {code} and not -32602")
        }
        None => "a cursor that was never issued was answered with a page".to_owned(),
    };
    let fault = Fault::new(Side::Server, what).at(case.message, "");
    out.fail(fault.seen(asked.seq));
}

pub(crate) static COMPLETIONS: Invariant = Invariant {
    code: Code(51),
    category: "result-shape",
    property: "`completion/complete` returns no more than 100 values",
    levels: Levels::NOWHERE.derived(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "schema CompleteResult (2024-11-05)",
    why: "Lists of clients have no room for more; `hasMore` says that there are more.",
    holds: r#"
        handshake 2025-06-18 {"completions":{}}
        > {"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}}
        < {"jsonrpc":"2.0","id":1,"result":{"completion":{"values":["a","b"]}}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"completions":{}}
        > {"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}}
        < {"jsonrpc":"2.0","id":1,"result":{"completion":{"values":["","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","","",""]}}}
    "#,
    checks: &[Check::Response(
        Directions::ToServer,
        Methods::Of(&[Method::CompletionComplete]),
        completions,
    )],
};

fn completions(case: &Case<'_>, out: &mut Out<'_>) {
    let result = case.message.result();
    let Some(values) = result.and_then(|result| result.at(&["completion", "values"])) else {
        return;
    };
    let count = values.len();
    if count <= 100 {
        return out.pass();
    }
    let what = format!("{count} values where 100 are allowed");
    let fault = Fault::new(Side::Server, what);
    out.fail(fault.at(case.message, "/result/completion/values"));
}
