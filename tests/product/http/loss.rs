//! Nothing is lost by default, however large an answer is and however many arrive at once.

#[cfg(unix)]
mod hanging_disk;

use std::thread;

use tapewright_schemas::event::{CloseReason, Direction, EventBody, Payload};

use crate::support::http::{Gateway, Recorded, Seen, Strict, chunk, json, post};

const MB: usize = 1_000_000;

/// A parameter of a request: `"id":7`, `"bytes":6000000`, `"as":"event"`.
fn asked(seen: &Seen, name: &str) -> String {
    let text = String::from_utf8_lossy(&seen.body).into_owned();
    let rest = text
        .split(&format!("\"{name}\":"))
        .nth(1)
        .expect("a member");
    rest.split([',', '}']).next().expect("a value").to_owned()
}

/// A message of this length.
fn message(id: &str, bytes: usize) -> String {
    let begin = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"text\":\"");
    let pad = bytes - begin.len() - 3;
    format!(
        "{begin}{}\"}}}}",
        "abcdefgh ".repeat(pad / 9 + 1).split_at(pad).0
    )
}

/// Answers with as many bytes as requested, as JSON or as an event.
fn server() -> Strict {
    Strict::start(|seen| {
        let bytes = asked(seen, "bytes").parse().expect("a number");
        let message = message(&asked(seen, "id"), bytes);
        if asked(seen, "as") == "\"json\"" {
            return json("200 OK", "", &message).into_bytes();
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut all = head.as_bytes().to_vec();
        for part in format!("data: {message}\n\n").as_bytes().chunks(MB) {
            all.extend(chunk(part));
        }
        all.extend(b"0\r\n\r\n");
        all
    })
}

/// Sends requests over a new connection; each is `(id, bytes, as)`.
fn ask(gateway: &Gateway, calls: &[(usize, usize, &str)]) {
    let mut client = gateway.connect();
    for (id, bytes, kind) in calls {
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"x\",\"params\":{{\"bytes\":{bytes},\"as\":\"{kind}\"}}}}"
        );
        client.send(post(gateway.address, "", &call));
        let head = client.head();
        assert_eq!(head.status(), 200);
        assert!(client.body(&head).len() >= *bytes);
    }
}

/// The exchange is on the tape with everything that belongs to it; how long its answer is.
fn whole(exchange: &Recorded) -> u64 {
    let lengths = exchange.find(|body| match body {
        EventBody::Message {
            payload: Payload::Whole(bytes),
            ..
        } => Some(bytes.len() as u64),
        EventBody::Message { payload, .. } => panic!("{} bytes are cut", payload.wire_len()),
        EventBody::Gap(gap) => panic!("{gap:?}"),
        _ => None,
    });
    assert_eq!(lengths.len(), 2, "a request and an answer");
    assert!(exchange.response.is_some());
    for dir in [Direction::ToServer, Direction::ToClient] {
        assert_eq!(exchange.end(dir), Some(CloseReason::EndOfInput));
    }
    lengths[1]
}

#[test]
fn one_large_answer_is_kept_whole_with_all_that_belongs_to_it() {
    let server = server();
    let gateway = Gateway::to(server.address(), &[]);
    let calls = [
        (1, 6 * MB, "json"),
        (2, 6 * MB, "event"),
        (3, 6 * MB, "json"),
        (4, 30 * MB, "json"),
        (5, 30 * MB, "event"),
        (6, 100, "json"),
    ];
    ask(&gateway, &calls);
    let exchanges = gateway.stop().exchanges();
    let lengths: Vec<u64> = exchanges.iter().map(whole).collect();
    assert_eq!(lengths, calls.map(|(_, bytes, _)| bytes as u64));
}

#[test]
fn many_large_answers_at_once_are_kept_whole() {
    const CLIENTS: usize = 5;
    let server = server();
    let gateway = Gateway::to(server.address(), &[]);
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let gateway = &gateway;
            let kind = if client == 0 { "event" } else { "json" };
            let calls: Vec<_> = (0..10).map(|call| (call, 2 * MB, kind)).collect();
            scope.spawn(move || ask(gateway, &calls));
        }
    });
    let exchanges = gateway.stop().exchanges();
    assert_eq!(exchanges.len(), 10 * CLIENTS);
    for exchange in &exchanges {
        assert_eq!(whole(exchange), 2 * MB as u64);
    }
}
