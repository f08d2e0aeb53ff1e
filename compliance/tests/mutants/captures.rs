//! Captures and cassettes: what they do not contain is neither passed nor vacuous.

use std::io::Cursor;

use tapewright_compliance::finding::{Doubt, Status};
use tapewright_compliance::{Checker, Facts, Outcome, Selection, capture};
use tapewright_schemas::capture::Projector;
use tapewright_schemas::cassette;
use tapewright_schemas::event::Sink as _;
use tapewright_schemas::recording::Document;
use tapewright_schemas::tape::Reader;

use super::draft::Draft;
use super::gaps::SESSIONS;
use super::judged::outcomes;

/// The verdicts on the capture of a recorded session.
fn captured(name: &str) -> Vec<Outcome> {
    let tape = Draft::recorded(name).tape();
    let mut reader = Reader::open(tape.as_slice()).expect("a tape");
    let spool = || Cursor::new(Vec::new());
    let mut projector = Projector::new(reader.header(), spool(), spool());
    while let Some(event) = reader.next_event().expect("an event") {
        projector.observe(&event).expect("memory");
    }
    let mut text = Vec::new();
    let ending = reader.ending().expect("an end").clone();
    projector.finish(&ending, &mut text).expect("memory");
    judged(text)
}

/// The verdicts on a capture.
fn judged(text: Vec<u8>) -> Vec<Outcome> {
    let document = Document::read(text).expect("a capture");
    let recording = document.recording();
    let Document::Capture(file) = &document else {
        panic!("this is no capture");
    };
    let facts = Facts::of(document.kind(), &recording.header, recording.timed);
    let mut checker = Checker::new(facts, Selection::all());
    capture::judge(file, facts.keeps, &mut checker);
    let judged = checker.finish(Some(&recording.ending));
    judged.into_iter().flat_map(|one| one.outcomes).collect()
}

/// The verdicts on a capture of another tool, with these exchanges.
fn of_others(exchanges: &str) -> Vec<Outcome> {
    let around = r#"{"server_label":"s","server_capabilities":{"resources":{}},"exchanges":["#;
    judged(format!("{around}{exchanges}]}}").into_bytes())
}

/// The findings of one rule, in words.
fn found<'a>(outcomes: &'a [Outcome], code: &str) -> Vec<(Status, &'a str)> {
    let by_it = outcomes.iter().filter(|one| one.code.to_string() == code);
    let findings = by_it.flat_map(|one| &one.findings);
    findings
        .map(|one| (one.status, one.detail.as_str()))
        .collect()
}

#[test]
fn a_response_answers_what_it_stands_beside_also_where_an_id_is_used_twice() {
    let twice = of_others(
        r#"{"request":{"jsonrpc":"2.0","id":1,"method":"tools/list"}},
        {"request":{"jsonrpc":"2.0","id":1,"method":"resources/list"},
         "response":{"jsonrpc":"2.0","id":1,"result":{"resources":[]}}}"#,
    );
    assert_eq!(found(&twice, "INV-003"), [], "`tools/list` has no answer");
    assert_eq!(found(&twice, "INV-012"), []);
}

#[test]
fn what_stands_beside_a_batch_answers_none_of_its_members() {
    let batch = of_others(
        r#"{"request":[{"jsonrpc":"2.0","id":1,"method":"ping"}],
         "response":{"jsonrpc":"2.0","id":1,"result":{}}}"#,
    );
    let expected = (Status::Fail, "no request with this id was in flight");
    assert_eq!(found(&batch, "INV-012"), [expected]);
}

#[test]
fn a_request_with_an_answer_of_another_id_beside_it_was_answered() {
    let cancelled = of_others(
        r#"{"request":{"jsonrpc":"2.0","id":1,"method":"ping"},
         "response":{"jsonrpc":"2.0","id":2,"result":{}}},
        {"request":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}}"#,
    );
    let expected = "the request that is cancelled was answered before";
    assert_eq!(found(&cancelled, "INV-038"), [(Status::Race, expected)]);
}

fn status_of(outcomes: &[Outcome], code: &str) -> Option<Status> {
    let mut all = outcomes.iter();
    let found = all.find(|one| one.code.to_string() == code);
    found.map(|one| one.status)
}

#[test]
fn what_the_tape_puts_to_the_test_is_not_called_untested_in_its_capture() {
    for name in ["handshake-stdio", "handshake-http"] {
        let on_tape = outcomes(&Draft::recorded(name).tape());
        let in_capture = captured(name);
        for tested in on_tape.iter().filter(|one| one.exercised > 0) {
            let code = tested.code.to_string();
            let status = status_of(&in_capture, &code);
            assert_ne!(status, Some(Status::Vacuous), "{name}: {code}");
        }
    }
}

/// The verdicts on the cassette of a recorded session.
fn in_cassette(name: &str) -> Vec<Outcome> {
    let tape = Draft::recorded(name).tape();
    let mut reader = Reader::open(tape.as_slice()).expect("a tape");
    let spool = || Cursor::new(Vec::new());
    let mut projector = cassette::Projector::new(reader.header(), spool(), spool());
    while let Some(event) = reader.next_event().expect("an event") {
        projector.observe(&event).expect("memory");
    }
    let mut text = Vec::new();
    let ending = reader.ending().expect("an end").clone();
    projector.finish(&ending, &mut text).expect("memory");
    let document = Document::read(text).expect("a cassette");
    let recording = document.recording();
    let facts = Facts::of(document.kind(), &recording.header, recording.timed);
    let mut checker = Checker::new(facts, Selection::all());
    for event in &recording.events {
        checker.record(event);
    }
    let judged = checker.finish(Some(&recording.ending));
    judged.into_iter().flat_map(|one| one.outcomes).collect()
}

#[test]
fn what_the_tape_puts_to_the_test_is_not_called_untested_in_its_cassette() {
    let mut untested = Vec::new();
    for name in SESSIONS {
        let in_cassette = in_cassette(name);
        for tested in outcomes(&Draft::recorded(name).tape()) {
            let code = tested.code.to_string();
            let status = status_of(&in_cassette, &code);
            if tested.exercised > 0 && status == Some(Status::Vacuous) {
                untested.push(format!("{name}: {code}"));
            }
        }
    }
    assert!(untested.is_empty(), "{untested:#?}");
}

#[test]
fn heads_and_what_the_server_begins_are_inconclusive_in_a_capture() {
    let verdicts = captured("handshake-http");
    // Server-initiated: logs, changes, updates, roots; HTTP: heads, streams, session ids.
    for code in [
        "INV-023", "INV-028", "INV-029", "INV-030", "INV-031", "INV-033", "INV-053", "INV-055",
        "INV-058", "INV-060", "INV-061", "INV-062", "INV-063", "INV-064", "INV-072", "INV-089",
        "INV-090", "INV-091",
    ] {
        let verdict = verdicts.iter().find(|one| one.code.to_string() == code);
        let verdict = verdict.expect("a verdict");
        assert_eq!(verdict.status, Status::Inconclusive, "{code}");
        let mut doubts = verdict.doubts.each();
        assert!(doubts.any(|doubt| doubt == Doubt::NotKept), "{verdict:?}");
    }
    // Invariants of another revision remain vacuous, and what a capture contains is judged.
    assert_eq!(status_of(&verdicts, "INV-075"), Some(Status::Vacuous));
    for code in ["INV-005", "INV-047", "INV-087", "INV-088"] {
        assert_eq!(status_of(&verdicts, code), Some(Status::Pass), "{code}");
    }
}
