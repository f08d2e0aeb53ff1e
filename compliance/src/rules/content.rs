//! Blocks of content: in results of tools and prompts, and in messages to and from models.

use super::prelude::*;
use super::shape::{finished, parameters};
use crate::shapes::{self, ShapeError};

pub(crate) static CONTENT: Invariant = Invariant {
    code: Code(88),
    category: "shape",
    property: "every block of content has a `type` of its revision, and the members of that type",
    levels: Levels::NOWHERE.derived(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Exchange,
    source: "the schema's …Content types (2024-11-05)",
    why: "A block that a client cannot show is lost on the user and on the model. Blocks are in the results of \
          `tools/call` and `prompts/get`, and in what models are asked and answer. `audio` is of 2025-03-26, \
          `resource_link` of 2025-06-18.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"image","data":"","mimeType":"image/png"}]}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":["hello"]}]}}
    "#,
    checks: &[
        Check::Holds(
            Plain::TEXT,
            &Check::Response(
                Directions::ToServer,
                Methods::Of(&[Method::ToolsCall, Method::PromptsGet]),
                blocks_of_result,
            ),
        ),
        Check::Response(
            Directions::ToClient,
            Methods::Of(&[Method::SamplingCreateMessage]),
            blocks_of_result,
        ),
        Check::Request(
            Directions::ToClient,
            Methods::Of(&[Method::SamplingCreateMessage]),
            blocks_of_request,
        ),
    ],
};

fn blocks_of_result(case: &Case<'_>, out: &mut Out<'_>) {
    let result = case.message.result();
    if result.is_some_and(shapes::content::is_one_text) {
        return out.pass();
    }
    let Some((asked, result)) = finished(case) else {
        return;
    };
    let (member, wrong) = match asked.method {
        Method::PromptsGet => ("messages", in_messages(case, result.get("messages"))),
        Method::ToolsCall => {
            let content = result.get("content").filter(|one| one.is_array());
            ("content", in_content(case, content))
        }
        _ => ("content", in_content(case, result.get("content"))),
    };
    match wrong {
        Ok(()) => out.pass(),
        Err(wrong) => {
            let wrong = wrong.under(member);
            let pointer = format!("/result{}", wrong.pointer);
            let what = wrong.told(&format!("the result of `{}`", asked.method.name()));
            let fault = Fault::new(case.sender(), what);
            out.fail(fault.at(case.message, &pointer).seen(asked.seq));
        }
    }
}

fn blocks_of_request(case: &Case<'_>, out: &mut Out<'_>) {
    match in_messages(case, case.message.param("messages")) {
        Ok(()) => out.pass(),
        Err(wrong) => {
            let wrong = wrong.under("messages");
            out.fail(parameters(case, &wrong, true));
        }
    }
}

fn in_content(case: &Case<'_>, content: Option<Value<'_>>) -> Result<(), ShapeError> {
    content.map_or(Ok(()), |content| {
        shapes::content::blocks(content, case.message.revisions)
    })
}

fn in_messages(case: &Case<'_>, messages: Option<Value<'_>>) -> Result<(), ShapeError> {
    let (mut number, mut first) = (0_usize, Ok(()));
    if let Some(messages) = messages {
        messages.elements(|message| {
            if first.is_ok() {
                first = in_content(case, message.get("content"))
                    .map_err(|wrong| wrong.under("content").under(&number.to_string()));
            }
            number += 1;
        });
    }
    first
}
