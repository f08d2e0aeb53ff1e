//! Every example of every `--help` is run as printed, with other files, servers and addresses in
//! place of the names.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::helps::{commands, help};
use crate::support::http::Gateway;
use crate::support::provider::Provider;
use crate::support::system::make_executable;
use crate::support::{eventually, peer, signal, wait};

/// Commands that run until they are stopped.
const SERVERS: [&str; 3] = ["--listen", "--forward-proxy", "tapewright view "];
const PATIENCE: Duration = Duration::from_secs(60);

/// Without a key, a stub replaces the model.
const AGENTS: &str = "servers:\n  fs: { command: [npx] }\nagents:\n  - { name: sums, model: claude-sonnet-4-5, servers: [fs], prompt: What is 2 + 3? }\n";

/// Without a key it is deferred.
const EVALS: &str = "servers:\n  fs: { command: [npx] }\nevals:\n  - { name: sum, server: fs, prompt: What is 2 + 3?, rubric: It is 5. }\n";

const SUITE: &str = "servers:\n  fs: { command: [\"${PEER}\", \"suite\"] }\ntools:\n  - { name: smoke, server: fs, tool: echo, tags: [smoke] }\n  - { name: other, server: fs, tool: echo, args: { message: hello } }\n";

fn examples() -> Vec<String> {
    let mut examples = Vec::new();
    for words in commands() {
        let help = help(&words);
        let Some((_, listed)) = help.split_once("\nExamples:\n") else {
            continue;
        };
        let listed = listed.replace("\\\n     ", "");
        let lines = listed.lines().take_while(|line| line.starts_with("  "));
        examples.extend(lines.map(|line| line.trim().to_owned()));
    }
    assert!(examples.len() > 30, "{examples:#?}");
    examples
}

/// A program with this name, which is a server, whatever its arguments are.
pub(crate) fn stand_in(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a file");
    make_executable(&path);
}

/// Everything that the examples name.
pub(crate) fn furnish(folder: &Path) {
    let server = format!("exec '{}' suite", peer().display());
    let programs = folder.join("bin");
    fs::create_dir_all(&programs).expect("a folder");
    for name in ["npx", "node", "python"] {
        stand_in(&programs, name, &server);
    }
    stand_in(&programs, "jq", "cat");
    stand_in(&programs, "claude", "exit 0");
    stand_in(folder, "server", &server);
    for name in ["suites", "cassettes", "recordings", ".zfunc"] {
        fs::create_dir_all(folder.join(name)).expect("a folder");
    }
    fs::create_dir_all(folder.join(".local/share/bash-completion/completions")).expect("a folder");
    fs::create_dir_all(folder.join(".cursor")).expect("a folder");
    crate::replay::models::recording(&folder.join("runs/one"));
    let servers = "{ \"mcpServers\": { \"fs\": { \"command\": \"npx\" } } }";
    fs::write(folder.join(".cursor/mcp.json"), servers).expect("a file");
    for name in ["suite.yaml", "tapewright.yaml", "suites/one.yaml"] {
        fs::write(folder.join(name), SUITE).expect("a file");
    }
    fs::write(folder.join("agents.yaml"), AGENTS).expect("a file");
    baselines(folder);
    fs::write(folder.join("evals.yaml"), EVALS).expect("a file");
    let prices = r#"{"date": "2026-11-25", "source": "a list", "models": {}}"#;
    fs::write(folder.join("prices.json"), prices).expect("a file");
    let calibration = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/calibration");
    let judgements = "judgements/examples/eval__calibration.json";
    fs::create_dir_all(folder.join("judgements/examples")).expect("a folder");
    for name in ["examples.yaml", judgements] {
        fs::copy(calibration.join(name), folder.join(name)).expect("a copy");
    }
    // The suite's requests are in the recording.
    let done = shell(
        folder,
        "tapewright run suite.yaml --record=made --no-env-file",
    )
    .status();
    assert!(done.expect("a shell").success());
    for name in ["fs", "api", "session", "cassettes/one", "recordings/one"] {
        for end in ["json", "tape.jsonl"] {
            let made = folder.join(format!("made/fs.{end}"));
            fs::copy(made, folder.join(format!("{name}.{end}"))).expect("a copy");
        }
    }
    let http = include_str!("../../wire/handshake-http.tape.jsonl");
    fs::write(folder.join("http.tape.jsonl"), http).expect("a file");
}

/// The cassette of the agent test, and baselines that are made from it.
fn baselines(folder: &Path) {
    let cassette = r#"{"schema_version": "v1", "agent_name": "sums", "model": "claude-sonnet-4-5", "user_prompt": "What is 2 + 3?",
        "system_prompt": null, "recorded_at": "2026-11-25T00:00:00Z", "trace": {"tool_calls": [], "tool_results": [], "final_response": "5",
        "conversation": {"tokens": {"prompt": 1, "completion": 1, "total": 2}, "duration_ms": 1, "message_count": 2,
        "stop_reason": "completed", "turns": [{"role": "assistant", "content": "5"}]}}}"#;
    for model in ["claude-sonnet-4-5", "claude-sonnet-5"] {
        let path = folder.join(format!("cassettes/sums__{model}.json"));
        fs::write(path, cassette.replace("claude-sonnet-4-5", model)).expect("a file");
    }
    let line = "tapewright model-baseline capture agents.yaml -o baseline.json --no-env-file";
    assert!(shell(folder, line).status().expect("a shell").success());
    for name in ["sonnet-4.json", "sonnet-5.json"] {
        fs::copy(folder.join("baseline.json"), folder.join(name)).expect("a copy");
    }
}

pub(crate) fn shell(folder: &Path, line: &str) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_tapewright"));
    let path = std::env::var("PATH").unwrap_or_default();
    let beside = binary.parent().expect("a folder").display().to_string();
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(folder)
        .env("PATH", format!("{}/bin:{beside}:{path}", folder.display()))
        .env("HOME", folder)
        .env("TAPEWRIGHT_HOME", folder.join("state"))
        .env("TOKEN", "Bearer not-a-secret")
        .env("PEER", peer())
        .env_remove("CI")
        .stdin(Stdio::null());
    command
}

/// A path as a word for a shell, even if it has spaces.
fn in_shell(folder: &Path) -> String {
    folder.display().to_string().replace(' ', "\\ ")
}

/// The example with addresses of this machine.
pub(crate) fn local(example: &str, folder: &Path, url: &str) -> String {
    example
        .replace("/tmp/", &format!("{}/", in_shell(folder)))
        .replace("https://mcp.example.com/mcp", url)
        .replace("--listen 4000", "--listen 127.0.0.1:0")
        .replace("--forward-proxy 4000", "--forward-proxy 127.0.0.1:0")
}

/// The example with a provider, if it asks a model.
fn asked(example: String, provider: &Provider) -> String {
    if !example.contains(" --live") {
        return example;
    }
    let url = provider.url();
    format!("ANTHROPIC_API_KEY=sk-of-nobody ANTHROPIC_BASE_URL={url} {example}")
}

/// Runs an example that ends by itself, and reports if it does not succeed.
fn run(folder: &Path, line: &str) -> Option<String> {
    let output = shell(folder, line).output().expect("a shell");
    // `--strict` fails for a fake server that gets no request.
    let is_idle = line.contains("replay") && line.contains("--strict");
    // There is no terminal here.
    let is_view = line.contains("tapewright watch");
    let wanted = if is_view { 2 } else { i32::from(is_idle) };
    // The findings about a server of 2025-11-25 depend on the server.
    let judges = ["compliance doctor", "compliance run"];
    let found = judges.iter().any(|one| line.contains(one)) && output.status.code() == Some(1);
    // A model that is asked again may answer differently.
    let found =
        found || line.contains("model-baseline run") && matches!(output.status.code(), Some(1 | 6));
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    let text = format!("{line}: {}\n{out}{err}\n", output.status);
    (output.status.code() != Some(wanted) && !found).then_some(text)
}

/// Runs an example that serves until it is ended.
fn serve(folder: &Path, line: &str) {
    let said = folder.join("said");
    let out = fs::File::create(&said).expect("a file");
    let mut child = shell(folder, &format!("exec {line}"))
        .stderr(out.try_clone().expect("the same file"))
        .stdout(out)
        .spawn()
        .expect("a shell");
    let listens = eventually(PATIENCE, || {
        fs::read_to_string(&said)
            .is_ok_and(|text| text.contains("listening") || text.contains("{\"page\":"))
    });
    signal(child.id(), "TERM");
    wait(&mut child, PATIENCE);
    assert!(listens, "{line}");
}

/// Runs the examples that talk to a recorder that runs.
fn controlled(folder: &Path, lines: &[String]) -> Vec<String> {
    let control = format!("unix:{}/fs.sock", in_shell(folder));
    let mut recorder = shell(folder, &format!("exec tapewright record -o controlled.json --control {control} --fault 'hang tool=never' -- ./server"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a recorder");
    assert!(eventually(PATIENCE, || folder.join("fs.sock").exists()));
    let (tails, others): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.contains(" tail "));
    let mut children: Vec<_> = tails
        .iter()
        .map(|line| {
            shell(folder, line)
                .stdout(Stdio::null())
                .spawn()
                .expect("a shell")
        })
        .collect();
    let failed = others.iter().filter_map(|line| run(folder, line)).collect();
    drop(recorder.stdin.take());
    wait(&mut recorder, PATIENCE);
    for child in &mut children {
        assert!(wait(child, PATIENCE).success());
    }
    failed
}

#[test]
fn every_example_of_every_help_works() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path();
    furnish(folder);
    let server = peer().display().to_string();
    let remote = Gateway::start(&["--listen", "127.0.0.1:0", "--", &server, "suite"]);
    let url = remote.line["listening"].as_str().expect("a URL");
    let provider = Provider::start(&serde_json::json!({"turns": [{"text": "It is 5."}]}));
    let lines: Vec<String> = examples()
        .iter()
        .map(|line| local(line, folder, url))
        .map(|line| asked(line, &provider))
        .collect();
    let (controls, others): (Vec<_>, Vec<_>) = lines
        .into_iter()
        .partition(|line| line.contains("--control"));
    let mut failed = controlled(folder, &controls);
    for line in others {
        if SERVERS.iter().any(|option| line.contains(option)) {
            serve(folder, &line);
        } else {
            failed.extend(run(folder, &line));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
