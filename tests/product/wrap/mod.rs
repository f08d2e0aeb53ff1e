//! The recorder in the configuration of clients, and its removal, in a separate home.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::system::{HOME, STATE, assert_mode, set_mode};
use crate::support::{Session, native, peer, tapewright};

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(home.file("project")).unwrap();
        home
    }

    fn file(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.file(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = tapewright();
        command.args(words).current_dir(self.file("project"));
        command.env(HOME, self.0.path());
        command.env(STATE, self.file("state"));
        for name in ["XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"] {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, words: &[&str]) -> (Output, String) {
        let output = self.command(words).output().unwrap();
        let text = [&output.stdout[..], &output.stderr[..]].concat();
        (output, String::from_utf8(text).unwrap())
    }

    fn ok(&self, words: &[&str]) -> String {
        let (output, text) = self.run(words);
        assert!(output.status.success(), "{words:?}: {text}");
        text
    }

    /// Files in the state folder, below `wrapped`.
    fn kept(&self) -> Vec<PathBuf> {
        let folder = self.file("state/tapewright/wrapped");
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }
}

fn cursor(home: &Home) -> (PathBuf, String) {
    let peer = peer().display().to_string();
    let text = format!(
        "\u{feff}// mine\r\n{{\r\n  \"mcpServers\": {{\r\n    \"fs\": {{ \"command\": {peer:?}, \"args\": [\"suite\"], \"env\": {{ \"KEY\": \"not-for-you-1234\" }}, }},\r\n    \"far\": {{ \"url\": \"https://mcp.example.com/mcp\", \"headers\": {{ \"Authorization\": \"Bearer not-for-you-1234\" }} }}\r\n  }}\r\n}}"
    );
    (home.write(".cursor/mcp.json", &text), text)
}

#[test]
fn a_wrapped_command_records_and_unwrapping_gives_the_same_bytes() {
    let home = Home::new();
    let (path, before) = cursor(&home);
    set_mode(&path, 0o640);
    let out = format!("{}/", home.file("recordings").display());
    let said = home.ok(&["wrap", "fs", "--client", "cursor", "-o", &out]);
    assert!(said.contains("wrapped `fs`"), "{said}");
    let wrapped = fs::read_to_string(&path).unwrap();
    assert_ne!(wrapped, before);
    assert_mode(&path, 0o640);

    // The command that the client would start.
    let line = wrapped
        .lines()
        .find(|line| line.contains("\"fs\""))
        .unwrap();
    let entry = line.split_once(": ").unwrap().1.replace(", },", "}");
    let entry: Value = serde_json::from_str(&entry).unwrap();
    let command = Path::new(entry["command"].as_str().unwrap());
    let this = Path::new(env!("CARGO_BIN_EXE_tapewright"));
    assert_eq!(
        command.canonicalize().unwrap(),
        this.canonicalize().unwrap()
    );
    let words = entry["args"].as_array().unwrap().iter();
    let mut command = home.command(&[]);
    command.args(words.map(|word| word.as_str().unwrap()));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut session = Session::start(command);
    session.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert!(session.line().contains("\"id\":1"));
    assert!(session.finish(Duration::from_secs(20)).success());
    let recorded = fs::read_dir(home.file("recordings")).unwrap().count();
    assert!(recorded > 0);

    for path in home.kept() {
        assert_mode(&path, 0o600);
    }
    assert_eq!(home.kept().len(), 2);
    home.ok(&["unwrap", "fs", "--client", "cursor"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    assert!(
        home.kept().is_empty(),
        "the backup holds secrets of the file"
    );
}

#[test]
fn wrapping_twice_and_a_dry_run_change_nothing() {
    let home = Home::new();
    let (path, before) = cursor(&home);
    let diff = home.ok(&["wrap", "fs", "--client", "cursor", "--dry-run"]);
    assert!(diff.contains("\n-") && diff.contains("\n+"), "{diff}");
    assert!(diff.contains("@@ -1,7 +1,7 @@"), "{diff}");
    assert!(!diff.contains("not-for-you"), "{diff}");
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    assert!(home.kept().is_empty());
    home.ok(&["wrap", "fs", "--client", "cursor"]);
    let wrapped = fs::read_to_string(&path).unwrap();
    let said = home.ok(&["wrap", "fs", "--client", "cursor"]);
    assert!(said.contains("already wrapped"), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), wrapped);
}

#[test]
fn an_entry_with_other_options_is_not_said_to_be_wrapped_already() {
    let home = Home::new();
    let (path, _) = cursor(&home);
    let wrap = ["wrap", "fs", "--client", "cursor", "--", "--check"];
    home.ok(&wrap);
    let wrapped = fs::read_to_string(&path).unwrap();
    for same in [&wrap[..], &wrap[..4]] {
        let said = home.ok(same);
        assert!(said.contains("already wrapped: `fs`"), "{said}");
    }
    let (output, said) = home.run(&["wrap", "fs", "--client", "cursor", "--", "--strict"]);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in ["already wrapped with other options: `fs`", "unwrap"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), wrapped);
}

#[test]
fn nothing_is_kept_of_an_entry_that_the_client_has_removed() {
    let home = Home::new();
    let (path, before) = cursor(&home);
    home.ok(&["wrap", "fs", "--client", "cursor"]);
    let lines = before.lines().filter(|line| !line.contains("\"fs\""));
    let without = lines.collect::<Vec<_>>().join("\r\n");
    fs::write(&path, &without).unwrap();
    let unwrap = ["unwrap", "--all", "--client", "cursor"];
    let said = home.ok(&[&unwrap[..], &["--dry-run"]].concat());
    assert!(said.starts_with("would forget `fs` in "), "{said}");
    assert_eq!(home.kept().len(), 2);
    let said = home.ok(&unwrap);
    assert!(said.starts_with("forgot `fs` in "), "{said}");
    assert!(!said.contains("note: "), "{said}");
    assert!(home.kept().is_empty(), "the backup holds its secrets");
    assert_eq!(fs::read_to_string(&path).unwrap(), without);
}

#[test]
fn headers_are_copied_nowhere_and_a_gateway_takes_them() {
    let home = Home::new();
    let (path, before) = cursor(&home);
    let (output, said) = home.run(&["wrap", "--all", "--client", "cursor"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.contains("left alone: `far`") && said.contains("--gateway"),
        "{said}"
    );
    assert!(!said.contains("not-for-you"), "{said}");
    let url = "http://127.0.0.1:4000/mcp";
    home.ok(&["wrap", "far", "--client", "cursor", "--gateway", url]);
    let again = home.ok(&["wrap", "far", "--client", "cursor", "--gateway", url]);
    assert!(again.contains("already wrapped"), "{again}");
    assert!(fs::read_to_string(&path).unwrap().contains(url));
    let state = home
        .kept()
        .into_iter()
        .find(|path| path.extension().unwrap() == "json");
    let state = fs::read_to_string(state.unwrap()).unwrap();
    assert!(!state.contains("not-for-you"), "{state}");
    home.ok(&["unwrap", "--all", "--client", "cursor"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn a_gateway_is_a_url_and_a_dry_run_says_what_would_happen() {
    let home = Home::new();
    let (path, before) = cursor(&home);
    for (url, shown) in [("garbage", true), ("https://u:not-for-you-1234@", false)] {
        let (output, said) = home.run(&["wrap", "far", "--client", "cursor", "--gateway", url]);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("invalid URL in `--gateway`"), "{said}");
        assert!(said.contains("http://127.0.0.1:4000/mcp"), "{said}");
        assert!(shown || !said.contains("not-for-you"), "{said}");
    }
    let said = home.ok(&["wrap", "fs", "--client", "cursor", "--dry-run"]);
    assert!(said.contains("would wrap `fs` in"), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    home.ok(&["wrap", "fs", "--client", "cursor"]);
    let said = home.ok(&["unwrap", "fs", "--client", "cursor", "--dry-run"]);
    assert!(said.contains("would unwrap `fs` in"), "{said}");
}

#[test]
fn what_was_edited_since_is_refused_and_the_rest_of_the_file_may_change() {
    let home = Home::new();
    let (path, before) = cursor(&home);
    home.ok(&["wrap", "fs", "--client", "cursor"]);
    let wrapped = fs::read_to_string(&path).unwrap();
    fs::write(&path, wrapped.replace("\"record\"", "\"replay\"")).unwrap();
    let (output, said) = home.run(&["unwrap", "fs", "--client", "cursor"]);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("was changed since it was wrapped"), "{said}");
    let backup = home
        .kept()
        .into_iter()
        .find(|path| path.extension().unwrap() == "backup");
    let backup = native(&backup.expect("a backup").display().to_string());
    assert!(said.contains(&backup), "{said}");
    // `wrap` and `wrap --list` agree about it.
    let broken = wrapped.replace("\"record\"", "\"record\", \"-v\"");
    fs::write(&path, broken).unwrap();
    for words in [&["wrap", "fs"][..], &["wrap", "--list"]] {
        let said = home.ok(&[words, &["--client", "cursor"]].concat());
        assert!(said.contains("wrapped elsewhere"), "{said}");
        assert!(said.contains("cannot be restored from here"), "{said}");
    }
    fs::write(&path, format!("{wrapped}\r\n// theirs")).unwrap();
    home.ok(&["unwrap", "fs", "--client", "cursor"]);
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        format!("{before}\r\n// theirs")
    );
}

#[cfg(unix)]
#[test]
fn each_client_has_its_own_file_and_a_link_stays_a_link() {
    let home = Home::new();
    let goose = "extensions:\n  fs:\n    type: stdio\n    cmd: npx # by npm\n    args:\n    - -y\n    - server\n";
    let codex = "[mcp_servers.fs] # mine\ncommand = \"npx\"\n";
    let project = "{\"servers\":{\"fs\":{\"command\":\"npx\",\"args\":[]}}}";
    let local = format!(
        "{{\"projects\":{{{:?}:{{\"mcpServers\":{{\"fs\":{{\"command\":\"npx\"}}}}}}}}}}",
        home.file("project").canonicalize().unwrap()
    );
    let cases = [
        ("goose", ".config/goose/config.yaml", goose),
        ("codex", ".codex/config.toml", codex),
        ("vscode", "project/.vscode/mcp.json", project),
        ("claude-code", ".claude.json", &local),
    ];
    for (client, path, text) in cases {
        let real = home.write(&format!("real-{client}"), text);
        let path = home.file(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&real, &path).unwrap();
        let said = home.ok(&["wrap", "--all", "--client", client]);
        assert!(said.contains("wrapped `fs`"), "{said}");
        // The notes for a project's file are only for that file.
        assert!(!said.contains("trusted"), "{said}");
        let wrapped = fs::read_to_string(&real).unwrap();
        assert!(wrapped.contains("\"record\""), "{wrapped}");
        let list = home.ok(&["wrap", "--list", "--client", client]);
        assert!(list.contains("fs: wrapped"), "{list}");
        home.ok(&["unwrap", "--all", "--client", client]);
        assert_eq!(fs::read_to_string(&real).unwrap(), text);
        assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    }
}

#[test]
fn servers_at_two_places_of_a_file_are_wrapped_in_one_step() {
    let home = Home::new();
    let project = home.file("project").display().to_string();
    let text = format!(
        r#"{{"mcpServers":{{"a":{{"command":"x"}}}},"projects":{{{project:?}:{{"mcpServers":{{"b":{{"command":"y"}}}}}}}}}}"#
    );
    let path = home.write(".claude.json", &text);
    let shown = home.ok(&["wrap", "--all", "--client", "claude-code", "--dry-run"]);
    assert_eq!(shown.matches("--- ").count(), 1, "{shown}");
    home.ok(&["wrap", "--all", "--client", "claude-code"]);
    let wrapped = fs::read_to_string(&path).unwrap();
    assert_eq!(wrapped.matches("\"record\"").count(), 2, "{wrapped}");
    // Each place can be restored alone.
    home.ok(&["unwrap", "b", "--client", "claude-code"]);
    let half = fs::read_to_string(&path).unwrap();
    assert_eq!(half.matches("\"record\"").count(), 1, "{half}");
    home.ok(&["wrap", "b", "--client", "claude-code"]);
    home.ok(&["unwrap", "--all", "--client", "claude-code"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert!(home.kept().is_empty());
}

#[test]
fn the_file_of_a_project_has_notes_of_its_own() {
    let home = Home::new();
    let path = home.file("project/.codex/config.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "[mcp_servers.fs]\ncommand = \"npx\"\n").unwrap();
    let said = home.ok(&["wrap", "fs", "--client", "codex"]);
    assert!(said.contains("only if the project is trusted"), "{said}");
}

#[test]
fn what_is_not_there_is_said() {
    let home = Home::new();
    let (output, said) = home.run(&["wrap", "fs", "--client", "cursor"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("no configuration of Cursor"), "{said}");
    assert!(
        said.contains("looked for `") && said.contains(&native(".cursor/mcp.json")),
        "{said}"
    );
    cursor(&home);
    let (output, said) = home.run(&["wrap", "other", "--client", "cursor"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("no server named `other`"), "{said}");
    let (output, said) = home.run(&["wrap", "fs", "--client", "cursor", "--", "--no-such"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("--no-such"), "{said}");
    let (output, _) = home.run(&["wrap", "fs", "--client", "nobody"]);
    assert_eq!(output.status.code(), Some(2));
    home.write(".cursor/mcp.json", "{ \"mcpServers\": ");
    let (output, said) = home.run(&["wrap", "fs", "--client", "cursor"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("line 1"), "{said}");
}

#[test]
fn a_list_as_json_has_servers_and_their_states_and_no_secrets() {
    let home = Home::new();
    home.write(
        ".cursor/mcp.json",
        r#"{"mcpServers":{"fs":{"command":"fs-server","args":["--key","hunter2-and-more"]},"api":{"url":"https://example.com/mcp?key=hunter2-and-more"}}}"#,
    );
    home.write("project/.cursor/mcp.json", "{");
    let list = || {
        let text = home.ok(&["wrap", "--list", "--json", "--client", "cursor"]);
        assert!(!text.contains("hunter2"), "{text}");
        crate::cli::scrub::json_lines(&text, "clients")
    };
    let states = |lines: &[Value]| -> Vec<(String, String)> {
        let user = lines.iter().find(|line| line["scope"] == "user").unwrap();
        let servers = user["servers"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let pair = |server: &Value| (text(&server["name"]), text(&server["state"]));
        servers.map(pair).collect()
    };
    let pair = |name: &str, state: &str| (name.to_owned(), state.to_owned());
    let lines = list();
    assert_eq!(
        states(&lines),
        [pair("fs", "process"), pair("api", "remote")]
    );
    let project = lines
        .iter()
        .find(|line| line["scope"] == "project")
        .unwrap();
    assert!(project["error"].is_string(), "{project}");
    home.ok(&["wrap", "fs", "--client", "cursor", "--scope", "user"]);
    assert_eq!(
        states(&list()),
        [pair("fs", "wrapped"), pair("api", "remote")]
    );
    let (output, text) = home.run(&["wrap", "fs", "--client", "cursor", "--json"]);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("--list"), "{text}");
}
