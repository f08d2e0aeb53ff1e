//! Tools: their names, and calls of tools that are not there.

use std::collections::HashSet;

use super::prelude::*;
use crate::session::tools::Listed;

const LIST: Methods = Methods::Of(&[Method::ToolsList]);
const CALL: Methods = Methods::Of(&[Method::ToolsCall]);

pub(crate) static NAMES: Invariant = Invariant {
    code: Code(41),
    category: "tools",
    property: "tool names are unique over all pages of a list, and from 2025-11-25 on 1 to 128 characters of `A-Za-z0-9_.-`",
    levels: Levels::NOWHERE
        .should(Revisions::FROM_R4)
        .derived(Revisions::TO_R3),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "server/tools §Tool Names (2025-11-25); \"uniquely identified by a name\" (2024-11-05)",
    why: "It is undefined which of two tools with one name is called, and models see only the name.",
    holds: r#"
        handshake 2025-11-25 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b.c","inputSchema":{"type":"object"}}]}}
    "#,
    breaks: r#"
        handshake 2025-11-25 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"2"}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"2"}}
        < {"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}
    "#,
    checks: &[Check::Response(Directions::ToServer, LIST, names)],
};

fn names(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(tools) = case.message.result().and_then(|result| result.get("tools")) else {
        return;
    };
    let strict = Revisions::FROM_R4.covers(case.message.revisions);
    let later_page = case
        .asked()
        .is_some_and(|asked| asked.more().is_some_and(|more| more.cursor.is_some()));
    let (mut seen, mut number) = (HashSet::new(), 0_usize);
    let mut found: Option<(usize, String)> = None;
    tools.elements(|tool| {
        let name = tool.get("name").and_then(Value::string);
        if let Some(name) = name.filter(|_| found.is_none()) {
            let earlier = later_page && case.session.tools.is_on_earlier_page(&name);
            if earlier || !seen.insert(crate::id::hash(name.as_bytes())) {
                found = Some((number, format!("two tools have the name {}", quoted(&name))));
            } else if strict && !is_name(&name) {
                found = Some((
                    number,
                    format!("{} is not a valid tool name", quoted(&name)),
                ));
            }
        }
        number += 1;
    });
    match found {
        Some((number, what)) => {
            let pointer = format!("/result/tools/{number}/name");
            out.fail(Fault::new(Side::Server, what).at(case.message, &pointer));
        }
        None => out.pass(),
    }
}

fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=128).contains(&name.len()) && name.bytes().all(plain)
}

pub(crate) static ABSENT: Invariant = Invariant {
    code: Code(42),
    category: "tools",
    property: "a call of a tool that is not on the server's list does not succeed",
    levels: Levels::NOWHERE.derived(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "server/tools §Error Handling (2024-11-05)",
    why: "A tool that can be called but is not listed is hidden from anyone who reviews the list. Only a list that came whole and \
          has not changed since counts.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b"}}
        < {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"unknown tool"}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b"}}
        < {"jsonrpc":"2.0","id":2,"result":{"content":[]}}
    "#,
    checks: &[Check::Silent(
        Plain::TOOL,
        &Check::Response(Directions::ToServer, CALL, absent),
    )],
};

fn absent(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(asked) = case.asked().filter(|asked| asked.tool == Listed::Absent) else {
        return unsure(case, out);
    };
    let result = case
        .message
        .result()
        .filter(|_| case.message.error().is_none());
    let is_error = result
        .and_then(|result| result.get("isError"))
        .and_then(Value::boolean);
    if result.is_none() || is_error == Some(true) || !case.session.tools.is_current() {
        return out.pass();
    }
    let what = "a tool that is not on the list was called with success";
    let fault = Fault::new(Side::Server, what).at(case.message, "/result");
    out.fail(fault.seen(asked.seq));
}

/// A call of a tool from a list that may have changed without a trace.
pub(super) fn unsure(case: &Case<'_>, out: &mut Out<'_>) {
    let unknown = case
        .asked()
        .is_some_and(|asked| asked.tool == Listed::Unknown);
    if unknown && case.session.tools.is_unsure() {
        out.doubt(Doubt::NotKept);
    }
}

pub(crate) static UNKNOWN: Invariant = Invariant {
    code: Code(45),
    category: "tools",
    property: "a call of an unknown tool is answered with the error -32602 and not with an `isError` result",
    levels: Levels::NOWHERE.should(Revisions::FROM_R4),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "server/tools §Error Handling (2025-11-25)",
    why: "Results are shown to the model, which can mend wrong arguments; that a tool does not exist is for the client.",
    holds: r#"
        handshake 2025-11-25 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b"}}
        < {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"unknown tool"}}
    "#,
    breaks: r#"
        handshake 2025-11-25 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b"}}
        < {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"unknown tool"}],"isError":true}}
    "#,
    checks: &[Check::Silent(
        Plain::TOOL,
        &Check::Response(Directions::ToServer, CALL, unknown),
    )],
};

fn unknown(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(asked) = case.asked().filter(|asked| asked.tool == Listed::Absent) else {
        return unsure(case, out);
    };
    if !case.session.tools.is_current() {
        return;
    }
    let fail = |what: &str, pointer: &str| {
        let fault = Fault::new(Side::Server, what).at(case.message, pointer);
        fault.seen(asked.seq)
    };
    match (case.message.error(), case.message.result()) {
        (Some(_), _) if case.message.error_code() == Some(-32_602) => out.pass(),
        (Some(_), _) => {
            let code = case.message.error_code();
            let code = code.map_or_else(|| "another code".to_owned(), |code| code.to_string());
            let what = format!("an unknown tool was answered with {code} and not -32602");
            out.fail(fail(&what, "/error"));
        }
        (None, Some(result)) if result.get("isError").and_then(Value::boolean) == Some(true) => {
            out.fail(fail(
                "an unknown tool was answered with an `isError` result",
                "/result/isError",
            ));
        }
        _ => {}
    }
}

pub(crate) static SCHEMAS: Invariant = Invariant {
    code: Code(47),
    category: "tools",
    property: "every tool has an object as `inputSchema`, of `type` \"object\" up to 2025-11-25, and so is its `outputSchema` from 2025-06-18",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "server/tools §Tool; schema Tool (2024-11-05)",
    why: "Clients hand the schema on to a model's interface, which refuses the whole list for one tool. A boolean or a \
          missing schema is none.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":true}]}}
    "#,
    checks: &[Check::Response(Directions::ToServer, LIST, schemas)],
};

fn schemas(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(tools) = case.message.result().and_then(|result| result.get("tools")) else {
        return;
    };
    let typed = Revisions::HANDSHAKE.covers(case.message.revisions);
    let fits = |schema: Value<'_>| {
        let object = schema.get("type").is_some_and(|kind| kind.is("object"));
        schema.is_object() && (object || !typed)
    };
    // In earlier revisions a tool has no such member, and its value is not judged.
    let has_output = Revisions::FROM_R3.covers(case.message.revisions);
    let (mut number, mut found) = (0_usize, None);
    tools.elements(|tool| {
        if found.is_none() {
            let input = tool.get("inputSchema").is_some_and(fits);
            let output = !has_output || tool.get("outputSchema").is_none_or(fits);
            let wrong = match (input, output) {
                (false, _) => Some("inputSchema"),
                (_, false) => Some("outputSchema"),
                _ => None,
            };
            found = wrong.map(|member| (number, member, tool.get(member).is_some()));
        }
        number += 1;
    });
    match found {
        Some((number, member, present)) => {
            let what = if present {
                format!("the `{member}` of a tool is not an object schema")
            } else {
                format!("a tool has no `{member}`")
            };
            let pointer = if present {
                format!("/result/tools/{number}/{member}")
            } else {
                format!("/result/tools/{number}")
            };
            out.fail(Fault::new(Side::Server, what).at(case.message, &pointer));
        }
        None => out.pass(),
    }
}
