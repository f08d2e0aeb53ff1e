//! How tapes are read after their recording has ended.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::page::TapeFilter;

const PATIENCE: Duration = Duration::from_secs(60);

/// Reports each observation, and continues when it may.
struct Slow {
    observed: mpsc::SyncSender<()>,
    go_on: mpsc::Receiver<()>,
}

impl Observer for Slow {
    fn observe(&mut self, _: &Event, _: Option<&Envelope<'_>>) {
        // The test only waits for the first.
        self.observed.try_send(()).ok();
        // If the test has dropped the channel, continue.
        self.go_on.recv().ok();
    }

    fn tick(&mut self, _: SystemTime) {}

    fn finish(&mut self) {}
}

/// A tape with this many events and a writer; returns the length of its last lines.
fn written(folder: &Path, events: u64) -> (File, u64) {
    let mut file = File::create(folder.join("a.tape.jsonl")).unwrap();
    file.lock().unwrap();
    let mut text = String::from("{\"tape\":\"2.1\"}\n");
    for seq in 1..=events {
        let message = json!({"jsonrpc": "2.0", "id": seq, "method": "ping"});
        let event = json!({"seq": seq, "at_us": seq, "dir": "to_server", "message": message});
        text.push_str(&event.to_string());
        text.push('\n');
    }
    file.write_all(text.as_bytes()).unwrap();
    let last = text.lines().last().unwrap().len() as u64;
    (file, last + 1)
}

/// The tapes in a folder.
fn search(folder: &Path) -> Search {
    Search {
        folder: folder.to_owned(),
        tapes: TapeFilter::Recorder {
            pid: 0,
            created: String::new(),
        },
        several: true,
    }
}

/// The number of unread bytes of a tape whose first event is still being observed at the end, with
/// this deadline; and the length of its lines.
fn unread(events: u64, within: Duration) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let (_writer, line) = written(folder.path(), events);
    let (observed, is_observed) = mpsc::sync_channel(1);
    let (go_on, may) = mpsc::sync_channel(0);
    let slow = Mutex::new(Some(Slow {
        observed,
        go_on: may,
    }));
    let make: MakeObserver = Box::new(move |_| {
        let slow = slow.lock().unwrap().take();
        slow.map(|slow| Box::new(slow) as Box<dyn Observer>)
    });
    let (told, unread) = mpsc::sync_channel(1);
    let at_end = move |bytes| told.send(bytes).unwrap();
    let behind = Behind::start(search(folder.path()), make, Duration::ZERO, at_end).unwrap();
    is_observed.recv_timeout(PATIENCE).unwrap();
    behind.end(within);
    drop(go_on);
    behind.join();
    (unread.recv_timeout(PATIENCE).unwrap(), line)
}

#[test]
fn what_there_was_no_time_to_read_is_counted_in_bytes() {
    let (bytes, line) = unread(5_000, Duration::ZERO);
    assert!(bytes > 0 && bytes.is_multiple_of(line), "{bytes} of {line}");
    assert!(bytes / line < 5_000, "{bytes} of {line}");
}

#[test]
fn what_was_read_in_time_is_not() {
    assert_eq!(unread(5_000, PATIENCE).0, 0);
}

/// Reports that there was a time without events.
struct Quiet(mpsc::SyncSender<()>);

impl Observer for Quiet {
    fn observe(&mut self, _: &Event, _: Option<&Envelope<'_>>) {}

    fn tick(&mut self, _: SystemTime) {
        // The test only waits for the first.
        self.0.try_send(()).ok();
    }

    fn finish(&mut self) {}
}

#[test]
fn a_time_without_events_is_noticed_while_the_tape_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let _writer = written(folder.path(), 3);
    let (told, quiet) = mpsc::sync_channel(1);
    let make: MakeObserver = Box::new(move |_| Some(Box::new(Quiet(told.clone()))));
    let _behind = Behind::start(search(folder.path()), make, Duration::ZERO, drop).unwrap();
    quiet.recv_timeout(PATIENCE).unwrap();
}
