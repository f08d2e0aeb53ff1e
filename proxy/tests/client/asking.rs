//! Requests, replies, and messages between them.

use std::time::Duration;

use tapewright_proxy::client::{Answer, ClientError, Passed, Reply, ServerRequest};
use tapewright_schemas::event::Direction;

use crate::server::{LIMIT, Server, Voice, id_of};

fn text(message: &[u8]) -> String {
    String::from_utf8(message.to_vec()).unwrap()
}

fn between(passed: &[Passed]) -> Vec<(Direction, String)> {
    passed
        .iter()
        .map(|one| (one.dir, text(&one.message)))
        .collect()
}

/// Whether the times of a reply are in order.
fn in_order(reply: &Reply) -> bool {
    let times: Vec<_> = reply.between.iter().map(|one| one.at).collect();
    times.is_sorted() && times.last().is_none_or(|last| *last <= reply.at) && reply.sent <= reply.at
}

#[test]
fn a_reply_is_the_text_of_the_envelope() {
    let odd =
        r#"{"jsonrpc":"2.0", "result":{"big":123456789012345678901234567890},"id":1,"x":null}"#;
    let server = Server::new(move |voice, _| voice.say(odd));
    let mut client = server.client();
    let params = r#"{"name":"a","arguments":{"n":1.0}}"#;
    let reply = client.request("tools/call", Some(params), LIMIT).unwrap();
    assert_eq!(text(&reply.message), odd);
    assert_eq!(
        reply.result().unwrap(),
        br#"{"big":123456789012345678901234567890}"#
    );
    assert_eq!(reply.error(), None);
    let sent = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":1.0}}}"#;
    assert_eq!(server.heard(), [sent]);
}

#[test]
fn an_error_of_the_server_is_a_reply() {
    let server = Server::new(|voice, _| {
        voice.say(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#);
    });
    let reply = server.client().request("x", None, LIMIT).unwrap();
    assert_eq!(reply.error().unwrap(), br#"{"code":-32601,"message":"no"}"#);
    assert_eq!(reply.result(), None);
}

#[test]
fn what_comes_before_the_answer_is_told_in_order() {
    let note = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":1}}"#;
    let ask = r#"{"jsonrpc":"2.0","id":0,"method":"roots/list"}"#;
    let server = Server::new(move |voice, line| {
        if line.contains("\"result\"") {
            voice.say("some noise");
            voice.say(r#"{"jsonrpc":"2.0","id":1,"result":{"done":true}}"#);
        } else {
            voice.say(note);
            voice.say(ask);
        }
    });
    let mut client = server.client();
    client.answer_with(|asked: &ServerRequest<'_>| {
        assert_eq!((asked.id, asked.method), (b"0".as_slice(), "roots/list"));
        Answer::Result(r#"{"roots":[]}"#.to_owned())
    });
    let reply = client.request("tools/call", None, LIMIT).unwrap();
    let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"roots":[]}}"#;
    let expected = [
        (Direction::ToClient, note.to_owned()),
        (Direction::ToClient, ask.to_owned()),
        (Direction::ToServer, answer.to_owned()),
        (Direction::ToClient, "some noise".to_owned()),
    ];
    assert_eq!(between(&reply.between), expected);
    assert!(in_order(&reply));
}

#[test]
fn an_id_of_another_type_answers_another_request() {
    let server = Server::new(|voice, _| {
        voice.say(r#"{"jsonrpc":"2.0","id":"1","result":{"stray":true}}"#);
        voice.say(r#"{"jsonrpc":"2.0","id":1.0,"result":{"stray":true}}"#);
        voice.say(r#"{"jsonrpc":"2.0","id":1,"result":{"stray":false}}"#);
    });
    let reply = server.client().request("x", None, LIMIT).unwrap();
    assert_eq!(reply.result().unwrap(), br#"{"stray":false}"#);
    assert_eq!(reply.between.len(), 2);
}

#[test]
fn a_request_of_the_server_is_no_answer() {
    let server = Server::new(|voice, line| {
        if line.contains("\"method\"") {
            voice.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        } else {
            assert!(line.contains(r#""id":1,"result":{}"#), "{line}");
            voice.say(r#"{"jsonrpc":"2.0","id":1,"result":{"ok":true}}"#);
        }
    });
    let reply = server.client().request("x", None, LIMIT).unwrap();
    assert_eq!(reply.result().unwrap(), br#"{"ok":true}"#);
}

#[test]
fn members_of_a_batch_are_messages() {
    let server = Server::new(|voice, _| {
        voice.say(
            r#"[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":1,"result":{}}, {"jsonrpc":"2.0","method":"notifications/y"}]"#,
        );
    });
    let mut client = server.client();
    let reply = client.request("x", None, LIMIT).unwrap();
    assert_eq!(
        text(&reply.message),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#
    );
    assert_eq!(reply.between.len(), 2);
}

#[test]
fn a_request_that_gets_no_answer_is_cancelled() {
    let server = Server::new(|voice, line| {
        if line.contains("\"slow\"") {
            voice.say(r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#);
        } else if line.contains("notifications/cancelled") {
            // Too late, and ignored.
            voice.say(r#"{"jsonrpc":"2.0","id":1,"result":{"late":true}}"#);
        } else {
            voice.answer(line);
        }
    });
    let mut client = server.client();
    let error = client
        .request("slow", None, Duration::from_millis(300))
        .unwrap_err();
    assert!(
        matches!(&error, ClientError::TimedOut { what, .. } if what == "slow"),
        "{error}"
    );
    let next = client.request("x", None, LIMIT).unwrap();
    assert_eq!(next.result().unwrap(), b"{}");
    let heard = server.heard();
    assert!(
        heard[1].contains(r#""method":"notifications/cancelled","params":{"requestId":1,"#),
        "{heard:?}"
    );
    assert_eq!(id_of(&heard[2]), Some("2"));
}

#[test]
fn an_envelope_is_sent_as_it_stands() {
    let server = Server::new(Voice::answer);
    let mut client = server.client();
    let strange = b"{\"id\":\"a\\u0062\",\n \"method\":\"x\", \"extra\":null}";
    let reply = client.exchange(strange, LIMIT).unwrap();
    assert_eq!(
        server.heard(),
        [r#"{"id":"a\u0062",  "method":"x", "extra":null}"#]
    );
    assert_eq!(reply.result().unwrap(), b"{}");
    client.send(b"not json at all").unwrap();
    client.exchange(br#"{"id":2,"method":"x"}"#, LIMIT).unwrap();
    assert_eq!(server.heard()[1], "not json at all");
    let error = client.exchange(br#"{"method":"x"}"#, LIMIT).unwrap_err();
    assert!(matches!(error, ClientError::NotARequest));
    let error = client.request("x", Some("{"), LIMIT).unwrap_err();
    assert!(matches!(error, ClientError::NotJson { .. }));
}

#[test]
fn what_is_said_unasked_can_be_waited_for() {
    let server = Server::new(|voice, line| {
        voice.answer(line);
        for number in 0..3 {
            voice.say(&format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/{number}"}}"#
            ));
        }
    });
    let mut client = server.client();
    client.request("x", None, LIMIT).unwrap();
    let passed = client
        .listen(LIMIT, |one| text(&one.message).contains("/1"))
        .unwrap();
    assert!(text(&passed.last().unwrap().message).contains("/1"));
    let rest = client.listen(LIMIT, |_| true).unwrap();
    assert!(text(&rest[0].message).contains("/2"));
}
