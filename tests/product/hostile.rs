//! Text of a peer never controls a terminal or a CI, whichever command prints it, in any format.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::system::output;
use crate::support::tapewright;

/// Escape sequences in C0 and C1, the clipboard of a terminal (OSC 52), bidirectional control
/// characters, commands of GitHub Actions and of Azure Pipelines, and the end of an element.
const HOSTILE: &str = "::add-mask::a\n::stop-commands::b\r\n  ::set-output::c\u{1b}[2J\u{1b}]52;c;aGk=\u{7}\u{9b}31m\u{202e}\u{2066}##[add-mask]d ##vso[task.setvariable]e</failure>]]>--><b>\u{0}\u{fffe}";

/// A server that sends it in every place.
const SERVER: &str = r#"
hostile=$(cat "$1")
printf '\033]0;title\007 ::warning::stderr ##[group]x\n' >&2
while read -r line; do
  id=${line##*\"id\":}
  id=${id%%,*}
  id=${id%\}}
  case "$line" in
    *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"x":{%s:1}},"serverInfo":{"name":%s,"version":%s},"instructions":%s}}\n' "$id" "$hostile" "$hostile" "$hostile" "$hostile";;
    *'"method":"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":%s,"description":%s,"inputSchema":{"type":"object"}},{"name":"t","inputSchema":{"type":"object"}}]}}\n' "$id" "$hostile" "$hostile";;
    *'"method":"tools/call"'*) printf '{"jsonrpc":"2.0","method":%s,"params":{%s:%s}}\n' "$hostile" "$hostile" "$hostile"; printf '\033[31m::error::no json ##[x]\n'; printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}],"isError":%s,%s:1}}\n' "$id" "$hostile" "$hostile" "$hostile";;
    *'"id"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%s,"data":{%s:%s}}}\n' "$id" "$hostile" "$hostile" "$hostile";;
  esac
done
printf '{"jsonrpc":"2.0","id":"never asked","result":{%s:1}}\n' "$hostile"
exit 7
"#;

/// Returns what a text would control, if anything. Only in the format for GitHub, tapewright's own
/// workflow commands begin a line.
fn commands(text: &str, github: bool) -> Option<String> {
    let char = |char: char| {
        char.is_control() && !matches!(char, '\n' | '\t')
            || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}')
    };
    if let Some(found) = text.chars().find(|one| char(*one)) {
        let line = text.lines().find(|line| line.contains(found));
        return Some(format!("{found:?} in {line:?}"));
    }
    let ours = ["::error ", "::warning ", "::notice"];
    let bad = |line: &&str| {
        let start = line.trim_start();
        let command = start.starts_with("::")
            && !(github && ours.into_iter().any(|one| start.starts_with(one)));
        command || line.contains("##[") || line.contains("##vso[")
    };
    text.lines().find(bad).map(|line| format!("{line:?}"))
}

fn stage() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    // JSON in a peer's spelling: characters that need no escape have none.
    write("hostile", &serde_json::to_string(HOSTILE).unwrap());
    write("server.sh", SERVER);
    // YAML takes fewer characters as they are.
    let wanted = serde_json::to_string(&format!("{HOSTILE}!")).unwrap();
    let escaped = |char: char| match u32::from(char) {
        0x20..=0x7e => char.to_string(),
        code => format!("\\u{code:04x}"),
    };
    let wanted: String = wanted.chars().map(escaped).collect();
    let assertions = ["exact", "contains", "starts-with"].map(|name| {
        format!("{{ target: \"result.content[0].text\", matcher: {{ {name}: {wanted} }} }}")
    });
    let schema = "{ target: result, matcher: { schema: { additionalProperties: false, properties: { content: { maxItems: 0 } } } } }";
    let assertions = format!("[{}, {schema}]", assertions.join(", "));
    let suite = |server: &str| {
        format!(
            "servers:\n  s: {server}\ntools:\n  - {{ name: one, server: s, tool: t, args: {{ a: 1 }}, expect: {assertions} }}\n  - {{ name: two, server: s, tool: t, args: {{ a: 2 }} }}\nresources:\n  - {{ name: three, server: s, uri: \"x://y\" }}\ncompliance:\n  - {{ name: four, server: s, check: initialize, expect: {assertions} }}\n"
        )
    };
    let live = "{ command: [sh, server.sh, hostile] }";
    write("suite.yaml", &suite(live));
    write("replayed.yaml", &suite("{ cassette: rec/s.json }"));
    folder
}

fn run(folder: &Path, words: &[&str]) -> Vec<(&'static str, String)> {
    let mut command: Command = tapewright();
    command.current_dir(folder).args(words);
    command.env("TAPEWRIGHT_HOME", folder.join("home"));
    let output = output(command.stdin(std::process::Stdio::null())).unwrap();
    [("stdout", output.stdout), ("stderr", output.stderr)]
        .map(|(name, bytes)| (name, String::from_utf8(bytes).expect("UTF-8")))
        .into()
}

#[test]
fn nothing_that_a_peer_says_is_a_command() {
    let folder = stage();
    let mut wrong = Vec::new();
    let mut told = 0;
    let mut check = |words: &[&str]| {
        for (stream, text) in run(folder.path(), words) {
            let github = words.contains(&"github");
            told += usize::from(text.contains("add-mask"));
            // `record` forwards messages unchanged.
            let own = |line: &&str| !words.contains(&"record") || line.starts_with("tapewright:");
            let text: String = text
                .lines()
                .filter(own)
                .flat_map(|one| [one, "\n"])
                .collect();
            if let Some(found) = commands(&text, github) {
                wrong.push(format!("{} ({stream}): {found}", words.join(" ")));
            }
        }
    };
    check(&["run", "suite.yaml", "--record=rec"]);
    let tape = "rec/s.tape.jsonl";
    let formats = ["pretty", "json", "junit", "tap", "github", "markdown"];
    for format in formats {
        let reporter = ["--reporter", format];
        check(&[&["run", "suite.yaml"][..], &reporter].concat());
        check(&[&["run", "replayed.yaml"][..], &reporter].concat());
        check(&[&["run", "suite.yaml", "--capture", tape][..], &reporter].concat());
    }
    let invariants = ["compliance", "invariants", "--all", "--capture", tape];
    check(&invariants);
    for format in [
        "text", "json", "junit", "github", "markdown", "tap", "sarif",
    ] {
        check(&[&invariants[..], &["--format", format]].concat());
    }
    let server = ["--", "sh", "server.sh", "hostile"];
    check(&[&["verify", "rec/s.json"][..], &server].concat());
    for format in ["json", "junit", "github", "markdown", "tap"] {
        check(&[&["verify", "rec/s.json", "--format", format][..], &server].concat());
    }
    check(&["inspect", tape]);
    check(&["inspect", "--json", tape]);
    check(&["inspect", "rec/s.json"]);
    check(&["inspect", "rec"]);
    for file in [tape, "rec/s.json", "rec"] {
        for look in [&[][..], &["--full"], &["--json"], &["--json", "--full"]] {
            let show = ["show", file, "--all", "--stderr", "--http"];
            check(&[&show[..], look].concat());
        }
    }
    check(&[
        "show",
        tape,
        HOSTILE.split('\u{0}').next().unwrap_or_default(),
    ]);
    check(&["show", tape, "\u{1b}[31m##[x:y", "tol\u{9b}:x"]);
    check(&["export", tape, "--as", "suite"]);
    fs::write(
        folder.path().join("other.json"),
        fs::read_to_string(folder.path().join("rec/s.json"))
            .unwrap()
            .replace("\"text\":\"", "\"text\":\"!"),
    )
    .unwrap();
    for format in formats {
        for pair in [["rec/s.json", "other.json"], ["other.json", tape]] {
            check(&["diff", pair[0], pair[1], "--exact", "--format", format]);
        }
    }
    check(&[&["init", "-o", "-", "--all-tools"][..], &server].concat());
    check(&["scrub", "--check", tape, "rec/s.json"]);
    check(&["replay", "-v", "rec/s.json", "--report", "report.json"]);
    check(
        &[
            &["record", "-v", "--check", "--all", "-o", "again.json"][..],
            &server,
        ]
        .concat(),
    );
    assert!(told > 20, "{told}");
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn what_programs_read_means_what_was_said() {
    let folder = stage();
    run(folder.path(), &["run", "suite.yaml", "--record=rec"]);
    let inspected = run(folder.path(), &["inspect", "--json", "rec/s.tape.jsonl"]);
    let told: Value = serde_json::from_str(&inspected[0].1).unwrap();
    assert!(told.to_string().contains(&json!(HOSTILE).to_string()));
}
