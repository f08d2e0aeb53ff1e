//! An agent that is played again: its servers start several times, or on another machine.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::provider::Provider;
use crate::support::system::HOME;
use crate::support::{peer, tapewright};

/// The common part of every agent here: asks a model, as `ask_model BODY`.
const ASK: &str = r#"
ask_model() {
    "$PEER" post "$ANTHROPIC_BASE_URL/v1/messages" "$1" 'x-api-key: sk-told' 'anthropic-version: 2023-06-01'
}
"#;

/// A server that answers each line with the number of its start.
const SERVER: &str = r#"while read -r line; do
    id=${line#*\"id\":}
    echo "{\"jsonrpc\":\"2.0\",\"id\":${id%%,*},\"result\":{\"start\":$1}}"
done"#;

/// Runs an agent with the recorder, in a folder with a separate home.
fn run(
    arguments: &[&str],
    agent: &str,
    folder: &Path,
    home: &Path,
    set: &[(&str, &str)],
) -> Output {
    let temporary = folder.join("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    let mut command: Command = tapewright();
    command
        .args(arguments)
        .args(["--", "sh", "-c", &format!("{ASK}{agent}")])
        .env("RECORDER", env!("CARGO_BIN_EXE_tapewright"))
        .env("PEER", peer())
        .env("SERVER", SERVER)
        .env(HOME, home)
        .env("TMPDIR", temporary)
        .env("TAPEWRIGHT_HOME", folder.join("state"))
        .envs(set.iter().copied())
        .env_remove("ANTHROPIC_BASE_URL")
        .current_dir(folder)
        .stdin(Stdio::null());
    command.output().unwrap()
}

fn provider(turns: &Value) -> (Provider, String) {
    let provider = Provider::start(&json!({"key": "sk-told", "turns": turns}));
    let option = format!("anthropic={}", provider.url());
    (provider, option)
}

const TWO_STARTS: &str = r#"
ask_model '{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":"go"}]}' > /dev/null
start() {
    number=$1
    shift
    for name in "$@"; do
        echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"$name\"}}"
    done | "$RECORDER" record --label fs -- sh -c "$SERVER" sh "$number"
}
start 1 $FIRST
start 2 $SECOND
"#;

/// The start that answered each line.
fn starts(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    let start =
        |line: &str| serde_json::from_str::<Value>(line).unwrap()["result"]["start"].clone();
    text.lines().map(start).collect()
}

#[test]
fn each_start_of_a_server_plays_the_tape_of_that_start_and_finds_the_rest_in_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let (provider, option) = provider(&json!([{"text": "done"}]));
    let record = ["record", "--models", "-o", "run/", "--provider", &option];
    let order = |first: &'static str, second: &'static str| [("FIRST", first), ("SECOND", second)];
    let set = order("both", "other both both more");
    let live = run(&record, TWO_STARTS, here, here, &set);
    assert_eq!(starts(&live), [1, 2, 2, 2, 2]);
    drop(provider);
    assert!(here.join("run/fs.2.tape.jsonl").exists());
    let replay = ["replay", "run/", "--models"];
    let played =
        |first, second| starts(&run(&replay, TWO_STARTS, here, here, &order(first, second)));
    // In the recorded order; including the shorter tape, which is that of the first start.
    assert_eq!(played("both", "other both both more"), [1, 2, 2, 2, 2]);
    // A request that a start did not send when it was recorded was sent by another one.
    assert_eq!(played("both more", "other"), [1, 2, 2]);
    // Nothing remains of the data that distinguishes starts.
    let left = std::fs::read_dir(here.join("tmp")).unwrap();
    assert_eq!(left.count(), 0);
}

#[cfg(unix)]
const AT_HOME: &str = r#"
ask_model "{\"model\":\"claude-x\",\"max_tokens\":9,\"system\":\"You work in $PWD, the home is $HOME.\",\"messages\":[{\"role\":\"user\",\"content\":\"read $PWD/a.txt and $HOME/.notes/b\"}]}"
"#;

// Windows does not learn the folders of a recording.
#[cfg(unix)]
#[test]
fn an_agent_of_another_home_and_another_folder_is_known_again() {
    let (there, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = |folder: &tempfile::TempDir, user: &str, work: &str| {
        let home = folder
            .path()
            .canonicalize()
            .unwrap()
            .join("home")
            .join(user);
        let work = home.join(work);
        std::fs::create_dir_all(&work).unwrap();
        (home, work)
    };
    let (ann, project) = place(&there, "ann", "project");
    let (bob, elsewhere) = place(&here, "bob", "src/work");
    let said = format!("it is in {}/a.txt", project.display());
    let (provider, option) = provider(&json!([{"text": said}]));
    let record = ["record", "--models", "-o", "run/", "--provider", &option];
    let live = run(&record, AT_HOME, &project, &ann, &[]);
    assert!(
        String::from_utf8_lossy(&live.stdout).contains(&said),
        "{live:?}"
    );
    drop(provider);
    std::fs::rename(project.join("run"), elsewhere.join("run")).unwrap();
    // Folders below temporary ones would be the same without any mapping.
    let replay = [
        "replay", "run/", "--models", "--strict", "--match", "strict",
    ];
    let again = run(&replay, AT_HOME, &elsewhere, &bob, &[]);
    let text = String::from_utf8_lossy(&again.stdout);
    let wanted = format!("it is in {}/a.txt", elsewhere.display());
    assert!(text.contains(&wanted), "{text}");
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    let unlearned = [&replay[..], &["--no-learned-map"]].concat();
    let again = run(&unlearned, AT_HOME, &elsewhere, &bob, &[]);
    let text = String::from_utf8_lossy(&again.stdout);
    assert!(text.contains("no recorded model call matches"), "{text}");
    assert_eq!(again.status.code(), Some(1), "{again:?}");
}
