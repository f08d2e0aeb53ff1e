//! Servers that flood, starve, or never read.

use std::time::Duration;

use tapewright_proxy::client::{Client, ClientError, MOST_MESSAGES, Settings};
use tapewright_proxy::clock::Clock;

use crate::server::{LIMIT, Server, settings};

#[test]
fn a_message_beyond_the_limit_ends_it() {
    let server = Server::new(|voice, _| voice.raw(&[b'x'; 3_000]));
    let settings = Settings {
        limit_bytes: 2_000,
        ..settings()
    };
    let mut client = Client::open(&server, settings, Clock::start()).unwrap();
    let error = client.request("x", None, LIMIT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server sent a message of more than 2000 bytes"
    );
}

#[test]
fn a_flood_before_the_answer_is_given_up() {
    let server = Server::new(|voice, _| {
        let many = "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n".repeat(1_000);
        for _ in 0..=MOST_MESSAGES / 1_000 {
            voice.raw(many.as_bytes());
        }
    });
    let error = server.client().request("x", None, LIMIT).unwrap_err();
    assert!(matches!(error, ClientError::Flooded), "{error}");
}

#[test]
fn a_server_that_never_reads_does_not_hold_us() {
    // It is busy with the first line throughout the test.
    let server = Server::new(|_, _| std::thread::park_timeout(LIMIT));
    let mut client = server.client();
    let large = format!("{{\"pad\":\"{}\"}}", "x".repeat(200_000));
    let short = Duration::from_millis(100);
    let error = client.request("first", Some(&large), short).unwrap_err();
    assert!(
        matches!(
            error,
            ClientError::TimedOut { .. } | ClientError::NotTaken { .. }
        ),
        "{error}"
    );
    let error = client.request("second", Some(&large), short).unwrap_err();
    assert!(matches!(error, ClientError::NotTaken { .. }), "{error}");
    let error = client.request("third", None, short).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the server did not accept `third`")
            || matches!(error, ClientError::NotTaken { .. }),
        "{error}"
    );
}

#[test]
fn a_server_that_writes_before_it_reads_gets_on() {
    // Both pipes are full: each side must read while it writes.
    let server = Server::new(|voice, line| {
        if line.contains("\"first\"") {
            voice.answer(line);
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"{}\"}}\n",
                "n".repeat(60_000)
            );
            for _ in 0..200 {
                voice.raw(line.as_bytes());
            }
        } else {
            voice.answer(line);
        }
    });
    let mut client = server.client();
    client.request("first", None, LIMIT).unwrap();
    let large = format!("{{\"pad\":\"{}\"}}", "x".repeat(2_000_000));
    let reply = client.request("second", Some(&large), LIMIT).unwrap();
    assert_eq!(reply.between.len(), 200);
}
