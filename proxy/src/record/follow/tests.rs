//! Projecting a tape while it is written has the same result as at its end.

#![cfg(target_os = "linux")] // Only Linux has the unnamed files that follow a tape.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};

use proptest::prelude::*;
use tapewright_schemas::event::{
    Added, CloseReason, ConduitId, Direction, Event, EventBody, Gap, LineEnd, Offset, Payload,
    Peer, SessionKey,
};
use tapewright_schemas::redact::{Redactor, Rules, Settings};
use tapewright_schemas::tape::{Encoder, Header, LineFacts, VERSION};

use super::*;
use crate::record::finish::{write_capture, write_cassette};
use crate::record::tape_file::TapeWriter;

fn message(client: bool, text: String) -> Event {
    let dir = if client {
        Direction::ToServer
    } else {
        Direction::ToClient
    };
    let body = EventBody::message(Payload::Whole(text.into()), LineEnd::Lf);
    Event::new(Offset(7), dir, body)
}

fn event() -> impl Strategy<Value = Event> {
    let id = prop::sample::select(vec!["1", "\"a\"", "2", "null"]);
    (any::<bool>(), id, 0..15, 0..2_u32).prop_map(|(client, id, kind, session)| {
        let text = match kind {
            0..3 => format!(r#"{{"id":{id},"method":"initialize"}}"#),
            3..6 => format!(r#"{{"id":{id},"result":{{"capabilities":{{"a":{id}}}}}}}"#),
            6 => r#"{"method":"notifications/message"}"#.to_owned(),
            7 => format!(r#"{{"id":{id},"result":{{"password":"blue-42-heron"}}}}"#),
            8 => format!(r#"[{{"id":{id},"result":{{}}}},{{"method":"x"}}]"#),
            9 => format!(" {{\"id\":{id},\n\"method\":\"x\"}}"),
            _ => "noise".to_owned(),
        };
        let mut event = message(client, text);
        match kind {
            12 => event.body = EventBody::Closed(CloseReason::Aborted),
            13 => {
                event.body = EventBody::Added(Added {
                    request_us: 3,
                    response_us: 4,
                });
            }
            14 => {
                event.body = EventBody::Opened(Peer::Client {
                    address: "127.0.0.1:4000".to_owned(),
                    connection: 1,
                });
            }
            _ => {}
        }
        Event {
            session: SessionKey(session),
            conduit: ConduitId(session),
            ..event
        }
    })
}

fn header() -> Header {
    Header {
        tape: VERSION.to_owned(),
        created: "2026-11-21T04:09:32.123Z".to_owned(),
        by: "tapewright 0".to_owned(),
        ..Header::default()
    }
}

fn redactor() -> Redactor {
    Redactor::new(Arc::new(Rules::new(&Settings::default()).unwrap()))
}

/// A line, and what its encoder knows about it.
type Told = (Vec<u8>, Option<LineFacts>);

/// The lines of a tape with these events.
fn lines(events: &[Event], complete: bool) -> Vec<Told> {
    let mut encoder = Encoder::new(redactor());
    encoder.tell_facts();
    let mut first = Vec::new();
    header().write(&mut first);
    let mut lines = vec![(first, None)];
    for event in events {
        let mut line = Vec::new();
        let facts = encoder.encode(event, &mut line);
        lines.push((line, facts));
    }
    if complete {
        let mut line = Vec::new();
        encoder.footer(9, None).write(&mut line);
        lines.push((line, None));
    }
    lines
}

fn target(folder: &Path) -> Target {
    Target::cassette(&folder.join("fs.json")).with_capture(&folder.join("fs.capture.json"))
}

/// The projections of the finished tape.
fn at_the_end(tape: &Path) -> [Vec<u8>; 2] {
    [write_cassette, write_capture].map(|write| {
        let mut out = Vec::new();
        write(&[tape.to_owned()], tape, false, &mut out).unwrap();
        out
    })
}

/// The drafts, under names.
fn named(drafts: Drafts, folder: &Path) -> [Vec<u8>; 2] {
    [drafts.cassette, drafts.capture].map(|draft| {
        let path = folder.join("named");
        draft.unwrap().name(&path).unwrap();
        let text = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        text
    })
}

proptest! {
    #[test]
    fn what_is_followed_is_what_is_projected_at_the_end(
        events in prop::collection::vec(event(), 0..40),
        complete in any::<bool>(),
        cuts in prop::collection::vec(1..6_usize, 1..5),
        is_told in prop::collection::vec(any::<bool>(), 1..5),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fs.tape.jsonl");
        let mut tape = File::create(&path).unwrap();
        let progress = Arc::<Progress>::default();
        let mut follower = None;
        let mut written = 0;
        let lines = lines(&events, complete);
        let mut rest = lines.as_slice();
        let mut is_told = is_told.iter().cycle();
        for count in cuts.iter().cycle() {
            let (now, later) = rest.split_at((*count).min(rest.len()));
            let mut told = Vec::new();
            for (line, facts) in now {
                tape.write_all(line).unwrap();
                let facts = facts.clone().filter(|_| is_told.next() == Some(&true));
                told.extend(facts.map(|facts| (written, facts)));
                written += line.len() as u64;
            }
            // The next line is started, but incomplete.
            let next = later.first().map_or(&[][..], |(line, _)| line);
            tape.write_all(&next[..next.len() / 2]).unwrap();
            progress.set(written, &mut told);
            if follower.is_none() {
                follower = Follower::start(&path, &target(folder.path()), &progress);
            }
            if later.is_empty() {
                break;
            }
            tape.set_len(written).unwrap();
            tape.seek(SeekFrom::Start(written)).unwrap();
            rest = later;
        }
        let drafts = follower.expect("a folder of tests takes files without names").finish().unwrap();
        prop_assert_eq!(named(drafts, folder.path()), at_the_end(&path));
    }
}

/// A writer whose tape is followed from its first byte.
fn writer(folder: &Path) -> TapeWriter {
    let writer = TapeWriter::open(
        target(folder),
        header(),
        redactor(),
        None,
        None,
        Arc::default(),
    );
    writer.followed_from(0)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn talk(writer: &mut TapeWriter) {
    for number in 0..50 {
        let ask = format!(r#"{{"id":{number},"method":"m"}}"#);
        writer.encode(&mut message(true, ask));
        writer.flush();
        let answer = format!(r#"{{"id":{number},"result":{{}}}}"#);
        writer.encode(&mut message(false, answer));
        writer.flush();
    }
}

#[test]
fn a_recording_that_was_followed_has_its_files_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    talk(&mut writer);
    assert!(writer.is_followed());
    assert_eq!(names(folder.path()), ["fs.tape.jsonl"]);
    let finished = writer.finish(Offset(99));
    assert!(finished.is_whole(), "{finished:?}");
    let all = ["fs.capture.json", "fs.json", "fs.tape.jsonl"];
    assert_eq!(names(folder.path()), all);
    let files = [finished.cassette.unwrap(), finished.capture.unwrap()];
    let expected = at_the_end(&finished.tape.unwrap());
    assert_eq!(files.map(|path| fs::read(path).unwrap()), expected);
}

/// How many bytes of a tape of this length are not projected when its footer is written, if only
/// its writer has followed it; the projections must be complete anyway.
fn left_at_the_end(length: u64) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path()).followed_alone();
    let pad = "y".repeat(2_000);
    let (mut written, mut number) = (0, 0);
    while written < length {
        number += 1;
        let ask = format!(r#"{{"id":{number},"method":"m","params":"{pad}"}}"#);
        writer.encode(&mut message(true, ask));
        let answer = format!(r#"{{"id":{number},"result":{{"of":"{pad}"}}}}"#);
        writer.encode(&mut message(false, answer));
        if number % 8 == 0 {
            written = writer.flush();
        }
    }
    let finished = writer.close(Offset(99));
    let follower = writer.take_follower().unwrap();
    let left = follower.progress.behind();
    let expected = at_the_end(&finished.tape.unwrap());
    let drafts = follower.finish().unwrap();
    assert!(named(drafts, folder.path()) == expected, "{length}");
    left
}

#[test]
fn however_long_a_tape_is_no_more_of_it_is_left_to_its_end() {
    // The size of one write.
    let flush = 64 << 10;
    assert!(left_at_the_end(BEHIND / 2) >= BEHIND / 2);
    for times in [2, 3] {
        let left = left_at_the_end(times * BEHIND);
        assert!(
            left <= BEHIND + flush,
            "{left} bytes after {times} times as many"
        );
    }
}

#[test]
fn a_follower_that_failed_in_between_is_not_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path()).followed_alone();
    talk(&mut writer);
    let follower = writer.take_follower().unwrap();
    let shared = Arc::clone(&follower.shared);
    let failed = thread::spawn(move || {
        let _held = shared.lock();
        panic!("in the middle of an event");
    });
    assert!(failed.join().is_err());
    assert!(!follower.shared.read_on(1));
    assert!(follower.finish().is_none());
}

#[test]
fn holes_keep_a_followed_recording_from_replacing_a_whole_one() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("fs.json"), "{\"exchanges\":[{}]}").unwrap();
    let mut writer = writer(folder.path());
    let gap = EventBody::Gap(Gap {
        events: 1,
        ..Gap::default()
    });
    writer.encode(&mut Event::new(Offset(1), Direction::ToClient, gap));
    talk(&mut writer);
    assert!(writer.is_followed());
    let finished = writer.finish(Offset(99));
    assert_eq!(finished.cassette, Some(folder.path().join("fs.2.json")));
    let all = ["fs.2.json", "fs.2.tape.jsonl", "fs.capture.json", "fs.json"];
    assert_eq!(names(folder.path()), all);
}

#[test]
fn who_is_not_asked_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    talk(&mut writer);
    drop(writer);
    assert_eq!(names(folder.path()), ["fs.tape.jsonl"]);
}

#[test]
fn a_tape_that_cannot_be_read_is_left_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fs.tape.jsonl");
    let (mut tape, _) = lines(&[], false).remove(0);
    tape.extend_from_slice(b"{\"seq\":1}\n");
    fs::write(&path, &tape).unwrap();
    let progress = Arc::<Progress>::default();
    progress.set(tape.len() as u64, &mut Vec::new());
    let follower = Follower::start(&path, &target(folder.path()), &progress);
    assert!(follower.unwrap().finish().is_none());
}
