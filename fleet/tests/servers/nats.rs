//! Announcements through a real NATS server. `.ci/fleet` installs it and runs these tests.

mod credentials;
mod server;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use async_nats::jetstream;
use serde_json::Value;

use self::server::{Server, Tail, signal};
use crate::support::{Fleet, Recorder, eventually};

/// The tape and the offset of an announcement.
fn id(announcement: &Value) -> (String, u64) {
    let tape = announcement["tape"].as_str().unwrap().to_owned();
    (tape, announcement["start"].as_u64().unwrap())
}

/// The same for every entry in the store, sorted.
fn entries(fleet: &Fleet) -> Vec<(String, u64)> {
    let mut entries = Vec::new();
    for tape in fs::read_dir(fleet.store.path().join("manifests/g1")).unwrap() {
        let tape = tape.unwrap();
        for entry in fs::read_dir(tape.path()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let Some(start) = name.strip_suffix(".json") else {
                continue;
            };
            let tape = tape.file_name().into_string().unwrap();
            entries.push((tape, start.parse().unwrap()));
        }
    }
    entries.sort();
    entries
}

/// All announcements in the stream, as read by a tail from the beginning, sorted.
fn announced(fleet: &Fleet, server: &Server) -> Vec<(String, u64)> {
    let count = server.messages().to_string();
    let url = server.url();
    let arguments = [
        "tail",
        "--json",
        "--since",
        "1h",
        "--count",
        &count,
        "--announce",
        &url,
    ];
    let output = fleet.run(&arguments);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut ids: Vec<_> = lines
        .filter(|line| line["what"] == "announcement")
        .map(|line| id(&line))
        .collect();
    ids.sort();
    ids
}

fn ship(fleet: &Fleet, server: &Server, more: &[&str]) -> Command {
    let mut command = fleet.ship(&["--announce", &server.url(), "--segment-bytes", "2KiB"]);
    command.args(more);
    command
}

/// Ships everything that exists, and announces it, without any output.
fn ship_all(fleet: &Fleet, server: &Server) {
    let output = ship(fleet, server, &["--once"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// A fleet, a server without authentication, and a running recorder.
fn started() -> (Fleet, Server, Recorder) {
    let fleet = Fleet::new();
    let recorder = Recorder::begin(fleet.tapes.path(), "files");
    (fleet, Server::start(&[]), recorder)
}

#[test]
fn nats_tail_shows_what_is_shipped_and_no_text_of_a_message() {
    let (fleet, server) = (Fleet::new(), Server::start(&[]));
    let tail = Tail::start(&fleet, &server, &[]);
    tail.next("no_stream");
    let mut recorder = Recorder::begin(fleet.tapes.path(), "files");
    recorder.calls(40);
    recorder.call_without_an_answer("slow\u{1b}[2J", "s3cr3t");
    recorder.end();
    ship_all(&fleet, &server);
    let first = tail.next("announcement");
    assert_eq!(
        (&first["gateway"], &first["start"]),
        (&Value::from("g1"), &Value::from(0))
    );
    let wanted = entries(&fleet);
    let mut all = vec![first];
    while all.len() < wanted.len() {
        all.push(tail.next("announcement"));
    }
    let ids: Vec<_> = all.iter().map(id).collect();
    assert_eq!(ids, wanted);
    let exchanges: u64 = all
        .iter()
        .filter_map(|one| one["rows"]["exchanges"].as_u64())
        .sum();
    assert_eq!(exchanges, 41);
    let last = all.last().unwrap();
    assert_eq!(last["ended"]["how"], "footer");
    assert_eq!(last["rows"]["notable"][0]["tool"], "slow\u{1b}[2J");
    let (end, rest) = tail.end();
    assert_eq!((rest.len(), &end["missed"]), (0, &Value::from(0)));
    assert!(!format!("{all:?}").contains("s3cr3t"));
    // For people: one line each, with hangs below it, and without control characters.
    let count = wanted.len().to_string();
    let url = server.url();
    let since = ["tail", "--announce", &url, "--since", "1h"];
    let text = |more: &[&str]| {
        let output = fleet.run(&[&since, more].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let told = text(&["--count", &count]);
    assert_eq!(
        told.lines()
            .filter(|line| line.contains("  files  "))
            .count(),
        wanted.len()
    );
    assert!(
        told.contains("    #81  tools/call slow\\u{1b}[2J: still pending"),
        "{told}"
    );
    assert!(!told.contains('\u{1b}'));
    let told = text(&["--count", "1", "--outcome", "hang"]);
    assert!(
        told.contains("  1 hang  ") && told.lines().count() == 2,
        "{told}"
    );
    let told = text(&["--count", "1", "--tool", "slow\u{1b}[2J", "--gateway", "g1"]);
    assert!(told.contains("slow"), "{told}");
}

/// Shipping continues, and in the end everything is announced once, and received once by a tail
/// that ran all the time.
#[test]
fn nats_may_be_away() {
    let (fleet, mut server, mut recorder) = started();
    recorder.calls(20);
    let shipper = ship(&fleet, &server, &["--segment-age", "10ms", "--json"]);
    let mut shipper = { shipper }.spawn().unwrap();
    eventually("the first ones are announced", || {
        let there = server.messages();
        there > 0 && there == entries(&fleet).len() as u64
    });
    let tail = Tail::start(&fleet, &server, &["--since", "1h"]);
    let mut heard = vec![id(&tail.next("announcement"))];
    for round in 1..=3 {
        server.stop();
        let before = entries(&fleet).len();
        recorder.calls(100 * round);
        eventually("it ships though nobody can be told", || {
            entries(&fleet).len() > before + 3
        });
        server.again();
        eventually("what waited is announced", || {
            server.messages() == entries(&fleet).len() as u64
        });
    }
    recorder.end();
    signal(&shipper, rustix::process::Signal::TERM);
    assert!(shipper.wait().unwrap().success());
    let wanted = entries(&fleet);
    assert_eq!(announced(&fleet, &server), wanted);
    while heard.len() < wanted.len() {
        heard.push(id(&tail.next("announcement")));
    }
    let (end, rest) = tail.end();
    assert_eq!((rest.len(), &end["missed"]), (0, &Value::from(0)));
    heard.sort();
    assert_eq!(heard, wanted);
}

/// Shippers are killed after they created an entry and before they announced it, and at any other
/// moment.
#[test]
fn nats_hears_of_what_killed_shippers_shipped() {
    let (fleet, mut server, mut recorder) = started();
    recorder.calls(50);
    // The server is unavailable, so nothing is announced.
    server.stop();
    let mut shipper = ship(&fleet, &server, &["--segment-age", "1ms"])
        .spawn()
        .unwrap();
    eventually("something is shipped", || {
        fleet.store.path().join("manifests/g1").is_dir() && entries(&fleet).len() > 3
    });
    shipper.kill().unwrap();
    shipper.wait().unwrap();
    server.again();
    assert_eq!(server.messages(), 0);
    for kill in 0..20_u64 {
        recorder.calls(30);
        let before = entries(&fleet).len();
        let mut shippers: Vec<Child> = (0..=kill % 2)
            .map(|_| {
                ship(&fleet, &server, &["--segment-age", "1ms"])
                    .spawn()
                    .unwrap()
            })
            .collect();
        eventually("something is shipped", || entries(&fleet).len() > before);
        thread::sleep(Duration::from_micros(kill * 7_919 % 30_000));
        for shipper in &mut shippers {
            shipper.kill().unwrap();
            shipper.wait().unwrap();
        }
    }
    recorder.end();
    ship_all(&fleet, &server);
    assert_eq!(announced(&fleet, &server), entries(&fleet));
    // The second time, there is nothing to announce.
    let before = server.messages();
    ship_all(&fleet, &server);
    assert_eq!(server.messages(), before);
}

#[test]
fn nats_messages_that_come_twice_or_never_are_told() {
    let (fleet, server, mut recorder) = started();
    recorder.calls(60);
    recorder.end();
    ship_all(&fleet, &server);
    let count = server.messages();
    assert!(count > 6);
    server.with(async |context| {
        let stream = context.get_stream("tapewright").await.unwrap();
        // Another process announces the second one again, without its id and with other contents.
        let second = stream.get_raw_message(2).await.unwrap();
        for payload in [second.payload, "hello".into()] {
            let sent = context.publish(second.subject.clone(), payload).await;
            sent.unwrap().await.unwrap();
        }
        for seq in [4, 5] {
            assert!(stream.delete_message(seq).await.unwrap());
        }
    });
    let wanted = (count - 2).to_string();
    let tail = Tail::start(&fleet, &server, &["--since", "1h"]);
    let mut missed = 0;
    let mut starts = Vec::new();
    while (starts.len() as u64) < count - 2 {
        let line = tail.lines.recv_timeout(Duration::from_secs(60)).unwrap();
        match line["what"].as_str().unwrap() {
            "announcement" => starts.push(id(&line)),
            "missed" => missed += line["messages"].as_u64().unwrap(),
            other => panic!("{other}"),
        }
    }
    let mut once = starts.clone();
    once.dedup();
    assert_eq!((missed, once.len().to_string()), (2, wanted));
    // A tape whose last message is not ours is announced again if needed, and not shown again.
    let mut recorder = Recorder::begin(fleet.tapes.path(), "other");
    recorder.calls(1);
    recorder.end();
    ship_all(&fleet, &server);
    let next = tail.next("announcement");
    assert_eq!(next["label"], "other");
    let (end, _) = tail.end();
    assert!(end["repeated"].as_u64().unwrap() >= 1, "{end}");
    assert_eq!(end["foreign"], 1);
    assert_eq!(end["redelivered"], 0);
}

#[test]
fn nats_stream_of_others_is_refused_and_no_secret_is_told() {
    let (fleet, server, mut recorder) = started();
    recorder.calls(3);
    recorder.end();
    server.with(async |context| {
        let config = jetstream::stream::Config {
            name: "tapewright".to_owned(),
            subjects: vec!["orders.>".to_owned()],
            ..Default::default()
        };
        context.create_stream(config).await.unwrap();
    });
    let tail = fleet.run(&["tail", "--announce", &server.url()]);
    assert_eq!(tail.status.code(), Some(2));
    let told = String::from_utf8_lossy(&tail.stderr).into_owned();
    assert!(
        told.contains("is there and is none for announcements: its subjects are not"),
        "{told}"
    );
    let mut shipper = ship(&fleet, &server, &["--json"]).spawn().unwrap();
    eventually("it is shipped all the same", || fleet.events() == 6);
    let mut lines = BufReader::new(shipper.stderr.take().unwrap()).lines();
    let told: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(told["event"], "not_announced");
    signal(&shipper, rustix::process::Signal::KILL);
    shipper.wait().unwrap();

    let closed = Server::start(&["--user", "fleet", "--pass", "s3cr3t-word"]);
    let url = closed.url();
    for (password, is_right) in [("s3cr3t-wrong", false), ("s3cr3t-word", true)] {
        let arguments = [
            "tail",
            "--announce",
            &url,
            "--count",
            "1",
            "--json",
            "--since",
            "1h",
        ];
        if is_right {
            let mut once = ship(&fleet, &closed, &["--once"]);
            once.env("NATS_USER", "fleet")
                .env("NATS_PASSWORD", password);
            assert!(once.status().unwrap().success());
        }
        let mut command = fleet.command(&arguments);
        command
            .env("NATS_USER", "fleet")
            .env("NATS_PASSWORD", password);
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.success(), is_right, "{told}");
        assert!(!told.contains("s3cr3t"), "{told}");
    }
}
