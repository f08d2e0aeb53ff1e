//! Tasks, as revision 2025-11-25 has them.

use super::prelude::*;
use crate::id::hash;
use crate::session::capabilities::Capability;
use crate::session::pending_request::PendingRequest;
use crate::session::tasks::State;
use crate::session::tools::{Listed, TaskSupport};

pub(crate) static STATES: Invariant = Invariant {
    code: Code(81),
    category: "tasks",
    property: "a task starts as `working`, moves along the allowed states, and stays as it ended",
    levels: Levels::NOWHERE.must(R4),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Session,
    source: "basic/utilities/tasks §Task Status Lifecycle, §TTL (2025-11-25)",
    why: "`working` and `input_required` change into each other and end as `completed`, `failed` or `cancelled`. Every \
          task says when it was created and last updated, and how long it is kept.",
    holds: r#"
        handshake 2025-11-25 {"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","task":{}}}
        < {"jsonrpc":"2.0","id":1,"result":{"task":{"status":"working","taskId":"t","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000}}}
        > {"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"t"}}
        < {"jsonrpc":"2.0","id":2,"result":{"status":"completed","taskId":"t","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000}}
    "#,
    breaks: r#"
        handshake 2025-11-25 {"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","task":{}}}
        < {"jsonrpc":"2.0","id":1,"result":{"task":{"status":"completed","taskId":"t","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000}}}
    "#,
    checks: &[
        Check::Response(Directions::Any, Methods::All, states),
        Check::Notification(
            Directions::Any,
            Methods::Of(&[Method::TasksStatus]),
            notified,
        ),
    ],
};

fn states(case: &Case<'_>, out: &mut Out<'_>) {
    let (Some(asked), Some(result)) = (case.asked(), case.message.result()) else {
        return;
    };
    if asked.task {
        if let Some(task) = result.get("task").filter(|task| task.is_object()) {
            moved(case, task, true, "/result/task", out);
        }
    } else if matches!(asked.method, Method::TasksGet | Method::TasksCancel) {
        moved(case, result, false, "/result", out);
    }
}

fn notified(case: &Case<'_>, out: &mut Out<'_>) {
    if let Some(params) = case.message.params() {
        moved(case, params, false, "/params", out);
    }
}

fn moved(case: &Case<'_>, task: Value<'_>, created: bool, pointer: &str, out: &mut Out<'_>) {
    let fail = |what: String| Fault::new(case.sender(), what).at(case.message, pointer);
    let status = task.get("status").and_then(Value::string);
    let (Some(id), Some(status)) = (task.get("taskId").and_then(Value::string), status) else {
        return out.fail(fail("the task lacks `taskId` or `status`".to_owned()));
    };
    for member in ["createdAt", "lastUpdatedAt", "ttl"] {
        if task.get(member).is_none() {
            return out.fail(fail(format!("the task has no `{member}`")));
        }
    }
    let Some(state) = State::named(&status) else {
        return out.fail(fail(format!(
            "{} is not a state of a task",
            quoted(&status)
        )));
    };
    let before = case.session.tasks.find(hash(id.as_bytes()));
    if created && before.is_none() {
        if state != State::Working {
            let what = format!("a task starts as `{}` and not as `working`", state.name());
            return out.fail(fail(what));
        }
        return out.pass();
    }
    match before {
        Some(before) if before.state.is_final() && before.state != state => {
            let what = format!(
                "a task that was `{}` becomes `{}`",
                before.state.name(),
                state.name()
            );
            out.fail(fail(what).seen(before.seq));
        }
        _ => out.pass(),
    }
}

pub(crate) static ALLOWED: Invariant = Invariant {
    code: Code(82),
    category: "tasks",
    property: "a request asks for a task only where that was declared, and does where the tool requires it",
    levels: Levels::NOWHERE.must(R4),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Session,
    source: "basic/utilities/tasks §Capabilities, §Tool-Level Negotiation (2025-11-25)",
    why: "Both the capability of the receiver and `execution.taskSupport` of the tool must allow it.",
    holds: r#"
        handshake 2025-11-25 {"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"slow","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow","task":{}}}
        < {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"busy"}}
    "#,
    breaks: r#"
        handshake 2025-11-25 {"tools":{}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","task":{}}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no tasks"}}
    "#,
    checks: &[Check::Request(
        Directions::Any,
        Methods::Of(&[
            Method::ToolsCall,
            Method::SamplingCreateMessage,
            Method::ElicitationCreate,
        ]),
        allowed,
    )],
};

fn allowed(case: &Case<'_>, out: &mut Out<'_>) {
    let session = case.session;
    let (declared, needed) = match case.method() {
        Method::ToolsCall => (session.server, Capability::TASKS_TOOLS),
        Method::SamplingCreateMessage => (session.client, Capability::TASKS_SAMPLING),
        _ => (session.client, Capability::TASKS_ELICITATION),
    };
    let task = case.message.param("task");
    let name = case.message.param("name").and_then(Value::string);
    let listed = name.map(|name| session.tools.look_up(&name));
    let support = match listed {
        Some(Listed::Known(key)) if case.method() == Method::ToolsCall => {
            session.tools.get(key).map(|tool| tool.tasks)
        }
        _ => None,
    };
    let fail =
        |what: &str, pointer: &str| Fault::new(case.sender(), what).at(case.message, pointer);
    let able = declared.is_some_and(|one| one.has(needed));
    match (task, support) {
        (Some(_), _) if declared.is_none() => out.doubt(Doubt::Unseen),
        (Some(_), _) if !able => {
            let what = format!(
                "a request asks for a task although `{}` was not declared",
                needed.name
            );
            out.fail(fail(&what, "/params/task"));
        }
        (Some(_), Some(TaskSupport::Forbidden)) => {
            out.fail(fail(
                "a tool is called as a task that forbids it",
                "/params/task",
            ));
        }
        (None, Some(TaskSupport::Required)) if able => {
            out.fail(fail(
                "a tool that requires a task is called without one",
                "/params",
            ));
        }
        (Some(_), _) | (None, Some(TaskSupport::Required)) => out.pass(),
        (None, _) => {}
    }
}

pub(crate) static RESULTS: Invariant = Invariant {
    code: Code(83),
    category: "tasks",
    property: "task ids are unique, `tasks/result` names its task, and unknown or ended tasks are refused with -32602",
    levels: Levels::NOWHERE.must(R4),
    carriers: Carriers::ANY,
    who: Responsible::Both,
    basis: Basis::Session,
    source: "basic/utilities/tasks §Behavior Requirements, §Error Handling (2025-11-25)",
    why: "`_meta[\"io.modelcontextprotocol/related-task\"].taskId` is how a client knows whose result it holds.",
    holds: r#"
        handshake 2025-11-25 {"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","task":{}}}
        < {"jsonrpc":"2.0","id":1,"result":{"task":{"status":"working","taskId":"t","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000}}}
        > {"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":"t"}}
        < {"jsonrpc":"2.0","id":2,"result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}
    "#,
    breaks: r#"
        handshake 2025-11-25 {"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","task":{}}}
        < {"jsonrpc":"2.0","id":1,"result":{"task":{"status":"working","taskId":"t","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000}}}
        > {"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":"t"}}
        < {"jsonrpc":"2.0","id":2,"result":{"content":[]}}
    "#,
    checks: &[Check::Response(Directions::Any, Methods::All, results)],
};

fn results(case: &Case<'_>, out: &mut Out<'_>) {
    let Some(asked) = case.asked() else { return };
    let result = case.message.result();
    let created = result.filter(|_| asked.task);
    if let Some(task) = created.and_then(|result| result.get("task")) {
        return new_task(case, asked, task, out);
    }
    if matches!(
        asked.method,
        Method::TasksGet | Method::TasksResult | Method::TasksCancel
    ) {
        about_task(case, asked, result, out);
    }
}

fn blame(case: &Case<'_>, asked: &PendingRequest, what: &str, pointer: &str) -> Fault {
    let fault = Fault::new(case.sender(), what).at(case.message, pointer);
    fault.seen(asked.seq)
}

/// The result of a request that was to run as a task.
fn new_task(case: &Case<'_>, asked: &PendingRequest, task: Value<'_>, out: &mut Out<'_>) {
    let id = task.get("taskId").and_then(Value::string);
    let tasks = &case.session.tasks;
    let known = id.and_then(|id| tasks.find(hash(id.as_bytes())));
    // A notification may mention a task before the result that creates it.
    match known.filter(|other| other.created) {
        Some(other) => {
            let what = "a new task has the id of another";
            let fault = blame(case, asked, what, "/result/task/taskId");
            out.fail(fault.seen(other.seq));
        }
        None => out.pass(),
    }
}

/// The answer to a request about a task.
fn about_task(
    case: &Case<'_>,
    asked: &PendingRequest,
    result: Option<Value<'_>>,
    out: &mut Out<'_>,
) {
    let tasks = &case.session.tasks;
    let method = asked.method;
    let fail = |what: &str, pointer: &str| blame(case, asked, what, pointer);
    let subject = asked.more().and_then(|more| more.subject);
    let known = subject.and_then(|id| tasks.find(id));
    let refused = case.message.error_code() == Some(-32_602);
    match (known, result) {
        (None, Some(_)) if tasks.forgotten => out.doubt(Doubt::Evicted),
        (None, Some(_)) => out.fail(fail(
            "an unknown task was answered with a result",
            "/result",
        )),
        (None, None) if refused => out.pass(),
        (None, None) => out.fail(fail(
            "an unknown task was not refused with -32602",
            "/error",
        )),
        (Some(task), Some(_)) if method == Method::TasksCancel && task.state.is_final() => {
            out.fail(fail("a task that had ended was cancelled", "/result").seen(task.seq));
        }
        (Some(_), Some(result)) if method == Method::TasksResult => {
            if related(result) == subject {
                out.pass();
            } else {
                out.fail(fail(
                    "the result of a task does not name it in `_meta`",
                    "/result",
                ));
            }
        }
        _ => out.pass(),
    }
}

/// The task that a result belongs to, according to its metadata.
fn related(result: Value<'_>) -> Option<u64> {
    let id = result.at(&["_meta", RELATED_TASK, "taskId"]);
    let id = id.and_then(Value::string);
    id.map(|id| hash(id.as_bytes()))
}

const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

pub(crate) static URL_ELICITATION: Invariant = Invariant {
    code: Code(84),
    category: "elicitation",
    property: "the error -32042 lists URL elicitations, each with an `elicitationId`",
    levels: Levels::NOWHERE.must(R4),
    carriers: Carriers::ANY,
    who: Responsible::Server,
    basis: Basis::Message,
    source: "client/elicitation §URL Elicitation Required Error (2025-11-25)",
    why: "The client opens what is listed and waits for `notifications/elicitation/complete` with the same id.",
    holds: r#"
        handshake 2025-11-25 {"tools":{}} {"elicitation":{"url":{}}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"sign in","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://example.com","message":"sign in"}]}}}
    "#,
    breaks: r#"
        handshake 2025-11-25 {"tools":{}} {"elicitation":{"url":{}}}
        > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"sign in","data":{"elicitations":[]}}}
    "#,
    checks: &[Check::AnyResponse(url_elicitation)],
};

fn url_elicitation(case: &Case<'_>, out: &mut Out<'_>) {
    if case.message.error_code() != Some(-32_042) {
        return;
    }
    let fail = |what: &str| Fault::new(case.sender(), what).at(case.message, "/error");
    let error = case.message.error();
    let list = error.and_then(|error| error.at(&["data", "elicitations"]));
    let Some(list) = list.filter(|list| list.is_array() && list.len() > 0) else {
        return out.fail(fail("the error -32042 lists no elicitation"));
    };
    let mut bad = false;
    list.elements(|one| {
        let url = one.get("mode").is_some_and(|mode| mode.is("url"));
        bad |= !url || !one.get("elicitationId").is_some_and(Value::is_string);
    });
    if bad {
        out.fail(fail(
            "an elicitation of the error -32042 is of another mode or has no `elicitationId`",
        ));
    } else {
        out.pass();
    }
}
