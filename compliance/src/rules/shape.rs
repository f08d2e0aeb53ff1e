//! Messages have the members that the schemas require, with the right types.

use super::prelude::*;
use crate::finding::Severity;
use crate::session::pending_request::PendingRequest;
use crate::shapes::{self, Member, ShapeError};

pub(crate) static REQUEST: Invariant = Invariant {
    code: Code(85),
    category: "shape",
    property: "the parameters of a request have the members that its method requires, of the right types",
    levels: Levels::NOWHERE
        .must(Revisions::HANDSHAKE)
        .derived(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Message,
    source: "basic/lifecycle §Initialization (2024-11-05); the schema's …Request types (2024-11-05)",
    why: "What `initialize` must say is a MUST, the rest follows from the schema: strict peers refuse such a request, \
          others guess. From 2026-07-28 on what a result asks for counts as well. That `params` is an object is INV-020, \
          and what `_meta` must hold is INV-073.",
    holds: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":1}}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":["text"]}}
        < {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
    "#,
    checks: &[
        Check::Holds(
            Plain::CALL,
            &Check::Request(Directions::Any, Methods::Of(ASKING), request),
        ),
        Check::Silent(
            Plain::TEXT,
            &Check::Response(
                Directions::ToServer,
                Methods::Of(&[Method::ToolsCall, Method::PromptsGet, Method::ResourcesRead]),
                asked_for,
            ),
        ),
    ],
};

/// The requests that have a table.
const ASKING: &[Method] = &[
    Method::CompletionComplete,
    Method::ElicitationCreate,
    Method::Initialize,
    Method::LoggingSetLevel,
    Method::PromptsGet,
    Method::PromptsList,
    Method::ResourcesList,
    Method::ResourcesRead,
    Method::ResourcesSubscribe,
    Method::ResourcesTemplatesList,
    Method::ResourcesUnsubscribe,
    Method::SamplingCreateMessage,
    Method::SubscriptionsListen,
    Method::TasksCancel,
    Method::TasksGet,
    Method::TasksList,
    Method::TasksResult,
    Method::TasksUpdate,
    Method::ToolsCall,
    Method::ToolsList,
];

/// The value of omitted parameters.
const NOTHING: Value<'static> = Value(b"{}");

/// Checks the parameters, or their absence.
fn check(case: &Case<'_>, members: &'static [Member]) -> Result<(), ShapeError> {
    let revisions = case.message.revisions;
    match case.message.params() {
        Some(params) => {
            let fields = case.message.fields(params);
            shapes::check_fields(params, fields, members, revisions)
        }
        None => shapes::check(NOTHING, members, revisions),
    }
}

/// Whether its revision has a message with this method at all, which other rules judge.
fn is_defined(case: &Case<'_>) -> bool {
    let defined = case.method().defined(case.dir());
    defined.meets(case.message.revisions)
}

fn request(case: &Case<'_>, out: &mut Out<'_>) {
    let params = case.message.params();
    let given = params.unwrap_or(NOTHING);
    if !given.is_object() || !is_defined(case) {
        return;
    }
    let members = shapes::request(case.method(), params);
    match check(case, members) {
        Ok(()) => out.pass(),
        Err(wrong) => {
            let fault = parameters(case, &wrong, params.is_some());
            out.fail(match case.method() {
                Method::Initialize => fault.only(Severity::Must),
                _ => fault.only(Severity::Derived),
            });
        }
    }
}

pub(super) fn parameters(case: &Case<'_>, wrong: &ShapeError, present: bool) -> Fault {
    let whole = format!("the parameters of {}", quoted(case.message.spelled()));
    let pointer = if present {
        format!("/params{}", wrong.pointer)
    } else {
        String::new()
    };
    Fault::new(case.sender(), wrong.told(&whole)).at(case.message, &pointer)
}

/// The requests to the client in a result of the stateless era.
fn asked_for(case: &Case<'_>, out: &mut Out<'_>) {
    if case.message.revisions != R5 {
        return;
    }
    let requests = case.message.outcome("inputRequests");
    let (Some(asked), Some(requests)) = (case.asked(), requests) else {
        return;
    };
    let mut first = None;
    requests.members(|name, request| {
        let method = request.get("method").and_then(Value::string);
        let method = method.map_or(Method::Other, |name| Method::named(&name));
        let params = request.get("params");
        let members = shapes::request(method, params);
        let wrong = shapes::check(params.unwrap_or(NOTHING), members, R5);
        if let (Err(wrong), None) = (wrong, &first) {
            let name = String::from_utf8_lossy(name);
            let pointer = format!("/result/inputRequests/{}", escaped(&name));
            let whole = format!("the `{}` that the result asks for", method.name());
            first = Some((pointer, wrong.told(&whole)));
        }
    });
    match first {
        None => out.pass(),
        Some((pointer, what)) => {
            let fault = Fault::new(Side::Server, what).at(case.message, &pointer);
            out.fail(fault.seen(asked.seq));
        }
    }
}

/// A name as part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

pub(crate) static NOTIFICATION: Invariant = Invariant {
    code: Code(86),
    category: "shape",
    property: "the parameters of a notification have the members that its method requires, of the right types",
    levels: Levels::NOWHERE.derived(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Message,
    source: "the schema's …Notification types (2024-11-05)",
    why: "A notification is never answered, so a malformed one fails silently: a cancellation without \
          `requestId` cancels nothing. Levels of log messages are those of RFC 5424.",
    holds: r#"
        handshake 2025-06-18 {"logging":{}}
        < {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"notice","data":null}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"logging":{}}
        < {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"verbose","data":null}}
    "#,
    checks: &[Check::Notification(
        Directions::Any,
        Methods::Of(TELLING),
        notification,
    )],
};

/// The notifications that have a table.
const TELLING: &[Method] = &[
    Method::Cancelled,
    Method::ElicitationComplete,
    Method::LogMessage,
    Method::Progress,
    Method::ResourcesUpdated,
    Method::SubscriptionsAcknowledged,
    Method::TasksStatus,
];

fn notification(case: &Case<'_>, out: &mut Out<'_>) {
    let params = case.message.params();
    let given = params.unwrap_or(NOTHING);
    if !given.is_object() || !is_defined(case) {
        return;
    }
    let members = shapes::notification(case.method());
    match check(case, members) {
        Ok(()) => out.pass(),
        Err(wrong) => out.fail(parameters(case, &wrong, params.is_some())),
    }
}

pub(crate) static RESULT: Invariant = Invariant {
    code: Code(87),
    category: "shape",
    property: "a result has the members that its method requires, of the right types",
    levels: Levels::NOWHERE.derived(Revisions::ALL),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Exchange,
    source: "the schema's …Result types (2024-11-05)",
    why: "Typed clients fail the call, others show nothing. What the result of `initialize` must hold is INV-021, that of \
          `tools/call` INV-005, the schemas of tools INV-047, and tasks INV-081; results that are only a step on the way \
          are left out.",
    holds: r#"
        handshake 2025-06-18 {"resources":{}}
        > {"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a://b"}}
        < {"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"a://b","blob":""}]}}
    "#,
    breaks: r#"
        handshake 2025-06-18 {"resources":{}}
        > {"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a://b"}}
        < {"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"a://b"}]}}
    "#,
    checks: &[Check::Holds(
        Plain::TEXT,
        &Check::Response(Directions::Any, Methods::Of(ANSWERING), result),
    )],
};

/// The methods whose results have a table.
const ANSWERING: &[Method] = &[
    Method::CompletionComplete,
    Method::ElicitationCreate,
    Method::Initialize,
    Method::PromptsGet,
    Method::PromptsList,
    Method::ResourcesList,
    Method::ResourcesRead,
    Method::ResourcesTemplatesList,
    Method::RootsList,
    Method::SamplingCreateMessage,
    Method::ServerDiscover,
    Method::SubscriptionsListen,
    Method::TasksCancel,
    Method::TasksGet,
    Method::TasksList,
    Method::ToolsCall,
    Method::ToolsList,
];

/// A final result: neither a request for input nor a task in its place.
pub(super) fn finished<'a>(case: &Case<'a>) -> Option<(&'a PendingRequest, Value<'a>)> {
    let (asked, result) = (case.asked()?, case.message.result()?);
    let interim = case.message.revisions == R5
        && result
            .get("resultType")
            .is_some_and(|kind| kind.is_string() && !kind.is("complete"));
    let created = asked.task && result.get("task").is_some_and(Value::is_object);
    let both = case.message.error().is_some();
    (!interim && !created && !both).then_some((asked, result))
}

fn result(case: &Case<'_>, out: &mut Out<'_>) {
    let is_call = case
        .asked()
        .is_some_and(|asked| asked.method == Method::ToolsCall);
    // The table of a call does not include `content`, and most results contain nothing else.
    if is_call && case.message.error().is_none() && case.message.is_content_alone() {
        return out.pass();
    }
    let Some((asked, result)) = finished(case) else {
        return;
    };
    let members = shapes::result(asked.method);
    let (fields, revisions) = (case.message.fields(result), revisions(case, asked, result));
    match shapes::check_fields(result, fields, members, revisions) {
        Ok(()) => out.pass(),
        Err(wrong) => {
            let whole = format!("the result of `{}`", asked.method.name());
            let pointer = format!("/result{}", wrong.pointer);
            let fault = Fault::new(case.sender(), wrong.told(&whole));
            out.fail(fault.at(case.message, &pointer).seen(asked.seq));
        }
    }
}

/// The possible revisions of a result. For `initialize`, the result contains it.
fn revisions(case: &Case<'_>, asked: &PendingRequest, result: Value<'_>) -> Revisions {
    let said = match asked.method {
        Method::Initialize => result.get("protocolVersion").and_then(Value::string),
        _ => None,
    };
    let said = said.and_then(|version| Revisions::named(&version));
    said.unwrap_or(case.message.revisions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_asked_about_every_method_that_has_a_table() {
        for at in 0..Method::COUNT - 1 {
            let method = Method::at(at);
            let asking = !shapes::request(method, None).is_empty();
            let telling = !shapes::notification(method).is_empty();
            let answering = !shapes::result(method).is_empty();
            assert_eq!(ASKING.contains(&method), asking, "{method:?}");
            assert_eq!(TELLING.contains(&method), telling, "{method:?}");
            assert_eq!(ANSWERING.contains(&method), answering, "{method:?}");
        }
    }
}
