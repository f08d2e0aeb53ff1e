//! What is recorded.

use crate::fake::plain;
use crate::front_server::FrontServer;

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
