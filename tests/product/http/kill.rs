//! SIGKILL at any instant under load: the guarantees of the tape.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tapewright_schemas::event::Direction;
use tapewright_schemas::tape::Ending;

use crate::support::http::{Gateway, PATIENCE, Seen, Strict, Wire, chunk, json, post};
use crate::support::{Tape, eventually, tapewright, wait};

const CLIENTS: usize = 3;

/// Answers in one piece or as events, depending on the number of the request.
fn answer(seen: &Seen) -> Vec<u8> {
    let text = String::from_utf8_lossy(&seen.body);
    let id: usize = text
        .split("\"id\":")
        .nth(1)
        .unwrap()
        .split(',')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let of = text
        .split("of-")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    let result = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"to\":\"{of}\",\"pad\":\"{}\"}}}}",
        "y".repeat(id * 31 % 300)
    );
    if !id.is_multiple_of(3) {
        return json("200 OK", "", &result).into_bytes();
    }
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut all = head.as_bytes().to_vec();
    let note = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/of-{of}-{id}\"}}");
    all.extend(chunk(format!("id: {id}\ndata: {note}\n\n")));
    all.extend(chunk(format!("data: {result}\n\n")));
    all.extend(b"0\r\n\r\n");
    all
}

/// The messages in a response as a client sees it: those that arrived completely.
fn received(client: &mut Wire, got: &mut Vec<String>) -> Option<()> {
    let head = client.try_head().ok()?;
    if let Some(length) = head.get("content-length") {
        let body = client.try_take(length.parse().unwrap()).ok()?;
        got.push(String::from_utf8(body).unwrap());
        return Some(());
    }
    let mut text = String::new();
    let mut whole = 0;
    loop {
        let size = usize::from_str_radix(&client.try_line().ok()?, 16).unwrap();
        text += std::str::from_utf8(&client.try_take(size).ok()?).unwrap();
        // An event is received with its blank line.
        while let Some(end) = text[whole..].find("\n\n") {
            let event = &text[whole..whole + end];
            got.extend(
                event
                    .lines()
                    .find_map(|line| line.strip_prefix("data: "))
                    .map(str::to_owned),
            );
            whole += end + 2;
        }
        client.try_take(2).ok()?;
        if size == 0 {
            return Some(());
        }
    }
}

/// After how many exchanges a round's kill comes at the earliest: some while it begins, most
/// amid the load.
fn awaited(round: usize) -> usize {
    if round.is_multiple_of(4) {
        0
    } else {
        round % 23 + 1
    }
}

/// What actually crossed in one killed run.
struct Truth {
    sent: Vec<Vec<String>>,
    received: Vec<String>,
    seen: Vec<String>,
    tape: Tape,
}

fn kill_after(durability: &str, round: usize) -> Truth {
    let server = Strict::start(answer);
    let mut gateway = Gateway::to(server.address(), &["--durability", durability]);
    let address = gateway.address;
    let begun = Arc::new(AtomicUsize::new(0));
    let all = Arc::<Mutex<Vec<String>>>::default();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let (begun, all) = (Arc::clone(&begun), Arc::clone(&all));
            // Here, so that no kill comes before it.
            let mut client = Wire::connect(address);
            thread::spawn(move || {
                let (mut sent, mut got) = (Vec::new(), Vec::new());
                for id in 0..1_000_000 {
                    let call =
                        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"of-{number}\"}}");
                    sent.push(call.clone());
                    if client.try_send(post(address, "", &call)).is_err()
                        || received(&mut client, &mut got).is_none()
                    {
                        break;
                    }
                    begun.fetch_add(1, Ordering::Relaxed);
                }
                all.lock().unwrap().extend(got);
                sent
            })
        })
        .collect();
    let awaited = awaited(round);
    assert!(eventually(PATIENCE, || begun.load(Ordering::Relaxed) >= awaited));
    thread::sleep(Duration::from_micros((round as u64 * 7_919) % 20_000));
    gateway.child.kill().unwrap();
    wait(&mut gateway.child, PATIENCE);
    let sent = clients
        .into_iter()
        .map(|client| client.join().unwrap())
        .collect();
    let seen = server
        .seen()
        .into_iter()
        .map(|seen| String::from_utf8(seen.body).unwrap())
        .collect();
    let received = std::mem::take(&mut *all.lock().unwrap());
    Truth {
        sent,
        received,
        seen,
        tape: Tape::read(&gateway.tape()),
    }
}

/// Runs this many kills.
fn kills(durability: &str, rounds: usize, check: impl Fn(usize, &Truth)) {
    let mut crossed = 0;
    for round in 0..rounds {
        let truth = kill_after(durability, round);
        assert!(matches!(truth.tape.ending, Ending::CutShort { .. }));
        // With any durability, the tape contains only what crossed, and only its end is missing.
        for (number, sent) in truth.sent.iter().enumerate() {
            let mark = format!("\"of-{number}\"");
            let on_tape = truth.tape.messages(Direction::ToServer);
            let of: Vec<&String> = on_tape
                .iter()
                .filter(|message| message.contains(&mark))
                .collect();
            assert!(of.len() <= sent.len(), "round {round}");
            assert!(of.iter().zip(sent).all(|(a, b)| *a == b), "round {round}");
        }
        check(round, &truth);
        crossed += truth.received.len() + truth.seen.len();
    }
    // Each exchange that was waited for is two messages at least.
    let least: usize = (0..rounds).map(|round| 2 * awaited(round)).sum();
    assert!(
        crossed >= least,
        "only {crossed} messages crossed, where {least} were waited for"
    );
}

#[test]
fn written_never_misses_a_message_that_a_peer_received() {
    kills("written", 50, |round, truth| {
        for (dir, received) in [
            (Direction::ToServer, &truth.seen),
            (Direction::ToClient, &truth.received),
        ] {
            let on_tape: HashSet<String> = truth.tape.messages(dir).into_iter().collect();
            for message in received {
                assert!(
                    on_tape.contains(message),
                    "round {round}: {message} is missing"
                );
            }
        }
    });
}

#[test]
fn queue_leaves_a_readable_tape_that_lacks_only_the_end() {
    kills("queue", 50, |_, _| {});
}

#[test]
fn a_tape_says_what_it_is_once_the_gateway_is_ready() {
    let server = Strict::start(answer);
    let mut gateway = Gateway::to(server.address(), &["--durability", "queue"]);
    gateway.child.kill().unwrap();
    wait(&mut gateway.child, PATIENCE);
    let tape = gateway.tape();
    let done = tapewright().arg("inspect").arg(&tape).output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{done:?}");
    assert!(text.contains(": tape, recorded "), "{text}");
    assert_eq!(Tape::read(&tape).header.transport, "http");
}
