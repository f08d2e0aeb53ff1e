//! Kills shippers under load, and checks the store.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::{Fleet, Recorder, eventually};

/// How many shippers are killed. `fleet/chaos` sets a higher number.
fn kills() -> u64 {
    let asked = std::env::var("TAPEWRIGHT_KILLS").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(40)
}

/// A shipper with small segments, so that it is usually killed in the middle of one.
fn shipper(fleet: &Fleet) -> Child {
    let small = ["--segment-bytes", "4KiB", "--segment-age", "1ms"];
    fleet.ship(&small).spawn().unwrap()
}

/// Delays that differ from kill to kill, and are the same in every run.
fn moment(kill: u64) -> Duration {
    Duration::from_micros(500 + kill.wrapping_mul(7_919) % 40_000)
}

/// Recorders write without pauses; shippers are killed at any moment, sometimes two at a time. In
/// the end the store has each tape once, byte for byte.
#[test]
fn killed_shippers_lose_nothing_and_double_nothing() {
    let fleet = Fleet::new();
    let stored = fleet.store.path().join("segments");
    let is_over = AtomicBool::new(false);
    let tapes: Vec<Vec<u8>> = thread::scope(|scope| {
        let recorders: Vec<_> = ["a", "b", "c"]
            .map(|name| {
                let (fleet, is_over) = (&fleet, &is_over);
                scope.spawn(move || {
                    let mut recorder = Recorder::begin(fleet.tapes.path(), name);
                    while !is_over.load(Ordering::Relaxed) {
                        recorder.events(20);
                        thread::sleep(Duration::from_millis(2));
                    }
                    recorder.end()
                })
            })
            .into_iter()
            .collect();
        for kill in 0..kills() {
            let mut first = shipper(&fleet);
            let mut second = kill.is_multiple_of(3).then(|| shipper(&fleet));
            if kill.is_multiple_of(2) {
                // Even of the slow ones, some get far enough.
                let before = segments(&stored);
                eventually("something is shipped", || segments(&stored) > before);
            }
            thread::sleep(moment(kill));
            for child in [Some(&mut first), second.as_mut()].into_iter().flatten() {
                child.kill().unwrap();
                child.wait().unwrap();
            }
        }
        is_over.store(true, Ordering::Relaxed);
        recorders
            .into_iter()
            .map(|one| one.join().unwrap())
            .collect()
    });
    // The killed ones had shipped something.
    assert!(fleet.events() > 0);
    fleet.ship_all(&[]);
    let rows = fleet.list();
    let named: u64 = rows.iter().filter_map(|row| row["segments"].as_u64()).sum();
    let stored = segments(&stored);
    eprintln!(
        "{} shippers killed; {named} segments named of {stored}",
        kills()
    );
    assert_eq!(rows.len(), tapes.len());
    for (row, (label, bytes)) in sorted(&rows)
        .into_iter()
        .zip(["a", "b", "c"].into_iter().zip(&tapes))
    {
        assert_eq!(
            (row["label"].as_str(), row["state"].as_str()),
            (Some(label), Some("whole"))
        );
        let events = String::from_utf8_lossy(bytes).lines().count() as u64 - 2;
        assert_eq!(row["events"].as_u64(), Some(events));
        assert!(
            fleet.fetch(row["tape"].as_str().unwrap()) == *bytes,
            "{label}"
        );
    }
}

/// How many segments a folder has.
fn segments(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let count = |path: PathBuf| if path.is_dir() { segments(&path) } else { 1 };
    entries.map(|entry| count(entry.path())).sum()
}

fn sorted(rows: &[serde_json::Value]) -> Vec<serde_json::Value> {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| row["label"].to_string());
    rows
}
