//! How long queries take, and what they read, of so many rows. `fleet/growth` runs it and prints a table.

use std::fmt::Write as _;
use std::fs;
use std::process::Output;
use std::time::Duration;

use tapewright_fleet::clock::Stopwatch;

use crate::support::Fleet;

/// How many gateways there are, each with one tape.
const GATEWAYS: usize = 100;

/// What is asked: all rows, and rows of which entries tell where they are.
const QUERIES: [(&str, &str); 5] = [
    (
        "all of them, by tool",
        "select tool, count(*), avg(answered_ms) from exchanges group by tool",
    ),
    (
        "one gateway",
        "select tool, count(*), avg(answered_ms) from exchanges where gateway = 'g42' group by tool",
    ),
    (
        "one hour of a hundred",
        "select tool, count(*), avg(answered_ms) from exchanges where at >= '2026-11-03T06:00:00Z' and at < '2026-11-03T07:00:00Z' group by tool",
    ),
    (
        "a tool of one gateway",
        "select tool, count(*), avg(answered_ms) from exchanges where tool = 'rare42' group by tool",
    ),
    ("how many", "select count(*) from exchanges"),
];

/// A tape of an hour of its own: so many calls, each with its answer, of three tools and of one that no other gateway has.
fn tape(number: usize, calls: usize) -> String {
    let (day, hour) = (1 + number / 20, number % 20);
    let mut text = format!(
        "{{\"tape\":\"2.4\",\"created\":\"2026-11-{day:02}T{hour:02}:00:00Z\",\"label\":\"files\"}}\n"
    );
    let step = 3_500_000_000 / calls.max(1);
    for id in 0..calls {
        let tool = match id % 100 {
            99 => format!("rare{number}"),
            rest => format!("t{}", rest % 3),
        };
        let (seq, at) = (2 * id + 1, id * step);
        let waited = 500 + id * 7_919 % 90_000;
        writeln!(text, "{{\"seq\":{seq},\"at_us\":{at},\"dir\":\"to_server\",\"message\":{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\"}}}}}}").unwrap();
        writeln!(text, "{{\"seq\":{},\"at_us\":{},\"dir\":\"to_client\",\"message\":{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}}}", seq + 1, at + waited.min(step)).unwrap();
    }
    writeln!(
        text,
        "{{\"end\":{{\"at_us\":3600000000,\"events\":{},\"complete\":true}}}}",
        2 * calls
    )
    .unwrap();
    text
}

fn filled(rows: usize) -> (Fleet, Duration) {
    let fleet = Fleet::new();
    let mut took = Duration::ZERO;
    for number in 0..GATEWAYS {
        let path = fleet.tapes.path().join("one.tape.jsonl");
        fs::write(&path, tape(number, rows / GATEWAYS)).unwrap();
        let gateway = format!("g{number}");
        let mut ship = fleet.command(&["ship"]);
        ship.arg(fleet.tapes.path())
            .args(["--gateway", &gateway, "--once"]);
        ship.args(["--segment-bytes", "1MiB"]);
        let began = Stopwatch::start();
        let output = ship.output().unwrap();
        took += began.elapsed();
        assert!(output.status.success(), "{output:?}");
        fs::remove_file(path).unwrap();
    }
    (fleet, took)
}

fn asked(fleet: &Fleet, sql: &str) -> (Duration, Output) {
    let began = Stopwatch::start();
    let output = fleet.run(&["query", sql, "--verbose"]);
    let took = began.elapsed();
    assert!(output.status.success(), "{output:?}");
    (took, output)
}

#[test]
#[ignore = "a measurement: `fleet/growth` runs it"]
fn queries_of_many_rows() {
    let rows: usize = std::env::var("TAPEWRIGHT_ROWS").unwrap().parse().unwrap();
    let (fleet, took) = filled(rows);
    println!("{rows} rows, shipped in {:.1} s", took.as_secs_f64());
    for (what, sql) in QUERIES {
        let mut best = Duration::MAX;
        let mut told = String::new();
        for _ in 0..3 {
            let (took, output) = asked(&fleet, sql);
            best = best.min(took);
            told = String::from_utf8(output.stderr).unwrap();
        }
        println!("  {what}: {:.3} s; {}", best.as_secs_f64(), told.trim());
    }
}
