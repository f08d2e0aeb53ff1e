//! Messages between a request and its answer.

use tapewright_replay::{Exhausted, Options, Unanswered};

use super::stage::{Stage, cassette, options};

const SAMPLING: &str = r#"{
  "request": {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ask","_meta":{"progressToken":"p"}}},
  "response": {"jsonrpc":"2.0","id":3,"result":{"done":true}},
  "timing": {"sent_ms": 10, "took_ms": 50},
  "stream": [
    {"from": "server", "at_ms": 20, "message": {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}},
    {"from": "server", "at_ms": 30, "message": {"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{"messages":[]}}},
    {"from": "client", "at_ms": 40, "message": {"jsonrpc":"2.0","id":0,"result":{"role":"assistant"}}},
    {"from": "server", "at_ms": 50, "message": {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}}
  ]
}"#;

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}"#;

/// All output for a line.
fn said(stage: &mut Stage, line: &str) -> Vec<String> {
    let mut said = stage.send(line);
    said.extend(stage.within(100).into_iter().map(|(_, line)| line));
    said
}

#[test]
fn a_request_of_the_server_is_asked_again_and_its_answer_awaited() {
    let mut stage = Stage::new(&cassette(&[SAMPLING]));
    let first = said(
        &mut stage,
        r#"{"jsonrpc":"2.0","id":"live","method":"tools/call","params":{"name":"ask","_meta":{"progressToken":42}}}"#,
    );
    assert_eq!(
        first,
        [
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":42,"progress":1}}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{"messages":[]}}"#,
        ]
    );
    // A reply with an unknown id is ignored.
    assert!(said(&mut stage, r#"{"jsonrpc":"2.0","id":"0","result":{}}"#).is_empty());
    let reply = r#"{"jsonrpc":"2.0","id":0,"result":{"role":"user"}}"#;
    assert_eq!(
        said(&mut stage, reply),
        [
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}"#,
            r#"{"jsonrpc":"2.0","id":"live","result":{"done":true}}"#,
        ]
    );
}

#[test]
fn a_reply_that_is_not_the_recorded_one_is_on_the_report() {
    let key = format!("sk-{}-api03-{}", "ant", "0123456789abcdefXYZ");
    let cases = [
        (r#""result":{"role":"assistant"}"#.to_owned(), None),
        (
            r#""result":{"role":"user"}"#.to_owned(),
            Some(("$.result.role", Some("\"assistant\""), "\"user\"")),
        ),
        (
            r#""error":{"code":-32601,"message":"no"}"#.to_owned(),
            Some((
                "$",
                Some(r#"{"role":"assistant"}"#),
                r#"{"code":-32601,"message":"no"}"#,
            )),
        ),
        (
            format!(r#""result":{{"role":"assistant","said":"{key}"}}"#),
            Some(("$.result.said", None, "\"<ANTHROPIC_API_KEY>\"")),
        ),
    ];
    for (reply, expected) in cases {
        let mut stage = Stage::new(&cassette(&[SAMPLING]));
        said(&mut stage, CALL);
        let last = said(
            &mut stage,
            &format!(r#"{{"jsonrpc":"2.0","id":0,{reply}}}"#),
        );
        assert!(last.last().unwrap().contains("done"), "{last:?}");
        let report = stage.report();
        assert_eq!(report.replied_otherwise, u64::from(expected.is_some()));
        let told = report.other_replies.first();
        assert_eq!(told.is_some(), expected.is_some(), "{reply}");
        let (Some(told), Some((path, recorded, live))) = (told, expected) else {
            continue;
        };
        assert_eq!(told.method, "sampling/createMessage");
        assert_eq!(told.place.as_deref(), Some("/exchanges/0"));
        let one = &told.differences[0];
        assert_eq!(
            (one.path.as_str(), one.recorded.as_deref()),
            (path, recorded)
        );
        assert_eq!(one.live.as_deref(), Some(live));
        assert!(report.is_exact(), "it is told, and no miss: {report:?}");
    }
}

#[test]
fn a_reply_to_what_the_server_asked_of_its_own_accord_is_weighed_too() {
    let recording = r#"{"version":"1","exchanges":[
      {"request":{"id":1,"method":"initialize"},"response":{"id":1,"result":{}}}],
      "messages":[
        {"from":"client","after":1,"message":{"method":"notifications/initialized"}},
        {"from":"server","after":1,"message":{"id":9,"method":"roots/list"}},
        {"from":"client","after":1,"message":{"id":9,"result":{"roots":[]}}},
        {"from":"server","after":1,"message":{"id":10,"method":"ping"}}]}"#;
    let mut stage = Stage::new(recording);
    stage.result("initialize", "");
    let asked = said(&mut stage, r#"{"method":"notifications/initialized"}"#);
    assert!(asked[0].contains("roots/list"), "{asked:?}");
    said(
        &mut stage,
        r#"{"id":9,"result":{"roots":[{"uri":"file:///x"}]}}"#,
    );
    // The recorded client never replied to this one.
    said(&mut stage, r#"{"id":10,"result":{}}"#);
    let report = stage.report();
    let told: Vec<_> = report
        .other_replies
        .iter()
        .map(|one| {
            let first = &one.differences[0];
            (
                one.method.as_str(),
                one.place.as_deref(),
                first.recorded.as_deref(),
            )
        })
        .collect();
    assert_eq!(told, [("roots/list", None, None), ("ping", None, None)]);
}

#[test]
fn nobody_who_did_not_ask_for_progress_gets_any() {
    let mut stage = Stage::new(&cassette(&[SAMPLING]));
    let first = said(&mut stage, CALL);
    assert_eq!(first.len(), 1);
    assert!(first[0].contains("sampling/createMessage"), "{first:?}");
}

#[test]
fn ids_of_the_server_are_used_once() {
    let options = Options {
        exhausted: Exhausted::Last,
        ..options()
    };
    let mut stage = Stage::with(&cassette(&[SAMPLING]), options);
    let mut ask = || {
        let asked = said(&mut stage, CALL);
        let message: serde_json::Value = serde_json::from_str(&asked[0]).unwrap();
        message["id"].as_u64().unwrap()
    };
    let ids = [ask(), ask(), ask()];
    assert!(
        ids[0] == 0 && ids[1] != ids[2] && ids[1] > 0 && ids[2] > 0,
        "{ids:?}"
    );
    let reply = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, ids[2]);
    assert_eq!(said(&mut stage, &reply).len(), 2);
}

const ASIDES: &str = r#"{
  "version": "1",
  "exchanges": [
    {"request":{"id":0,"method":"initialize"},"response":{"id":0,"result":{}},"timing":{"sent_ms":1,"took_ms":1}},
    {"request":{"id":1,"method":"tools/list"},"response":{"id":1,"result":{"tools":[]}},"timing":{"sent_ms":20,"took_ms":1}}
  ],
  "messages": [
    {"after":0,"from":"server","at_ms":0.5,"mark":"noise","text":"server ready"},
    {"after":1,"from":"client","at_ms":3,"message":{"jsonrpc":"2.0","method":"notifications/initialized"}},
    {"after":1,"from":"server","at_ms":4,"message":{"jsonrpc":"2.0","id":"r1","method":"roots/list"}},
    {"after":1,"from":"client","at_ms":5,"message":{"jsonrpc":"2.0","id":"r1","result":{"roots":[]}}},
    {"after":1,"from":"server","at_ms":6,"message":{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}},
    {"after":2,"from":"server","at_ms":30,"message":{"jsonrpc":"2.0","method":"notifications/resources/updated"}}
  ]
}"#;

#[test]
fn what_belongs_to_no_request_follows_what_the_client_said_before() {
    let mut stage = Stage::new(ASIDES);
    assert_eq!(stage.said(), ["server ready"]);
    assert_eq!(stage.result("initialize", ""), "{}");
    assert_eq!(stage.said(), [""; 0]);
    let asked = stage.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(
        asked,
        [r#"{"jsonrpc":"2.0","id":"r1","method":"roots/list"}"#]
    );
    let changed = stage.send(r#"{"jsonrpc":"2.0","id":"r1","result":{"roots":[]}}"#);
    assert_eq!(
        changed,
        [r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#]
    );
    let listed = stage.send(r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#);
    assert_eq!(listed.len(), 2, "{listed:?}");
    assert!(
        listed[0].contains("\"result\"") && listed[1].contains("resources/updated"),
        "the answer comes first: {listed:?}"
    );
}

const CANCELLED: &str = r#"{
  "version": "1",
  "exchanges": [
    {"request":{"id":1,"method":"late"},"response":{"id":1,"error":{"code":1,"message":"stopped"}},
     "stream":[{"from":"client","message":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}}]}
  ],
  "unanswered": [
    {"request":{"id":2,"method":"hang"},"why":"cancelled","stream":[
      {"from":"server","message":{"jsonrpc":"2.0","method":"notifications/message","params":{}}},
      {"from":"client","message":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}}
    ]}
  ]
}"#;

fn cancel(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

#[test]
fn what_came_after_a_cancellation_comes_after_it_again() {
    let mut stage = Stage::new(CANCELLED);
    assert!(stage.send(r#"{"id":"a","method":"late"}"#).is_empty());
    assert!(stage.send(&cancel("\"b\"")).is_empty());
    assert_eq!(
        stage.send(&cancel("\"a\"")),
        [r#"{"id":"a","error":{"code":1,"message":"stopped"}}"#]
    );
}

#[test]
fn a_cancelled_request_is_not_answered() {
    let mut stage = Stage::new(&cassette(&[SAMPLING]));
    assert_eq!(said(&mut stage, CALL).len(), 1);
    assert!(said(&mut stage, &cancel("1")).is_empty());
    assert!(said(&mut stage, r#"{"jsonrpc":"2.0","id":0,"result":{}}"#).is_empty());
}

#[test]
fn a_request_without_an_answer_hangs_fails_or_is_skipped() {
    let with = |unanswered| {
        let options = Options {
            unanswered,
            ..options()
        };
        Stage::with(CANCELLED, options)
    };
    let call = r#"{"id":5,"method":"hang"}"#;
    let mut hangs = with(Unanswered::Hang);
    let first = said(&mut hangs, call);
    assert!(
        first.len() == 1 && first[0].contains("notifications/message"),
        "{first:?}"
    );
    assert!(said(&mut hangs, &cancel("5")).is_empty());

    let answer = said(&mut with(Unanswered::Error), call);
    assert!(
        answer
            .iter()
            .any(|line| line.contains("without an answer (cancelled)")),
        "{answer:?}"
    );
    let answer = said(&mut with(Unanswered::Skip), call);
    assert!(
        answer.len() == 1 && answer[0].contains("never recorded"),
        "{answer:?}"
    );
}

#[test]
fn a_session_is_done_when_nothing_is_under_way_that_can_come() {
    let mut stage = Stage::new(CANCELLED);
    stage.send(r#"{"id":5,"method":"hang"}"#);
    stage.within(10);
    assert!(!stage.player.is_done());
    stage.player.handle_end_of_input();
    assert!(stage.player.is_done(), "what hangs is not waited for");
}
