//! A corpus, carried out over a recording: nothing is sent.

use std::path::Path;

use tapewright_corpus::plan::Plan;
use tapewright_corpus::recorded::{Recorded, Source};
use tapewright_corpus::revision::Finder;
use tapewright_corpus::rule::Applies;
use tapewright_schemas::tape::Ending;

use super::Run;
use crate::files::Recording;
use crate::report::Mistake;

/// What a recording is judged by.
pub(crate) struct Question {
    /// The rules.
    pub(crate) plan: Plan,
    /// The revision that the recording speaks.
    pub(crate) revision: String,
    /// Capabilities that somebody named in the server's place.
    pub(crate) named: Option<Vec<String>>,
}

/// The revision of a recording.
pub(crate) fn revision(path: &Path) -> anyhow::Result<String> {
    let mut finder = Finder::default();
    Recording::open(path)?.until(|event| finder.observe(event))?;
    finder.found().ok_or_else(|| {
        let what = format!("`{}` does not say which revision it speaks", path.display());
        Mistake::new(what, "name one with `--spec-version`").into()
    })
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

/// Judges a recording.
pub(crate) fn run(path: &Path, question: Question) -> anyhow::Result<Run> {
    let Question {
        plan,
        revision,
        named,
    } = question;
    let recording = Recording::open(path)?;
    let source = Source {
        revision: revision.clone(),
        transport: transport(&recording),
        timed: recording.timed(),
    };
    let mut recorded = Recorded::new(&plan, source);
    let frame = recording.messages(|event, envelope| {
        recorded.observe(event, envelope);
        Ok(())
    })?;
    let cut = matches!(frame.ending, Ending::CutShort { .. });
    let judged = recorded.finish(cut);
    let mut facts = judged.facts;
    facts.named = named;
    let mut run = Run::new(plan, &judged.tally, &facts, revision);
    run.gaps = judged.gaps > 0;
    if run.gaps {
        let note = "the recording has gaps: what they hide is not judged";
        run.notes.push(note.to_owned());
    }
    if judged.exchanges == 0 {
        run.notes
            .push("no request of the client has an answer on the recording".to_owned());
    }
    Ok(run)
}

/// What carried the messages of a recording whose events do not say it.
fn transport(recording: &Recording) -> Option<Applies> {
    match recording.header().transport.as_str() {
        "http" => Some(Applies::Http),
        "stdio" => Some(Applies::Stdio),
        _ => None,
    }
}
