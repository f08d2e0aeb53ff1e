//! Tapes of format 1.2 and 2.0, as the recorder wrote them: they are read with the same results as
//! then, but that what a fault gave in place of an answer is told.

use std::io::{BufReader, Cursor};

use tapewright_schemas::cassette::Projector;
use tapewright_schemas::event::{EditTarget, EventBody, GapReason, What};
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::summary::{Fold, Report};
use tapewright_schemas::tape::Reader;

/// The name of a tape, and the earlier output of inspecting it: its hangs, and how often faults
/// acted; and which exchanges of its cassette were marked.
struct Expected {
    tape: &'static str,
    hangs: &'static [&'static str],
    acted: u64,
    marked: &'static [&'static str],
}

const TOLD: [Expected; 4] = [
    Expected {
        tape: include_str!("../tapes-1.2/cut.tape.jsonl"),
        hangs: &["7 peer gone 167289 timeout-1", "8 peer gone 167289 -"],
        acted: 1,
        marked: &["2 timeout-1", "3 -"],
    },
    Expected {
        tape: include_str!("../tapes-1.2/mixed.tape.jsonl"),
        hangs: &[
            "5 still pending 412109 hang-1",
            "14 still pending 307532 wrong-id-1",
            "17 still pending 307295 truncate-1",
            "29 still pending 306907 drop-1",
            "37 still pending 306690 reorder-1",
            "42 cancelled 106737 late-after-cancel-1",
        ],
        acted: 13,
        marked: &[
            "1 hang-1",
            "2 slow-1",
            "3 error-1",
            "4 wrong-id-1",
            "5 truncate-1",
            "6 duplicate-1",
            "7 garbage-1",
            "8 slicer-1",
            "9 list-change-1",
            "10 stderr-flood-1",
            "11 reorder-1",
            "13 late-after-cancel-1",
        ],
    },
    Expected {
        tape: include_str!("../tapes-1.2/released.tape.jsonl"),
        hangs: &[
            "5 answered 504901 h",
            "6 answered 504901 h",
            "13 answered 235440 w",
            "14 answered 235440 -",
        ],
        acted: 3,
        marked: &["1 h", "\"b\" h", "3 w", "4 -"],
    },
    Expected {
        tape: include_str!("../tapes-1.2/http.tape.jsonl"),
        hangs: &[
            "63 still pending 1045506 wrong-id-1",
            "73 http error 46342 http-status-1",
            "83 still pending 933163 drop-1",
            "94 failed 55097 reset-1",
            "104 client gone 303214 hang-1",
            "115 client gone 302864 sh",
            "127 client gone 200890 timeout-1",
            "137 answered 694 -",
        ],
        acted: 10,
        marked: &[
            "3 ss",
            "4 error-1",
            "5 wrong-id-1",
            "6 http-status-1",
            "7 drop-1",
            "8 reset-1",
            "20 hang-1",
            "21 sh",
            "22 timeout-1",
            "23 -",
        ],
    },
];

/// The report of a tape, and its cassette.
fn read(tape: &str) -> (Report, serde_json::Value) {
    let mut reader = Reader::open(BufReader::new(tape.as_bytes())).unwrap();
    let header = reader.header().clone();
    let mut fold = Fold::new(true);
    let spool = || Cursor::new(Vec::new());
    let mut projector = Projector::new(&header, spool(), spool());
    while let Some(event) = reader.next_event().unwrap() {
        if let EventBody::Faulted(faulted) = &event.body {
            let what = &faulted.effect.what;
            assert!(!matches!(what, What::Other { .. }), "{what:?}");
        }
        if let EventBody::Message { origin, .. } = &event.body {
            assert!(origin.number.is_some());
        }
        fold.observe(&event);
        projector.observe(&event).unwrap();
    }
    let ending = reader.ending().unwrap();
    let mut cassette = Vec::new();
    projector.finish(ending, &mut cassette).unwrap();
    let report = fold.finish(FileKind::Tape, &header, ending);
    (report, serde_json::from_slice(&cassette).unwrap())
}

#[test]
fn tapes_of_format_1_tell_what_they_told() {
    for told in TOLD {
        let (report, cassette) = read(told.tape);
        let hangs: Vec<String> = report
            .hangs
            .iter()
            .map(|hang| {
                let micros = hang.waited_ms.unwrap() * 1_000.0;
                let fault = hang.fault.as_ref().map_or("-", |fault| &fault.name);
                format!("{} {} {micros:.0} {fault}", hang.seq, hang.closed.word())
            })
            .collect();
        assert_eq!(hangs, told.hangs);
        let acted: u64 = report.injected.iter().map(|one| one.acted).sum();
        assert_eq!(acted, told.acted);
        let exchanges = cassette["exchanges"].as_array().unwrap();
        let marked = exchanges.iter().filter_map(|one| {
            let fault = one.get("fault")?;
            let name = fault["fault"].as_str().unwrap_or("-");
            Some(format!("{} {name}", one["request"]["id"]))
        });
        assert_eq!(marked.collect::<Vec<_>>(), told.marked);
    }
}

#[test]
fn sentences_of_format_2_0_are_tokens() {
    let tape = include_str!("../tapes-2.0/http.tape.jsonl");
    let mut reader = Reader::open(BufReader::new(tape.as_bytes())).unwrap();
    let (mut gaps, mut edits) = (Vec::new(), Vec::new());
    while let Some(event) = reader.next_event().unwrap() {
        assert!(!event.is_made_by_us());
        match event.body {
            EventBody::Gap(gap) => gaps.push((gap.why, gap.detail)),
            EventBody::Edited(edit) => edits.push(edit.what),
            _ => {}
        }
    }
    assert_eq!(gaps, [(GapReason::Encoding, None)]);
    let (field, place) = (EditTarget::AcceptEncoding, EditTarget::Location);
    assert_eq!(edits, [field, place, field]);
}

#[test]
fn every_old_reason_of_a_gap_is_known() {
    let header = include_str!("../tapes-2.0/http.tape.jsonl").lines().next();
    let full = "the tape could not be written: No space left on device";
    for (said, why, detail) in [
        ("the queue was full", GapReason::QueueFull, None),
        (full, GapReason::Disk, Some(full)),
        ("who knows", GapReason::Unknown, Some("who knows")),
        ("", GapReason::Unknown, None),
        ("disk", GapReason::Disk, None),
    ] {
        let gap = format!(r#"{{"seq":1,"at_us":1,"gap":{{"events":1,"bytes":2,"why":"{said}"}}}}"#);
        let tape = format!("{}\n{gap}\n", header.unwrap());
        let mut reader = Reader::open(BufReader::new(tape.as_bytes())).unwrap();
        let EventBody::Gap(gap) = reader.next_event().unwrap().unwrap().body else {
            panic!("{tape}");
        };
        assert_eq!((gap.why, gap.detail.as_deref()), (why, detail));
    }
}
