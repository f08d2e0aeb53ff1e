//! `view`: existing recordings, and one that grows.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::{PATIENCE, Page, Recorded, eventually};
use crate::models::links;
use crate::support::system::mark_written;
use crate::support::{signal, tapewright, wait};

/// A page over a recording.
struct Viewed {
    child: Child,
    page: Page,
}

impl Viewed {
    fn start(path: &Path) -> Self {
        let mut child = tapewright()
            .arg("view")
            .arg(path)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let page = Page::of(&mut child);
        Self { child, page }
    }

    /// The state once everything was read.
    fn ended(&self) -> Value {
        let mut state = Value::Null;
        assert!(eventually(PATIENCE, || {
            state = self.page.get("/api/state");
            !state["ended"].is_null()
        }));
        state
    }
}

impl Drop for Viewed {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn header(label: &str, part_of: &str) -> Value {
    json!({"tape": "2.1", "created": "2026-11-21T04:00:00Z", "by": "t", "transport": "stdio", "label": label, "part_of": part_of, "pid": 1})
}

fn lines(header: &Value, exchanges: std::ops::Range<u64>) -> String {
    let mut text = String::new();
    if exchanges.start == 0 {
        text = format!("{header}\n");
    }
    for number in exchanges {
        let (ask, answer) = (2 * number + 1, 2 * number + 2);
        let request = json!({"seq": ask, "at_us": ask * 1000, "dir": "to_server", "era": "handshake", "message": {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": format!("t{number}")}}});
        let response = json!({"seq": answer, "at_us": answer * 1000, "dir": "to_client", "era": "handshake", "message": {"jsonrpc": "2.0", "id": number, "result": {"n": number}}});
        text.extend([
            request.to_string(),
            "\n".to_owned(),
            response.to_string(),
            "\n".to_owned(),
        ]);
    }
    text
}

#[test]
fn a_recording_is_shown_whatever_it_is_and_a_signal_ends_it() {
    let mut recorded = Recorded::start(&[]);
    for id in 1..=3 {
        recorded.call(id, "search");
    }
    let folder = recorded.folder;
    assert!(recorded.session.finish(PATIENCE).success());
    let tape = folder.path().join("run.tape.jsonl");
    for format in ["cassette", "capture"] {
        let out = folder.path().join(format!("{format}.json"));
        let done = tapewright()
            .arg("export")
            .arg(&tape)
            .args(["--as", format, "-o"])
            .arg(&out)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    }
    for (name, kind) in [
        ("run.tape.jsonl", "tape"),
        ("cassette.json", "cassette"),
        ("capture.json", "capture"),
    ] {
        let mut viewed = Viewed::start(&folder.path().join(name));
        assert_eq!(viewed.page.get("/api/head")["kind"], kind);
        let state = viewed.ended();
        assert_eq!(state["ended"]["incomplete"], false, "{name}: {state}");
        let exchanges = viewed.page.exchanges();
        assert_eq!(exchanges.len(), 3, "{name}");
        assert!(
            exchanges.iter().all(|(_, outcome)| outcome == "answered"),
            "{exchanges:?}"
        );
        let (seq, _) = exchanges[1].clone();
        let said = viewed
            .page
            .get(&format!("/api/exchange/-/{seq}?kind=exchange&id=2"));
        assert!(
            said["request"].as_str().unwrap().contains("search"),
            "{said}"
        );
        assert!(
            said["answer"].as_str().unwrap().contains("result"),
            "{said}"
        );
        signal(viewed.child.id(), "INT");
        assert!(wait(&mut viewed.child, PATIENCE).success());
    }
}

/// The niceness of the thread that reads the tapes.
#[cfg(target_os = "linux")]
fn niceness_of_reader(process: u32) -> i64 {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let reader = tasks.map(|task| task.unwrap().path()).find(|task| {
        let name = fs::read_to_string(task.join("comm"));
        name.is_ok_and(|name| name.trim() == "page-reader")
    });
    let stat = fs::read_to_string(reader.expect("a reader").join("stat")).unwrap();
    // The 19th field; the second is the name in brackets.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').nth(16).unwrap().parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn only_beside_a_recorder_its_reader_stands_behind_everybody_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape.jsonl");
    fs::write(&path, lines(&header("ends", ""), 0..2)).unwrap();
    let viewed = Viewed::start(&path);
    viewed.ended();
    let ours = rustix::process::getpriority_process(None).unwrap();
    assert_eq!(niceness_of_reader(viewed.child.id()), i64::from(ours));
    drop(viewed);
    // Like a recorder.
    let file = File::open(&path).unwrap();
    file.try_lock().unwrap();
    let viewed = Viewed::start(&path);
    assert!(eventually(PATIENCE, || viewed.page.exchanges().len() == 2));
    assert_eq!(niceness_of_reader(viewed.child.id()), 19);
}

#[test]
fn a_tape_is_shown_as_it_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tape.jsonl");
    let mut file = File::create(&path).unwrap();
    mark_written(&file);
    let header = header("grows", "");
    file.write_all(lines(&header, 0..2).as_bytes()).unwrap();
    let viewed = Viewed::start(&path);
    assert!(eventually(PATIENCE, || viewed.page.exchanges().len() == 2));
    assert_eq!(viewed.page.get("/api/state")["ended"], Value::Null);
    let mut events = viewed.page.events(None);
    // A line comes in two pieces.
    let more = lines(&header, 2..4);
    let (one, other) = more.split_at(more.len() - 20);
    file.write_all(one.as_bytes()).unwrap();
    events.until(|row| row["tool"] == "t3" && row["outcome"] == "still_pending");
    file.write_all(other.as_bytes()).unwrap();
    events.until(|row| row["tool"] == "t3" && row["outcome"] == "answered");
    file.write_all(b"{\"seq\":9,\"at_us\":9").unwrap();
    drop(file);
    let state = viewed.ended();
    assert_eq!(state["ended"]["incomplete"], true, "{state}");
}

#[test]
fn the_folder_of_an_agent_is_one_recording_also_while_tapes_come_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, id: &str| {
        let text = lines(&header(name, id), 0..2);
        fs::write(folder.path().join(format!("{name}.tape.jsonl")), text).unwrap();
    };
    write("fs", "run-1");
    write("other", "");
    let viewed = Viewed::start(folder.path());
    assert!(eventually(PATIENCE, || viewed.page.exchanges().len() == 2));
    write("web", "run-1");
    let parts = || {
        let mut parts: Vec<String> = viewed
            .page
            .rows()
            .iter()
            .map(|row| row["part"].as_str().unwrap().to_owned())
            .collect();
        parts.sort();
        parts
    };
    assert!(eventually(PATIENCE, || parts() == ["fs", "fs", "web", "web"]));
    let said = viewed.page.get("/api/exchange/web/1?kind=exchange&id=0");
    assert!(said["request"].as_str().unwrap().contains("t0"), "{said}");
    let missing = viewed
        .page
        .ask("GET", "/api/exchange/other/1", &[viewed.page.bearer()], "");
    assert_eq!(missing.status, 404, "{}", missing.body);
}

#[test]
fn unrelated_tapes_of_a_folder_are_on_one_page_also_while_tapes_come_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all");
    fs::create_dir(&path).unwrap();
    let write = |name: &str| {
        let text = lines(&header(name, ""), 0..2);
        fs::write(path.join(format!("{name}.tape.jsonl")), text).unwrap();
    };
    write("fs");
    write("web");
    let viewed = Viewed::start(&path);
    let parts = || {
        let rows = viewed.page.rows();
        let part = |row: &Value| row["part"].as_str().unwrap().to_owned();
        let mut parts: Vec<String> = rows.iter().map(part).collect();
        parts.sort();
        parts
    };
    assert!(eventually(PATIENCE, || parts() == ["fs", "fs", "web", "web"]));
    assert_eq!(viewed.page.get("/api/head")["label"], "all");
    // Both have an exchange at the same place, and each is read from its own tape.
    for part in ["fs", "web"] {
        let said = viewed
            .page
            .get(&format!("/api/exchange/{part}/3?kind=exchange&id=1"));
        assert!(said["request"].as_str().unwrap().contains("t1"), "{said}");
    }
    write("zoo");
    assert!(eventually(PATIENCE, || parts()
        == ["fs", "fs", "web", "web", "zoo", "zoo"]));
}

#[test]
fn what_a_model_asked_for_and_who_carried_it_out_are_linked() {
    let (folder, _) = links::recording();
    let viewed = Viewed::start(&folder.path().join("run"));
    let linked = || {
        let rows = viewed.page.rows();
        let read = rows.iter().find(|row| row["tool"] == "read")?;
        let asked = read.get("asked_by")?;
        let call = rows
            .iter()
            .find(|row| row["request_seq"] == asked["model_call"] && row["kind"] == "model")?;
        let uses = call["tool_uses"][0]["by"].clone();
        Some((asked["file"].clone(), uses["seq"] == read["request_seq"]))
    };
    assert!(eventually(PATIENCE, || linked().is_some()));
    assert_eq!(linked(), Some(("models.tape.jsonl".into(), true)));
    let list = viewed.page.rows();
    assert!(
        list.iter()
            .any(|row| row["tool"] == "ping" && row.get("asked_by").is_none())
    );
}

#[test]
fn what_holds_secrets_or_is_no_recording_is_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut unredacted = header("x", "");
    unredacted["redacted"] = false.into();
    fs::write(folder.path().join("a.tape.jsonl"), lines(&unredacted, 0..1)).unwrap();
    fs::write(folder.path().join("b.json"), "{}").unwrap();
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    for (name, why) in [
        ("a.tape.jsonl", "tapewright scrub"),
        ("b.json", "b.json"),
        ("empty", "no tape in"),
        ("none.json", "none.json"),
    ] {
        let done = tapewright()
            .arg("view")
            .arg(folder.path().join(name))
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{name}: {errors}");
        assert!(errors.contains(why), "{name}: {errors}");
    }
}
