//! `tapewright diff`.

use serde_json::{Value, json};

use super::golden::{TAPE, folder, golden, run};

/// A cassette of these exchanges.
fn cassette(exchanges: &[(Value, Value)]) -> String {
    let all = exchanges.iter().enumerate();
    let all: Vec<Value> = all
        .map(|(id, (request, response))| {
            let (mut request, mut response) = (request.clone(), response.clone());
            for one in [&mut request, &mut response] {
                one["jsonrpc"] = json!("2.0");
                one["id"] = json!(id);
            }
            json!({"request": request, "response": response})
        })
        .collect();
    json!({"version": "1", "exchanges": all}).to_string()
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({"method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

fn said(text: &str) -> Value {
    json!({"result": {"content": [{"type": "text", "text": text}]}})
}

fn tools(all: &Value) -> Value {
    json!({"result": {"tools": all}})
}

fn tool(name: &str, what: &str) -> Value {
    json!({"name": name, "description": what, "inputSchema": {"type": "object"}})
}

fn before() -> String {
    let long = format!("{}x{}", "a".repeat(2_000), "b".repeat(1_999));
    cassette(&[
        (
            json!({"method": "tools/list"}),
            tools(&json!([tool("a", "the first"), tool("b", "the second")])),
        ),
        (call("a", &json!({"n": 1})), said(&long)),
        (
            call("a", &json!({"n": 2})),
            said("at 2026-11-21T04:09:32Z, 6fa459ea-ee8a-3ca4-894e-db77e160355e"),
        ),
        (call("b", &json!({"now": 5})), said("b")),
        (json!({"method": "ping"}), json!({"result": {}})),
    ])
}

fn after() -> String {
    let long = format!("{}y{}", "a".repeat(2_000), "b".repeat(1_999));
    cassette(&[
        (
            json!({"method": "tools/list"}),
            tools(&json!([
                tool("new", "put in front"),
                tool("a", "the first"),
                tool("b", "another second")
            ])),
        ),
        (
            call("a", &json!({"n": 2})),
            said("at 2027-01-02T03:04:05Z, 0190d5a2-7c1e-7b3a-9f00-ab12cd34ef56"),
        ),
        (call("a", &json!({"n": 1})), said(&long)),
        (call("b", &json!({"now": 6})), said("b")),
        (
            json!({"method": "prompts/list"}),
            json!({"result": {"prompts": []}}),
        ),
    ])
}

#[test]
fn two_recordings_are_compared_exchange_by_exchange() {
    let folder = folder(&[("a.json", &before()), ("b.json", &after())]);
    golden("diff_pretty", folder.path(), &["diff", "a.json", "b.json"]);
    golden(
        "diff_markdown",
        folder.path(),
        &["diff", "a.json", "b.json", "--format", "markdown"],
    );
    golden(
        "diff_github",
        folder.path(),
        &["diff", "a.json", "b.json", "--format", "github"],
    );
    golden(
        "diff_json",
        folder.path(),
        &["diff", "a.json", "b.json", "--json"],
    );
}

#[test]
fn what_is_new_in_every_session_counts_only_when_it_is_asked_for() {
    let of = |text: &str| cassette(&[(call("a", &json!({})), said(text))]);
    let one = of("id 6fa459ea-ee8a-3ca4-894e-db77e160355e");
    let other = of("id 0190d5a2-7c1e-7b3a-9f00-ab12cd34ef56");
    let folder = folder(&[("a.json", &one), ("b.json", &other)]);
    let diff = |more: &[&str]| {
        run(
            folder.path(),
            &[&["diff", "a.json", "b.json"][..], more].concat(),
        )
    };
    let (status, text, _) = diff(&[]);
    assert_eq!(status, 0, "{text}");
    let (status, text, _) = diff(&["--exact"]);
    assert_eq!(status, 1, "{text}");
    let (status, text, _) = diff(&["--exact", "--ignore", "/result/content/0/text"]);
    assert_eq!(status, 0, "{text}");
}

#[test]
fn a_recording_is_the_same_as_itself_in_every_form() {
    let folder = folder(&[("fs.tape.jsonl", TAPE)]);
    for (format, name) in [("cassette", "a.json"), ("capture", "b.capture.json")] {
        let export = ["export", "fs.tape.jsonl", "--as", format, "-o", name];
        assert_eq!(run(folder.path(), &export).0, 0);
    }
    for other in ["fs.tape.jsonl", "a.json"] {
        let (status, text, _) = run(folder.path(), &["diff", "fs.tape.jsonl", other, "--exact"]);
        assert_eq!(status, 0, "{other}: {text}");
        assert!(text.contains("3 the same"), "{text}");
    }
    let wire = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wire");
    for tape in ["handshake-stdio", "handshake-http", "stateless-http"] {
        let tape = format!("{wire}/{tape}.tape.jsonl");
        let (status, text, _) = run(folder.path(), &["diff", &tape, &tape, "--exact"]);
        assert_eq!(status, 0, "{tape}: {text}");
    }
}

#[test]
fn what_cannot_be_judged_is_no_success() {
    let folder = folder(&[("a.json", &before()), ("b.json", "{}")]);
    assert_eq!(run(folder.path(), &["diff", "a.json", "b.json"]).0, 2);
    assert_eq!(run(folder.path(), &["diff", "a.json", "c.json"]).0, 2);
    let (status, _, said) = run(
        folder.path(),
        &["diff", "a.json", "a.json", "--ignore", "x"],
    );
    assert_eq!(status, 2, "{said}");
}

/// At least ten answers on either side, with longer durations later.
fn timed(took_us: u64) -> String {
    let mut text = TAPE.lines().next().unwrap().to_owned() + "\n";
    for id in 0..12_u64 {
        let at = id * 100_000;
        for (seq, at, dir, rest) in [
            (
                id * 2 + 1,
                at,
                "to_server",
                "\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}",
            ),
            (
                id * 2 + 2,
                at + took_us + id * 50,
                "to_client",
                "\"result\":{}",
            ),
        ] {
            text.extend([format!(
                "{{\"seq\":{seq},\"at_us\":{at},\"dir\":\"{dir}\",\"message\":{{\"jsonrpc\":\"2.0\",\"id\":{id},{rest}}}}}\n"
            )]);
        }
    }
    text + "{\"end\":{\"at_us\":2000000,\"events\":24,\"complete\":true}}\n"
}

#[test]
fn latency_is_told_where_it_moved_and_is_no_difference() {
    let folder = folder(&[
        ("a.tape.jsonl", &timed(10_000)),
        ("b.tape.jsonl", &timed(30_000)),
    ]);
    let (status, text, _) = run(folder.path(), &["diff", "a.tape.jsonl", "b.tape.jsonl"]);
    assert_eq!(status, 0, "{text}");
    assert!(
        text.contains(
            "tools/call a took 10.3 ms before and takes 30.3 ms after: medians of 12 answers"
        ),
        "{text}"
    );
    let (_, text, _) = run(folder.path(), &["diff", "a.tape.jsonl", "a.tape.jsonl"]);
    assert!(!text.contains("takes"), "{text}");
}
