//! How fast a recording is played.

use std::time::Duration;

use tapewright_replay::{Options, Pace};

use super::stage::{Stage, cassette, options};

const TIMED: &str = r#"{
  "request": {"id":1,"method":"m","params":{"_meta":{"progressToken":1}}},
  "response": {"id":1,"result":{}},
  "timing": {"sent_ms": 1000, "took_ms": 5000},
  "stream": [
    {"from":"server","at_ms":1100,"message":{"method":"notifications/progress","params":{"progressToken":1,"progress":1}}},
    {"from":"server","at_ms":1100,"message":{"method":"notifications/progress","params":{"progressToken":1,"progress":2}}},
    {"from":"server","at_ms":2100,"message":{"method":"notifications/progress","params":{"progressToken":1,"progress":3}}}
  ]
}"#;

/// The time of each progress notification, and of the answer as 100.
fn played(factor: f64, cap: Duration) -> Vec<(u64, u64)> {
    let pace = Pace { factor, cap };
    let options = Options { pace, ..options() };
    let mut stage = Stage::with(&cassette(&[TIMED]), options);
    stage.now = Duration::from_millis(50);
    let call = r#"{"id":9,"method":"m","params":{"_meta":{"progressToken":8}}}"#;
    let first = stage.send(call).into_iter().map(|line| (50, line));
    let mut said: Vec<(u64, String)> = first.collect();
    said.extend(stage.within(60_000));
    said.into_iter()
        .map(|(at, line)| {
            let message: serde_json::Value = serde_json::from_str(&line).unwrap();
            (at, message["params"]["progress"].as_u64().unwrap_or(100))
        })
        .collect()
}

#[test]
fn recorded_waits_are_kept_scaled_and_capped() {
    let recorded = played(1.0, Duration::MAX);
    assert_eq!(recorded, [(150, 1), (150, 2), (1_150, 3), (5_050, 100)]);
    let half = played(0.5, Duration::MAX);
    assert_eq!(half, [(100, 1), (100, 2), (600, 3), (2_550, 100)]);
    let capped = played(1.0, Duration::from_millis(400));
    assert_eq!(capped, [(150, 1), (150, 2), (550, 3), (950, 100)]);
}

#[test]
fn at_once_keeps_the_order_and_a_breath_behind_notifications() {
    let at_once = played(0.0, Duration::MAX);
    assert_eq!(at_once, [(50, 1), (50, 2), (52, 3), (54, 100)]);
}

#[test]
fn the_answer_of_one_request_waits_for_no_other() {
    let slow = TIMED.replace("\"m\"", "\"slow\"");
    let quick = r#"{"request":{"id":3,"method":"quick"},"response":{"id":3,"result":{}},"timing":{"sent_ms":1200,"took_ms":10}}"#;
    let pace = Pace {
        factor: 1.0,
        cap: Duration::MAX,
    };
    let options = Options { pace, ..options() };
    let mut stage = Stage::with(&cassette(&[&slow, quick]), options);
    stage.send(r#"{"id":"s","method":"slow"}"#);
    stage.send(r#"{"id":"q","method":"quick"}"#);
    let said = stage.within(20);
    assert_eq!(said, [(10, r#"{"id":"q","result":{}}"#.to_owned())]);
}

#[test]
fn what_holds_no_times_is_played_at_once_at_every_pace() {
    let exchange = r#"{"request":{"id":1,"method":"m"},"response":{"id":1,"result":7}}"#;
    let capture = format!(r#"{{"server_label":"s","exchanges":[{exchange}]}}"#);
    for recording in [cassette(&[exchange]), capture] {
        let pace = Pace {
            factor: 1.0,
            cap: Duration::MAX,
        };
        let mut stage = Stage::with(&recording, Options { pace, ..options() });
        assert_eq!(stage.result("m", ""), "7", "{recording}");
    }
}
