//! Checks a corpus against recordings: nothing is sent.
//!
//! A client may open several conversations, each with its own recording. They are judged as one: a
//! rule fails if it fails in any of them, and is untested only if none of them exercises it.

use std::path::{Path, PathBuf};

use tapewright_corpus::plan::Plan;
use tapewright_corpus::recorded::{Recorded, Source};
use tapewright_corpus::revision::Finder;
use tapewright_corpus::rule::Applies;
use tapewright_schemas::order::Order as _;
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::tape::Ending;

use super::Run;
use crate::files::{Recording, folder};
use crate::report::{self, Mistake};

/// What to judge recordings by.
pub(crate) struct Question {
    /// The rules.
    pub(crate) plan: Plan,
    /// The revision of the recordings.
    pub(crate) revision: String,
    /// Capabilities to assume in place of the server's.
    pub(crate) named: Option<Vec<String>>,
}

/// The named recordings, and all recordings of named folders, in the order in which they began.
pub(crate) fn recordings(named: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for path in named {
        let all = if path.is_dir() {
            folder::recordings(path)?
        } else {
            vec![path.clone()]
        };
        for path in all {
            if found.iter().any(|(_, known)| *known == path) {
                continue;
            }
            let created = Recording::open(&path)?.header().created;
            found.push((created, path));
        }
    }
    if found.is_empty() {
        let what = "no recording in the given paths";
        return Err(Mistake::new(what, "give a tape, cassette or capture").into());
    }
    found.order();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// The revision of recordings: that of the first one that declares it.
pub(crate) fn revision(paths: &[PathBuf]) -> anyhow::Result<String> {
    for path in paths {
        let mut finder = Finder::default();
        Recording::open(path)?.until(|event| finder.observe(event))?;
        if let Some(found) = finder.found() {
            return Ok(found);
        }
    }
    let shown = paths.first().map(|path| path.display().to_string());
    let shown = report::safe(&shown.unwrap_or_default());
    let what = format!("cannot tell the revision of `{shown}`");
    Err(Mistake::new(what, "set it with `--spec-version`").into())
}

/// The name of the server of a recording.
pub(crate) fn label(path: &Path) -> anyhow::Result<String> {
    let header = Recording::open(path)?.header();
    if !header.label.is_empty() {
        return Ok(header.label);
    }
    let program = header.command.first();
    let program = program.and_then(|program| program.rsplit(['/', '\\']).next());
    Ok(program.unwrap_or("server").to_owned())
}

/// Judges recordings of one server.
pub(crate) fn run(paths: &[PathBuf], question: Question) -> anyhow::Result<Run> {
    let Question {
        plan,
        revision,
        named,
    } = question;
    let mut recorded: Option<Recorded<'_>> = None;
    let mut cut = false;
    for path in paths {
        let recording = Recording::open_slowly(path)?;
        let is_tape = recording.kind() == FileKind::Tape;
        let source = source(&recording, &revision);
        let judge = match &mut recorded {
            None => recorded.insert(Recorded::new(&plan, source)),
            Some(judge) => {
                judge.next(cut, source);
                judge
            }
        };
        let frame = recording.messages(|event, envelope| {
            judge.observe(event, envelope);
            Ok(())
        })?;
        cut = is_cut(&frame.ending, is_tape);
    }
    let Some(judged) = recorded.map(|judge| judge.finish(cut)) else {
        return Err(Mistake::new("no recording given", "name one").into());
    };
    let mut facts = judged.facts;
    facts.named = named;
    let mut run = Run::new(plan, &judged.tally, &facts, revision);
    run.gaps = judged.gaps > 0;
    run.notes = notes(paths, run.gaps, judged.exchanges)?;
    Ok(run)
}

/// Whether events are missing without a gap among the events: only a tape has those.
fn is_cut(ending: &Ending, is_tape: bool) -> bool {
    match ending {
        Ending::Footer(footer) => {
            let tells_gaps = is_tape && !footer.gaps.is_empty();
            !footer.complete && !tells_gaps
        }
        _ => true,
    }
}

/// The notes next to the verdicts.
fn notes(paths: &[PathBuf], gaps: bool, exchanges: u64) -> anyhow::Result<Vec<String>> {
    let mut notes = Vec::new();
    if gaps {
        notes.push("the recording has gaps, which are not checked".to_owned());
    }
    if exchanges == 0 {
        notes.push("no answered client request in the recording".to_owned());
    }
    let mut servers = Vec::new();
    for path in paths {
        let label = label(path)?;
        if !servers.contains(&label) {
            servers.push(label);
        }
    }
    if servers.len() > 1 {
        let all = servers.join(", ");
        notes.push(format!(
            "recordings of several servers are checked as one: {all}"
        ));
    }
    Ok(notes)
}

/// The kind of source that a recording is.
fn source(recording: &Recording, revision: &str) -> Source {
    Source {
        revision: revision.to_owned(),
        transport: transport(recording),
        timed: recording.timed(),
    }
}

/// The carrier of messages in a recording whose events do not name it.
fn transport(recording: &Recording) -> Option<Applies> {
    match recording.header().transport.as_str() {
        "http" => Some(Applies::Http),
        "stdio" => Some(Applies::Stdio),
        _ => None,
    }
}
