//! The results of tool calls.

use crate::carrier::Carriers;
use crate::checker::{Case, Fault, Out};
use crate::code::Code;
use crate::finding::Side;
use crate::invariant::{Basis, Check, Directions, Invariant, Levels, Methods, Responsible};
use crate::method::Method;
use crate::plain::Plain;
use crate::revision::{R4, R5, Revisions};
use crate::value::Value;

pub(crate) static SHAPE: Invariant = Invariant {
    code: Code(5),
    category: "result-shape",
    property: "a successful `tools/call` result carries a `content` array or a `structuredContent` object, and a boolean `isError` when present",
    levels: Levels::NOWHERE.must(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "server/tools §Tool Result; schema CallToolResult (2024-11-05)",
    why: "Clients show `content` and go by `isError`. A task that was created in the result's place (2025-11-25), a \
          result that asks for input and one that names a task (2026-07-28) are something else and are left out. From \
          2026-07-28 on `structuredContent` may be any JSON value.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":false}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}
        < {"jsonrpc":"2.0","id":1,"result":{"text":"hello"}}
    "#,
    checks: &[Check::Holds(
        Plain::TEXT,
        &Check::Response(
            Directions::ToServer,
            Methods::Of(&[Method::ToolsCall]),
            shape,
        ),
    )],
};

fn shape(case: &Case<'_>, out: &mut Out<'_>) {
    let message = case.message;
    if message.error().is_some() {
        return;
    }
    let fail = |what: &str, pointer: &str| Fault::new(Side::Server, what).at(message, pointer);
    let Some(result) = message.result() else {
        // INV-014 covers a response without a result, or with one that is not an object.
        if case.session.by_the_letter() {
            let what = match message.any_result() {
                Some(_) => "the `result` is not an object",
                None => "the response has no `result`",
            };
            out.fail(fail(what, ""));
        }
        return;
    };
    if message.is_content_alone() {
        return out.pass();
    }
    let [
        mut content,
        mut structured,
        mut is_error,
        mut task,
        mut kind,
    ] = [None; 5];
    result.members(|name, value| match name {
        b"content" => content = Some(value),
        b"structuredContent" => structured = Some(value),
        b"isError" => is_error = Some(value),
        b"task" => task = Some(value),
        b"resultType" => kind = Some(value),
        _ => {}
    });
    let created = message.revisions.meets(R4) && task.is_some_and(Value::is_object);
    let modern = message.revisions == R5;
    let interim = modern && kind.is_some_and(|kind| kind.is("input_required") || kind.is("task"));
    if created || interim {
        return;
    }
    let has_content = content.is_some_and(Value::is_array);
    let has_structure = structured.is_some_and(|one| modern || one.is_object());
    if !has_content && !has_structure {
        let what = "the result has neither a `content` array nor a `structuredContent` object";
        let pointer = if content.is_some() {
            "/result/content"
        } else {
            "/result"
        };
        return out.fail(fail(what, pointer));
    }
    if is_error.is_some_and(|one| one.boolean().is_none()) {
        return out.fail(fail("`isError` is not a boolean", "/result/isError"));
    }
    out.pass();
}
