//! Tasks in the form of 2025-11-25.

use tapewright_schemas::json;

use super::super::case::{Case, Kind, Severity};
use super::super::fold::{Fold, Out, Seen, What};
use super::deprecated::client_capability;

pub(super) static LIST: Case = Case {
    id: "tasks-list-removed",
    kind: Kind::TasksExtension,
    severity: Severity::High,
    spec_version: super::TARGET,
    summary: "`tasks/list` is used or offered",
    old_contract: "`tasks/list` lists all tasks of a session, where `tasks.list` is declared",
    new_contract: "`tasks/list` is gone: a task is known only by its id",
    detection_signal: "a request `tasks/list`, or the capability `tasks.list`",
    replacement: "keep the ids of tasks that you start, and ask for each with `tasks/get`",
    doc_link: "https://modelcontextprotocol.io/specification/2026-07-28/changelog",
    sep: "SEP-2663",
    begin: || {
        Box::new(Tasks {
            only_list: true,
            known: false,
        })
    },
};

pub(super) static EXPERIMENTAL: Case = Case {
    id: "experimental-tasks-api",
    kind: Kind::TasksExtension,
    severity: Severity::Medium,
    spec_version: super::TARGET,
    summary: "the experimental tasks of 2025-11-25 are used or offered",
    old_contract: "`task` in the parameters of a request, `tasks/result`, and the capability `tasks`",
    new_contract: "tasks are the extension `io.modelcontextprotocol/tasks`: a server may answer with `resultType` \"task\", `tasks/get` carries the result, `tasks/update` the input",
    detection_signal: "the capability `tasks`, `task` in parameters or results, `tasks/result`, `execution.taskSupport`",
    replacement: "declare the extension `io.modelcontextprotocol/tasks`, and poll `tasks/get` until it holds the result",
    doc_link: "https://modelcontextprotocol.io/specification/2026-07-28/changelog",
    sep: "SEP-2663",
    begin: || {
        Box::new(Tasks {
            only_list: false,
            known: false,
        })
    },
};

#[derive(Debug)]
struct Tasks {
    // Whether it is only about the list, or about everything else.
    only_list: bool,
    // The capabilities of a peer were seen.
    known: bool,
}

impl Fold for Tasks {
    fn message(&mut self, seen: &Seen<'_>, out: &mut Out) {
        match &seen.what {
            What::Request { method, params } => self.request(seen, method, *params, out),
            What::Notification { method, .. } => {
                if !self.only_list && *method == "notifications/tasks/status" {
                    let what = "the status of a task is reported by `notifications/tasks/status`";
                    out.fail(seen.side(), seen.seq, "/method", what);
                }
            }
            What::Result { asked, result } => self.result(seen, &asked.method, result, out),
            What::Error { .. } => {}
        }
    }

    fn undecided(&self) -> String {
        "no capabilities crossed, and no task".to_owned()
    }
}

impl Tasks {
    fn request(&mut self, seen: &Seen<'_>, method: &str, params: Option<&[u8]>, out: &mut Out) {
        if self.only_list {
            if method == "tasks/list" {
                out.fail(seen.side(), seen.seq, "/method", "`tasks/list` is asked");
            }
        } else if method == "tasks/result" {
            out.fail(seen.side(), seen.seq, "/method", "`tasks/result` is asked");
        } else if params.is_some_and(|params| json::find(params, &["task"]).is_some_and(is_object))
        {
            let what = format!("`{method}` asks to be run as a task");
            out.fail(seen.side(), seen.seq, "/params/task", &what);
        }
        let (declared, pointer) = client_capability(seen, "tasks");
        if let Some(tasks) = declared {
            self.declared(seen, tasks, &pointer, out);
        }
    }

    fn result(&mut self, seen: &Seen<'_>, method: &str, result: &[u8], out: &mut Out) {
        match method {
            "initialize" | "server/discover" => {
                self.known = true;
                let pointer = "/result/capabilities/tasks";
                match json::find(result, &["capabilities", "tasks"]) {
                    Some(tasks) => self.declared(seen, tasks, pointer, out),
                    None => out.pass(
                        seen.side(),
                        seen.seq,
                        "/result/capabilities",
                        "the capability `tasks` is not declared",
                    ),
                }
            }
            "tools/list" if !self.only_list => {
                if let Some(number) = supported(result) {
                    let pointer = format!("/result/tools/{number}/execution/taskSupport");
                    let what = "a tool says by `execution.taskSupport` that it may run as a task";
                    out.fail(seen.side(), seen.seq, &pointer, what);
                }
            }
            "tasks/list" if self.only_list => {
                out.fail(seen.side(), seen.seq, "/result", "`tasks/list` is answered");
            }
            _ if !self.only_list && method != "tasks/get" => {
                let extension = json::find(result, &["resultType"]) == Some(b"\"task\"");
                if !extension && json::find(result, &["task", "taskId"]).is_some() {
                    let what = "a request was answered with a task of 2025-11-25";
                    out.fail(seen.side(), seen.seq, "/result/task", what);
                }
            }
            _ => {}
        }
    }

    fn declared(&mut self, seen: &Seen<'_>, tasks: &[u8], pointer: &str, out: &mut Out) {
        self.known = true;
        if !self.only_list {
            out.fail(
                seen.side(),
                seen.seq,
                pointer,
                "the capability `tasks` is declared",
            );
        } else if json::find(tasks, &["list"]).is_some() {
            let pointer = format!("{pointer}/list");
            out.fail(
                seen.side(),
                seen.seq,
                &pointer,
                "the capability `tasks.list` is declared",
            );
        } else {
            let what = "the capability `tasks` is declared without `list`";
            out.pass(seen.side(), seen.seq, pointer, what);
        }
    }
}

/// The first tool that can, or must, be run as a task.
fn supported(result: &[u8]) -> Option<usize> {
    let tools = json::find(result, &["tools"])?;
    if tools.first() != Some(&b'[') || is_silent(tools) {
        return None;
    }
    let (mut number, mut found) = (0, None);
    json::valid_elements(tools, |tool| {
        let support = json::find(tool.of(tools), &["execution", "taskSupport"]);
        if found.is_none() && support.is_some_and(|word| word != b"\"forbidden\"") {
            found = Some(number);
        }
        number += 1;
    });
    found
}

/// Whether it does not mention tasks, which saves parsing most lists.
fn is_silent(tools: &[u8]) -> bool {
    !tools
        .windows(b"taskSupport".len())
        .any(|part| part == b"taskSupport")
}

fn is_object(source: &[u8]) -> bool {
    source.first() == Some(&b'{')
}
