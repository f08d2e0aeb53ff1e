//! How a growing tape is read, and what a slow reader gets.

use std::fs::File;
use std::io::Write as _;
use std::time::Duration;

use http_body_util::BodyExt as _;
use serde_json::json;

use tapewright_engine::fault::{Fault, TransportSupport};
use tapewright_schemas::filter::LineKind;

use super::answer::PageFacts;
use super::bodies::RowId;
use super::pace::Pace;
use super::stream::{Updates, news};
use super::switches::Switches;
use super::*;

#[derive(Debug)]
struct Plain;

impl Words for Plain {
    fn row(&self, entry: &Entry, _: Option<&str>) -> String {
        match entry {
            Entry::Exchange { row, .. } => {
                let outcome = format!("{:?}", row.outcome);
                json!({"seq": row.request_seq, "outcome": outcome}).to_string()
            }
            _ => "{}".to_owned(),
        }
    }

    fn end(&self, parts: &[Ended<'_>], _: Counts) -> Value {
        json!({ "parts": parts.len() })
    }

    fn began_us(&self, _: &str) -> u64 {
        0
    }
}

/// A tape written by a test, and its page.
struct Shows {
    folder: tempfile::TempDir,
    file: File,
    knows: Arc<PageFacts>,
    written: u64,
}

impl Shows {
    fn start(room: Room) -> Self {
        Self::start_at(room, Pace::default())
    }

    fn start_at(room: Room, pace: Pace) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tape.jsonl");
        let mut file = File::create(&path).unwrap();
        file.lock().unwrap();
        writeln!(file, "{{\"tape\":\"2.1\"}}").unwrap();
        let feed = Feed {
            source: Source::Tape(path),
            words: Box::new(Plain),
            make: Box::new(tempfile::tempfile),
            room,
            long: None,
            bodies: false,
        };
        let shown = PageContent::start_at(feed, pace).unwrap();
        Self {
            folder,
            file,
            knows: Arc::new(PageFacts::new(shown, json!({}), None)),
            written: 0,
        }
    }

    /// Writes finished exchanges.
    fn exchanges(&mut self, count: u64) {
        let mut text = String::new();
        for _ in 0..count {
            let seq = 2 * self.written + 1;
            let id = self.written;
            let ask = json!({"seq": seq, "at_us": seq, "dir": "to_server", "message": {"jsonrpc": "2.0", "id": id, "method": "ping"}});
            let answer = json!({"seq": seq + 1, "at_us": seq, "dir": "to_client", "message": {"jsonrpc": "2.0", "id": id, "result": {}}});
            text.extend([
                ask.to_string(),
                "\n".to_owned(),
                answer.to_string(),
                "\n".to_owned(),
            ]);
            self.written += 1;
        }
        self.file.write_all(text.as_bytes()).unwrap();
    }

    fn news(&self, from: u64) -> Updates {
        news(Arc::clone(&self.knows), from)
    }
}

/// Reads updates until they contain a text.
async fn until(news: &mut Updates, wanted: &str) -> String {
    let mut all = String::new();
    while !all.contains(wanted) {
        let frame = tokio::time::timeout(Duration::from_secs(60), news.frame()).await;
        let data = frame
            .expect("something new")
            .unwrap()
            .unwrap()
            .into_data()
            .unwrap();
        all.push_str(std::str::from_utf8(&data).unwrap());
    }
    all
}

#[tokio::test]
async fn rows_come_as_the_tape_grows_and_a_reader_goes_on_where_it_was() {
    let mut shows = Shows::start(Room::default());
    shows.exchanges(10);
    let mut news = shows.news(0);
    // Nothing after the last answer proves yet that it was delivered.
    let first = until(&mut news, "\"seq\":19").await;
    assert!(first.starts_with(": listening\n\n"), "{first}");
    let last: u64 = first
        .split("id: ")
        .last()
        .unwrap()
        .lines()
        .next()
        .unwrap()
        .parse()
        .unwrap();
    drop(news);
    shows.exchanges(10);
    let mut news = shows.news(last);
    let rest = until(&mut news, "\"seq\":39").await;
    assert!(
        !rest.contains("\"seq\":17,") && rest.contains("\"seq\":21"),
        "{rest}"
    );
    assert!(!rest.contains("event: missed"));
    let seen = &shows.knows.shown;
    let state = serde_json::to_value(seen.told()).unwrap();
    assert_eq!(state["ended"], Value::Null);
    assert_eq!(state["sessions"].as_array().unwrap().len(), 1);
    seen.close();
    assert!(shows.folder.path().exists());
}

#[tokio::test]
async fn a_reader_that_is_too_slow_is_told_how_many_rows_it_missed() {
    let room = Room {
        file_bytes: 1,
        files: 2,
    };
    let mut shows = Shows::start(room);
    let mut news = shows.news(0);
    assert_eq!(until(&mut news, "listening").await, ": listening\n\n");
    // It reads nothing, while there is another viewer.
    let mut told = shows.knows.shown.rows.told();
    for _ in 0..5 {
        shows.exchanges(20);
        let wanted = shows.written - 1;
        told.wait_for(|told| *told >= wanted).await.unwrap();
    }
    let text = until(&mut news, "\"seq\":").await;
    let missed = text
        .split("event: missed\ndata: {\"count\":")
        .nth(1)
        .expect("it is told");
    let missed: u64 = missed.split('}').next().unwrap().parse().unwrap();
    assert!(missed > 0, "{text}");
    // The missed rows and the received ones are all there were so far.
    let rows = text.split("event: rows\ndata: ").nth(1).unwrap();
    let rows: Vec<Value> = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    let next = text.split("id: ").nth(1).unwrap().lines().next().unwrap();
    assert_eq!(next.parse(), Ok(missed + rows.len() as u64), "{text}");
    shows.knows.shown.close();
}

#[tokio::test]
async fn nothing_is_read_while_nobody_looks() {
    let mut shows = Shows::start(Room::default());
    shows.exchanges(10);
    // In this time it could have been read.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(*shows.knows.shown.rows.told().borrow(), 0);
    let mut news = shows.news(0);
    until(&mut news, "\"seq\":17").await;
    shows.knows.shown.close();
}

#[tokio::test]
async fn what_changes_beside_the_rows_is_told_at_once() {
    #[derive(Debug)]
    struct Missed;
    impl Drift for Missed {
        fn told(&self, bodies: bool) -> Map<String, Value> {
            let told = [
                ("missed".to_owned(), json!(1)),
                ("bodies".to_owned(), json!(bodies)),
            ];
            told.into_iter().collect()
        }
    }
    let tape = Shows::start(Room::default());
    let shown = &tape.knows.shown;
    shown.drifts(Arc::new(Missed));
    let fault_set = Arc::new(FaultSet::new(1, "server", TransportSupport::Any));
    let switches = Switches::new(Arc::clone(&fault_set));
    let knows = Arc::new(PageFacts::new(Arc::clone(shown), json!({}), Some(switches)));
    let mut news = news(knows, 0);
    let first = until(&mut news, "event: state").await;
    assert!(
        first.contains("\"missed\":1") && first.contains("\"bodies\":false"),
        "{first}"
    );
    // A fault is changed elsewhere, and there is no traffic.
    fault_set
        .add(Fault::parse("hang tool=search").unwrap())
        .unwrap();
    until(&mut news, "hang tool=search").await;
    fault_set.remove("hang-1").unwrap();
    until(&mut news, "\"faults\":[]").await;
    shown.close();
}

#[tokio::test]
async fn beside_a_busy_recorder_the_newest_rows_are_told_and_the_rest_when_somebody_asks() {
    // This recorder counts as busy, and the reader gets no time.
    let mut shows = Shows::start_at(Room::default(), Pace::none());
    shows.exchanges(5_000);
    let mut news = shows.news(0);
    // Nothing after the last answer proves yet that it was delivered.
    let first = until(&mut news, "\"seq\":9997").await;
    let told = |text: &str, seq: u64| {
        let ends = [",", "}"].map(|end| format!("\"seq\":{seq}{end}"));
        ends.iter().any(|one| text.contains(one))
    };
    assert!(!told(&first, 5_001), "what lies between is not read");
    let seen = Arc::clone(&shows.knows.shown);
    let behind = || serde_json::to_value(seen.told()).unwrap()["behind"].clone();
    assert_eq!(behind()["events"], 10_000);
    // The messages of one of them are found without the events before.
    let meant = RowId {
        seq: 9_997,
        kind: LineKind::Exchange,
        id: None,
    };
    let said = seen.said("", &meant).unwrap().unwrap();
    assert!(
        said["request"].as_str().unwrap().contains("\"id\":4998"),
        "{said}"
    );
    let place = seen.lock().tapes[0].places.before(9_997);
    assert!(place > Some(512 << 10), "from {place:?}");
    shows.knows.shown.read_all();
    let rest = until(&mut news, "\"seq\":9997").await;
    for seq in (1..9_997).step_by(2) {
        assert!(told(&rest, seq), "{seq}");
    }
    while behind()["bytes"] != 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // Further rows are deferred again.
    shows.exchanges(5_000);
    let more = until(&mut news, "\"seq\":19997").await;
    assert!(!told(&more, 15_001));
    shows.knows.shown.close();
}

#[tokio::test]
async fn what_comes_in_quick_succession_comes_in_one_piece() {
    let mut shows = Shows::start(Room::default());
    shows.exchanges(1);
    let mut news = shows.news(0);
    until(&mut news, "\"seq\":1").await;
    let mut frames = 0;
    for _ in 0..50 {
        shows.exchanges(1);
        let frame = tokio::time::timeout(Duration::from_millis(2), news.frame()).await;
        frames += usize::from(frame.is_ok());
    }
    // A tenth of a second for each is at least as long as fifty waits of two milliseconds.
    assert!(frames <= 10, "{frames} pieces");
    until(&mut news, "\"seq\":99").await;
    shows.knows.shown.close();
}
