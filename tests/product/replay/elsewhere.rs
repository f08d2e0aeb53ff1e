//! A recording of one user, replayed by another: the working folder and the home are detected.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{LIMIT, ask, call, cassette, opening, say};
use crate::support::system::HOME;
use crate::support::{Session, tapewright};

/// Two homes in one folder, each with a project, and the server of the first.
struct Homes(tempfile::TempDir);

impl Homes {
    fn new() -> Self {
        let homes = Self(tempfile::tempdir().unwrap());
        for user in ["ann-with-a-name", "bob"] {
            std::fs::create_dir_all(homes.project(user)).unwrap();
        }
        homes
    }

    fn home(&self, user: &str) -> PathBuf {
        self.0
            .path()
            .canonicalize()
            .unwrap()
            .join("home")
            .join(user)
    }

    fn project(&self, user: &str) -> PathBuf {
        self.home(user).join(format!("work-of-{}", &user[..3]))
    }

    fn file(&self, user: &str) -> String {
        format!("{}/a.txt", self.project(user).display())
    }

    fn command(&self, user: &str, options: &[&str]) -> Command {
        let mut command = tapewright();
        command
            .current_dir(self.project(user))
            .env(HOME, self.home(user))
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Ann records a call with a path, and Bob gets the cassette.
    fn recorded(&self, options: &[&str]) -> Value {
        let ann = "ann-with-a-name";
        let text = format!("read {}", self.file(ann));
        let live = cassette(&[opening(), call(&quoted(&self.file(ann)), &text)]);
        std::fs::write(self.project(ann).join("live.json"), live).unwrap();
        let binary = env!("CARGO_BIN_EXE_tapewright");
        let record = [
            &["record", "-o", "fs.json"],
            options,
            &["--", binary, "replay", "live.json"],
        ];
        let mut session = Session::start(self.command(ann, &record.concat()));
        assert_eq!(say(&mut session, 1, &quoted(&self.file(ann))), text);
        session.close_input();
        assert_eq!(session.finish(LIMIT).code(), Some(0));
        let made = self.project(ann).join("fs.json");
        std::fs::copy(&made, self.project("bob").join("fs.json")).unwrap();
        serde_json::from_slice(&std::fs::read(made).unwrap()).unwrap()
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn report(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_colleague_needs_no_option() {
    let homes = Homes::new();
    let cassette = homes.recorded(&[]);
    let meta = &cassette["meta"];
    assert_eq!(meta["made_in_folder"], "~/work-of-ann");
    // The name of the user is only where the peers sent it.
    let mut without = cassette.clone();
    without["exchanges"] = Value::Null;
    without["meta"]["source_command"] = Value::Null;
    assert!(!without.to_string().contains("ann-with"), "{without}");
    let tape = homes.project("ann-with-a-name").join("fs.tape.jsonl");
    let tape = std::fs::read_to_string(tape).unwrap();
    let header: Value = serde_json::from_str(tape.lines().next().unwrap()).unwrap();
    assert_eq!(header["made_in"]["folder"], "~/work-of-ann");
    assert_eq!(header["cwd"], "~/work-of-ann");
    assert_eq!(header["made_in"]["home"], meta["made_in_home"]);

    let file = homes.file("bob");
    let options = ["replay", "fs.json", "-v", "--report", "report.json"];
    let mut session = Session::start(homes.command("bob", &options));
    assert_eq!(say(&mut session, 1, &quoted(&file)), format!("read {file}"));
    session.close_input();
    let mut said = String::new();
    let mut stderr = session.child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(session.finish(LIMIT).code(), Some(0));
    assert!(said.contains("`--no-learned-map` turns that off"), "{said}");
    let report = report(&homes.project("bob").join("report.json"));
    let learned = &report["learned_maps"][0];
    let ours = homes.project("bob").display().to_string();
    assert_eq!(learned["here"], ours);
    assert_eq!(
        (&learned["requests"], &learned["messages"]),
        (&1.into(), &1.into())
    );
    assert_eq!(report["mapped_requests"][0]["paths"][0]["learned"], true);
}

#[test]
fn what_is_learned_can_be_turned_off_and_holds_for_modes() {
    let homes = Homes::new();
    homes.recorded(&[]);
    let file = homes.file("bob");
    let arguments = format!(
        r#"{{"name":"echo","arguments":{{"text":{}}}}}"#,
        quoted(&file)
    );
    let mut session =
        Session::start(homes.command("bob", &["replay", "fs.json", "--no-learned-map"]));
    let answer = ask(&mut session, 1, "tools/call", &arguments);
    assert_eq!(answer["error"]["code"], -32020, "{answer}");
    session.close_input();
    session.finish(LIMIT);

    let mode = ["record", "--mode", "none", "-o", "fs.json"];
    let server = ["--", "false"];
    let played = |options: &[&str]| {
        let all = [&mode, options, &server].concat();
        let mut session = Session::start(homes.command("bob", &all));
        let answer = ask(&mut session, 1, "tools/call", &arguments);
        session.close_input();
        session.finish(LIMIT);
        answer["result"]["content"][0]["text"].clone()
    };
    assert_eq!(played(&[]), format!("read {file}"));
    assert_eq!(played(&["--no-learned-map"]), Value::Null);
    let map = format!(
        "{}={}",
        homes.project("ann-with-a-name").display(),
        homes.project("bob").display()
    );
    assert_eq!(
        played(&["--no-learned-map", "--map", &map]),
        format!("read {file}")
    );
    let refused = homes
        .command("bob", &["record", "--map", &map, "--", "false"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("need a cassette to replay"), "{said}");
}

#[test]
fn a_home_that_a_rule_hides_is_not_told_of() {
    let homes = Homes::new();
    let cassette = homes.recorded(&["--redact-pattern", "ann-with-a-name"]);
    let meta = cassette["meta"].as_object().unwrap();
    assert!(!meta.contains_key("made_in_home") && !meta.contains_key("made_in_folder"));
    assert!(!cassette.to_string().contains("ann-with"), "{cassette}");
}
