//! Many sessions in one folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::time::Duration;

use serde_json::Value;
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{
    ConduitId, Direction, Finding, FindingStatus, Judge, LineEnd, Payload, SessionEnd,
    SessionStart, Side,
};
use tapewright_schemas::redact;
use tapewright_schemas::tape::{Ending, Reader};

use super::*;
use crate::clock::Clock;
use crate::record::{Recorder, RecordingOver, WhenFull};

#[path = "../../../../tests/support/eventually.rs"]
#[expect(clippy::disallowed_methods, reason = "a test waits for another thread")]
mod eventually;
use eventually::eventually;

const SECOND: u64 = 1_000_000;

fn settings(target: Target, durability: Durability) -> Settings {
    let header = Header {
        tape: "1.1".to_owned(),
        created: "2026-11-21T04:09:32.123Z".to_owned(),
        transport: "http".to_owned(),
        label: "my server".to_owned(),
        pid: 7,
        ..Header::default()
    };
    Settings {
        target,
        durability,
        when_full: WhenFull::Wait,
        limit_bytes: 1 << 20,
        header,
        command: Vec::new(),
        rules: Box::new(|| Arc::new(Rules::new(&redact::Settings::default()).unwrap())),
        judging: None,
        operations: None,
    }
}

fn folder(path: &Path, idle: Duration, most_open: usize) -> Folder {
    let target = Target::folder(path).finish_after(idle).keep_open(most_open);
    let mut settings = settings(target, Durability::Written);
    let target = settings.target.folder.take().unwrap();
    Folder::new(target, settings, Arc::default())
}

/// A message of a session, at a time in seconds.
fn message(session: u32, second: u64, text: &str) -> Event {
    let dir = if text.contains("method") {
        Direction::ToServer
    } else {
        Direction::ToClient
    };
    let payload = Payload::Whole(text.to_owned().into());
    let end = LineEnd::None;
    Event {
        session: SessionKey(session),
        conduit: ConduitId(session + 1),
        ..Event::new(
            Offset(second * SECOND),
            dir,
            EventBody::message(payload, end),
        )
    }
}

fn ask(session: u32, second: u64, id: u32) -> Event {
    message(session, second, &format!(r#"{{"id":{id},"method":"m"}}"#))
}

fn answer(session: u32, second: u64, id: u32) -> Event {
    message(
        session,
        second,
        &format!(r#"{{"id":{id},"result":{session}}}"#),
    )
}

fn mark(session: u32, second: u64, mark: SessionMark) -> Event {
    Event {
        session: SessionKey(session),
        ..Event::new(
            Offset(second * SECOND),
            Direction::ToClient,
            EventBody::Session(mark),
        )
    }
}

fn write(folder: &mut Folder, event: &Event) {
    folder.encode(&mut event.clone());
    folder.flush();
}

/// The names in a folder, without their common prefix.
fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| name.replace("20261121T040932Z-my_server-7-", ""))
        .collect();
    names.sort();
    names
}

fn file(path: &Path, name: &str) -> PathBuf {
    path.join(format!("20261121T040932Z-my_server-7-{name}"))
}

fn tape(path: &Path) -> (Header, Vec<Event>, Ending) {
    let mut reader = Reader::open(BufReader::new(File::open(path).unwrap())).unwrap();
    let mut events = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        events.push(event);
    }
    (
        reader.header().clone(),
        events,
        reader.ending().unwrap().clone(),
    )
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The ids of the answered requests of a cassette.
fn ids(cassette: &Value) -> Vec<u64> {
    let exchanges = cassette["exchanges"].as_array().unwrap();
    let id = |one: &Value| one["request"]["id"].as_u64().unwrap();
    exchanges.iter().map(id).collect()
}

#[test]
fn every_session_has_files_of_its_own() {
    for durability in [Durability::Queue, Durability::Written, Durability::Synced] {
        let place = tempfile::tempdir().unwrap();
        let target = Target::folder(place.path());
        let recorder = Recorder::start(settings(target, durability), Clock::start()).unwrap();
        for id in 0..20 {
            for session in 0..5 {
                let mut events = vec![answer(session, 1, id), ask(session, 1, id)];
                recorder.offer(|| events.pop()).unwrap();
                recorder.keep_pace();
            }
        }
        let finished = recorder.finish();
        assert!(finished.is_whole(), "{finished:?}");
        assert_eq!((finished.events, finished.sessions.len()), (200, 5));
        let mut expected = Vec::new();
        for session in ["lane", "s1", "s2", "s3", "s4"] {
            for ending in ["capture.json", "json", "tape.jsonl"] {
                expected.push(format!("{session}.{ending}"));
            }
        }
        assert_eq!(names(place.path()), expected);
        for (number, files) in (0..).zip(&finished.sessions) {
            let (header, events, ending) = tape(&files.tapes[0]);
            assert_eq!((header.session, files.session), (Some(number), number));
            assert_eq!(events.len(), 40);
            assert!(events.iter().all(|event| event.session.0 == number));
            assert!(matches!(ending, Ending::Footer(footer) if footer.complete));
            let cassette = json(files.cassette.as_ref().unwrap());
            assert_eq!(ids(&cassette), (0..20).collect::<Vec<_>>());
            assert!(files.capture.is_some());
        }
    }
}

#[test]
fn a_session_that_pauses_is_finished_and_goes_on_in_another_tape() {
    let place = tempfile::tempdir().unwrap();
    let mut folder = folder(place.path(), Duration::from_secs(60), 8);
    write(&mut folder, &ask(1, 1, 1));
    write(&mut folder, &answer(1, 2, 1));
    write(&mut folder, &ask(1, 3, 2));
    write(&mut folder, &ask(2, 30, 7));
    folder.tick(Offset(61 * SECOND));
    assert_eq!(folder.open.len(), 2, "not silent for long enough");
    folder.tick(Offset(64 * SECOND));
    assert_eq!(folder.open.len(), 1, "the other session spoke later");
    // The answer to a request of the first tape.
    write(&mut folder, &answer(1, 70, 2));
    write(&mut folder, &answer(2, 71, 7));
    let finished = folder.finish(Offset(80 * SECOND));
    assert!(finished.is_whole(), "{finished:?}");
    let first = &finished.sessions[0];
    assert_eq!(
        first.tapes,
        [
            file(place.path(), "s1.tape.jsonl"),
            file(place.path(), "s1.part2.tape.jsonl")
        ]
    );
    let (header, events, ending) = tape(&first.tapes[1]);
    assert_eq!(
        header.continues,
        "20261121T040932Z-my_server-7-s1.tape.jsonl"
    );
    assert_eq!((header.session, events.len()), (Some(1), 1));
    assert!(matches!(ending, Ending::Footer(footer) if footer.complete));
    // One cassette, of both tapes, replaces that of the first.
    assert_eq!(ids(&json(&file(place.path(), "s1.json"))), [1, 2]);
    assert_eq!(ids(&json(&file(place.path(), "s2.json"))), [7]);
    assert_eq!(names(place.path()).len(), 7);
}

#[test]
fn a_session_that_ended_waits_only_for_its_last_exchange() {
    let place = tempfile::tempdir().unwrap();
    let mut folder = folder(place.path(), Duration::from_secs(600), 8);
    write(
        &mut folder,
        &mark(3, 1, SessionMark::Began(SessionStart::SessionId)),
    );
    write(&mut folder, &ask(3, 1, 1));
    write(&mut folder, &answer(3, 1, 1));
    write(
        &mut folder,
        &mark(3, 2, SessionMark::Ended(SessionEnd::Deleted)),
    );
    write(&mut folder, &message(3, 2, r#"{"method":"late"}"#));
    assert_eq!(folder.open.len(), 1);
    folder.tick(Offset(3 * SECOND + 1));
    assert_eq!(folder.open.len(), 0);
    let finished = folder.finish(Offset(9 * SECOND));
    assert_eq!(finished.sessions[0].tapes.len(), 1);
    assert_eq!(tape(&finished.sessions[0].tapes[0]).1.len(), 5);
}

#[test]
fn no_more_tapes_are_open_than_may_be_and_nothing_is_lost() {
    let place = tempfile::tempdir().unwrap();
    let mut folder = folder(place.path(), Duration::from_secs(600), 3);
    for round in 0..40 {
        for session in 1..=6 {
            write(&mut folder, &ask(session, u64::from(round), round));
            assert!(folder.open.len() <= 3);
        }
        for session in 1..=6 {
            write(&mut folder, &answer(session, u64::from(round), round));
        }
    }
    let finished = folder.finish(Offset(9 * SECOND));
    assert!(finished.is_whole(), "{finished:?}");
    assert_eq!(finished.events, 480);
    assert_eq!(finished.sessions.len(), 6);
    for files in &finished.sessions {
        assert!(files.tapes.len() > 1);
        let mut events = 0;
        for path in &files.tapes {
            let (header, found, _) = tape(path);
            assert_eq!(header.session, Some(files.session));
            events += found.len();
        }
        assert_eq!(events, 80);
        let cassette = json(files.cassette.as_ref().unwrap());
        assert_eq!(ids(&cassette), (0..40).collect::<Vec<_>>());
    }
}

#[test]
fn a_session_that_pauses_all_the_time_gets_another_cassette() {
    let place = tempfile::tempdir().unwrap();
    let mut folder = folder(place.path(), Duration::from_secs(5), 8);
    for round in 0..40 {
        write(&mut folder, &ask(1, u64::from(round) * 10, round));
        write(&mut folder, &answer(1, u64::from(round) * 10, round));
    }
    let finished = folder.finish(Offset(9_000 * SECOND));
    assert!(finished.is_whole(), "{finished:?}");
    assert_eq!(finished.sessions.len(), 3);
    let all: Vec<_> = finished
        .sessions
        .iter()
        .flat_map(|files| ids(&json(files.cassette.as_ref().unwrap())))
        .collect();
    assert_eq!(all, (0..40).collect::<Vec<_>>());
}

#[test]
fn a_session_is_finished_while_others_go_on() {
    let place = tempfile::tempdir().unwrap();
    let target = Target::folder(place.path()).finish_after(Duration::from_secs(5));
    let recorder = Recorder::start(settings(target, Durability::Queue), Clock::start()).unwrap();
    let mut events = vec![answer(1, 2, 1), ask(1, 1, 1)];
    recorder.record(|| events.pop());
    recorder.tick(Offset(100 * SECOND));
    let cassette = file(place.path(), "s1.json");
    assert!(eventually(Duration::from_secs(60), || cassette.exists()));
    assert_eq!(ids(&json(&cassette)), [1]);
    assert!(recorder.finish().is_whole());
}

#[test]
fn every_event_that_was_recorded_is_on_a_tape_whenever_we_are_killed() {
    let place = tempfile::tempdir().unwrap();
    let target = Target::folder(place.path()).keep_open(2);
    let settings = settings(target, Durability::Written);
    let recorder = Recorder::start(settings, Clock::start()).unwrap();
    let mut sent: BTreeMap<u32, usize> = BTreeMap::new();
    for id in 0..30 {
        let session = id * 7 % 5;
        let mut events = vec![answer(session, 1, id), ask(session, 1, id)];
        recorder.offer(|| events.pop()).unwrap();
        *sent.entry(session).or_default() += 2;
        // The folder as another process would find it now.
        let mut found: BTreeMap<u32, usize> = BTreeMap::new();
        for entry in fs::read_dir(place.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().ends_with(TAPE_ENDING) {
                let (header, events, _) = tape(&path);
                *found.entry(header.session.unwrap()).or_default() += events.len();
            }
        }
        assert_eq!(found, sent);
    }
    recorder.finish();
    assert_eq!(recorder.offer(|| Some(ask(1, 1, 1))), Err(RecordingOver));
}

#[test]
fn a_folder_that_cannot_be_written_stops_nothing_and_is_told() {
    let place = tempfile::tempdir().unwrap();
    let taken = place.path().join("file");
    fs::write(&taken, "kept").unwrap();
    let mut folder = folder(&taken, Duration::from_secs(5), 8);
    write(&mut folder, &ask(1, 1, 1));
    let finished = folder.finish(Offset(0));
    assert!(
        !finished.is_whole() && finished.lost.is_some(),
        "{finished:?}"
    );
    assert_eq!(fs::read_to_string(taken).unwrap(), "kept");
}

#[test]
fn names_that_are_taken_are_not_used_again() {
    let place = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let mut folder = folder(place.path(), Duration::from_secs(5), 8);
        write(&mut folder, &ask(1, 1, 1));
        write(&mut folder, &answer(1, 1, 1));
        let finished = folder.finish(Offset(0));
        assert!(finished.lost.is_none());
    }
    let found = names(place.path());
    for name in ["s1.tape.jsonl", "s1.2.tape.jsonl", "s1.json", "s1.2.json"] {
        assert!(found.contains(&name.to_owned()), "{found:?}");
    }
}

/// Reports a finding for every message.
#[derive(Debug, Default)]
struct Picky(Vec<Event>);

impl Judge for Picky {
    fn observe(&mut self, event: &Event, _message: Option<&Envelope<'_>>) {
        if let EventBody::Message { .. } = event.body {
            let detail = format!("session {}, event {}", event.session.0, event.seq);
            let finding = Finding::new("", FindingStatus::Fail, Side::Server, detail);
            let body = EventBody::Finding(Box::new(finding));
            let mut found = Event::new(event.at, Direction::ToClient, body);
            found.session = event.session;
            self.0.push(found);
        }
    }

    fn tick(&mut self, _now: Offset) {}

    fn end(&mut self, _now: Offset) {}

    fn poll(&mut self) -> Option<Event> {
        self.0.pop()
    }
}

#[test]
fn each_session_has_a_judge_of_its_own() {
    for durability in [Durability::Queue, Durability::Written] {
        let place = tempfile::tempdir().unwrap();
        let told = Arc::new(std::sync::Mutex::new(Vec::new()));
        let hears = Arc::clone(&told);
        let mut settings = settings(Target::folder(place.path()), durability);
        settings.judging = Some(Judging {
            judge: Some(Arc::new(|_| Box::<Picky>::default())),
            feeds: Vec::new(),
            tell: Arc::new(move |_, one| hears.lock().unwrap().push(one.detail.clone())),
            beat: Some(Duration::from_secs(1)),
        });
        let recorder = Recorder::start(settings, Clock::start()).unwrap();
        for event in [ask(1, 0, 1), ask(2, 0, 1), answer(1, 0, 1)] {
            let mut event = Some(event);
            recorder.record(|| event.take());
        }
        let finished = recorder.finish();
        assert!(finished.is_whole());
        assert_eq!(finished.findings.failed, 3, "{durability:?}");
        let mut told = told.lock().unwrap().clone();
        told.sort();
        assert_eq!(told.len(), 3);
        // Every tape numbers its own events, including findings.
        assert!(told[0].starts_with("session 1, event 1"), "{told:?}");
        assert!(told[2].starts_with("session 2, event 1"), "{told:?}");
    }
}
