//! A suite from a recording: nothing is sent.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tapewright_schemas::tape::Header;

use crate::command::export::tell_end;
use crate::files::{NewFile, Recording, folder, portable, tape_beside};
use crate::report::figures::plural;
use crate::report::{self, Mistake};
use crate::suite::write::call::Calls;
use crate::suite::write::server::{Reach, Server};
use crate::suite::write::{Draft, ServerDraft};

/// The suite of the calls in a recording, or in a folder of them; `output` is where it will be
/// written.
pub(crate) fn draft(named: &Path, output: Option<&Path>) -> anyhow::Result<Draft> {
    let is_folder = named.is_dir();
    let paths = folder::of(named)?;
    let mut servers: Vec<Recorded> = Vec::new();
    let mut folders: Vec<String> = Vec::new();
    for path in &paths {
        let recording = Recording::open_slowly(path)?;
        let header = header(&recording);
        if !header.cwd.is_empty() && !folders.contains(&header.cwd) {
            folders.push(header.cwd.clone());
        }
        let server = Server::of(&header, &seen_from(&recording.path, output));
        let known = servers.iter().position(|one| one.server == server);
        let place = known.unwrap_or(servers.len());
        if known.is_none() {
            servers.push(Recorded::new(server));
        }
        if let Some(one) = servers.get_mut(place) {
            one.read(recording)?;
        }
    }
    servers.retain(|one| !one.calls.all.is_empty());
    let path = report::safe(&named.display().to_string());
    if servers.is_empty() {
        return Err(Mistake::new(
            format!("no answered call, read or prompt in `{path}` that a suite could repeat"),
            "record a session with tool calls, or use the server: `tapewright init -- COMMAND`",
        )
        .into());
    }
    let what = if is_folder {
        "recordings in"
    } else {
        "recording"
    };
    let mut about = about(
        &format!("Written from the {what} {path}: what was the same in every answer."),
        output,
        Some(&path),
    );
    tell_left_out(&servers);
    about.extend(reached(&servers, &folders));
    let servers = distinct(servers);
    Ok(Draft { about, servers })
}

/// The header of a recording, or if that does not say how its server was reached, of the tape that
/// it was made from: the one that it names, or that is named like it.
fn header(recording: &Recording) -> Header {
    let header = recording.header();
    if !header.command.is_empty() || !header.upstream.is_empty() {
        return header;
    }
    let tape = recording.meta().iter().find(|(name, _)| name == "tape");
    let tape = tape.map(|(_, name)| Path::new(name));
    // Only a file next to it.
    let name = tape.filter(|name| name.components().count() == 1 && name.file_name().is_some());
    let named = name.map(|name| recording.path.with_file_name(name));
    let beside = named.filter(|path| path.is_file());
    let found = beside.or_else(|| tape_beside(&recording.path));
    let found = found.and_then(|path| Recording::open(&path).ok());
    match found.map(|tape| tape.header()) {
        Some(tape) if tape.label == header.label => tape,
        _ => header,
    }
}

/// Comments on how the servers are reached; also prints the one that matters.
fn reached(servers: &[Recorded], folders: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let here = std::env::current_dir().unwrap_or_default();
    let elsewhere = |folder: &&String| Path::new(folder) != here;
    let has_command = |one: &Recorded| matches!(one.server.reach, Reach::Command(_));
    if let Some(folder) = folders.iter().find(elsewhere)
        && servers.iter().any(has_command)
    {
        let folder = report::safe(folder);
        lines.push(format!(
            "The server was started in {folder}; run the suite there."
        ));
    }
    let is_replay = |one: &&Recorded| matches!(one.server.reach, Reach::Cassette(_));
    if let Some(one) = servers.iter().find(is_replay) {
        let name = report::safe(&one.server.name);
        report::note(&format!(
            "the recording does not say how to reach `{name}`, so the suite replays it; to test the server, put its `command` or `url` in place of `cassette`"
        ));
        lines.push(
            "It replays the recording: put `command` or `url` in place of `cassette` to test the server."
                .to_owned(),
        );
    }
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

/// A server, and the calls to it in one recording or several.
struct Recorded {
    server: Server,
    calls: Calls,
}

impl Recorded {
    fn new(server: Server) -> Self {
        let calls = Calls::default();
        Self { server, calls }
    }

    fn read(&mut self, recording: Recording) -> anyhow::Result<()> {
        let calls = &mut self.calls;
        let frame = recording.messages(|event, message| {
            calls.observe(event, message);
            Ok(())
        })?;
        calls.finish();
        tell_end(&frame);
        Ok(())
    }
}

fn tell_left_out(servers: &[Recorded]) {
    let sum = |count: fn(&Calls) -> u64| servers.iter().map(|one| count(&one.calls)).sum();
    let unanswered: u64 = sum(|calls| calls.unanswered);
    let left_out: u64 = sum(|calls| calls.left_out);
    if unanswered > 0 {
        report::note(&format!(
            "omitted {unanswered} {} without an answer",
            plural(unanswered, "call")
        ));
    }
    if left_out > 0 {
        report::note(&format!(
            "omitted {left_out} {}: too many, or too long",
            plural(left_out, "answer")
        ));
    }
}

/// The servers under distinct names: `fs`, `fs-2`.
fn distinct(servers: Vec<Recorded>) -> Vec<ServerDraft> {
    let mut taken: HashSet<String> = HashSet::new();
    let servers = servers.into_iter();
    let draft = |one: Recorded| {
        let mut server = one.server;
        let plain = server.name.clone();
        let mut number = 1;
        while !taken.insert(server.name.clone()) {
            number += 1;
            server.name = format!("{plain}-{number}");
        }
        ServerDraft {
            server,
            calls: one.calls.all,
            stubs: Vec::new(),
        }
    };
    servers.map(draft).collect()
}

/// The comment at the top of a suite.
pub(crate) fn about(first: &str, output: Option<&Path>, capture: Option<&str>) -> Vec<String> {
    let suite = output.map_or("SUITE.yaml".into(), |path| {
        report::safe(&path.display().to_string())
    });
    let mut about = vec![
        first.to_owned(),
        "Edit it as you like: tighten what is loose, and remove what does not matter.".to_owned(),
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

/// The path of a recording for a suite: relative to the suite's folder if both are below the
/// working folder, or both were given by relative paths, so that they can be moved together.
fn seen_from(recording: &Path, output: Option<&Path>) -> String {
    let folder = |path: &Path| {
        let folder = path.parent().filter(|one| !one.as_os_str().is_empty());
        dunce::canonicalize(folder.unwrap_or(Path::new("."))).ok()
    };
    let name = recording.file_name().unwrap_or_default();
    let beside = output.is_none_or(|output| folder(output) == folder(recording));
    let path = if beside && output.is_some() {
        return relative(Path::new(""), Path::new(name));
    } else if let (Some(output), Some(recording)) = (
        output.and_then(folder).and_then(|folder| below(&folder)),
        folder(recording).and_then(|folder| below(&folder)),
    ) {
        return relative(&output, &recording.join(name));
    } else if let (true, Some(output), Some(folder)) = (
        // The user sees them as belonging together.
        recording.is_relative(),
        output
            .filter(|output| output.is_relative())
            .and_then(folder),
        folder(recording),
    ) {
        return relative(&output, &folder.join(name));
    } else {
        dunce::canonicalize(recording).unwrap_or_else(|_| recording.to_owned())
    };
    portable(&path)
}

/// The path of a folder within the working folder.
fn below(folder: &Path) -> Option<PathBuf> {
    let here = dunce::canonicalize(".").ok()?;
    folder.strip_prefix(here).ok().map(Path::to_owned)
}

/// The path of a file as seen from a folder, both relative to the same place: `./a.json`,
/// `../a.json`.
fn relative(folder: &Path, file: &Path) -> String {
    let common = folder.components().zip(file.components());
    let common = common.take_while(|(one, other)| one == other).count();
    let above = folder.components().skip(common).count();
    let mut path: PathBuf = std::iter::repeat_n("..", above).collect();
    if above == 0 {
        path.push(".");
    }
    path.extend(file.components().skip(common));
    portable(&path)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::relative;

    #[test]
    fn a_path_goes_up_only_as_far_as_needed_and_begins_with_one_kind_of_dots() {
        for (folder, file, expected) in [
            ("", "a.json", "./a.json"),
            ("", "deep/a.json", "./deep/a.json"),
            ("suites", "suites/a.json", "./a.json"),
            ("suites", "a.json", "../a.json"),
            ("suites/deep", "a.json", "../../a.json"),
            ("suites/deep", "suites/other/a.json", "../other/a.json"),
        ] {
            let path = relative(Path::new(folder), Path::new(file));
            assert_eq!(path, expected, "{folder} {file}");
        }
    }
}
