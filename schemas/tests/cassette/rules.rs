//! One test per rule of the cassette.

use bytes::Bytes;
use serde_json::{Value, json};
use tapewright_schemas::cassette::Cassette;
use tapewright_schemas::event::{CloseReason, Direction, EventBody, Gap, GapReason, Payload};
use tapewright_schemas::recording::Document;
use tapewright_schemas::tape::{Ending, Footer, GapTotal, Incomplete, TapeFailure};

use crate::support::{Script, ids, project};

fn call(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"a"}}}}"#)
}

fn result(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#)
}

#[test]
fn an_exchange_has_the_documented_shape() {
    let (text, _) = Script::default().c(call("1")).s(result("1")).cassette();
    let expected = r#"{
  "version": "1",
  "meta": {
    "source_command": "node 'my server.js'",
    "label": "stdio://my-server"
  },
  "exchanges": [
    {
      "request": {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}},
      "response": {"jsonrpc":"2.0","id":1,"result":{"content":[]}},
      "timing": {"sent_ms": 1, "took_ms": 1}
    }
  ]
}
"#;
    assert_eq!(text, expected);
}

#[test]
fn an_empty_session_is_a_cassette_too() {
    let (text, value) = Script::default().cassette();
    assert_eq!(value["exchanges"], json!([]));
    assert!(text.ends_with("\"exchanges\": []\n}\n"), "{text}");
}

#[test]
fn exchanges_stand_in_the_order_of_the_requests() {
    let script = Script::default();
    let script = script.c(call("1")).c(call("2")).c(call("3"));
    let (_, value) = script
        .s(result("3"))
        .s(result("1"))
        .s(result("2"))
        .cassette();
    assert_eq!(ids(&value), ["1", "2", "3"]);
    assert_eq!(
        value["exchanges"][2]["timing"],
        json!({"sent_ms": 3, "took_ms": 1})
    );
}

#[test]
fn envelopes_keep_their_own_text() {
    let request =
        r#"{"params":{"b":1,"a":1.0,"a":18446744073709551616},"id":1.50,"method":"x","x":null}"#;
    let response = r#"{"result": null ,"id":1.50,"s":"\ud83d"}"#;
    let (text, _) = project(
        &Script::default().c(request).s(response).events,
        &crate::support::complete(),
    );
    assert!(
        text.contains(&format!("\"request\": {request},\n")),
        "{text}"
    );
    assert!(
        text.contains(&format!("\"response\": {response},\n")),
        "{text}"
    );
}

#[test]
fn both_sides_may_count_from_zero() {
    let ask = r#"{"id":0,"method":"sampling/createMessage"}"#;
    let (_, value) = Script::default()
        .c(call("0"))
        .s(ask)
        .c(r#"{"id":0,"result":"reply"}"#)
        .s(result("0"))
        .cassette();
    let exchange = &value["exchanges"][0];
    assert_eq!(exchange["response"]["result"], json!({"content": []}));
    let stream = exchange["stream"].as_array().unwrap();
    assert_eq!(
        stream[0],
        json!({"from": "server", "at_ms": 2, "message": {"id": 0, "method": "sampling/createMessage"}})
    );
    assert_eq!(stream[1]["from"], "client");
    assert_eq!(value.get("messages"), None);
}

#[test]
fn an_id_of_another_type_pairs_with_nobody() {
    let (_, value) = Script::default().c(call("2")).s(result("\"2\"")).cassette();
    assert_eq!(value["exchanges"], json!([]));
    assert_eq!(value["messages"][0]["mark"], "id type changed");
    assert_eq!(value["unanswered"][0]["marks"], json!(["id type changed"]));
    assert_eq!(value["unanswered"][0]["why"], "still pending");
}

#[test]
fn a_message_with_a_method_is_never_a_response() {
    let odd = r#"{"id":1,"method":"ping","result":{}}"#;
    let (_, value) = Script::default()
        .c(call("1"))
        .s(odd)
        .s(result("1"))
        .cassette();
    assert_eq!(
        value["exchanges"][0]["response"]["result"],
        json!({"content": []})
    );
}

#[test]
fn a_reused_id_pairs_first_with_first() {
    let script = Script::default()
        .c(call("1"))
        .c(r#"{"id":1,"method":"second"}"#);
    let (_, value) = script
        .s(r#"{"id":1,"result":"a"}"#)
        .s(r#"{"id":1,"result":"b"}"#)
        .cassette();
    let exchanges = value["exchanges"].as_array().unwrap();
    assert_eq!(exchanges[0]["response"]["result"], "a");
    assert_eq!(exchanges[1]["request"]["method"], "second");
    assert_eq!(exchanges[1]["response"]["result"], "b");
    assert!(
        exchanges
            .iter()
            .all(|one| one["marks"] == json!(["id reused"]))
    );
}

#[test]
fn an_id_used_again_after_its_answer_is_no_oddity() {
    let script = Script::default()
        .c(call("1"))
        .s(result("1"))
        .c(call("1"))
        .s(result("1"));
    let (_, value) = script.cassette();
    assert_eq!(ids(&value), ["1", "1"]);
    assert_eq!(value["exchanges"][1].get("marks"), None);
}

#[test]
fn stray_responses_are_kept_and_marked() {
    let script = Script::default()
        .c(call("1"))
        .s(result("1"))
        .s(result("1"))
        .s(result("7"));
    let (_, value) = script.s(r#"{"id":null,"error":{"code":1}}"#).cassette();
    let marks: Vec<_> = (0..3)
        .map(|at| value["messages"][at]["mark"].clone())
        .collect();
    assert_eq!(
        marks,
        [
            "duplicate response",
            "response to nobody",
            "response to nobody"
        ]
    );
    assert_eq!(value["messages"][0]["after"], 1);
}

#[test]
fn a_request_with_a_null_id_is_answered_by_a_response_without_one() {
    let script = Script::default().c(call("null")).c(call("1"));
    let script = script.s(r#"{"id":null,"error":{"code":-32700,"message":"what?"}}"#);
    let (_, value) = script.s(result("1")).s(result("null")).cassette();
    assert_eq!(ids(&value), ["null", "1"]);
    assert_eq!(value["exchanges"][0]["response"]["id"], json!(null));
    assert_eq!(value["exchanges"][0]["marks"], json!(["null id"]));
    // A message that could not be read is a different one.
    assert_eq!(value["messages"][0]["mark"], "response to nobody");
    let (_, value) = Script::default().c(call("null")).s(result("1")).cassette();
    assert_eq!(value["unanswered"][0]["marks"], json!(["null id"]));
    assert_eq!(value["messages"][0]["mark"], "response to nobody");
}

#[test]
fn batches_are_paired_member_by_member() {
    let requests = format!("[{}, {},{{\"method\":\"note\"}}]", call("1"), call("2"));
    let responses = format!("[{},{}]", result("2"), result("1"));
    let (text, value) = Script::default().c(requests).s(responses).cassette();
    assert_eq!(ids(&value), ["1", "2"]);
    assert_eq!(value["exchanges"][0]["marks"], json!(["batch"]));
    assert_eq!(value["messages"][0]["mark"], "batch");
    assert!(text.contains(&format!("\"request\": {},\n", call("2"))));
    let (_, value) = Script::default().c("[]").cassette();
    assert_eq!(value["messages"][0]["message"], json!([]));
}

#[test]
fn progress_goes_by_its_token_and_the_rest_to_the_latest_request() {
    let with_token = |id: &str, token: &str| {
        format!(r#"{{"id":{id},"method":"x","params":{{"_meta":{{"progressToken":{token}}}}}}}"#)
    };
    let progress = |token: &str| {
        format!(
            r#"{{"method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
        )
    };
    let log = r#"{"method":"notifications/message","params":{}}"#;
    let script = Script::default()
        .c(with_token("1", "\"a\""))
        .c(with_token("2", "1"));
    let script = script
        .s(progress("\"a\""))
        .s(progress("1"))
        .s(progress("\"1\""))
        .s(log);
    let (_, value) = script
        .s(result("2"))
        .s(log)
        .s(result("1"))
        .s(log)
        .cassette();
    let count = |at: usize| value["exchanges"][at]["stream"].as_array().unwrap().len();
    assert_eq!((count(0), count(1)), (2, 2));
    assert_eq!(value["messages"][0]["mark"], "progress of nobody");
    assert_eq!(value["messages"][1]["after"], 2);
}

#[test]
fn a_cancelled_request_says_so() {
    let cancel = |id: &str| {
        format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    };
    let script = Script::default()
        .c(call("1"))
        .c(call("2"))
        .c(cancel("1"))
        .c(cancel("\"2\""));
    let (_, value) = script.s(cancel("2")).s(result("2")).cassette();
    let unanswered = &value["unanswered"][0];
    assert_eq!(unanswered["why"], "cancelled");
    assert_eq!(unanswered["after"], 0);
    assert_eq!(unanswered["sent_ms"], 1);
    assert_eq!(unanswered["stream"][0]["from"], "client");
    assert_eq!(value["messages"][0]["mark"], "cancels nobody");
    assert_eq!(value["exchanges"][0].get("marks"), None);
}

#[test]
fn why_a_request_has_no_answer_depends_on_who_left_first() {
    use CloseReason::{EndOfInput, Failed, ReceiverGone};
    use Direction::{ToClient, ToServer};
    let why = |script: Script| script.cassette().1["unanswered"][0]["why"].clone();
    let asked = || Script::default().c(call("1"));
    assert_eq!(why(asked()), "still pending");
    assert_eq!(why(asked().exited()), "peer gone");
    assert_eq!(why(asked().closed(ToClient, EndOfInput)), "peer gone");
    assert_eq!(why(asked().closed(ToServer, ReceiverGone)), "peer gone");
    assert_eq!(why(asked().closed(ToClient, Failed)), "peer gone");
    assert_eq!(
        why(asked().closed(ToServer, EndOfInput).exited()),
        "still pending"
    );
    assert_eq!(
        why(asked().closed(ToClient, ReceiverGone).exited()),
        "still pending"
    );
}

#[test]
fn what_is_no_json_is_kept_as_text_or_base64() {
    let script = Script::default()
        .s("Listening on 3000\u{1b}[0m")
        .s(&b"{\"\xff\"}"[..])
        .s("42")
        .s("");
    let script = script.push(
        Direction::ToClient,
        EventBody::message(
            Payload::Clipped {
                len: 5_000_000,
                head: "{\"id\":1".into(),
            },
            tapewright_schemas::event::LineEnd::Lf,
        ),
    );
    let (_, value) = script.cassette();
    let messages = value["messages"].as_array().unwrap();
    assert_eq!(messages[0]["text"], "Listening on 3000\u{1b}[0m");
    assert_eq!(
        (&messages[0]["mark"], &messages[0]["why"]),
        (&json!("noise"), &json!("not_json"))
    );
    assert_eq!(messages[1]["base64"], "eyL/In0=");
    assert_eq!(messages[1]["why"], "not_utf8");
    assert_eq!(messages[2]["message"], 42);
    assert_eq!(messages[3]["text"], "");
    assert_eq!(
        messages[4]["clipped"],
        json!({"len": 5_000_000, "head": "{\"id\":1"})
    );
}

#[test]
fn the_era_stands_with_the_exchange() {
    let script = Script::default()
        .c(r#"{"id":0,"method":"initialize"}"#)
        .s(result("0"));
    let (_, value) = script
        .c(r#"{"id":1,"method":"server/discover"}"#)
        .s(result("1"))
        .cassette();
    assert_eq!(value["exchanges"][0]["era"], "handshake");
    assert_eq!(value["exchanges"][1]["era"], "stateless");
}

#[test]
fn sessions_do_not_mix() {
    let script = Script::default()
        .session(1)
        .c(call("1"))
        .session(2)
        .c(call("1"))
        .s(result("1"));
    let (_, value) = script.session(1).s(result("1")).cassette();
    assert_eq!(value["exchanges"][0]["session"], 1);
    assert_eq!(value["exchanges"][0]["timing"]["took_ms"], 3);
    assert_eq!(value["exchanges"][1]["timing"]["took_ms"], 1);
}

/// The members of a cassette about what is missing, as written and as read.
fn lacks(ending: &Ending, script: &Script) -> (Value, Option<Incomplete>) {
    let (text, _) = project(&script.events, ending);
    let value: Value = serde_json::from_str(&text).unwrap();
    let names = ["incomplete", "incomplete_detail", "last_seq", "gaps"];
    let written = names.map(|name| value[name].clone());
    (
        json!(written),
        cassette(&text).incomplete.map(|lacks| *lacks),
    )
}

fn cassette(text: &str) -> Cassette {
    let Ok(Document::Cassette(cassette)) = Document::read(Bytes::from(text.to_owned())) else {
        panic!("no cassette: {text}");
    };
    cassette
}

#[test]
fn an_incomplete_tape_makes_an_incomplete_cassette() {
    let cut = Ending::CutShort {
        last_seq: 4,
        torn: true,
    };
    let (written, read) = lacks(&cut, &Script::default());
    assert_eq!(written, json!(["cut_short", null, 4, null]));
    assert_eq!(read, Incomplete::of(&cut, GapTotal::default()));
    let gap = Gap {
        events: 2,
        bytes: 90,
        why: GapReason::QueueFull,
        detail: None,
    };
    let seen = GapTotal {
        count: 1,
        events: 2,
        bytes: 90,
    };
    let gap = || Script::default().push(Direction::ToClient, EventBody::Gap(gap.clone()));
    let counted = json!({"count": 1, "events": 2, "bytes": 90});
    let (written, read) = lacks(&crate::support::complete(), &gap());
    assert_eq!(written, json!(["gaps", null, null, counted]));
    assert_eq!(read, Incomplete::of(&crate::support::complete(), seen));
    let full = Ending::Footer(Footer {
        why: Some(TapeFailure::NotWritten),
        detail: Some("the disk is full".to_owned()),
        ..Footer::default()
    });
    let (written, read) = lacks(&full, &gap());
    let detail = "the disk is full";
    assert_eq!(written, json!(["not_written", detail, null, counted]));
    assert_eq!(read, Incomplete::of(&full, seen));
    let (written, read) = lacks(&crate::support::complete(), &Script::default());
    assert_eq!((written, read), (json!([null, null, null, null]), None));
}

#[test]
fn an_older_cassette_says_in_words_what_it_lacks() {
    for (words, why, detail) in [
        (
            "the recorder was stopped before it could write the footer; the last event is 4",
            TapeFailure::CutShort,
            None,
        ),
        (
            "gaps: 1, with 2 events and 90 bytes",
            TapeFailure::Gaps,
            None,
        ),
        (
            "the tape could not be written: No space left on device (os error 28)",
            TapeFailure::NotWritten,
            Some("No space left on device (os error 28)"),
        ),
        (
            "the recorder says so and gives no reason",
            TapeFailure::Unknown,
            None,
        ),
        ("it was cut", TapeFailure::Unknown, Some("it was cut")),
    ] {
        let text = format!(r#"{{"version":"1","exchanges":[],"incomplete":"{words}"}}"#);
        let read = cassette(&text).incomplete.unwrap();
        assert_eq!((read.why, read.detail.as_deref()), (why, detail), "{words}");
    }
}

#[test]
fn a_probe_is_told_from_a_session() {
    let probe = |script: Script| {
        project(&script.events, &crate::support::complete())
            .1
            .probe_only
    };
    let discover = || Script::default().c(r#"{"id":1,"method":"server/discover"}"#);
    assert!(probe(discover()));
    assert!(!probe(discover().c(call("2"))));
    assert!(!probe(Script::default()));
}
