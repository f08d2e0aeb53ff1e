//! One suite, the same verdicts: live over stdio and HTTP, from the cassette that was
//! recorded, and over the recording.

use std::fs;

use crate::suite::stage::{Stage, everything, verdicts};
use crate::support::http::Gateway;
use crate::support::peer;

#[test]
fn live_replayed_and_scored_verdicts_are_the_same() {
    let stage = Stage::new();
    let text = fs::read_to_string(everything()).expect("the suite");
    stage.write("live.yaml", &text);
    let (status, live) = stage.json(&["live.yaml", "--record=rec"]);
    assert_eq!(status, 0, "{live:#}");
    let live = verdicts(&live);
    assert!(live.len() >= 40, "{} tests", live.len());
    assert!(live.iter().all(|(_, status)| status == "pass"));

    let served = text.replace(
        "    command: [\"${PEER}\", \"suite\"]\n    env:\n      GREETING: \"hello from the suite\"\n",
        "    cassette: rec/peer.json\n",
    );
    stage.write("replayed.yaml", &served);
    let (status, replayed) = stage.json(&["replayed.yaml"]);
    assert_eq!(status, 0, "{replayed:#}");
    assert_eq!(verdicts(&replayed), live);
    let tests = replayed["suites"][0]["tests"].as_array().expect("tests");
    let is_injected = |name: &str| name.starts_with("handles");
    for test in tests {
        let name = test["name"].as_str().expect("a name");
        assert_eq!(test["replay"], !is_injected(name), "{name}");
    }

    for recording in ["rec/peer.json", "rec/peer.tape.jsonl"] {
        let (status, scored) = stage.json(&["live.yaml", "--capture", recording]);
        assert_eq!(status, 0, "{recording}: {scored:#}");
        assert_eq!(verdicts(&scored), live, "{recording}");
    }
}

#[test]
fn over_http_the_verdicts_are_the_same() {
    let stage = Stage::new();
    let text = fs::read_to_string(everything()).expect("the suite");
    let peer = peer().display().to_string();
    let script = r#"GREETING="hello from the suite" "$0" suite"#;
    let front = Gateway::start(&["--listen", "127.0.0.1:0", "--", "sh", "-c", script, &peer]);
    let url = text.replace(
        "    command: [\"${PEER}\", \"suite\"]\n    env:\n      GREETING: \"hello from the suite\"\n",
        &format!("    url: \"{}\"\n", front.line["listening"].as_str().expect("a URL")),
    );
    stage.write("http.yaml", &url);
    let (status, report) = stage.json(&["http.yaml"]);
    assert_eq!(status, 0, "{report:#}");
    assert!(verdicts(&report).iter().all(|(_, status)| status == "pass"));
}
