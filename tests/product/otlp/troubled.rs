//! Collectors that are missing, slow, busy, or refuse: a session never notices, and losses are
//! counted.

use std::net::TcpListener;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use serde_json::Value;

use super::{Collector, LIMIT, RecorderFolder, calls, sorted, status, taken};
use crate::support::http::json as http_json;
use crate::support::{Session, Tape, eventually};

/// Blocks answers.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.changed.notify_all();
    }

    fn pass(&self) {
        let open = self.open.lock().unwrap();
        drop(self.changed.wait_while(open, |open| !*open).unwrap());
    }
}

impl RecorderFolder {
    /// Everything was recorded, nothing was printed, and each span was sent or counted as lost.
    fn is_whole(&self, why: &str) -> (u64, u64) {
        assert!(Tape::read(&self.path().join("fs.tape.jsonl")).is_complete());
        let (sent, lost) = self.told();
        assert_eq!(sent + lost, self.exported(&[]).len() as u64);
        let told = self.logged("spans_lost");
        let count: u64 = told
            .iter()
            .map(|line| line["spans"].as_u64().unwrap())
            .sum();
        assert_eq!(count, lost);
        let by_cause = |line: &&Value| line["why"] == why;
        assert_eq!(
            told.iter().any(|line| by_cause(&line)),
            !why.is_empty(),
            "{told:?}"
        );
        (sent, lost)
    }
}

/// A session of this many calls that prints nothing on standard error.
fn silent(mut session: Session, count: u64) {
    calls(&mut session, count);
    end(session);
}

fn end(mut session: Session) {
    let errors = session.child.stderr.take().unwrap();
    assert!(session.finish(LIMIT).success());
    assert_eq!(std::io::read_to_string(errors).unwrap(), "");
}

#[test]
fn a_collector_that_is_not_there_costs_its_spans_and_nothing_else() {
    let place = RecorderFolder::new();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    silent(place.record(&url, &[]), 20);
    assert_eq!(place.is_whole("unreachable").0, 0);
}

#[test]
fn a_collector_that_never_answers_holds_up_nothing() {
    let place = RecorderFolder::new();
    let gate = Arc::<Gate>::default();
    let held = Arc::clone(&gate);
    let collector = Collector::start(move |_| {
        held.pass();
        taken()
    });
    silent(place.record(&collector.url(), &[]), 50);
    assert_eq!(place.is_whole("unreachable").0, 0);
    gate.open();
}

#[test]
fn a_slow_collector_gets_everything_in_the_end() {
    let place = RecorderFolder::new();
    let gate = Arc::<Gate>::default();
    let held = Arc::clone(&gate);
    let collector = Collector::start(move |_| {
        held.pass();
        taken()
    });
    let mut command = place.recorder(&collector.url(), &[]);
    command
        .env("OTEL_BSP_MAX_QUEUE_SIZE", "4")
        .env("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2");
    let mut session = Session::start(command);
    // More than the queue holds, while the first answer is still to come.
    calls(&mut session, 100);
    gate.open();
    assert!(eventually(LIMIT, || collector.spans().len() > 90));
    end(session);
    place.is_whole("");
    assert_eq!(sorted(collector.spans()), sorted(place.exported(&[])));
}

#[test]
fn a_busy_collector_is_asked_again_when_it_says() {
    let place = RecorderFolder::new();
    let count = AtomicUsize::new(0);
    let collector = Collector::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => status("503 Service Unavailable", "Retry-After: 1\r\n"),
        1 => status("429 Too Many Requests", "Retry-After: 0\r\n"),
        2 => status("502 Bad Gateway", ""),
        _ => taken(),
    });
    let mut session = place.record(&collector.url(), &[]);
    calls(&mut session, 5);
    assert!(eventually(LIMIT, || collector.requests().len() > 3));
    end(session);
    assert_eq!(place.is_whole("").1, 0);
    let requests = collector.requests();
    assert!(
        requests[..4].iter().all(|one| one.body == requests[0].body),
        "the same again"
    );
    let rest: Vec<Value> = requests[3..]
        .iter()
        .flat_map(super::Request::spans)
        .collect();
    assert_eq!(sorted(rest), sorted(place.exported(&[])));
}

#[test]
fn what_is_refused_is_not_sent_again() {
    for line in [
        "400 Bad Request",
        "401 Unauthorized",
        "413 Content Too Large",
        "500 Internal Server Error",
    ] {
        let place = RecorderFolder::new();
        let collector = Collector::start(move |_| status(line, "Retry-After: 0\r\n"));
        silent(place.record(&collector.url(), &[]), 5);
        assert_eq!(place.is_whole("refused").0, 0);
        let spans = collector.spans();
        assert_eq!(sorted(spans), sorted(place.exported(&[])), "each once");
        let code: u64 = line[..3].parse().unwrap();
        assert!(
            place
                .logged("spans_lost")
                .iter()
                .all(|told| told["status"] == code)
        );
    }
}

#[test]
fn what_a_collector_rejects_of_a_request_is_lost() {
    let place = RecorderFolder::new();
    let is_first = AtomicBool::new(true);
    let collector = Collector::start(move |_| {
        let rejected = u8::from(is_first.swap(false, Ordering::SeqCst));
        let answer = format!(
            r#"{{"partialSuccess":{{"rejectedSpans":"{rejected}","errorMessage":"said by it"}}}}"#
        );
        http_json("200 OK", "", &answer).into_bytes()
    });
    silent(place.record(&collector.url(), &[]), 5);
    assert_eq!(place.is_whole("rejected").1, 1);
    let log = std::fs::read_to_string(place.file("log")).unwrap();
    assert!(!log.contains("said by it"), "{log}");
}

#[test]
fn what_does_not_fit_while_nothing_is_taken_is_dropped() {
    let place = RecorderFolder::new();
    let is_open = Arc::<AtomicBool>::default();
    let opened = Arc::clone(&is_open);
    let collector = Collector::start(move |_| {
        if opened.load(Ordering::SeqCst) {
            taken()
        } else {
            status("503 Service Unavailable", "")
        }
    });
    let mut command = place.recorder(&collector.url(), &[]);
    command
        .env("OTEL_BSP_MAX_QUEUE_SIZE", "4")
        .env("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2");
    let mut session = Session::start(command);
    calls(&mut session, 10);
    // It has rejected a request, and further spans find the queue full.
    assert!(eventually(LIMIT, || !collector.requests().is_empty()));
    calls(&mut session, 100);
    assert!(eventually(LIMIT, || collector.requests().len() > 2));
    is_open.store(true, Ordering::SeqCst);
    end(session);
    let (sent, lost) = place.is_whole("queue_full");
    // On a slow machine most calls become spans when the collector takes them again.
    assert!(sent >= 4 && lost > 0, "{sent} {lost}");
}

#[test]
fn a_recorder_that_is_killed_leaves_its_tape() {
    let place = RecorderFolder::new();
    let gate = Arc::<Gate>::default();
    let held = Arc::clone(&gate);
    let collector = Collector::start(move |_| {
        held.pass();
        taken()
    });
    let mut command = place.recorder(&collector.url(), &["--durability", "written"]);
    command.stderr(Stdio::null());
    let mut session = Session::start(command);
    calls(&mut session, 50);
    session.signal("KILL");
    session.child.wait().unwrap();
    let tape = Tape::read(&place.path().join("fs.tape.jsonl"));
    for dir in [
        tapewright_schemas::event::Direction::ToServer,
        tapewright_schemas::event::Direction::ToClient,
    ] {
        assert_eq!(tape.messages(dir).len(), 50);
    }
    gate.open();
}
