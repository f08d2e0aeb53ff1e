//! The stateless era: every message stands alone.

use tapewright_schemas::era::PROTOCOL_VERSION_KEY;

use super::prelude::*;
use crate::id::{Key, hash};
use crate::session::modern::{Wants, salient};
use crate::session::{CLIENT_CAPABILITIES_KEY, subscription};

pub(crate) static CODES: Invariant = Invariant {
    code: Code(19),
    category: "error-envelope",
    property: "of the reserved error codes -32020 to -32099 only -32020, -32021 and -32022 appear, and never -32002 nor -32042",
    levels: Levels::NOWHERE.must(R5),
    transports: Transports::Any,
    who: Who::Both,
    basis: Basis::Message,
    source: "basic §Error Codes (2026-07-28)",
    why: "Later revisions give these codes a meaning. That -32000 to -32019 should not be used either is milder.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"unsupported version"}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a://b","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"Resource not found"}}
    "#,
    checks: &[Check::AnyResponse(codes)],
};

fn codes(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(code) = case.message.error_code() else {
        return;
    };
    let fault = |what: String| Fault::new(case.sender(), what).at(case.message, "/error/code");
    match code {
        -32_022..=-32_020 => out.pass(),
        -32_099..=-32_020 | -32_002 => out.fail(fault(format!("the code {code} is reserved"))),
        -32_019..=-32_000 => {
            let what = format!("the code {code} should not be used any more");
            out.fail(fault(what).only(crate::finding::Severity::Should));
        }
        _ => out.pass(),
    }
}

pub(crate) static META: Invariant = Invariant {
    code: Code(73),
    category: "stateless",
    property: "every request carries the revision and the client's capabilities in `_meta`",
    levels: Levels::NOWHERE.must(R5),
    transports: Transports::Any,
    who: Who::Client,
    basis: Basis::Message,
    source: "basic §_meta (2026-07-28)",
    why: "There is no handshake: a request that does not describe itself cannot be answered.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"missing _meta"}}
    "#,
    checks: &[Check::Request(Way::ToServer, Methods::All, meta)],
};

fn meta(case: &Case<'_>, out: &mut Out<'_>) {
    let meta = case.message.param("_meta");
    let version = meta.and_then(|meta| meta.get(PROTOCOL_VERSION_KEY));
    let capabilities = meta.and_then(|meta| meta.get(CLIENT_CAPABILITIES_KEY));
    let missing = if !version.is_some_and(Value::is_string) {
        PROTOCOL_VERSION_KEY
    } else if !capabilities.is_some_and(Value::is_object) {
        CLIENT_CAPABILITIES_KEY
    } else {
        return out.pass();
    };
    let method = quoted(case.message.spelled());
    let what = format!("{method} has no `{missing}` in its `_meta`");
    out.fail(Fault::new(Side::Client, what).at(case.message, ""));
}

pub(crate) static RESULT_TYPE: Invariant = Invariant {
    code: Code(74),
    category: "stateless",
    property: "every result has a string `resultType`",
    levels: Levels::NOWHERE.must(R5),
    transports: Transports::Any,
    who: Who::Server,
    basis: Basis::Exchange,
    source: "basic §ResultType (2026-07-28)",
    why: "It tells a final result from one that asks for input. Clients fail the call without it.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
    "#,
    checks: &[Check::Response(Way::ToServer, Methods::All, result_type)],
};

fn result_type(case: &Case<'_>, out: &mut Out<'_>) {
    let (Some(asked), Some(result)) = (case.asked(), case.message.result()) else {
        return;
    };
    if result.get("resultType").is_some_and(Value::is_string) {
        return out.pass();
    }
    let what = format!(
        "the result of `{}` has no string `resultType`",
        asked.method.name()
    );
    let fault = Fault::new(Side::Server, what).at(case.message, "/result");
    out.fail(fault.seen(asked.seq).ours_if(asked.faulted));
}

pub(crate) static ONE_WAY: Invariant = Invariant {
    code: Code(75),
    category: "stateless",
    property: "the server sends no requests, and the client no responses",
    levels: Levels::NOWHERE.must(R5),
    transports: Transports::Any,
    who: Who::Both,
    basis: Basis::Message,
    source: "basic/patterns; basic/transports (2026-07-28)",
    why: "What a server needs of the client it asks for in a result.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}}}
        < {"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{}}
    "#,
    checks: &[
        Check::Request(Way::Any, Methods::All, no_request),
        Check::AnyResponse(no_response),
    ],
};

fn no_request(case: &Case<'_>, out: &mut Out<'_>) {
    if case.dir() == Direction::ToServer {
        return out.pass();
    }
    let what = format!(
        "the server sends {} as a request",
        quoted(case.message.spelled())
    );
    out.fail(Fault::new(Side::Server, what).at(case.message, "/method"));
}

fn no_response(case: &Case<'_>, out: &mut Out<'_>) {
    // A reply to a request that a server of the handshake era sent is not of this era.
    let old = case.asked().is_some_and(|asked| asked.revisions != R5);
    if case.dir() == Direction::ToServer && !old {
        let what = "the client sends a response";
        out.fail(Fault::new(Side::Client, what).at(case.message, ""));
    }
}

pub(crate) static INPUT: Invariant = Invariant {
    code: Code(76),
    category: "stateless",
    property: "`input_required` answers only `tools/call`, `prompts/get` and `resources/read`, and says what is required",
    levels: Levels::NOWHERE.must(R5),
    transports: Transports::Any,
    who: Who::Server,
    basis: Basis::Exchange,
    source: "basic/patterns/mrtr (2026-07-28)",
    why: "`inputRequests` may ask for elicitation, sampling and roots and nothing else; at least one of `inputRequests` \
          and `requestState` must be there, or the client has nothing to come back with.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"who?"}}},"requestState":"s"}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required"}}
    "#,
    checks: &[Check::Response(Way::ToServer, Methods::All, input)],
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
        fault.seen(asked.seq).ours_if(asked.faulted)
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
    transports: Transports::Any,
    who: Who::Client,
    basis: Basis::Session,
    source: "basic/patterns/mrtr §Client (2026-07-28)",
    why: "The server keeps nothing: the state that it gave away must come back byte for byte, and none where none was \
          given.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"who?"}}},"requestState":"s"}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","inputResponses":{"who":{"action":"accept"}},"requestState":"s","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}
        < {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"who?"}}},"requestState":"s"}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","inputResponses":{"when":{"action":"accept"}},"requestState":"s","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}
    "#,
    checks: &[Check::Request(
        Way::ToServer,
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
    let fail = |what: &str, pointer: &str| out_of(fail(what, pointer), asked.seq);
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
    if case.message.id().map(Key::of) == Some(asked.id) {
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

fn out_of(fault: Fault, seq: u64) -> Fault {
    fault.seen(seq)
}

pub(crate) static LISTEN: Invariant = Invariant {
    code: Code(78),
    category: "stateless",
    property: "a subscription is acknowledged first, within what was asked for, and each of its messages names it and was wanted",
    levels: Levels::NOWHERE.must(R5),
    transports: Transports::Any,
    who: Who::Server,
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
        Way::ToClient,
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
        return out.fail(fail("the notification names no subscription", ""));
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
            let honoured = Wants::read(case.message.param("notifications"));
            if !honoured.is_within(wants) {
                let what = "more is acknowledged than was asked for";
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
            let uri = case.message.param("uri").and_then(Value::string);
            uri.is_some_and(|uri| wants.uris.contains(&hash(uri.as_bytes())))
        }
    };
    if wanted {
        out.pass();
    } else {
        out.fail(fail("the subscription did not ask for this", "/method"));
    }
}

pub(crate) static CACHE: Invariant = Invariant {
    code: Code(79),
    category: "stateless",
    property: "results that may be cached carry `ttlMs`, an integer from 0 on, and `cacheScope`, `public` or `private`",
    levels: Levels::NOWHERE.must(R5),
    transports: Transports::Any,
    who: Who::Server,
    basis: Basis::Exchange,
    source: "basic/patterns/caching (2026-07-28)",
    why: "These are `server/discover`, the four lists and `resources/read`, once they are complete. Without the two a \
          client cannot know whether to ask again.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":-1,"cacheScope":"public"}}
    "#,
    checks: &[Check::Response(
        Way::ToServer,
        Methods::Of(&[
            Method::ServerDiscover,
            Method::ToolsList,
            Method::PromptsList,
            Method::ResourcesList,
            Method::ResourcesTemplatesList,
            Method::ResourcesRead,
        ]),
        cache,
    )],
};

fn cache(case: &Case<'_>, out: &mut Out<'_>) {
    let (Some(asked), Some(result)) = (case.asked(), case.message.result()) else {
        return;
    };
    if result
        .get("resultType")
        .is_some_and(|kind| !kind.is("complete"))
    {
        return;
    }
    let fail = |what: &str| {
        let what = format!("the result of `{}` has {what}", asked.method.name());
        let fault = Fault::new(Side::Server, what).at(case.message, "/result");
        fault.seen(asked.seq).ours_if(asked.faulted)
    };
    let ttl = result.get("ttlMs").and_then(Value::integer);
    let scope = result.get("cacheScope");
    if ttl.is_none_or(|ttl| ttl < 0) {
        out.fail(fail("no `ttlMs` that is an integer from 0 on"));
    } else if !scope.is_some_and(|scope| scope.is("public") || scope.is("private")) {
        out.fail(fail("no `cacheScope` that is `public` or `private`"));
    } else {
        out.pass();
    }
}

pub(crate) static REMOVED: Invariant = Invariant {
    code: Code(80),
    category: "stateless",
    property: "messages of the stateless era use no method that it has removed",
    levels: Levels::NOWHERE.derived(R5),
    transports: Transports::Any,
    who: Who::Both,
    basis: Basis::Message,
    source: "changelog (2026-07-28)",
    why: "`ping`, `logging/setLevel`, `resources/subscribe` and their like are answered with an error. A client that \
          speaks both eras may of course go back to the handshake.",
    holds: r#"
        > {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}}
    "#,
    breaks: r#"
        > {"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}
    "#,
    checks: &[
        Check::Request(Way::ToServer, Methods::All, removed),
        Check::Notification(Way::Any, Methods::All, removed),
    ],
};

fn removed(case: &Case<'_>, out: &mut Out<'_>) {
    let defined = case.method().defined(case.dir());
    if defined == Revisions::NONE {
        return;
    }
    if defined.meets(R5) {
        return out.pass();
    }
    let method = quoted(case.message.spelled());
    let what = format!("{method} does not exist in 2026-07-28");
    out.fail(Fault::new(case.sender(), what).at(case.message, "/method"));
}
