//! Recorders that run, through their controls.

use serde_json::{Value, json};

use super::{Asking, PATIENCE};
use crate::support::{Session, eventually, record};

#[test]
fn a_recorder_that_runs_tells_what_it_has_in_hand() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("now.tape.jsonl");
    let control = format!("unix:{}", folder.path().join("control.sock").display());
    let options = ["-o", tape.to_str().unwrap(), "--control", &control];
    let mut session = Session::start(record(&options, &["sleep", "600"]));
    session.send(r#"{"jsonrpc":"2.0","id":"never","method":"tools/list"}"#);
    let mut asking = Asking::of(
        folder.path(),
        &["--control", &control, "--control", "unix:/nowhere"],
    );
    let mut told = Value::Null;
    let there = eventually(PATIENCE, || {
        told = asking.told("live_recorders", &json!({}));
        !told["recorders"][0]["pending"][0].is_null()
    });
    assert!(there, "{told}");
    let [first, second] = [0, 1].map(|place| told["recorders"][place].clone());
    assert_eq!(first["control"], control.as_str());
    assert_eq!(first["pending"][0]["method"], "tools/list");
    let problem = second["problem"].as_str().unwrap();
    assert!(
        problem.contains("cannot reach the control API"),
        "{problem}"
    );
    // The same by its tape, with the time of day.
    let mut hangs = Value::Null;
    let there = eventually(PATIENCE, || {
        hangs = asking.told("find_hangs", &json!({ "recording": "now.tape.jsonl" }));
        !hangs["hangs"][0].is_null()
    });
    assert!(there, "{hangs}");
    assert!(
        hangs["hangs"][0]["pending_now_ms"].as_f64().is_some(),
        "{hangs}"
    );
    session.signal("TERM");
}
