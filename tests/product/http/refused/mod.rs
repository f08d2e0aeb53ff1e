//! Bad input: refused, or passed in a way that two readers cannot read differently.
//!
//! The server parses strictly and fails if anything is ambiguous; it must never see the request
//! that is smuggled in each body as a request.

mod table;

use self::table::Expected::{Broken, Denied, Passed, PassedLast, Refused};
use self::table::{SMUGGLED, TABLE};
use crate::support::http::{Gateway, Seen, Strict, Wire, json, request};

fn answer(seen: &Seen) -> Vec<u8> {
    let path = seen.head.line.split(' ').nth(1).unwrap_or_default();
    json("200 OK", &format!("X-Path: {path}\r\n"), "{}").into_bytes()
}

/// The statuses that come before the connection ends.
fn statuses(client: &mut Wire) -> Vec<u16> {
    let mut statuses = Vec::new();
    while let Ok(head) = client.try_head() {
        statuses.push(head.status());
        client.body(&head);
    }
    statuses
}

/// A request on a connection that must still be in step.
fn canary(client: &mut Wire, gateway: &Gateway, server: &Strict, name: &str) {
    client.send(request("GET /canary", gateway.address, ""));
    let head = client.head();
    assert_eq!(
        (head.status(), head.get("x-path")),
        (200, Some("/canary")),
        "{name}"
    );
    client.body(&head);
    let seen = server.seen();
    assert_eq!(seen.len(), 1, "{name}: {seen:?}");
}

#[test]
fn bad_input_is_refused_or_passed_without_ambiguity() {
    assert!(TABLE.len() >= 80);
    let server = Strict::start(answer);
    let gateway = Gateway::to(server.address(), &["--max-message", "1KiB"]);
    let host = gateway.address.to_string();
    for (name, input, fate) in TABLE {
        let input = input.replace("SMUGGLED", SMUGGLED).replace("HOST", &host);
        println!("{name}");
        let mut client = gateway.connect();
        // Only characters up to 255: one byte each.
        let input: Vec<u8> = input.chars().map(|char| char as u32 as u8).collect();
        // The connection may be closed before the whole input was sent.
        client.try_send(&input).ok();
        match fate {
            Refused(wanted) => {
                let statuses = statuses(&mut client);
                let status = statuses.first().copied().unwrap_or(0);
                assert!(
                    wanted.contains(&status) && statuses.len() <= 1,
                    "{name}: {statuses:?}"
                );
                assert!(server.seen().is_empty(), "{name}");
            }
            Denied(status) => {
                let head = client.head();
                assert_eq!(head.status(), *status, "{name}");
                client.body(&head);
                assert!(server.seen().is_empty(), "{name}");
                canary(&mut client, &gateway, &server, name);
            }
            Passed(count) => {
                for _ in 0..*count {
                    let head = client.head();
                    assert_eq!(head.status(), 200, "{name}");
                    client.body(&head);
                }
                let seen = server.seen();
                assert_eq!(seen.len(), *count, "{name}: {seen:?}");
                canary(&mut client, &gateway, &server, name);
            }
            PassedLast => {
                assert_eq!(statuses(&mut client), [200], "{name}");
                let seen = server.seen();
                assert_eq!(seen.len(), 1, "{name}: {seen:?}");
            }
            Broken => {
                let statuses = statuses(&mut client);
                assert!(
                    matches!(statuses.as_slice(), [] | [400 | 502]),
                    "{name}: {statuses:?}"
                );
                assert!(server.seen().is_empty(), "{name}");
            }
        }
        // Everybody else is served as before.
        canary(&mut gateway.connect(), &gateway, &server, name);
    }
    gateway.stop();
    let broken = server.broken();
    assert!(
        broken
            .iter()
            .all(|seen| !seen.head.line.contains("smuggled"))
    );
}
