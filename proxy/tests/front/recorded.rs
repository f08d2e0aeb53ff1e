//! What is recorded.

use std::fs;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::fake::{LIMIT, plain};
use crate::front_server::{FrontServer, TAPE};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[test]
fn the_servers_lines_and_the_heads_of_the_exchanges_are_kept_and_no_credential() {
    let fake = plain("2025-11-25", |out, line| {
        if line.contains("ping") {
            out.say("Listening on port 3000");
        }
        false
    });
    let front_server = FrontServer::of(fake);
    let mut http = front_server.http();
    let session = http.open();
    http.post(
        &format!("{session}Authorization: Bearer not-to-be-kept-1234567890\r\n"),
        PING,
    );
    http.post("Mcp-Session-Id: 99999999999999999999999999999999\r\n", PING);
    http.ask("DELETE /mcp", &session, "");
    let secret = session.trim_end().rsplit(' ').next().unwrap().to_owned();
    let tape = front_server.tape();
    assert!(
        !tape.contains(&secret),
        "the name of a session is a credential"
    );
    assert!(!tape.contains("not-to-be-kept"));
    let of = |part: &str| tape.lines().filter(|line| line.contains(part)).count();
    assert_eq!(of("\"method\":\"ping\""), 1, "each line once: {tape}");
    assert_eq!(of("\"began\":\"session_id\""), 1);
    assert_eq!(of("\"ended\":\"deleted\""), 1);
    assert_eq!(of(r#""did":"not_passed","why":"noise""#), 1);
    assert_eq!(of("\"request\":{"), 5);
    assert_eq!(of("\"response\":{"), 5);
    assert_eq!(of("\"status\":404"), 1);
    assert_eq!(of("\"client\":{"), 5);
    let belongs = |line: &&str| line.contains("\"session\":1,");
    let in_session = tape.lines().filter(belongs).count();
    assert!(in_session >= 20, "{tape}");
    let message = tape
        .lines()
        .find(|line| line.contains("\"method\":\"ping\""))
        .unwrap();
    assert!(belongs(&message), "{message}");
}

#[test]
fn heads_that_cannot_be_read_are_on_the_tape() {
    let front_server = FrontServer::of(plain("2025-11-25", |_, _| false));
    let many = "X: 1\r\n".repeat(101);
    let cut = [
        (
            format!("POST /mcp HTTP/1.1\r\n{many}\r\n"),
            431,
            r#""ours":"too_long","ours_cause":"head_too_long""#,
        ),
        (
            "no HTTP\r\n\r\n".to_owned(),
            400,
            r#""ours":"bad_request","ours_cause":"head_unreadable""#,
        ),
    ];
    let [mut first, mut second] = [front_server.http(), front_server.http()];
    for (client, (text, status, _)) in [&mut first, &mut second].into_iter().zip(&cut) {
        client.raw(text);
        assert_eq!(client.head().status, *status);
    }
    // It is recorded when the connection has ended: one ends here, and one with the front.
    drop(second);
    writes(&front_server, cut[1].2);
    let tape = front_server.tape();
    for (_, _, ours) in &cut {
        assert_eq!(tape.matches(ours).count(), 1, "{ours}: {tape}");
    }
    assert_eq!(tape.matches("\"client\":{").count(), 2, "{tape}");
}

/// Waits until the tape has these words.
fn writes(front_server: &FrontServer, words: &str) {
    let tape = front_server.folder.path().join(TAPE);
    let written = async {
        while !fs::read_to_string(&tape).is_ok_and(|text| text.contains(words)) {
            sleep(Duration::from_millis(5)).await;
        }
    };
    let written = async { timeout(LIMIT, written).await };
    let written = front_server.runtime.block_on(written);
    assert!(written.is_ok(), "{words} is never written");
}
