//! Time on a tape never runs backwards.

use std::thread;

use tapewright_schemas::event::EventBody;

use crate::support::Tape;
use crate::support::http::{Gateway, Seen, Strict, json, post, request};

/// Answers in a session, or opens one.
fn answer(seen: &Seen) -> Vec<u8> {
    let text = String::from_utf8_lossy(&seen.body).into_owned();
    let opens = text.contains("initialize");
    let id = text
        .split("\"id\":")
        .nth(1)
        .map_or("0", |rest| rest.split([',', '}']).next().expect("an id"));
    let session = format!("Mcp-Session-Id: {}\r\n", text.len());
    let result = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}");
    json("200 OK", if opens { &session } else { "" }, &result).into_bytes()
}

/// The tape of many clients, some of which use unknown ids.
fn recorded(options: &[&str]) -> Tape {
    const CLIENTS: usize = 8;
    let server = Strict::start(answer);
    let gateway = Gateway::to(server.address(), options);
    thread::scope(|scope| {
        for number in 0..CLIENTS {
            let gateway = &gateway;
            scope.spawn(move || {
                let mut client = gateway.connect();
                let own = gateway.address;
                for id in 0..30 {
                    let method = if id == 0 { "initialize" } else { "ping" };
                    let call = format!(
                        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"pad\":\"{}\"}}",
                        "x".repeat(number)
                    );
                    let fields = format!("Mcp-Session-Id: client-{number}\r\n");
                    client.send(post(own, &fields, &call));
                    let head = client.head();
                    client.body(&head);
                    let streams = format!("{fields}Accept: text/event-stream\r\n");
                    client.send(request("GET /mcp", own, &streams));
                    let head = client.head();
                    client.body(&head);
                }
            });
        }
    });
    gateway.stop()
}

#[test]
fn time_never_runs_backwards_however_many_connections_there_are() {
    for durability in ["queue", "written", "synced"] {
        for judged in [&[][..], &["--check", "--all", "--hang-after", "1ms"]] {
            let options = [&["--durability", durability][..], judged].concat();
            let tape = recorded(&options);
            assert!(tape.events.len() > 1_000);
            let backwards = tape.events.windows(2).find(|pair| pair[1].at < pair[0].at);
            assert_eq!(backwards, None, "{options:?}");
            let numbers = tape.events.iter().map(|event| event.seq);
            assert!(numbers.eq(1..=tape.events.len() as u64));
            let gaps = |body: &EventBody| matches!(body, EventBody::Gap(_));
            assert!(!tape.events.iter().any(|event| gaps(&event.body)));
        }
    }
}
