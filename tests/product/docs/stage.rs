//! The environment for the commands of a page: a folder with the files that they name, and their
//! servers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::LazyLock;
use std::time::Duration;

use crate::cli::examples;
use crate::support::{eventually, peer, signal, wait};

const PATIENCE: Duration = Duration::from_secs(60);

/// Parts of commands that keep running.
const SERVERS: [&str; 3] = ["--listen ", "--forward-proxy ", "tapewright view "];

/// The files that every page has, created once.
static FURNISHED: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let made = tempfile::tempdir().expect("a folder");
    examples::furnish(made.path());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let examples = made.path().join("docs");
    fs::create_dir_all(&examples).expect("a folder");
    copy(&root.join("docs/examples"), &examples);
    more(made.path());
    made
});

/// Files that pages use in addition to the examples of `--help`.
fn more(folder: &Path) {
    let server = format!("exec '{}' suite", peer().display());
    let programs = folder.join("bin");
    for name in ["my-server", "uvx"] {
        examples::stand_in(&programs, name, &server);
    }
    for name in ["my-agent", "my-client", "cargo"] {
        examples::stand_in(&programs, name, "exit 0");
    }
    // A server that was changed.
    let changed = format!("'{}' suite | sed -u s/hello/goodbye/", peer().display());
    examples::stand_in(folder, "my-server", &changed);
    let results = r#"[{"rule_id": "PROTO-001", "passed": true, "source": "official", "message": null, "duration_ms": 3}]"#;
    fs::write(folder.join("results.json"), results).expect("a file");
    for end in ["json", "tape.jsonl"] {
        for name in ["before", "after"] {
            let from = folder.join(format!("fs.{end}"));
            copy(&from, &folder.join(format!("{name}.{end}")));
            copy(&from, &folder.join("recordings"));
        }
    }
    let servers = r#"{ "mcpServers": { "fs": { "command": "npx" }, "far": { "url": "https://mcp.example.com/mcp" } } }"#;
    fs::write(folder.join(".cursor/mcp.json"), servers).expect("a file");
    let git = std::process::Command::new("git")
        .args(["init", "-q"])
        .current_dir(folder)
        .status();
    assert!(git.expect("git can be run").success());
}

fn copy(from: &Path, to: &Path) {
    let mut command = std::process::Command::new("cp");
    let done = command.arg("-R").args([from, to]).status();
    assert!(done.expect("cp can be run").success(), "{}", from.display());
}

/// The output of a server when it is ready.
const TOLD: [&str; 2] = ["\"listening\":", "{\"page\":"];

/// The result of a command of a page.
#[derive(Debug)]
pub(super) struct CommandOutput {
    /// `None` for a server, which keeps running.
    pub(super) status: Option<i32>,
    /// Standard output and standard error, in the order in which they came.
    pub(super) text: String,
}

pub(super) struct Stage {
    home: tempfile::TempDir,
    folder: PathBuf,
    remote: String,
    servers: Vec<Server>,
    /// The number of servers so far.
    begun: usize,
    /// The exit status of the last command.
    status: i32,
    /// A port in a page, and the address that replaces it.
    ports: Vec<(String, String)>,
}

impl Stage {
    pub(super) fn new(remote: &str) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        copy(&FURNISHED.path().join("."), home.path());
        Self {
            folder: home.path().to_owned(),
            home,
            remote: remote.to_owned(),
            servers: Vec::new(),
            begun: 0,
            status: 0,
            ports: Vec::new(),
        }
    }

    /// Writes a file that the page shows.
    pub(super) fn write(&self, name: &str, lines: &[String]) {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, lines.join("\n") + "\n").expect("a file");
    }

    /// Removes a file that the page creates again. A server of the page that records to it is ended
    /// first: otherwise its tape would reappear.
    pub(super) fn remove(&mut self, name: &str) {
        let there = format!(" -o {name}");
        let (over, servers) = std::mem::take(&mut self.servers)
            .into_iter()
            .partition(|server: &Server| server.script.contains(&there));
        self.servers = servers;
        drop::<Vec<Server>>(over);
        let path = self.folder.join(name);
        fs::remove_dir_all(&path)
            .or_else(|_| fs::remove_file(&path))
            .ok();
        assert!(!path.exists(), "{} stays", path.display());
    }

    /// Puts a recorded agent there.
    pub(super) fn give(&self, name: &str) {
        copy(&self.home.path().join("runs/one"), &self.folder.join(name));
    }

    /// Runs a command; the next one is run in the folder in which this one ends. A server runs as long as its page.
    pub(super) fn run(&mut self, line: &str) -> CommandOutput {
        // The status of the previous command can be shown.
        let line = format!("(exit {})\n{line}", self.status)
            .replace("http://localhost:3001/mcp", &self.remote);
        let mut line = examples::local(&line, self.home.path(), &self.remote);
        for (port, address) in &self.ports {
            line = line.replace(port, address);
        }
        let serves = SERVERS.iter().any(|option| line.contains(option));
        let here = self.home.path().join(".folder");
        let script = if serves {
            line.replacen('\n', "\nexec ", 1)
        } else {
            let end = format!("status=$?\npwd >'{}'\nexit $status", here.display());
            format!("{line}\n{end}")
        };
        let (child, status, text) = self.begin(&script, serves);
        self.status = status.unwrap_or(0);
        if status.is_none() {
            self.servers.push(Server { child, script });
            self.begun += 1;
            self.remember(&text);
        }
        if let Ok(text) = fs::read_to_string(here) {
            self.folder = PathBuf::from(text.trim_end());
        }
        CommandOutput {
            status,
            text: self.tidy(&text),
        }
    }

    /// Starts a shell, and waits for its end, or until the server that it is listens.
    fn begin(&self, script: &str, serves: bool) -> (Child, Option<i32>, String) {
        let said = self.home.path().join(format!(".said{}", self.begun));
        let out = fs::File::create(&said).expect("a file");
        let err = out.try_clone().expect("a file");
        let mut command = examples::shell(self.home.path(), script);
        command.current_dir(&self.folder).stdout(out).stderr(err);
        let mut child = command.spawn().expect("a shell");
        let mut status = None;
        let text = || String::from_utf8_lossy(&fs::read(&said).unwrap_or_default()).into_owned();
        let begun = eventually(PATIENCE, || {
            status = child.try_wait().expect("a child");
            status.is_some() || serves && TOLD.iter().any(|told| text().contains(told))
        });
        if !begun {
            child.kill().ok();
        }
        assert!(begun, "it runs on: {script}\n{}", text());
        (
            child,
            status.map(|status| status.code().unwrap_or(-1)),
            text(),
        )
    }

    /// Port 4000 of a page is mapped to the port that was free.
    fn remember(&mut self, told: &str) {
        let found = told.split("http://127.0.0.1:").nth(1);
        let port = found.and_then(|rest| rest.split(['/', '"']).next());
        let Some(port) = port else { return };
        for name in ["127.0.0.1:4000", "localhost:4000"] {
            let known = (name.to_owned(), format!("127.0.0.1:{port}"));
            self.ports.insert(0, known);
        }
    }

    /// The output without what is specific to this run.
    fn tidy(&self, text: &str) -> String {
        let binary = Path::new(env!("CARGO_BIN_EXE_tapewright"));
        let beside = binary.parent().expect("a folder").display().to_string();
        let home = self.home.path().canonicalize().expect("a folder");
        let port = regex::Regex::new(r"127\.0\.0\.1:\d+").expect("a pattern");
        let text = text.replace(&self.remote, "https://mcp.example.com/mcp");
        port.replace_all(&text, "127.0.0.1:4000")
            .replace(&beside, "/home/you/.cargo/bin")
            .replace(&home.display().to_string(), "/home/you")
            .replace(&self.home.path().display().to_string(), "/home/you")
    }
}

/// A server of a page, which runs as long as the page, or until its recording is removed.
struct Server {
    child: Child,
    script: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        signal(self.child.id(), "TERM");
        wait(&mut self.child, PATIENCE);
    }
}
