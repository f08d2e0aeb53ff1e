//! The same tests with a bucket, and shippers while it is unavailable.

use std::fs;
use std::process::Output;

use crate::s3::{Bucket, Fault};
use crate::support::{Fleet, Recorder, eventually};

/// A secret that no output may contain.
const SECRET: &str = "canary-4711-secret";

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A fleet whose store is a bucket.
fn over(bucket: &Bucket) -> Fleet {
    let mut fleet = Fleet::new();
    fleet.bucket(&bucket.endpoint(), SECRET);
    fleet
}

#[test]
fn a_bucket_is_a_store_as_a_folder_is() {
    let bucket = Bucket::new();
    let fleet = over(&bucket);
    let mut bytes = Vec::new();
    for name in ["a", "b"] {
        let mut recorder = Recorder::begin(fleet.tapes.path(), name);
        recorder.events(30);
        bytes.push(recorder.end());
    }
    let small = ["--segment-bytes", "1KiB"];
    fleet.ship_all(&small);
    let rows = fleet.list();
    assert_eq!(rows.len(), 2);
    let mut fetched: Vec<Vec<u8>> = rows
        .iter()
        .map(|row| fleet.fetch(row["tape"].as_str().unwrap()))
        .collect();
    fetched.sort();
    bytes.sort();
    assert!(fetched == bytes);
    assert!(bucket.names().iter().all(|name| name.starts_with("fleet/")));
    // What is stored is not shipped again.
    let before = bucket.names();
    fleet.ship_all(&small);
    assert_eq!(bucket.names(), before);
    // Its objects were written in November 2026, at least a millisecond ago.
    let swept = fleet.run(&["sweep", "--older-than", "1ms", "--json"]);
    assert!(swept.status.success(), "{swept:?}");
    let left = bucket
        .names()
        .iter()
        .filter(|name| name.contains("/segments/"))
        .count();
    assert_eq!(left, 0, "{swept:?}");
}

/// Requests are lost before and after they were carried out, are slow, or are answered by 503: the
/// store has each byte once.
#[test]
fn a_bucket_that_fails_half_of_the_time_loses_and_doubles_nothing() {
    let bucket = Bucket::new();
    let fleet = over(&bucket);
    let mut recorder = Recorder::begin(fleet.tapes.path(), "files");
    bucket.fail(|number| match number % 11 {
        1 => Fault::Busy,
        3 | 4 => Fault::Unanswered,
        6 => Fault::Dropped,
        8 => Fault::Slow,
        _ => Fault::None,
    });
    let small = ["--segment-bytes", "2KiB", "--segment-age", "1ms", "--json"];
    for kill in 0..12 {
        recorder.events(20);
        let mut shippers = [
            fleet.ship(&small).spawn().unwrap(),
            fleet.ship(&small).spawn().unwrap(),
        ];
        let before = bucket.requests();
        eventually("the store is asked", || {
            bucket.requests() > before + 5 + kill * 2
        });
        for shipper in &mut shippers {
            shipper.kill().unwrap();
            shipper.wait().unwrap();
        }
    }
    let bytes = recorder.end();
    bucket.is_well();
    fleet.ship_all(&[]);
    let rows = fleet.list();
    assert_eq!((rows.len(), rows[0]["state"].as_str()), (1, Some("whole")));
    assert!(fleet.fetch(rows[0]["tape"].as_str().unwrap()) == bytes);
}

/// While the store is unavailable a recorder continues, and the shipper reports it without a secret
/// and stays small; afterwards, everything is shipped.
#[test]
fn a_store_may_be_away() {
    let bucket = Bucket::new();
    let fleet = over(&bucket);
    let mut recorder = Recorder::begin(fleet.tapes.path(), "files");
    bucket.fail(|number| match number % 3 {
        0 => Fault::Denied,
        1 => Fault::Dropped,
        _ => Fault::Busy,
    });
    let shipper = fleet
        .ship(&["--segment-age", "1ms", "--json"])
        .spawn()
        .unwrap();
    // More than the shipper may have in memory.
    recorder.events(100);
    for _ in 0..150 {
        recorder.write(&format!(
            "{{\"seq\":1,\"at_us\":1,\"stderr\":\"{}\"}}\n",
            "x".repeat(1 << 20)
        ));
    }
    let bytes = recorder.end();
    eventually("the store was asked often", || bucket.requests() > 5);
    let id = shipper.id();
    let most = move || {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let most = status
            .lines()
            .find(|line| line.starts_with("VmHWM:"))
            .unwrap();
        most.split_whitespace()
            .nth(1)
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    assert!(bucket.names().is_empty());
    bucket.is_well();
    eventually("everything is shipped", || {
        let rows = fleet.list();
        rows.len() == 1 && rows[0]["state"] == "whole"
    });
    assert!(most() < 100_000, "{} kB", most());
    let id = i32::try_from(shipper.id()).unwrap();
    let id = rustix::process::Pid::from_raw(id).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let output = shipper.wait_with_output().unwrap();
    let told = text(&output);
    assert!(
        told.contains("store_away") && told.contains("store_back"),
        "{told}"
    );
    assert!(!told.contains(SECRET), "{told}");
    let tape = fleet.list()[0]["tape"].as_str().unwrap().to_owned();
    assert!(fleet.fetch(&tape) == bytes);
}

#[test]
fn once_gives_up_after_a_while_and_tells_no_secret() {
    let bucket = Bucket::new();
    let fleet = over(&bucket);
    let mut recorder = Recorder::begin(fleet.tapes.path(), "files");
    recorder.events(3);
    bucket.fail(|_| Fault::Denied);
    let listed = fleet.run(&["ls"]);
    let told = text(&listed);
    assert_eq!(listed.status.code(), Some(2), "{told}");
    assert!(
        told.contains("SignatureDoesNotMatch") && told.contains("[secret]"),
        "{told}"
    );
    assert!(!told.contains(SECRET), "{told}");
}

/// A store that overwrites existing objects would lose the data of one of two shippers.
#[test]
fn a_store_that_gives_a_name_away_twice_is_refused() {
    let bucket = Bucket::new();
    bucket.forget();
    let fleet = over(&bucket);
    let mut recorder = Recorder::begin(fleet.tapes.path(), "files");
    recorder.events(3);
    recorder.end();
    let output = fleet.ship(&["--once"]).output().unwrap();
    let told = text(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("does not refuse a name that is taken"),
        "{told}"
    );
    assert!(
        !bucket
            .names()
            .iter()
            .any(|name| name.contains("/segments/"))
    );
}
