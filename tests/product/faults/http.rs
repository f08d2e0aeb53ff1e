//! Faults between HTTP clients and an HTTP server.

use tapewright_schemas::event::{Direction, EventBody};

use super::{PATIENCE, call, effects};
use crate::support::http::{Upstream, Wire, json, pair, post};
use crate::support::{eventually, tapewright};

const ANSWER: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":1}}";

/// A call whose answer has left the server.
fn called(upstream: &Upstream, client: &mut Wire, gateway: std::net::SocketAddr) -> Wire {
    client.send(post(gateway, "", &call(1, "search")));
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    // Not kept alive: the next exchange has a new connection.
    server.send(json("200 OK", "Connection: close\r\n", ANSWER));
    server
}

#[test]
fn the_client_gets_something_else() {
    for (fault, status, body) in [
        (
            "error tool=search code=-5 message=down",
            200,
            "\"error\":{\"code\":-5,\"message\":\"down\"}",
        ),
        (
            "http-status status=429 retry_after_s=2",
            429,
            "a fault was injected",
        ),
        ("http-status status=404", 404, "a fault was injected"),
        ("wrong-id id=77", 200, "\"id\":77"),
        ("garbage text=noise", 200, "noise\n{\"jsonrpc\""),
        ("slow delay_ms=1", 200, ANSWER),
        ("slicer size=3", 200, ANSWER),
        ("slow-trickle bytes_per_s=1000", 200, ANSWER),
    ] {
        let (upstream, gateway) = pair(&["--fault", fault]);
        let mut client = gateway.connect();
        let _server = called(&upstream, &mut client, gateway.address);
        let head = client.head();
        assert_eq!(head.status(), status, "{fault}");
        let found = String::from_utf8(client.body(&head)).unwrap();
        assert!(found.contains(body), "{fault}: {found}");
        if status == 429 {
            assert_eq!(head.get("retry-after"), Some("2"));
        }
        let tape = gateway.stop();
        assert_eq!(effects(&tape).len(), 1, "{fault}");
        // The event refers to the answer by its number, and follows it.
        let numbers = tape.events.iter().filter_map(|event| match &event.body {
            EventBody::Faulted(faulted) => Some(faulted.message),
            EventBody::Message { origin, .. } if event.dir == Direction::ToClient => {
                Some(origin.number)
            }
            _ => None,
        });
        let numbers: Vec<_> = numbers.collect();
        assert!(
            numbers[0].is_some() && numbers[0] == numbers[1],
            "{fault}: {numbers:?}"
        );
        let recorded = tape.messages(Direction::ToClient);
        assert_eq!(recorded, [ANSWER], "{fault}");
    }
}

#[test]
fn a_reset_leaves_no_response_or_half_of_one() {
    for (fault, least, most) in [("reset at=before", 0, 0), ("reset at=mid", 20, 400)] {
        let (upstream, gateway) = pair(&["--fault", fault]);
        let mut client = gateway.connect();
        let _server = called(&upstream, &mut client, gateway.address);
        let (rest, _) = client.rest();
        let text = String::from_utf8_lossy(&rest);
        assert!((least..=most).contains(&rest.len()), "{fault}: {text}");
        assert!(!text.contains("\"n\":1}}"), "{fault}: {text}");
    }
}

#[test]
fn a_hang_touches_no_other_exchange() {
    let (upstream, gateway) = pair(&["--fault", "hang tool=search"]);
    let mut hung = gateway.connect();
    let _first = called(&upstream, &mut hung, gateway.address);
    let mut other = gateway.connect();
    other.send(post(gateway.address, "", &call(2, "find")));
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    server.send(json(
        "200 OK",
        "",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}",
    ));
    let head = other.head();
    assert_eq!(head.status(), 200);
    other.body(&head);
    drop(hung);
    let told = || {
        let tape = std::fs::read_to_string(gateway.tape()).unwrap_or_default();
        tape.contains(r#""fault":"hang-1","kind":"hang","did":"left""#)
    };
    assert!(eventually(PATIENCE, told));
    let tape = gateway.stop();
    assert_eq!(effects(&tape).len(), 2);
    assert_eq!(effects(&tape)[0], "hang-1 (hang): held");
    assert_eq!(tape.messages(Direction::ToClient).len(), 2);
}

#[test]
fn of_a_stream_only_the_answer_is_held() {
    for (fault, held) in [
        ("hang", true),
        ("error code=-5", false),
        ("duplicate", false),
        ("drop", false),
    ] {
        let (upstream, gateway) = pair(&["--fault", fault]);
        let mut client = gateway.connect();
        client.send(post(gateway.address, "", &call(1, "search")));
        let mut server = upstream.accept();
        let head = server.head();
        server.body(&head);
        server.send(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n",
        );
        let progress = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}";
        server.send(format!("data: {progress}\n\n"));
        // It arrives before the server sends any more.
        let head = client.head();
        assert_eq!(head.status(), 200);
        let event = format!("data: {progress}\n\n");
        assert_eq!(client.chunks(event.len()), event.as_bytes(), "{fault}");
        server.send(format!("data: {ANSWER}\n\n: behind\n\n"));
        drop(server);
        if held {
            let told = || {
                let tape = std::fs::read_to_string(gateway.tape()).unwrap_or_default();
                tape.contains(r#""fault":"hang-1","kind":"hang","did":"held""#)
            };
            assert!(eventually(PATIENCE, told));
        } else {
            let text = String::from_utf8(client.body(&head)).unwrap();
            let count = text.matches("\"n\":1").count();
            let wanted = if fault == "duplicate" { 2 } else { 0 };
            assert_eq!(count, wanted, "{fault}: {text}");
            assert_eq!(text.contains("\"code\":-5"), fault.starts_with("error"));
            assert!(text.contains(": behind"), "{fault}: {text}");
        }
        drop(client);
        let tape = gateway.stop();
        let recorded = tape.messages(Direction::ToClient);
        assert_eq!(recorded, [progress, ANSWER], "{fault}");
    }
}

#[test]
fn a_fault_that_is_taken_away_acts_on_no_answer_that_is_on_its_way() {
    let folder = tempfile::tempdir().unwrap();
    let control = format!("unix:{}", folder.path().join("c.sock").display());
    for fault in [
        "error",
        "drop",
        "http-status status=500",
        "slow-trickle bytes_per_s=1",
    ] {
        let one = format!("{fault} name=f tool=search");
        let options = [
            "--fault",
            &one,
            "--fault",
            "hang tool=other",
            "--control",
            &control,
        ];
        let (upstream, gateway) = pair(&options);
        let mut client = gateway.connect();
        client.send(post(gateway.address, "", &call(1, "search")));
        let mut server = upstream.accept();
        let head = server.head();
        server.body(&head);
        let removed = tapewright()
            .args(["fault", "remove", "f", "--control", &control])
            .status();
        assert!(removed.unwrap().success(), "{fault}");
        let answer = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":1}}";
        server.send(json("200 OK", "Connection: close\r\n", answer));
        let head = client.head();
        assert_eq!(head.status(), 200, "{fault}");
        assert_eq!(client.body(&head), answer.as_bytes(), "{fault}");
        assert!(effects(&gateway.stop()).is_empty(), "{fault}");
    }
}

#[test]
fn a_trickle_that_is_taken_away_passes_on_its_rest() {
    let folder = tempfile::tempdir().unwrap();
    let control = format!("unix:{}", folder.path().join("c.sock").display());
    let fault = "slow-trickle name=f tool=search bytes_per_s=1";
    let (upstream, gateway) = pair(&["--fault", fault, "--control", &control]);
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", &call(1, "search")));
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    // At a byte per second this would take longer than any test may.
    let answer = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"t\":\"{}\"}}}}",
        "x".repeat(1_000)
    );
    server.send(json("200 OK", "Connection: close\r\n", &answer));
    let head = client.head();
    assert_eq!(head.status(), 200);
    let removed = tapewright()
        .args(["fault", "remove", "f", "--control", &control])
        .status();
    assert!(removed.unwrap().success());
    assert_eq!(client.body(&head), answer.as_bytes());
    let told = effects(&gateway.stop());
    let [sliced, released] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert!(sliced.contains("sliced"), "{sliced}");
    assert!(released.contains("released"), "{released}");
}
