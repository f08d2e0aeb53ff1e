//! Streams of a session: the general one, cut ones, slow ones.

use std::sync::Arc;

use crate::client::hasty;
use crate::fake::{Seen, plain};
use crate::front_server::FrontServer;

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;

fn changed(number: u32) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{"n":{number}}}}}"#
    )
}

#[test]
fn the_general_stream_carries_what_the_server_says_unasked() {
    let fake = plain("2025-11-25", |out, line| {
        if line.contains("initialized") {
            out.say(&changed(1));
        } else if line.contains("tools/call") {
            out.say(&changed(2));
        }
        false
    });
    let front_server = FrontServer::of(fake);
    let mut http = front_server.http();
    let session = http.open();
    let mut general = front_server.http();
    assert_eq!(general.listen(&session).status, 200);
    assert_eq!(general.event().unwrap(), "id: 0-0\nretry: 1000\ndata:");
    assert_eq!(general.data().unwrap(), changed(1), "it was kept");
    let (head, _) = http.post(&session, CALL);
    assert_eq!(head.get("content-type"), Some("application/json"));
    assert_eq!(general.data().unwrap(), changed(2));
    assert_eq!(
        front_server.http().listen(&session).status,
        409,
        "there is one only"
    );
    assert_eq!(
        front_server
            .http()
            .ask("DELETE /mcp", &session, "")
            .0
            .status,
        204
    );
    assert_eq!(general.event(), None);
}

#[test]
fn a_cut_stream_goes_on_after_the_last_event_that_was_heard() {
    let go = Arc::new(Seen::default());
    let may = Arc::clone(&go);
    let fake = plain("2025-11-25", move |out, line| {
        if line.contains("tools/call") {
            let (out, may) = (out.clone(), Arc::clone(&may));
            std::thread::spawn(move || {
                for step in 1..=3 {
                    out.say(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"n":{step}}}}}"#));
                }
                may.next();
                out.say(r#"{"jsonrpc":"2.0","id":1,"result":{"late":true}}"#);
            });
            return true;
        }
        false
    });
    let front_server = FrontServer::of(fake);
    let session = front_server.http().open();
    let mut http = front_server.http();
    http.begin_post(&session, CALL);
    http.head();
    for _ in 0..4 {
        http.event();
    }
    drop(http);
    go.push(());
    let mut again = front_server.http();
    let head = again.listen(&format!("{session}Last-Event-ID: 2-1\r\n"));
    assert_eq!(head.status, 200);
    assert_eq!(again.event().unwrap(), "id: 2-1\nretry: 1000\ndata:");
    assert!(
        again
            .event()
            .unwrap()
            .starts_with("event: message\nid: 2-2\n")
    );
    assert!(
        again
            .event()
            .unwrap()
            .starts_with("event: message\nid: 2-3\n")
    );
    let answer = again.event().unwrap();
    assert_eq!(
        answer,
        "event: message\nid: 2-4\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"late\":true}}"
    );
    assert_eq!(again.event(), None);
    // A delivered answer can be read again, after the same event.
    let mut third = front_server.http();
    third.listen(&format!("{session}Last-Event-ID: 2-3\r\n"));
    third.event();
    assert_eq!(third.event().unwrap(), answer);
    for unknown in ["9-0", "x", ""] {
        let head = front_server
            .http()
            .listen(&format!("{session}Last-Event-ID: {unknown}\r\n"));
        assert_eq!(head.status, 400, "{unknown:?}");
    }
}

#[test]
fn the_general_stream_can_be_taken_over_by_its_own_client() {
    let fake = plain("2025-11-25", |out, line| {
        if line.contains("tools/call") {
            out.say(&changed(1));
        }
        false
    });
    let front_server = FrontServer::of(fake);
    let mut http = front_server.http();
    let session = http.open();
    let mut old = front_server.http();
    old.listen(&session);
    old.event();
    let mut new = front_server.http();
    assert_eq!(
        new.listen(&format!("{session}Last-Event-ID: 0-0\r\n"))
            .status,
        200
    );
    assert_eq!(old.event(), None, "the old one ends");
    new.event();
    http.post(&session, CALL);
    assert_eq!(new.data().unwrap(), changed(1));
}

#[test]
fn a_slow_answer_becomes_a_stream_that_is_kept_alive() {
    let go = Arc::new(Seen::default());
    let may = Arc::clone(&go);
    let fake = plain("2025-11-25", move |out, line| {
        if line.contains("tools/call") {
            let (out, may) = (out.clone(), Arc::clone(&may));
            std::thread::spawn(move || {
                may.next();
                out.say(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
            });
            return true;
        }
        false
    });
    let front_server = FrontServer::with(fake, hasty());
    let mut http = front_server.http();
    let session = http.open();
    http.begin_post(&session, CALL);
    assert_eq!(http.head().get("content-type"), Some("text/event-stream"));
    assert_eq!(http.block().unwrap(), "id: 2-0\nretry: 1000\ndata:");
    for _ in 0..3 {
        assert_eq!(http.block().unwrap(), ":");
    }
    go.push(());
    assert!(http.data().unwrap().contains("result"));
    assert_eq!(http.event(), None);
}

#[test]
fn a_client_that_reads_slowly_holds_its_own_server_and_loses_nothing() {
    let count = 40;
    let fake = plain("2025-11-25", move |out, line| {
        if line.contains("tools/call") {
            let out = out.clone();
            std::thread::spawn(move || {
                let text = "x".repeat(1 << 20);
                for n in 0..count {
                    out.say(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"n":{n},"text":"{text}"}}}}"#));
                }
                out.say(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
            });
            return true;
        }
        false
    });
    let front_server = FrontServer::of(fake);
    let mut http = front_server.http();
    let session = http.open();
    http.begin_post(&session, CALL);
    http.head();
    http.event();
    // Meanwhile other sessions are served.
    let mut other = front_server.http();
    let session = other.open();
    assert_eq!(
        other
            .post(&session, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
            .0
            .status,
        200
    );
    for n in 0..count {
        assert!(http.data().unwrap().contains(&format!("\"n\":{n},")));
    }
    assert!(http.data().unwrap().contains("result"));
    assert_eq!(http.event(), None);
}
