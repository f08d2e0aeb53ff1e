//! Results that ask for input, and the retries that provide it.

use super::prelude::*;
use crate::id::{Key, hash};
use crate::session::modern::salient;

pub(crate) static INPUT: Invariant = Invariant {
    code: Code(76),
    category: "stateless",
    property: "`input_required` answers only `tools/call`, `prompts/get` and `resources/read`, and says what is required",
    levels: Levels::NOWHERE.must(R5),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Exchange,
    source: "basic/patterns/mrtr (2026-07-28)",
    why: "`inputRequests` may ask for elicitation, sampling and roots and nothing else; at least one of `inputRequests` \
          and `requestState` must be there, or the client has nothing to come back with.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"s"}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required"}}
    "#,
    checks: &[Check::Response(Directions::ToServer, Methods::All, input)],
};

fn input(case: &Case<'_>, out: &mut Out<'_>) {
    let (Some(asked), Some(result)) = (case.asked(), case.message.result()) else {
        return;
    };
    if !result
        .get("resultType")
        .is_some_and(|kind| kind.is("input_required"))
    {
        return;
    }
    let fail = |what: String, pointer: &str| {
        let fault = Fault::new(Side::Server, what).at(case.message, pointer);
        fault.seen(asked.seq)
    };
    let may = matches!(
        asked.method,
        Method::ToolsCall | Method::PromptsGet | Method::ResourcesRead
    );
    if !may {
        let what = format!(
            "`{}` is answered with `input_required`",
            asked.method.name()
        );
        return out.fail(fail(what, "/result/resultType"));
    }
    let requests = result.get("inputRequests");
    if requests.is_none() && result.get("requestState").is_none() {
        let what = "`input_required` with neither `inputRequests` nor `requestState`".to_owned();
        return out.fail(fail(what, "/result"));
    }
    let mut other = None;
    if let Some(requests) = requests {
        requests.members(|_, request| {
            let method = request
                .get("method")
                .and_then(Value::string)
                .unwrap_or_default();
            let known = matches!(
                &*method,
                "elicitation/create" | "sampling/createMessage" | "roots/list"
            );
            if !known {
                other.get_or_insert_with(|| quoted(&method));
            }
        });
    }
    match other {
        Some(method) => out.fail(fail(
            format!("`inputRequests` asks for {method}"),
            "/result/inputRequests",
        )),
        None => out.pass(),
    }
}

pub(crate) static RETRY: Invariant = Invariant {
    code: Code(77),
    category: "stateless",
    property: "a retry with input has a new id and the same parameters, returns `requestState` as it was, and answers only what was asked",
    levels: Levels::NOWHERE.must(R5),
    carriers: Carriers::ANY,
    who: Responsible::Client,
    basis: Basis::Session,
    source: "basic/patterns/mrtr §Client (2026-07-28)",
    why: "The server keeps nothing: the state that it gave away must come back byte for byte, and none where none was \
          given.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"s"}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","inputResponses":{"who":{"action":"accept"}},"requestState":"s","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}
        < {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"s"}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","inputResponses":{"when":{"action":"accept"}},"requestState":"s","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}
    "#,
    checks: &[Check::Request(
        Directions::ToServer,
        Methods::Of(&[Method::ToolsCall, Method::PromptsGet, Method::ResourcesRead]),
        retry,
    )],
};

fn retry(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(params) = case.message.params() else {
        return;
    };
    let mentions = |word: &str| memchr::memmem::find(params.0, word.as_bytes()).is_some();
    if !mentions("inputResponses") && !mentions("requestState") {
        return;
    }
    let (responses, state) = (params.get("inputResponses"), params.get("requestState"));
    if responses.is_none() && state.is_none() {
        return;
    }
    let modern = &case.session.modern;
    let sent = state
        .and_then(Value::string)
        .map(|one| hash(one.as_bytes()));
    let by_state = sent.and_then(|one| modern.by_state(one));
    let salient = salient(Some(params));
    let asked = by_state.or_else(|| modern.input(case.method(), salient));
    let fail = |what: &str, pointer: &str| Fault::new(Side::Client, what).at(case.message, pointer);
    let Some(asked) = asked else {
        if modern.forgotten {
            return out.doubt(Doubt::Evicted);
        }
        return out.fail(fail("a retry that no result asked for", "/params"));
    };
    let fail = |what: &str, pointer: &str| fail(what, pointer).seen(asked.seq);
    if asked.method != case.method() || asked.salient != salient {
        return out.fail(fail(
            "a retry with other parameters than the request",
            "/params",
        ));
    }
    if asked.state != sent {
        let (what, pointer) = match (asked.state, sent) {
            (Some(_), None) => ("the retry does not return `requestState`", "/params"),
            (None, _) => (
                "the retry has a `requestState` although none was given",
                "/params/requestState",
            ),
            _ => ("the retry changes `requestState`", "/params/requestState"),
        };
        return out.fail(fail(what, pointer));
    }
    if case.message.id().map(Key::by_value) == Some(asked.id) {
        return out.fail(fail("the retry has the id of the request", "/id"));
    }
    let mut extra = false;
    if let Some(responses) = responses {
        responses.members(|name, _| extra |= !asked.keys.contains(&hash(name)));
    }
    if extra {
        let what = "`inputResponses` answers what was not asked";
        return out.fail(fail(what, "/params/inputResponses"));
    }
    out.pass();
}
