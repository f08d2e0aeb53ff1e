//! From files to verdicts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tapewright_compliance::code::Code;
use tapewright_compliance::composition::{Composition, Hazard};
use tapewright_compliance::finding::{Doubt, Status};
use tapewright_compliance::{Checker, Facts, Keeps, Outcome, Selection, capture};
use tapewright_schemas::event::{Event, EventBody, Payload, SessionKey};
use tapewright_schemas::recording::{Document, FileKind};
use tapewright_schemas::tape::{Ending, Header};

use super::baseline::Expectations;
use super::strict;
use crate::exit::Exit;
use crate::files::{Contents, Recording, folder};
use crate::report;

/// What to judge, and how.
pub(crate) struct Question<'a> {
    pub(crate) path: &'a Path,
    pub(crate) selection: Selection,
    pub(crate) shared_transport: bool,
}

/// Everything to report.
#[derive(Debug)]
pub(crate) struct Verdicts {
    pub(crate) servers: Vec<Server>,
    pub(crate) hazards: Vec<Hazard>,
    /// Which of the hazards a baseline expects.
    pub(crate) expected_hazards: Vec<bool>,
    /// The result of applying a baseline, if there is one.
    pub(crate) expectations: Option<Expectations>,
    /// Whether any invariant is selected.
    pub(crate) selected: bool,
    /// Notes next to the verdicts: what is missing from the recordings.
    pub(crate) notes: Vec<String>,
    /// Whether a recording is not whole.
    pub(crate) has_gaps: bool,
}

/// The verdicts on one session.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) label: String,
    pub(crate) path: PathBuf,
    pub(crate) session: SessionKey,
    pub(crate) outcomes: Vec<Outcome>,
    /// The kind of file.
    pub(crate) kind: FileKind,
    /// The failures that a baseline expects.
    pub(crate) expected: BTreeSet<Code>,
    /// The evidence files, by invariant and position among its findings.
    pub(crate) cut_out: BTreeMap<(Code, usize), PathBuf>,
    /// For a capture: the place of each event in the file.
    pub(crate) origins: Vec<capture::Origin>,
}

/// What the verdicts together say about a session, as far as its recording shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionVerdict {
    /// An invariant does not hold.
    Broken,
    /// No invariant is broken, and some were tested.
    Clean,
    /// An invariant would be broken, had the sender known.
    Raced,
    /// No invariant was tested.
    Unknown,
}

impl SessionVerdict {
    /// The word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Clean => "clean",
            Self::Raced => "race",
            Self::Unknown => "unknown",
        }
    }
}

impl Server {
    /// The place of an event in the file, if it is a capture.
    pub(crate) fn origin(&self, seq: u64) -> Option<&capture::Origin> {
        let index = usize::try_from(seq.checked_sub(1)?).ok()?;
        self.origins.get(index)
    }

    /// The line of an event in the file, if it is a tape: events follow the header.
    pub(crate) fn line(&self, seq: u64) -> Option<u64> {
        (self.kind == FileKind::Tape).then(|| seq.saturating_add(1))
    }

    /// How many invariants have this status.
    pub(crate) fn count(&self, status: Status) -> usize {
        self.outcomes
            .iter()
            .filter(|one| one.status == status)
            .count()
    }

    /// What the verdicts together say about the session.
    pub(crate) fn verdict(&self) -> SessionVerdict {
        let any = |status| self.count(status) > 0;
        if any(Status::Fail) {
            SessionVerdict::Broken
        } else if any(Status::Race) {
            SessionVerdict::Raced
        } else if any(Status::Pass) {
            SessionVerdict::Clean
        } else {
            SessionVerdict::Unknown
        }
    }

    /// Whether an invariant failed, and no baseline expects it.
    pub(crate) fn fails(&self, outcome: &Outcome) -> bool {
        outcome.status == Status::Fail && !self.expected.contains(&outcome.code)
    }
}

impl Verdicts {
    /// How many invariants failed, over all sessions.
    pub(crate) fn failed(&self) -> usize {
        self.count(Status::Fail)
    }

    /// How many have this status, over all sessions.
    pub(crate) fn count(&self, status: Status) -> usize {
        self.servers.iter().map(|server| server.count(status)).sum()
    }

    /// Whether nothing failed and there is no hazard.
    pub(crate) fn all_safe(&self) -> bool {
        self.failed() == 0 && self.hazards.is_empty()
    }

    /// The hazards, and whether each is expected.
    pub(crate) fn hazards(&self) -> impl Iterator<Item = (&Hazard, bool)> {
        let expected = self.expected_hazards.iter().copied();
        self.hazards
            .iter()
            .zip(expected.chain(std::iter::repeat(false)))
    }

    /// Whether everything is as expected, by itself or by a baseline.
    pub(crate) fn holds(&self) -> bool {
        let fails = |server: &Server| server.outcomes.iter().any(|one| server.fails(one));
        let stale = self
            .expectations
            .as_ref()
            .is_some_and(Expectations::is_stale);
        !stale && !self.servers.iter().any(fails) && self.hazards().all(|(_, expected)| expected)
    }

    /// The exit status.
    pub(crate) fn exit(&self) -> Exit {
        if !self.holds() {
            return Exit::Fail;
        }
        let outcomes = self.servers.iter().flat_map(|server| &server.outcomes);
        let gaps = outcomes
            .flat_map(|one| one.doubts.each())
            .any(Doubt::is_gap);
        if gaps || self.has_gaps || self.servers.is_empty() || !self.selected {
            Exit::Inconclusive
        } else {
            Exit::Pass
        }
    }
}

/// Judges the recordings.
pub(crate) fn judge(question: &Question<'_>) -> anyhow::Result<Verdicts> {
    let mut verdicts = Verdicts {
        servers: Vec::new(),
        hazards: Vec::new(),
        expected_hazards: Vec::new(),
        expectations: None,
        selected: !question.selection.is_empty(),
        notes: Vec::new(),
        has_gaps: false,
    };
    let mut composition = Composition::default();
    if question.path.is_dir() {
        for path in folder::recordings(question.path)? {
            one(&path, question, &mut composition, &mut verdicts)?;
        }
    } else {
        one(question.path, question, &mut composition, &mut verdicts)?;
    }
    if verdicts.servers.is_empty() {
        let nothing = "no session to check";
        verdicts.notes.push(nothing.to_owned());
    }
    if composition.cut {
        let cut = "too many tools or IDs; only some were compared";
        verdicts.notes.push(cut.to_owned());
    }
    verdicts.hazards = composition.hazards();
    Ok(verdicts)
}

fn one(
    path: &Path,
    question: &Question<'_>,
    composition: &mut Composition,
    verdicts: &mut Verdicts,
) -> anyhow::Result<()> {
    let recording = Recording::open_slowly(path)?;
    if recording.kind() != FileKind::Tape {
        strict::check(&recording.path)?;
    }
    let kind = recording.kind();
    let facts = Facts::of(recording.kind(), &recording.header(), recording.timed());
    let mut checker = Checker::new(facts, question.selection.clone());
    let path = recording.path.clone();
    let (mut labels, mut origins) = (BTreeMap::new(), Vec::new());
    let (fallback, ending);
    let mut clipped = 0;
    if let Contents::Document(Document::Capture(capture), whole) = &recording.contents {
        if capture.sessions.is_empty() {
            return Ok(());
        }
        origins = capture::judge(capture, facts.keeps, &mut checker);
        for (place, session) in (0..).zip(&capture.sessions) {
            labels.insert(SessionKey(session.key(place)), session.label.clone());
        }
        let declared = capture.array && facts.keeps == Keeps::Selection;
        if declared || question.shared_transport {
            composition.shared_capture(capture);
        }
        (fallback, ending) = (label(&whole.header), whole.ending.clone());
    } else {
        let frame = recording.messages(|event, envelope| {
            checker.observe(event, envelope);
            clipped += u64::from(is_clipped(event));
            Ok(())
        })?;
        (fallback, ending) = (label(&frame.header), frame.ending);
    }
    checker.end(Some(&ending));
    let notes = gaps(&path, checker.missing(), clipped, &ending);
    verdicts.has_gaps |= !notes.is_empty();
    verdicts.notes.extend(notes);
    let label_of = |key: SessionKey| labels.get(&key).unwrap_or(&fallback).clone();
    for (key, tool) in checker.tools() {
        composition.offer(&label_of(key), tool);
    }
    for judged in checker.finish(None) {
        verdicts.servers.push(Server {
            label: label_of(judged.session),
            path: path.clone(),
            session: judged.session,
            outcomes: judged.outcomes,
            kind,
            expected: BTreeSet::new(),
            cut_out: BTreeMap::new(),
            origins: origins.clone(),
        });
    }
    Ok(())
}

/// Whether only the beginning of a message was recorded.
fn is_clipped(event: &Event) -> bool {
    let EventBody::Message { payload, .. } = &event.body else {
        return false;
    };
    matches!(payload, Payload::Clipped { .. })
}

/// What is missing from a recording, so that its verdicts are not about everything that crossed.
fn gaps(path: &Path, missing: u64, clipped: u64, ending: &Ending) -> Vec<String> {
    let path = report::safe(&path.display().to_string());
    let mut notes = Vec::new();
    match missing {
        0 => {}
        1 => notes.push(format!("`{path}` has a gap of one event")),
        count => notes.push(format!("`{path}` has a gap of {count} events")),
    }
    match clipped {
        0 => {}
        1 => notes.push(format!(
            "`{path}` has only the beginning of one message, which was too long"
        )),
        count => notes.push(format!(
            "`{path}` has only the beginning of {count} messages, which were too long"
        )),
    }
    if let Ending::CutShort { last_seq, .. } = ending {
        notes.push(format!(
            "`{path}` has no footer; it ends after event {last_seq}"
        ));
    }
    notes
}

/// A name for the server of a recording that has none.
fn label(header: &Header) -> String {
    if !header.label.is_empty() {
        return header.label.clone();
    }
    let program = header.command.first();
    let program = program.and_then(|program| program.rsplit(['/', '\\']).next());
    program.unwrap_or("server").to_owned()
}
