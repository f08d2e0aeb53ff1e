//! Tests of the view without a terminal.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use tapewright_schemas::filter::LineKind;

use super::keys::Key;
use super::run::Input;
use super::source::{self, Library, Source};
use super::*;

mod commands;

const PATIENCE: Duration = Duration::from_secs(60);
const HANG_AFTER_US: u64 = 30_000_000;

/// The recorded example of tests and pictures.
pub(crate) fn example() -> PathBuf {
    concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/watch/example.tape.jsonl"
    )
    .into()
}

/// A state with a source: its updates, and its messages.
pub(crate) struct Played {
    pub(crate) state: State,
    inputs: Receiver<Input>,
    library: Library,
}

impl Played {
    pub(crate) fn start(files: Vec<PathBuf>, folder: Option<PathBuf>) -> Self {
        let (send, inputs) = sync_channel(4);
        let library: Library = Arc::new(Mutex::new(Vec::new()));
        let source = Source::Files { files, folder };
        source::start(source, send, Arc::clone(&library)).unwrap();
        Self {
            state: State::new(HANG_AFTER_US, 80, 24),
            inputs,
            library,
        }
    }

    /// A file that has ended, read completely.
    pub(crate) fn whole(file: PathBuf) -> Self {
        let mut played = Self::start(vec![file], None);
        while let Ok(input) = played.inputs.recv_timeout(PATIENCE) {
            played.take(input);
        }
        while played.state.work() {}
        played
    }

    fn take(&mut self, input: Input) {
        let Input::Told(told) = input else {
            panic!("a source tells: {input:?}");
        };
        self.state.told(*told);
    }

    /// Applies updates until a condition holds.
    fn until(&mut self, is_so: impl Fn(&State) -> bool) {
        while !is_so(&self.state) {
            let input = self.inputs.recv_timeout(PATIENCE).expect("it becomes so");
            self.take(input);
            while self.state.work() {}
        }
    }

    /// Presses keys, and reads the requested messages.
    pub(crate) fn press(&mut self, keys: &[Key]) -> Vec<OutsideRequest> {
        let mut wanted = Vec::new();
        for key in keys {
            for want in self.state.key(*key) {
                match want {
                    OutsideRequest::Read(number) => self.read(number),
                    other => wanted.push(other),
                }
            }
            while self.state.work() {}
        }
        wanted
    }

    fn read(&mut self, number: u64) {
        let line = *self.state.store.get(number).unwrap();
        let (ask, asked) = sync_channel(1);
        let (send, said) = sync_channel(1);
        ask.send((number, line)).unwrap();
        drop(ask);
        source::serve(&asked, &send, &self.library);
        self.take(said.recv_timeout(PATIENCE).unwrap());
    }

    fn types(&mut self, text: &str) -> Vec<OutsideRequest> {
        let keys: Vec<Key> = text.chars().map(Key::Char).collect();
        self.press(&keys)
    }
}

/// The methods and outcomes of the lines of the stream.
fn lines(state: &State) -> Vec<String> {
    let all = (0..state.stream.count()).filter_map(|row| state.stream.get(row));
    let all = all.filter_map(|number| state.store.get(number));
    let words = &state.store.words;
    all.map(|line| match line.kind {
        LineKind::Exchange => {
            let id = words.texts.get(line.id).unwrap();
            format!("{id} {} {:?}", words.get(line.method), line.outcome)
        }
        kind => kind.name().to_owned(),
    })
    .collect()
}

#[test]
fn a_tape_is_shown_in_the_order_in_which_things_began() {
    let played = Played::whole(example());
    let lines = lines(&played.state);
    assert_eq!(
        lines.first().map(String::as_str),
        Some("0 initialize Answered")
    );
    assert_eq!(
        lines.get(7..),
        Some(
            &[
                "8 tools/call KeptByFault".to_owned(),
                "noise".to_owned(),
                "\"\\u0007x\\u202e\" resources/read Cancelled".to_owned(),
                "9 tools/call Unknown".to_owned(),
                "gap".to_owned(),
            ][..]
        ),
        "{lines:#?}"
    );
    let store = &played.state.store;
    assert_eq!((store.sums.calls, store.findings.len()), (10, 1));
    assert!(!store.has_waiting());
    let session = store.parts.sessions.get(&(0, 0)).unwrap();
    assert_eq!(session.client, "editor 1.4");
    assert_eq!(session.server, "files 0.9");
    assert_eq!(session.revision, "2025-11-25");
}

#[test]
fn what_was_said_is_read_from_the_tape_when_it_is_looked_at() {
    let mut played = Played::whole(example());
    played.press(&[Key::Char('g'), Key::Down, Key::Enter]);
    let said = played.state.over.last().unwrap().said.clone().unwrap();
    let texts: Vec<_> = said
        .all
        .iter()
        .map(|one| String::from_utf8_lossy(&one.text))
        .collect();
    assert!(
        texts[0].contains("tools/list") && texts[1].contains("owned"),
        "{texts:?}"
    );
    // The next exchange takes its place.
    played.press(&[Key::Right]);
    assert_eq!(played.state.over.len(), 1);
    let rows = &played.state.over.last().unwrap().rows;
    assert!(
        rows.iter().any(|row| row.text.contains("notes/2.md")),
        "{rows:?}"
    );
    assert!(
        matches!(&*played.press(&[Key::Char('y')]), [OutsideRequest::Copy(text)] if text.contains("notes/2.md"))
    );
}

#[test]
fn commands_over_the_recording_are_copied() {
    let mut watched = Played::whole(example());
    let path = example();
    let path = path.to_str().unwrap();
    assert_eq!(
        watched.press(&[Key::Char('r')]),
        [OutsideRequest::Copy(format!("tapewright replay {path}"))]
    );
    let page = format!("tapewright export {path} --as html -o example.html");
    assert_eq!(
        watched.press(&[Key::Char('e')]),
        [OutsideRequest::Copy(page)]
    );
    // In the detail of an exchange as well.
    watched.press(&[Key::Char('g'), Key::Enter]);
    assert!(matches!(
        watched.press(&[Key::Char('r')])[..],
        [OutsideRequest::Copy(_)]
    ));
    assert_eq!(
        watched.press(&[Key::Control('z')]),
        [OutsideRequest::Suspend]
    );
}

#[test]
fn filters_are_those_of_every_view() {
    let mut played = Played::whole(example());
    for (typed, count) in [
        ("tool:search", 2),
        ("status:error", 2),
        ("status:finding", 1),
        ("-tool:search kind:exchange", 8),
        ("kind:stderr", 2),
        ("slow:>13ms", 3),
        ("resources", 1),
        ("", 12),
    ] {
        played.press(&[Key::Char('/'), Key::Control('u')]);
        played.types(typed);
        played.press(&[Key::Enter]);
        assert_eq!(
            played.state.stream.count(),
            count,
            "{typed}: {:#?}",
            lines(&played.state)
        );
    }
    played.types("/tol:x");
    played.press(&[Key::Enter]);
    let problem = played
        .state
        .prompt
        .as_ref()
        .and_then(|prompt| prompt.problem.clone());
    assert!(problem.unwrap().contains("unknown word `tol:`"));
    played.press(&[Key::Escape]);
    assert_eq!(
        (played.state.stream.count(), &played.state.prompt),
        (12, &None)
    );
}

#[test]
fn a_finding_leads_to_its_evidence_and_what_its_rule_asks_for() {
    let mut played = Played::whole(example());
    played.press(&[Key::Char('4'), Key::Enter]);
    let over = played.state.over.last().unwrap();
    let text: Vec<&str> = over.rows.iter().map(|row| &*row.text).collect();
    let text = text.join("\n");
    assert!(
        text.contains("event 20 /error  tools/call search"),
        "{text}"
    );
    assert!(text.contains("tapewright explain INV-012"), "{text}");
    let leads = over.rows.iter().position(|row| row.jump.is_some()).unwrap();
    played.press(&vec![Key::Down; leads]);
    played.press(&[Key::Enter]);
    assert!(matches!(
        played.state.over.last().unwrap().what,
        OverlayContent::Line(_)
    ));
    assert_eq!(played.state.over.len(), 2);
    played.press(&[Key::Char('o')]);
    assert_eq!(
        (played.state.panel, played.state.over.len()),
        (Panel::Stream, 0)
    );
    let chosen = played
        .state
        .stream
        .chosen()
        .and_then(|one| played.state.store.get(one));
    assert!(chosen.unwrap().has_findings());
}

#[test]
fn faults_are_switched_where_there_is_a_control_and_only_there() {
    let mut played = Played::whole(example());
    assert_eq!(played.press(&[Key::Char('5'), Key::Enter]), []);
    assert!(played.state.message.is_some());
    let fault = Fault {
        name: "hang-1".to_owned(),
        spec: "hang tool=search".to_owned(),
        ..Fault::default()
    };
    let mut state = State::new(HANG_AFTER_US, 80, 24);
    state.faults.has_control = true;
    assert_eq!(state.key(Key::Char('5')), [OutsideRequest::Faults]);
    state.told(SourceUpdate::Faults(vec![fault.clone()]));
    let off = Fault {
        is_off: true,
        ..fault.clone()
    };
    assert_eq!(state.key(Key::Enter), [OutsideRequest::Switch(off)]);
    // It stays there, to be switched on again.
    state.told(SourceUpdate::Faults(Vec::new()));
    assert_eq!(
        state.key(Key::Enter),
        [OutsideRequest::Switch(fault.clone())]
    );
    state.told(SourceUpdate::Faults(vec![fault]));
    assert_eq!(state.faults.all.len(), 1);
}

/// Marks a tape like its recorder. On Windows, that it is open for writing is the mark.
fn mark(tape: &std::fs::File) {
    if cfg!(unix) {
        tape.lock().unwrap();
    }
}

#[test]
fn a_growing_tape_is_followed_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape.jsonl");
    let text = std::fs::read_to_string(example()).unwrap();
    let mut file = std::fs::File::create(&path).unwrap();
    mark(&file);
    let (early, late) = text.split_at(text.find("\"id\":9").unwrap());
    let torn = early.len() - 30;
    file.write_all(&early.as_bytes()[..torn]).unwrap();
    let mut played = Played::start(vec![path], None);
    played.until(|state| state.store.parts.is_live());
    let before = played.state.stream.count();
    assert!(before >= 9, "{before}");
    // A cursor in the middle stays there.
    played.press(&[Key::Char('g'), Key::Down]);
    let focus = played.state.stream.list;
    file.write_all(&early.as_bytes()[torn..]).unwrap();
    file.write_all(late.as_bytes()).unwrap();
    played.until(|state| state.store.sums.gaps == [1, 3]);
    assert_eq!(played.state.stream.list, focus);
    played.press(&[Key::Char('G')]);
    assert_eq!(played.state.stream.list.cursor, 11);
    drop(file);
    played.until(|state| state.store.parts.all[0].state == PartState::Over);
    assert_eq!(lines(&played.state), lines(&Played::whole(example()).state));
}

#[test]
fn a_recorder_that_is_killed_leaves_a_tape_that_is_cut_short() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.tape.jsonl");
    let text = std::fs::read_to_string(example()).unwrap();
    let mut file = std::fs::File::create(&path).unwrap();
    mark(&file);
    file.write_all(&text.as_bytes()[..text.len() / 2]).unwrap();
    let mut played = Played::start(vec![path], None);
    played.until(|state| state.store.parts.is_live());
    assert!(crate::report::watch::banner(&played.state).is_none());
    // Its file is closed, as when any process ends.
    file.seek(SeekFrom::End(0)).unwrap();
    drop(file);
    played.until(|state| state.store.parts.all[0].state == PartState::CutShort);
    let told = crate::report::watch::banner(&played.state).unwrap();
    assert!(told.contains("is incomplete"), "{told}");
}

#[test]
fn a_folder_takes_up_what_comes_into_it() {
    let folder = tempfile::tempdir().unwrap();
    let one = folder.path().join("one.tape.jsonl");
    std::fs::copy(example(), &one).unwrap();
    let mut played = Played::start(vec![one], Some(folder.path().to_owned()));
    played.until(|state| state.store.sums.calls == 10 && !state.store.parts.is_reading());
    std::fs::copy(example(), folder.path().join("two.tape.jsonl")).unwrap();
    played.until(|state| state.store.sums.calls == 20);
    assert_eq!(played.state.store.parts.all.len(), 2);
    played.press(&[Key::Char('2'), Key::Down, Key::Enter]);
    assert_eq!(played.state.stream.only, Some((1, 0)));
    assert_eq!(played.state.stream.count(), 12);
}

fn keys() -> impl Strategy<Value = Key> {
    prop_oneof![
        4 => proptest::char::range(' ', '~').prop_map(Key::Char),
        1 => Just(Key::Char('\u{202e}')),
        1 => proptest::char::range('a', 'z').prop_map(Key::Control),
        1 => Just(Key::Escape),
        2 => Just(Key::Enter),
        1 => Just(Key::Backspace),
        1 => Just(Key::Tab),
        1 => Just(Key::BackTab),
        1 => Just(Key::Up),
        2 => Just(Key::Down),
        1 => Just(Key::Left),
        1 => Just(Key::Right),
        1 => Just(Key::PageUp),
        1 => Just(Key::PageDown),
        1 => Just(Key::Home),
        1 => Just(Key::End),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn no_key_and_no_size_is_too_much(
        pressed in proptest::collection::vec((keys(), 0_u16..200, 0_u16..60), 1..80),
        has_control in any::<bool>(),
    ) {
        let mut played = Played::whole(example());
        played.state.faults.has_control = has_control;
        for (at, (key, columns, rows)) in pressed.into_iter().enumerate() {
            if at % 7 == 0 {
                played.state.resize(columns, rows);
            }
            played.press(&[key]);
            let (columns, rows) = played.state.size;
            let area = ratatui::layout::Rect::new(0, 0, columns, rows);
            let mut buffer = ratatui::buffer::Buffer::empty(area);
            let look = crate::report::watch::Look { colour: true };
            crate::report::watch::draw(&played.state, &mut buffer, look);
            let list = played.state.list(played.state.panel);
            let count = played.state.count(played.state.panel);
            prop_assert!(list.cursor < count.max(1));
        }
    }
}
