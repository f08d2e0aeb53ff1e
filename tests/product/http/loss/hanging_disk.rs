//! A disk that answers late, which only `LD_PRELOAD` can make.

use std::fs;
use std::path::Path;
use std::process::Command;

use tapewright_schemas::event::{Direction, EventBody, GapReason};

use super::{MB, ask, server};
use crate::support::http::{Gateway, PATIENCE};
use crate::support::{eventually, tapewright};

/// A library that makes the disk of a tape hang, by its path from `folder`: a path with spaces
/// cannot be preloaded.
fn hanging_disk(folder: &Path) -> &'static str {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chaos/hang.c");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"])
        .arg(folder.join("hang.so"))
        .arg(source);
    let built = cc.arg("-ldl").status().expect("what links the tests");
    assert!(built.success());
    "./hang.so"
}

#[test]
fn a_disk_that_hangs_stops_nobody_and_what_is_lost_is_counted() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let hangs = folder.path().join("hangs");
    let tape = folder.path().join("run.tape.jsonl");
    let mut command = tapewright();
    command
        .arg("record")
        .args(["--upstream", &format!("http://{}/mcp", server.address())])
        .args(["--listen", "127.0.0.1:0", "-o"])
        .arg(&tape)
        .current_dir(folder.path())
        .env("LD_PRELOAD", hanging_disk(folder.path()))
        .env("HANG_WHILE", &hangs)
        .env("HANG_PATH", "run.tape.jsonl");
    let gateway = Gateway::of(folder, &mut command);
    ask(&gateway, &[(1, 100, "json")]);
    fs::write(&hangs, "").unwrap();
    // Far more than the queue holds, and each is answered.
    let calls: Vec<_> = (2..=9).map(|id| (id, 2 * MB, "json")).collect();
    ask(&gateway, &calls);
    let hung = fs::metadata(&tape).unwrap().len();
    fs::remove_file(&hangs).unwrap();
    let goes_on = || fs::metadata(&tape).unwrap().len() > hung + MB as u64;
    assert!(eventually(PATIENCE, goes_on));
    ask(&gateway, &[(10, 100, "json")]);
    let tape = gateway.stop_with_gaps();
    let lost = tape.events.iter().filter_map(|event| match &event.body {
        EventBody::Gap(gap) => Some(gap),
        _ => None,
    });
    let lost: Vec<_> = lost.collect();
    assert!(!lost.is_empty());
    for gap in lost {
        assert_eq!(gap.why, GapReason::QueueFull);
        assert!(gap.events > 0 && gap.bytes > 0, "{gap:?}");
    }
    let answers = tape.messages(Direction::ToClient);
    assert!(answers.len() < 10, "{}", answers.len());
    for id in ["\"id\":1,", "\"id\":10,"] {
        assert!(answers.iter().any(|answer| answer.contains(id)), "{id}");
    }
}
