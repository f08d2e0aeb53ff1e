//! The same session is judged equally live, from a tape, from a cassette and from a capture.
//!
//! A capture contains less than a tape, and neither it nor a cassette distinguishes pipes. So the
//! findings from them are also found on the tape, and what the tape proves with messages that they
//! contain is also found from them, or reported as inconclusive.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may fail"
)]

mod sessions;

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use sessions::{message, sessions};
use tapewright_compliance::code::Code;
use tapewright_compliance::finding::Status;
use tapewright_compliance::live::{Live, Watch};
use tapewright_compliance::table::{TABLE, find};
use tapewright_compliance::{Carriers, Checker, Facts, Outcome, Selection, capture, script};
use tapewright_schemas::cassette;
use tapewright_schemas::event::{Direction, Event, EventBody, FindingStatus, Offset, Sink as _};
use tapewright_schemas::recording::{Document, FileKind};
use tapewright_schemas::redact::{Redactor, Rules, Settings};
use tapewright_schemas::tape::{Encoder, Ending, Header, Reader, VERSION};

/// A finding with the texts of the messages that prove it.
type Found = (Code, String, Vec<(String, String)>);

/// Everything that was found by one way of judging.
#[derive(Debug, Default)]
struct Judged {
    failed: Vec<Found>,
    raced: Vec<Found>,
    unknown: Vec<Code>,
}

fn header(transport: &str) -> Header {
    Header {
        tape: VERSION.to_owned(),
        by: "tapewright".to_owned(),
        label: "s".to_owned(),
        transport: transport.to_owned(),
        ..Header::default()
    }
}

/// Records events with a judge next to the tape.
fn record(events: &[Event], header: &Header) -> Vec<u8> {
    let rules = Arc::new(Rules::new(&Settings::default()).unwrap());
    let watch = Watch {
        selection: Some(Selection::all()),
        hang_after: None,
    };
    let live = Live::new(Facts::of(FileKind::Tape, header, true), &watch);
    let mut encoder = Encoder::new(Redactor::new(rules)).with_judge(Some(Box::new(live)));
    let mut tape = Vec::new();
    header.write(&mut tape);
    let mut last = Offset(0);
    for event in events {
        last = event.at;
        encoder.encode(event, &mut tape);
        while let Some(finding) = encoder.poll_judge() {
            encoder.encode(&finding, &mut tape);
        }
    }
    encoder.end_judge(last);
    while let Some(finding) = encoder.poll_judge() {
        encoder.encode(&finding, &mut tape);
    }
    encoder.footer(last.0, None).write(&mut tape);
    tape
}

fn read(tape: &[u8]) -> (Header, Vec<Event>, Ending) {
    let mut reader = Reader::open(tape).unwrap();
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

fn texts(events: &[Event]) -> BTreeMap<u64, String> {
    let text = |event: &Event| match &event.body {
        EventBody::Message { payload, .. } => Some((
            event.seq,
            String::from_utf8_lossy(payload.kept()).into_owned(),
        )),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

fn gather(outcomes: impl Iterator<Item = Outcome>, text: impl Fn(u64) -> String) -> Judged {
    let mut judged = Judged::default();
    for outcome in outcomes {
        if outcome.status == Status::Inconclusive || outcome.more > 0 {
            judged.unknown.push(outcome.code);
        }
        for one in outcome.findings {
            let places = one
                .evidence
                .iter()
                .map(|place| (text(place.seq), place.pointer.clone()));
            let found = (one.code, one.detail.clone(), places.collect());
            match one.status {
                Status::Race => judged.raced.push(found),
                _ => judged.failed.push(found),
            }
        }
    }
    judged.failed.sort();
    judged.raced.sort();
    judged
}

/// The findings from events.
fn judge(events: &[Event], facts: Facts, ending: &Ending) -> Judged {
    let mut checker = Checker::new(facts, Selection::all());
    for event in events {
        checker.record(event);
    }
    let texts = texts(events);
    let text = |seq| texts.get(&seq).cloned().unwrap_or_default();
    let judged = checker.finish(Some(ending));
    gather(judged.into_iter().flat_map(|one| one.outcomes), text)
}

/// The findings from a file that the tape projects to.
fn judge_file(text: Vec<u8>) -> (Judged, Vec<String>) {
    let document = Document::read(text).unwrap();
    let recording = document.recording();
    let facts = Facts::of(document.kind(), &recording.header, recording.timed);
    let Document::Capture(file) = &document else {
        let kept = texts(&recording.events).into_values().collect();
        return (judge(&recording.events, facts, &recording.ending), kept);
    };
    let mut checker = Checker::new(facts, Selection::all());
    let origins = capture::judge(file, facts.keeps, &mut checker);
    checker.end(Some(&recording.ending));
    let messages: Vec<String> = origins
        .iter()
        .map(|origin| {
            let one = &file.sessions[origin.session].exchanges[origin.exchange];
            let text = if origin.response {
                one.response.as_ref().unwrap()
            } else {
                &one.request
            };
            String::from_utf8_lossy(text).into_owned()
        })
        .collect();
    let text = |seq: u64| messages[usize::try_from(seq).unwrap() - 1].clone();
    let judged = gather(
        checker
            .finish(None)
            .into_iter()
            .flat_map(|one| one.outcomes),
        text,
    );
    (judged, messages)
}

/// Compares the findings from a projection with what the tape proves.
fn compare(
    (name, whole): (&str, bool),
    tape: &Judged,
    (file, kept): &(Judged, Vec<String>),
) -> Result<(), TestCaseError> {
    let words = |found: &[Found]| {
        let each = found
            .iter()
            .map(|(code, detail, _)| (*code, detail.clone()));
        each.collect::<Vec<_>>()
    };
    let mut proven = words(&tape.failed);
    proven.extend(words(&tape.raced));
    for found in words(&file.failed) {
        let known = proven.iter().position(|one| *one == found);
        prop_assert!(
            known.is_some(),
            "only the {name} finds {found:?}\n{tape:#?}"
        );
        proven.swap_remove(known.unwrap_or_default());
    }
    // HTTP heads, including the revision in them, are not in the file.
    if !whole {
        return Ok(());
    }
    let mut told = words(&file.failed);
    told.extend(words(&file.raced));
    for (code, detail, evidence) in &tape.failed {
        let there = evidence.iter().all(|(text, _)| kept.contains(text));
        let pipes = find(*code).unwrap().carriers != Carriers::ANY;
        let unknown = file.unknown.contains(code);
        let known = told.contains(&(*code, detail.clone()));
        let excused = unknown || !there || pipes;
        prop_assert!(
            known || excused,
            "the {name} misses {code} {detail}\n{file:#?}"
        );
    }
    Ok(())
}

/// Judges a session in every way.
fn agree(events: &[Event], transport: &str) -> Result<usize, TestCaseError> {
    let tape = record(events, &header(transport));
    let (header, events, ending) = read(&tape);
    let told: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Finding(finding) => Some((**finding).clone()),
            _ => None,
        })
        .collect();
    let from_tape = judge(&events, Facts::of(FileKind::Tape, &header, true), &ending);
    let texts = texts(&events);
    let mut live = Judged::default();
    for one in &told {
        let text = |seq| texts.get(&seq).cloned().unwrap_or_default();
        let places = one
            .evidence
            .iter()
            .map(|place| (text(place.seq), place.pointer.clone()));
        let found = (
            one.code.parse().unwrap(),
            one.detail.clone(),
            places.collect(),
        );
        match one.status {
            FindingStatus::Race => live.raced.push(found),
            _ => live.failed.push(found),
        }
    }
    live.failed.sort();
    live.raced.sort();
    prop_assert_eq!(&live.failed, &from_tape.failed);
    prop_assert_eq!(&live.raced, &from_tape.raced);

    let spool = || Cursor::new(Vec::new());
    let (mut cassette, mut capture) = (Vec::new(), Vec::new());
    let mut projector = cassette::Projector::new(&header, spool(), spool());
    for event in &events {
        projector.observe(event).unwrap();
    }
    projector.finish(&ending, &mut cassette).unwrap();
    let mut projector = tapewright_schemas::capture::Projector::new(&header, spool(), spool());
    for event in &events {
        projector.observe(event).unwrap();
    }
    projector.finish(&ending, &mut capture).unwrap();
    let whole = transport == "stdio";
    compare(("cassette", whole), &from_tape, &judge_file(cassette))?;
    compare(("capture", whole), &from_tape, &judge_file(capture))?;
    Ok(told.len())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]
    #[test]
    fn generated_sessions_are_judged_alike(events in sessions()) {
        agree(&events, "stdio")?;
    }
}

#[test]
fn the_examples_of_the_table_are_judged_alike() {
    let mut told = 0;
    for rule in TABLE {
        for example in [rule.holds, rule.breaks] {
            let script = script::read(example).unwrap();
            let http = script.facts.transport == tapewright_compliance::Transport::Http;
            let transport = if http { "http" } else { "stdio" };
            match agree(&script.events, transport) {
                Ok(count) => told += count,
                Err(error) => panic!("{} {example}: {error}", rule.code),
            }
        }
    }
    assert!(told > TABLE.len(), "{told}");
}

fn tests_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests")
}

/// A session of real peers, as a tee between them saw it.
fn wire(name: &str) -> Vec<Event> {
    let text = fs::read_to_string(tests_folder().join("wire").join(name)).unwrap();
    let mut events = Vec::new();
    for line in text.lines() {
        let (at, kind, text): (f64, String, String) = serde_json::from_str(line).unwrap();
        let dir = match kind.as_str() {
            "c2s" => Direction::ToServer,
            "s2c" => Direction::ToClient,
            _ => continue,
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "seconds of a short session"
        )]
        let at = (at * 1e6) as u64;
        events.extend(text.lines().map(|line| message(at, dir, line)));
    }
    events
}

#[test]
fn recorded_sessions_are_judged_alike() {
    for name in ["py-everything.881.jsonl", "ts1-everything.952.jsonl"] {
        agree(&wire(name), "stdio").unwrap();
    }
    let tape = fs::read(tests_folder().join("golden/http.tape.jsonl")).unwrap();
    let (_, events, _) = read(&tape);
    agree(&events, "http").unwrap();
}
