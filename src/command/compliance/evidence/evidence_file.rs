//! Kinds of files that a part of a recording can be written to, and judged from again.

use std::collections::{BTreeSet, HashMap};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tapewright_compliance::code::Code;
use tapewright_compliance::finding::{Finding, Side, Status};
use tapewright_compliance::{Checker, Facts, Selection, capture};
use tapewright_replay::Script;
use tapewright_schemas::capture::{Capture, CapturedExchange, CapturedSession};
use tapewright_schemas::cassette;
use tapewright_schemas::conversation::{Conversation, Does, PerExchange};
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{Event, EventBody, Gap, Sink as _};
use tapewright_schemas::recording::{Document, FileKind};
use tapewright_schemas::redact::{Redactor, Rules, Settings};
use tapewright_schemas::tape::{Encoder, Ending, Header, Reader};

use crate::files::{self, Contents, Recording};

/// What the whole recording shows.
#[derive(Default)]
pub(super) struct RecordingFacts {
    /// By every rule: code, side and text of each finding.
    findings: BTreeSet<(Code, Side, String)>,
    /// Whether it can be replayed.
    replays: bool,
}

/// A recording in memory.
pub(super) struct Source {
    pub(super) path: PathBuf,
    header: Header,
    events: Vec<Event>,
    ending: Ending,
    capture: Option<Capture>,
    // The events that belong together, by their positions.
    parts: Vec<Vec<usize>>,
    pub(super) known: RecordingFacts,
}

/// A kind of file, and how to write parts of the recording to it.
pub(super) trait EvidenceFile {
    /// All parts.
    fn parts(&self) -> Vec<usize>;

    /// The parts that a finding mentions, and those that open the session.
    fn likely(&self, finding: &Finding) -> Vec<usize>;

    /// The text of a file with these parts.
    fn text(&self, parts: &[usize]) -> Option<Vec<u8>>;

    /// The ending of its name.
    fn ending(&self) -> &'static str;

    /// Whether the text, judged again, shows the finding and no others than those of the recording,
    /// and can be replayed if the whole recording can be.
    fn shows(&self, text: Vec<u8>, finding: &Finding, known: &RecordingFacts) -> bool {
        let replays = !known.replays || Script::load(text.clone()).is_ok();
        let told = |one: &Finding| (one.code, one.side, one.detail.clone());
        let alone = |code| {
            let mut selection = Selection::none();
            selection.select(code).ok()?;
            Some(selection)
        };
        // Its own rule first, which is quick and usually decides.
        let found = |selection| findings(text.clone(), selection).unwrap_or_default();
        let own = alone(finding.code).map(found).unwrap_or_default();
        let there = own.iter().any(|one| told(one) == told(finding));
        replays
            && there
            && found(Selection::all())
                .iter()
                .all(|one| known.findings.contains(&told(one)))
    }
}

impl Source {
    /// Reads a recording whole.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let recording = Recording::open(path)?;
        let capture = match &recording.contents {
            Contents::Document(Document::Capture(capture), _) => Some(capture.clone()),
            _ => None,
        };
        let mut events = Vec::new();
        let is_tape = recording.kind() == FileKind::Tape;
        let continues = !recording.header().continues.is_empty();
        let mut last = None;
        let frame = recording.events(|event| {
            // Parts are numbered again; a gap takes the place of what they leave out.
            let before = last.replace(event.seq);
            let missing = match before {
                None if continues => 0,
                before => event.seq.saturating_sub(before.unwrap_or_default() + 1),
            };
            if is_tape && missing > 0 {
                events.push(lost(event, missing));
            }
            if !matches!(event.body, EventBody::Finding(_)) {
                events.push(event.clone());
            }
            Ok(())
        })?;
        let (_, text) = files::whole(path)?;
        let told = |one: Finding| (one.code, one.side, one.detail);
        let known = RecordingFacts {
            replays: Script::load(text.clone()).is_ok(),
            findings: findings(text, Selection::all())
                .unwrap_or_default()
                .into_iter()
                .map(told)
                .collect(),
        };
        Ok(Self {
            known,
            path: path.to_path_buf(),
            header: frame.header,
            parts: parts(&events),
            events,
            ending: frame.ending,
            capture,
        })
    }

    /// The kinds of files that can show a finding, the best first.
    pub(super) fn evidence_files(&self) -> Vec<Box<dyn EvidenceFile + '_>> {
        let mut evidence_files: Vec<Box<dyn EvidenceFile>> = vec![Box::new(ToCassette(self))];
        match &self.capture {
            Some(capture) => evidence_files.push(Box::new(ToCapture(capture))),
            None => evidence_files.push(Box::new(ToTape(self))),
        }
        evidence_files
    }

    fn chosen<'a>(&'a self, parts: &[usize]) -> impl Iterator<Item = &'a Event> + use<'a> {
        let mut places: Vec<usize> = parts
            .iter()
            .filter_map(|part| self.parts.get(*part))
            .flatten()
            .copied()
            .collect();
        places.sort_unstable();
        places
            .into_iter()
            .filter_map(|place| self.events.get(place))
    }

    fn likely(&self, finding: &Finding) -> Vec<usize> {
        let proves = |event: &Event| finding.evidence.iter().any(|one| one.seq == event.seq);
        let opens = |event: &Event| {
            let message = event.envelope();
            let method = message.as_ref().and_then(Envelope::method);
            matches!(method, Some("initialize" | "notifications/initialized"))
        };
        let wanted = |part: &Vec<usize>| {
            let mut events = part.iter().filter_map(|place| self.events.get(*place));
            events.any(|event| proves(event) || opens(event))
        };
        let all = self.parts.iter().enumerate();
        all.filter(|(_, part)| wanted(part))
            .map(|(part, _)| part)
            .collect()
    }
}

/// An event saying that this many events are missing before `before`.
fn lost(before: &Event, events: u64) -> Event {
    let gap = Gap {
        events,
        ..Gap::default()
    };
    let mut lost = Event::new(before.at, before.dir, EventBody::Gap(gap));
    lost.seq = before.seq.saturating_sub(1);
    lost
}

/// Requests with their responses, HTTP exchanges, and every other event as its own part.
fn parts(events: &[Event]) -> Vec<Vec<usize>> {
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut exchanges = HashMap::new();
    let mut conversation = Conversation::<()>::of_handles();
    let mut open = PerExchange::default();
    for (place, event) in events.iter().enumerate() {
        if event.conduit.0 != 0 {
            let part = *exchanges.entry(event.conduit).or_insert_with(|| {
                parts.push(Vec::new());
                parts.len() - 1
            });
            parts.extend((parts.len()..=part).map(|_| Vec::new()));
            if let Some(part) = parts.get_mut(part) {
                part.push(place);
            }
            continue;
        }
        let mut answers = None;
        conversation.observe(event, None, |step| match (step.what, step.handle) {
            (Does::Asks, Some(handle)) => {
                open.insert(handle, parts.len());
            }
            (Does::Answers | Does::Late, Some(handle)) => {
                answers = answers.or_else(|| open.remove(handle));
            }
            _ => {}
        });
        match answers.and_then(|part| parts.get_mut(part)) {
            Some(part) => part.push(place),
            None => parts.push(vec![place]),
        }
    }
    parts
}

struct ToCassette<'a>(&'a Source);

impl EvidenceFile for ToCassette<'_> {
    fn parts(&self) -> Vec<usize> {
        (0..self.0.parts.len()).collect()
    }

    fn likely(&self, finding: &Finding) -> Vec<usize> {
        self.0.likely(finding)
    }

    fn text(&self, parts: &[usize]) -> Option<Vec<u8>> {
        let spool = || Cursor::new(Vec::new());
        let mut projector = cassette::Projector::new(&self.0.header, spool(), spool());
        for event in self.0.chosen(parts) {
            projector.observe(event).ok()?;
        }
        let mut text = Vec::new();
        projector.finish(&self.0.ending, &mut text).ok()?;
        Some(text)
    }

    fn ending(&self) -> &'static str {
        ".json"
    }
}

struct ToTape<'a>(&'a Source);

impl EvidenceFile for ToTape<'_> {
    fn parts(&self) -> Vec<usize> {
        (0..self.0.parts.len()).collect()
    }

    fn likely(&self, finding: &Finding) -> Vec<usize> {
        self.0.likely(finding)
    }

    fn text(&self, parts: &[usize]) -> Option<Vec<u8>> {
        // It is redacted exactly as its source is.
        let off = Settings {
            off: true,
            ..Settings::default()
        };
        let mut encoder = Encoder::new(Redactor::new(Arc::new(Rules::new(&off).ok()?)));
        let mut text = Vec::new();
        self.0.header.write(&mut text);
        let mut last = 0;
        for event in self.0.chosen(parts) {
            last = event.at.0;
            encoder.encode(event, &mut text);
        }
        // A tape without an end gets none, since the missing events would be reported as a finding.
        if !matches!(self.0.ending, Ending::CutShort { .. }) {
            encoder.footer(last, None).write(&mut text);
        }
        Some(text)
    }

    fn ending(&self) -> &'static str {
        ".tape.jsonl"
    }
}

/// Makes each exchange of each session a part.
struct ToCapture<'a>(&'a Capture);

impl ToCapture<'_> {
    fn each(&self) -> impl Iterator<Item = (usize, usize)> {
        let sessions = self.0.sessions.iter().enumerate();
        sessions.flat_map(|(session, one)| (0..one.exchanges.len()).map(move |at| (session, at)))
    }
}

impl EvidenceFile for ToCapture<'_> {
    fn parts(&self) -> Vec<usize> {
        (0..self.each().count()).collect()
    }

    fn likely(&self, _finding: &Finding) -> Vec<usize> {
        self.parts()
    }

    fn text(&self, parts: &[usize]) -> Option<Vec<u8>> {
        let all: Vec<_> = self.each().collect();
        let chosen: Vec<_> = parts.iter().filter_map(|part| all.get(*part)).collect();
        let mut sessions = Vec::new();
        for (number, session) in self.0.sessions.iter().enumerate() {
            let mine = chosen.iter().filter(|(of, _)| *of == number);
            let mine = mine.filter_map(|(_, at)| session.exchanges.get(*at));
            let mine: Vec<&CapturedExchange> = mine.collect();
            if !mine.is_empty() || self.0.sessions.len() == 1 {
                sessions.push(session_text(session, &mine)?);
            }
        }
        let text = sessions.join(",\n");
        let text = if self.0.array {
            format!("[\n{text}\n]\n")
        } else {
            format!("{text}\n")
        };
        Some(text.into_bytes())
    }

    fn ending(&self) -> &'static str {
        ".capture.json"
    }
}

/// A session of a capture with some of its exchanges, each with its own text.
fn session_text(session: &CapturedSession, exchanges: &[&CapturedExchange]) -> Option<String> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let mut members = vec![format!(
        "  \"server_label\": {}",
        serde_json::to_string(&session.label).ok()?
    )];
    if let Some(by) = &session.recorded_by {
        let by = serde_json::to_string(by).ok()?;
        members.push(format!("  \"recorded\": {{\"by\": {by}}}"));
    }
    if let Some(capabilities) = &session.capabilities {
        members.push(format!(
            "  \"server_capabilities\": {}",
            text(capabilities)?
        ));
    }
    if session.sessionless {
        members.push("  \"sessionless\": true".to_owned());
    }
    let mut entries = Vec::new();
    for one in exchanges {
        let mut entry = format!("    {{\"request\": {}", text(&one.request)?);
        if let Some(response) = &one.response {
            entry = format!("{entry},\n     \"response\": {}", text(response)?);
        }
        entries.push(entry + "}");
    }
    let entries = entries.join(",\n");
    members.push(format!("  \"exchanges\": [\n{entries}\n  ]"));
    Some(format!("{{\n{}\n}}", members.join(",\n")))
}

/// The findings in a text by some rules.
fn findings(text: Vec<u8>, selection: Selection) -> Option<Vec<Finding>> {
    let (mut checker, ending);
    if FileKind::is_tape_header(text.split(|byte| *byte == b'\n').next()?) {
        let mut reader = Reader::open(text.as_slice()).ok()?;
        let facts = Facts::of(FileKind::Tape, reader.header(), true);
        checker = Checker::new(facts, selection);
        while let Some(event) = reader.next_event().ok()? {
            checker.record(&event);
        }
        ending = reader.ending()?.clone();
    } else {
        let document = Document::read(text).ok()?;
        let recording = document.recording();
        let facts = Facts::of(document.kind(), &recording.header, recording.timed);
        checker = Checker::new(facts, selection);
        if let Document::Capture(capture) = &document {
            capture::judge(capture, facts.keeps, &mut checker);
        } else {
            recording
                .events
                .iter()
                .for_each(|event| checker.record(event));
        }
        ending = recording.ending;
    }
    let judged = checker.finish(Some(&ending));
    let outcomes = judged.into_iter().flat_map(|one| one.outcomes);
    let all = outcomes.flat_map(|one| one.findings);
    Some(all.filter(|one| one.status == Status::Fail).collect())
}
