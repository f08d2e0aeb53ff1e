//! Structured results, and the schema that they must match.

use tapewright_validity::{Validity, is_told_by};

use super::prelude::*;
use crate::session::tools::Listed;

const CALL: Methods = Methods::Of(&[Method::ToolsCall]);

pub(crate) static CONFORMS: Invariant = Invariant {
    code: Code(43),
    category: "result-shape",
    property: "the result of a tool with an `outputSchema` has `structuredContent` that conforms to it",
    levels: Levels::NOWHERE.must(Revisions::FROM_R3),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Session,
    source: "server/tools §Output Schema (2025-06-18)",
    why: "Code that was written against the schema relies on it. Errors, and results that are only a step on the way, are \
          left out. Schemas are of the dialect that `$schema` names, or of 2020-12; references to other documents are \
          never fetched.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"sum","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]}}]}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sum"}}
        < {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"sum\":3}"}],"structuredContent":{"sum":3}}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"sum","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]}}]}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sum"}}
        < {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"3"}],"structuredContent":{"sum":"3"}}}
    "#,
    checks: &[Check::Silent(
        Plain::TOOL,
        &Check::Response(Directions::ToServer, CALL, conforms),
    )],
};

/// Whether it is the final result of a successful call.
fn is_final(case: &Case<'_>) -> bool {
    if case.message.error().is_some() {
        return false;
    }
    let member = |name| case.message.outcome(name);
    // A result of another shape is the subject of INV-005.
    if !member("content").is_some_and(Value::is_array) && member("structuredContent").is_none() {
        return false;
    }
    let failed = member("isError").and_then(Value::boolean) == Some(true);
    let interim = case.message.revisions == R5
        && member("resultType").is_some_and(|kind| !kind.is("complete"));
    let created = case.message.revisions.meets(R4) && member("task").is_some();
    !failed && !interim && !created
}

fn conforms(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(Listed::Known(key)) = case.asked().map(|asked| asked.tool) else {
        super::tools::unsure(case, out);
        return;
    };
    let tool = case.session.tools.get(key);
    let Some(schema) = tool.and_then(|tool| tool.output_schema.as_ref()) else {
        return;
    };
    let (true, Some(asked)) = (is_final(case), case.asked()) else {
        return;
    };
    let fail = |what: String, pointer: &str| {
        let fault = Fault::new(Side::Server, what).at(case.message, pointer);
        fault.seen(asked.seq)
    };
    let Some(content) = case.message.outcome("structuredContent") else {
        let what =
            "the tool has an `outputSchema` and the result no `structuredContent`".to_owned();
        return out.fail(fail(what, "/result"));
    };
    match schema.validate(content.0) {
        Validity::Valid => out.pass(),
        Validity::Unknown => out.doubt(Doubt::TooCostly),
        Validity::Invalid(at) => {
            let what =
                "`structuredContent` does not conform to the tool's `outputSchema`".to_owned();
            out.fail(fail(what, &format!("/result/structuredContent{at}")));
        }
    }
}

pub(crate) static AS_TEXT: Invariant = Invariant {
    code: Code(44),
    category: "result-shape",
    property: "`structuredContent` is also in the result as text",
    levels: Levels::NOWHERE.should(Revisions::FROM_R3),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "server/tools §Structured Content (2025-06-18)",
    why: "Clients that do not know structured results show nothing otherwise. A text block counts when it is the same JSON \
          value, or when the structure only wraps the text.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sum"}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{ \"sum\": 3 }"}],"structuredContent":{"sum":3}}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sum"}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}],"structuredContent":{"sum":3}}}
    "#,
    checks: &[Check::Silent(
        Plain::TEXT,
        &Check::Response(Directions::ToServer, CALL, as_text),
    )],
};

fn as_text(case: &Case<'_>, out: &mut Out<'_>) {
    if case.message.is_content_alone() {
        return;
    }
    let Some(structured) = case.message.outcome("structuredContent") else {
        return;
    };
    if !is_final(case) {
        return;
    }
    if structured.0.len() > TEXT_BYTES {
        return out.doubt(Doubt::TooCostly);
    }
    let mut texts = Vec::new();
    if let Some(content) = case.message.outcome("content") {
        content.elements(|block| {
            if texts.len() < BLOCKS
                && let Some(text) = block.get("text").and_then(Value::string)
            {
                texts.push(text.into_owned());
            }
        });
    }
    if is_told_by(structured.0, &texts) {
        return out.pass();
    }
    let what = "`structuredContent` is not in the result as text";
    out.fail(Fault::new(Side::Server, what).at(case.message, "/result/structuredContent"));
}

const TEXT_BYTES: usize = 1 << 20;
const BLOCKS: usize = 1_000;
