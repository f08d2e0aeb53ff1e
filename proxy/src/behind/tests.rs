//! What is read of tapes once their recording has ended.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::page::TapeFilter;

const PATIENCE: Duration = Duration::from_secs(60);

/// Says what it has observed, and goes on when it may.
struct Slow {
    observed: mpsc::SyncSender<()>,
    go_on: mpsc::Receiver<()>,
}

impl Observer for Slow {
    fn observe(&mut self, _: &Event, _: Option<&Envelope<'_>>) {
        // Only the first is waited for.
        self.observed.try_send(()).ok();
        // Whoever has hung up holds up nothing.
        self.go_on.recv().ok();
    }

    fn tick(&mut self, _: SystemTime) {}

    fn finish(&mut self) {}
}

/// A tape with so many events, which somebody writes; how long its last lines are.
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

/// How many bytes of a tape were not read whose first event is still being observed at the end, where so long is given from there on; how
/// long its lines are.
fn unread(events: u64, within: Duration) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let (_writer, line) = written(folder.path(), events);
    let search = Search {
        folder: folder.path().to_owned(),
        tapes: TapeFilter::Recorder {
            pid: 0,
            created: String::new(),
        },
        several: true,
    };
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
    let behind = Behind::start(search, make, Duration::ZERO, at_end).unwrap();
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
