//! The tools that models asked for, and the `tools/call` that carried each out.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Models, inspected};
use crate::support::http::json as answered;
use crate::support::{peer, tapewright};

/// The answer of a model that asks for tools.
pub(super) fn asking(uses: &[(&str, &str, Value)]) -> String {
    let blocks: Vec<Value> = uses
        .iter()
        .map(
            |(id, name, input)| json!({"type": "tool_use", "id": id, "name": name, "input": input}),
        )
        .collect();
    json!({"id": "m", "type": "message", "role": "assistant", "model": "claude-unheard-of",
        "content": blocks, "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 2}})
    .to_string()
}

fn exchange(models: &Models, body: &str, answer: &str) {
    let mut client = models.post("/anthropic/v1/messages", "", body);
    let mut server = models.anthropic.accept();
    let head = server.head();
    server.body(&head);
    server.send(answered("200 OK", "Connection: close\r\n", answer));
    let head = client.head();
    client.body(&head);
}

/// A client of a wrapped server, which is part of the recording.
pub(super) fn call_tools(recording: &str, folder: &Path, calls: &[(u64, &str, Value, Value)]) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tapewright"))
        .args(["record", "--label", "fs", "--"])
        .arg(peer())
        .args(["answer", "log"])
        .env("TAPEWRIGHT_RECORDING", recording)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    for (id, tool, arguments, meta) in calls {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments, "_meta": meta}});
        writeln!(input, "{call}").unwrap();
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// A recording of an agent whose model asked for four tools, of which its client called two, and
/// one that was not asked for; and the value of `TAPEWRIGHT_RECORDING`.
pub(crate) fn recording() -> (tempfile::TempDir, String) {
    recording_of("done")
}

/// The same with this result of the tools.
pub(super) fn recording_of(done: &str) -> (tempfile::TempDir, String) {
    let models = Models::start();
    let recording = models.gateway.line["TAPEWRIGHT_RECORDING"]
        .as_str()
        .unwrap()
        .to_owned();
    let asked = json!({"model": "claude-unheard-of", "max_tokens": 9, "messages": [{"role": "user", "content": "go"}]});
    let uses = [
        ("toolu_1", "mcp__fs__read", json!({"path": "a"})),
        ("toolu_2", "mcp__fs__list", json!({"n": 1})),
        ("toolu_3", "Bash", json!({"command": "ls"})),
        ("toolu_4", "mcp__fs__write", json!({})),
    ];
    exchange(&models, &asked.to_string(), &asking(&uses));
    let folder = models.gateway.folder.path().to_owned();
    let calls = [
        (1, "list", json!({"n": 1}), json!({})),
        (
            2,
            "read",
            json!({"path": "b"}),
            json!({"claudecode/toolUseId": "toolu_1"}),
        ),
        (3, "ping", json!({}), json!({})),
    ];
    call_tools(&recording, &folder, &calls);
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": done});
    let told = json!({"model": "claude-unheard-of", "max_tokens": 9, "messages": [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "text", "text": "…"}]},
        {"role": "user", "content": [result("toolu_1"), result("toolu_2"), result("toolu_3")]},
    ]});
    exchange(&models, &told.to_string(), &asking(&[]));
    (models.stop().0, recording)
}

#[test]
fn each_tool_use_is_linked_with_the_call_that_carried_it_out_across_the_tapes_of_a_recording() {
    let (folder, recording) = recording();
    let run = folder.path().join("run");
    let whole = inspected(&run);
    assert_eq!(whole["parts"].as_array().unwrap().len(), 2);
    assert!(recording.starts_with(whole["recording"].as_str().unwrap()));
    let links: Vec<String> = whole["tools_asked"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            format!(
                "{} {} {} {}",
                one["name"], one["fate"], one["how"], one["guess"]
            )
            .replace('"', "")
        })
        .collect();
    assert_eq!(
        links,
        [
            "mcp__fs__read called id false",
            "mcp__fs__list called arguments false",
            "Bash elsewhere null false",
            "mcp__fs__write never null false",
        ]
    );
    assert_eq!(whole["tools_asked"][0]["by"]["file"], "fs.tape.jsonl");
    assert_eq!(whole["tools_unasked"][0]["tool"], "ping");
    text_and_prices(&run);
}

/// The output for people, without prices of the model and with them.
fn text_and_prices(run: &Path) {
    let prices = run.with_file_name("prices.json");
    let list = json!({"date": "2026-11-25", "source": "a list",
        "models": {"claude-unheard-of": {"input": 1000.0, "output": 1000.0}}});
    std::fs::write(&prices, list.to_string()).unwrap();
    let said = |options: &[&str]| {
        let output = tapewright()
            .arg("inspect")
            .args(options)
            .arg(run)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = said(&[]);
    for line in [
        "claude-unheard-of, 3 tokens in, 2 out, cost unknown, asks for",
        "    in all: cost unknown\n",
        "  tools that models asked for: 4 times\n",
        "    mcp__fs__read: read of fs, event ",
        "    Bash: done by the agent, or by a server that was not recorded\n",
        "    mcp__fs__write: never done\n",
        "  tools that no model asked for: 1 call\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let text = said(&["--prices", prices.to_str().unwrap()]);
    assert!(text.contains("    in all: 1.00 ct\n"), "{text}");
    std::fs::write(&prices, "{}").unwrap();
    let output = tapewright()
        .arg("inspect")
        .arg(run)
        .arg("--prices")
        .arg(&prices)
        .output();
    assert_eq!(output.unwrap().status.code(), Some(2));
}
