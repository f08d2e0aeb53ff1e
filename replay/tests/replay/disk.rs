//! A long recording stays on the disk, and is played as one in memory.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;

use serde_json::Value;
use tapewright_replay::Script;

use crate::stage::{Stage, options};

/// A cassette of more than four megabytes, with all kinds of content.
fn long() -> String {
    let pad = "x".repeat(4_000);
    let mut text = String::from(
        "\n{\"version\": \"1\", \"meta\": {\"label\": \"é\"}, \"probes\": [{\"request\":{\"id\":9,\"method\":\"server/discover\"},\"response\":{\"id\":9,\"error\":{\"code\":-32601,\"message\":\"no\"}}}],\n\"exchanges\": [\n  {\"request\":{\"id\":\"first\",\"method\":\"initialize\"},\"response\":{\"id\":\"first\",\"result\":{\"protocolVersion\":\"2025-06-18\"}},\"timing\":{\"sent_ms\":1,\"took_ms\":2}}",
    );
    for number in 0..1_200 {
        let stream = match number % 7 {
            0 => {
                r#","stream":[{"from":"server","message":{"jsonrpc":"2.0","method":"notifications/message","params":{"n":1}}},{"from":"server","text":"no JSON"}]"#
            }
            _ => "",
        };
        write!(
            text,
            ",\n  {{\"request\": {{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"tools/call\",\"params\":{{\"name\":\"t{number}\",\"password\":\"<REDACTED:password#1>\"}}}}, \"response\":{{\"jsonrpc\":\"2.0\",\"result\":{{\"n\":{number},\"pad\":\"{pad}\"}},\"id\":{number}}},\"timing\":{{\"sent_ms\":{number}.5,\"took_ms\":0.25}}{stream}}}"
        )
        .unwrap();
    }
    text.push_str("\n],\n\"messages\":[{\"after\":1,\"from\":\"client\",\"message\":{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}},{\"after\":4,\"from\":\"server\",\"at_ms\":3.75,\"message\":{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}}],\"unanswered\":[{\"after\":5,\"request\":{\"id\":77,\"method\":\"tools/call\",\"params\":{\"name\":\"hang\"}},\"why\":\"closed\"}],\"incomplete\":\"it was cut\"}\n");
    text
}

fn opened(path: &Path) -> Script {
    let spool = || tempfile::tempfile();
    Script::open(File::open(path).unwrap(), &spool).unwrap()
}

/// A session's answers to some requests, and the report at its end.
fn played(script: Script) -> (Vec<Vec<String>>, Value) {
    let mut stage = Stage::playing(script, options());
    let mut said = Vec::new();
    said.push(stage.send(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#));
    said.push(stage.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#));
    for name in ["t0", "t1199", "t7", "t7", "t500", "t3x", "hang"] {
        said.push(stage.send(&format!(
            r#"{{"jsonrpc":"2.0","id":"{name}","method":"tools/call","params":{{"password":"Tr0ub4dor&3x","name":"{name}"}}}}"#
        )));
    }
    said.push(stage.send(r#"{"jsonrpc":"2.0","id":5,"method":"server/discover"}"#));
    (said, serde_json::to_value(stage.report()).unwrap())
}

#[test]
fn a_long_cassette_on_the_disk_plays_as_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.json");
    let text = long();
    fs::write(&path, &text).unwrap();
    let there = opened(&path);
    // Someone makes a new recording under its name.
    let new = folder.path().join("new.json");
    fs::write(&new, "{}").unwrap();
    fs::rename(&new, &path).unwrap();
    let here = Script::load(text.into_bytes()).unwrap();
    assert_eq!(there.requests(), 1_203);
    assert_eq!(there.requests(), here.requests());
    assert_eq!(there.length(), here.length());
    assert_eq!(there.incomplete(), here.incomplete());
    assert_eq!(there.meta("label"), here.meta("label"));
    for ordinal in 0..1_203 {
        assert_eq!(there.recorded(ordinal), here.recorded(ordinal));
    }
    let (there, here) = (played(there), played(here));
    assert_eq!(there.0, here.0);
    assert_eq!(there.1, here.1);
    let mut lines = there.0.iter().flatten();
    assert!(lines.any(|line| line.contains("\"n\":1199,")));
}

/// A tape of several megabytes; the answer to the request `late` is the last line.
fn tape(late: usize) -> String {
    let pad = "x".repeat(5_000);
    let mut text = String::from(
        "{\"tape\":\"2.0\",\"created\":\"\",\"by\":\"\",\"transport\":\"stdio\",\"label\":\"x\",\"command\":[],\"pid\":1}\n",
    );
    let (mut seq, mut last) = (0, String::new());
    for number in 1..1_000 {
        seq += 1;
        writeln!(text, "{{\"seq\":{seq},\"at_us\":{number}000,\"dir\":\"to_server\",\"message\":{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"m{number}\"}}}}").unwrap();
        let answer = format!(
            "\"dir\":\"to_client\",\"message\":{{\"jsonrpc\":\"2.0\",\"id\":{number},\"result\":[{number},\"{pad}\"]}}}}"
        );
        if number == late {
            last = answer;
            continue;
        }
        seq += 1;
        writeln!(text, "{{\"seq\":{seq},\"at_us\":{number}500,{answer}").unwrap();
    }
    if !last.is_empty() {
        writeln!(text, "{{\"seq\":{},\"at_us\":1000000,{last}", seq + 1).unwrap();
    }
    text
}

#[test]
fn a_long_tape_plays_from_a_spool() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.tape.jsonl");
    // Also if an exchange must be inserted after everything else was written.
    for late in [usize::MAX, 5] {
        let text = tape(late);
        fs::write(&path, &text).unwrap();
        let here = Script::load(text.into_bytes()).unwrap();
        let there = opened(&path);
        assert_eq!(there.kind(), here.kind());
        assert_eq!(there.requests(), 999);
        assert_eq!(there.length(), here.length());
        let mut stages = [there, here].map(|script| Stage::playing(script, options()));
        for number in [5, 700] {
            let method = format!("m{number}");
            let [there, here] = stages.each_mut().map(|stage| stage.result(&method, ""));
            assert_eq!(there, here);
            assert!(there.starts_with(&format!("[{number},")));
        }
    }
}

#[test]
fn a_long_tape_that_is_broken_amid_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.tape.jsonl");
    let text = tape(usize::MAX).replacen("\"id\":900,", "\"id\":,", 1);
    fs::write(&path, &text).unwrap();
    let spool = || tempfile::tempfile();
    let there = Script::open(File::open(&path).unwrap(), &spool).unwrap_err();
    let here = Script::load(text.into_bytes()).unwrap_err();
    assert_eq!(there.to_string(), here.to_string());
}

#[test]
fn what_is_wrong_with_a_long_file_is_told_as_of_a_short_one() {
    let folder = tempfile::tempdir().unwrap();
    let good = long();
    for text in [
        good.replacen("\"version\": \"1\"", "\"version\": \"2\"", 1),
        good.replacen("{\"id\":77,", "", 1),
        good.replacen("\"response\"", "\"reponse\"", 900),
        good.trim_end().trim_end_matches('}').to_owned(),
    ] {
        let path = folder.path().join("bad.json");
        fs::write(&path, &text).unwrap();
        let spool = || tempfile::tempfile();
        let there = Script::open(File::open(&path).unwrap(), &spool).unwrap_err();
        let here = Script::load(text.into_bytes()).unwrap_err();
        assert_eq!(there.to_string(), here.to_string());
    }
}
