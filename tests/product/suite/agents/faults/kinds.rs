//! Every kind of fault, before a server that is a URL.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};
use tapewright_engine::fault::kinds;

use super::super::super::stage::Stage;
use super::super::provider;
use super::{Server, live_and_replayed, suite};

/// A fault, for how long a call is waited for, which of both calls of `add` failed, and a
/// text in the first result.
#[derive(Clone, Copy)]
struct Case {
    wire: &'static str,
    wait_ms: u32,
    /// `None` if the result is random.
    failed: Option<[bool; 2]>,
    text: &'static str,
}

const fn answered(wire: &'static str) -> Case {
    Case {
        wire,
        wait_ms: 60_000,
        failed: Some([false, false]),
        text: "5",
    }
}

const fn failed(wire: &'static str, text: &'static str) -> Case {
    Case {
        wire,
        wait_ms: 60_000,
        failed: Some([true, true]),
        text,
    }
}

const fn silent(wire: &'static str) -> Case {
    Case {
        wire,
        wait_ms: 300,
        failed: Some([true, true]),
        text: "no answer within 300 ms",
    }
}

const CASES: [Case; 23] = [
    silent("hang tool=add"),
    silent("wedged tool=add"),
    answered("slow tool=add delay_ms=50"),
    Case {
        wire: "recover_after tool=add failures=1",
        wait_ms: 6_000,
        failed: Some([true, false]),
        text: "no answer within 6000 ms",
    },
    answered("latency method=* latency_ms=20"),
    Case {
        wait_ms: 2_000,
        ..failed("timeout tool=add timeout_ms=100", "")
    },
    failed("error tool=add code=-32007", "-32007"),
    failed("http-status tool=add status=503", "503"),
    failed("reset tool=add", ""),
    answered("slow-trickle tool=add bytes_per_s=5000"),
    answered("slicer tool=add size=7"),
    Case {
        wait_ms: 2_000,
        ..failed("truncate tool=add bytes=20", "")
    },
    failed("garbage tool=add", "not a JSON-RPC message"),
    failed("duplicate tool=add", "not a JSON-RPC message"),
    answered("reorder tool=add within_ms=50"),
    failed("drop tool=add", "without a message"),
    failed("wrong-id tool=add", "a different request"),
    silent("late-after-cancel tool=add"),
    answered("oversize tool=add bytes=2000"),
    answered("stderr-flood tool=add bytes=1000"),
    silent("stdin-stall tool=add"),
    failed("exit tool=add", ""),
    answered("list-change method=tools/list"),
];

impl Case {
    fn kind(&self) -> &'static str {
        self.wire.split(' ').next().expect("a kind")
    }

    fn agent(&self) -> String {
        let kind = self.kind();
        let mut text = format!(
            "  - name: {kind}\n    model: claude-sonnet-4-5\n    servers: [peer]\n    prompt: Add.\n    inject: [{kind}]\n    recovery: {{ max_detection_ms: {} }}\n    expect:\n",
            self.wait_ms
        );
        let failed = self.failed.into_iter().flatten().enumerate();
        for (index, failed) in failed {
            writeln!(
                text,
                "      - {{ target: \"tool_results[{index}].isError\", matcher: {{ exact: {failed} }} }}"
            )
            .expect("a text");
        }
        let contains = self.text;
        writeln!(
            text,
            "      - {{ target: \"tool_results[0].result.content[0].text\", matcher: {{ contains: \"{contains}\" }} }}"
        )
        .expect("a text");
        text
    }
}

/// The kinds of the faults that acted, according to all tapes.
fn acted(stage: &Stage) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(stage.path("state")).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        let text = fs::read_to_string(path).expect("a tape");
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let what = &line["faulted"];
            if let Some(kind) = what["kind"].as_str().filter(|_| what["did"] != "not_done") {
                all.insert(kind.to_owned());
            }
        }
    }
    all
}

#[test]
fn every_kind_reaches_the_model_over_streamable_http() {
    all_kinds(|server| server.url().to_owned(), |case| case);
}

#[test]
fn every_kind_reaches_the_model_over_http_with_sse() {
    all_kinds(Server::legacy, |case| match case.kind() {
        // Answers come on a stream, where each line is a separate event.
        "garbage" | "duplicate" => answered(case.wire),
        "drop" | "wrong-id" => silent(case.wire),
        // The answer may come on the stream before the status does.
        "http-status" => Case {
            failed: None,
            text: "",
            ..case
        },
        _ => case,
    });
}

fn all_kinds(url: impl Fn(&Server) -> String, here: impl Fn(Case) -> Case) {
    let cases = CASES.map(here);
    let (stage, server) = (Stage::new(), Server::suite());
    let add = json!({"tools": [{"name": "add", "arguments": {"a": 2, "b": 3}}]});
    let provider = provider(&json!([add, add, {"text": "done"}]));
    let faults: Vec<_> = cases.iter().map(|case| (case.kind(), case.wire)).collect();
    let agents: String = cases.iter().map(Case::agent).collect();
    let rows = live_and_replayed(&stage, &provider, &suite(&url(&server), &faults, &agents));
    for (case, pair) in cases.iter().zip(rows.chunks(2)) {
        let [(name, status, why), (_, recovery, told)] = pair else {
            panic!("{pair:?}");
        };
        assert_eq!(
            (name.as_str(), status.as_str()),
            (case.kind(), "pass"),
            "{why}"
        );
        assert_eq!(recovery, "pass", "{name}: {told}");
        if let Some(failed) = case.failed {
            let failed = failed.iter().filter(|failed| **failed).count();
            let count = format!("calls that failed by a fault: {failed}; ");
            assert!(told.starts_with(&count), "{name}: {told}");
        }
    }
    let all: BTreeSet<_> = kinds::ALL.iter().map(|kind| kind.name.to_owned()).collect();
    // A fault that may come too late to have an effect need not have acted.
    let late = cases.iter().filter(|case| case.failed.is_none());
    let late = late.map(|case| case.kind().to_owned());
    let acted: BTreeSet<_> = acted(&stage).into_iter().chain(late).collect();
    assert_eq!(acted, all);
}
