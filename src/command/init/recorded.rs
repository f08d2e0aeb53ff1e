//! A suite from a recording: nothing is sent.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::command::export::tell_end;
use crate::files::{NewFile, Recording};
use crate::report::{self, Mistake};
use crate::suite::write::Draft;
use crate::suite::write::call::Calls;
use crate::suite::write::server::Server;

/// The suite of what was asked and answered in a recording that was `named` so; `output` is
/// where it will be.
pub(crate) fn draft(
    recording: Recording,
    named: &Path,
    output: Option<&Path>,
) -> anyhow::Result<Draft> {
    let server = Server::of(&recording.header(), &seen_from(&recording.path, output));
    let mut calls = Calls::default();
    let frame = recording.messages(|event, message| {
        calls.observe(event, message);
        Ok(())
    })?;
    calls.finish();
    tell_end(&frame);
    if calls.all.is_empty() {
        let path = report::safe(&named.display().to_string());
        return Err(Mistake::new(
            format!("no answered call, read or prompt in `{path}` that a suite could repeat"),
            "record a session with tool calls, or use the server: `tapewright init -- COMMAND`",
        )
        .into());
    }
    for (count, what) in [
        (calls.unanswered, "calls without an answer were left out"),
        (
            calls.left_out,
            "answers were left out: too many, or too long",
        ),
    ] {
        if count > 0 {
            report::note(&format!("{count} {what}"));
        }
    }
    let file = report::safe(&named.display().to_string());
    Ok(Draft {
        about: about(
            &format!("Written from the recording {file}: what was the same in every answer."),
            output,
            Some(&file),
        ),
        server,
        calls: calls.all,
        stubs: Vec::new(),
    })
}

/// The comment at the top of a suite.
pub(crate) fn about(first: &str, output: Option<&Path>, capture: Option<&str>) -> Vec<String> {
    let suite = output.map_or("SUITE.yaml".into(), |path| {
        report::safe(&path.display().to_string())
    });
    let mut about = vec![
        first.to_owned(),
        "It is yours now: tighten what is loose, and take out what does not matter.".to_owned(),
        String::new(),
        format!("  tapewright run {suite}"),
    ];
    if let Some(capture) = capture {
        about.push(format!("  tapewright run {suite} --capture {capture}"));
    }
    about
}

/// Writes a suite to a file, or to standard output.
pub(crate) fn write(draft: &Draft, output: Option<&Path>) -> anyhow::Result<()> {
    let Some(output) = output else {
        return report::out(&draft.write());
    };
    let mut file = NewFile::create(output)?;
    file.writer().write_all(draft.write().as_bytes())?;
    file.commit(None)
}

/// The path of a recording as a suite in another folder has to name it.
fn seen_from(recording: &Path, output: Option<&Path>) -> String {
    let folder = |path: &Path| {
        let folder = path.parent().filter(|one| !one.as_os_str().is_empty());
        fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()
    };
    let name = recording.file_name().unwrap_or_default();
    let beside = output.is_none_or(|output| folder(output) == folder(recording));
    let path = if beside && output.is_some() {
        Path::new(".").join(name)
    } else {
        fs::canonicalize(recording).unwrap_or_else(|_| recording.to_owned())
    };
    path.to_string_lossy().into_owned()
}
