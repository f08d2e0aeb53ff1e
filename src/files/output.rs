//! Checks whether an output file may be written, before anything else is done.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf, is_separator};

use tapewright_proxy::system::files;
use tapewright_schemas::recording::FileKind;

use super::find::{final_target, same_file};
use super::suite::is_yaml;
use crate::report::{self, Mistake};

/// What a new file may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overwrite {
    /// Any file, which the command itself examines.
    Any,
    /// A capture.
    Capture,
    /// A cassette.
    Cassette,
    /// A log of tapewright, which is appended to.
    Log,
    /// Only a file without content.
    Nothing,
    /// A tape, a cassette or a capture.
    Recording,
    /// Any file but a recording or a suite: every run writes its reports again.
    Report,
}

impl Overwrite {
    /// Why an existing file must not be replaced.
    fn refusal(self) -> &'static str {
        match self {
            Self::Capture => "already exists and is not a capture",
            Self::Cassette => "already exists and is not a cassette",
            Self::Log => "already exists and is not a tapewright log",
            Self::Nothing => "already exists",
            Self::Any | Self::Recording => "already exists and is not a recording",
            Self::Report => "is a recording or a suite, not a report",
        }
    }
}

/// How many bytes of a file are examined.
const START: u64 = 64 << 10;
/// The system's own limit for links.
const LINKS: usize = 40;

/// Refuses a path that can never become a file, or whose file must not be replaced.
pub(crate) fn check(path: &Path, over: Overwrite) -> anyhow::Result<()> {
    let mistake = |what: &str| {
        let what = format!("`{}` {what}", shown(path));
        let hint = match over {
            Overwrite::Log => "use a file, such as `tapewright.log`, or `stderr`",
            _ => "use a file, such as `recording.json`",
        };
        Err(Mistake::new(what, hint).into())
    };
    if path.file_name().is_none() || is_folder_name(path) {
        return mistake("is not a file name");
    }
    possible(path)?;
    match fs::metadata(path) {
        Ok(data) if data.is_dir() => return mistake("is a folder"),
        Ok(data) if !data.is_file() => return mistake("is not a regular file"),
        Ok(data) if data.len() > 0 && !may_replace(path, over) => {
            let what = format!("`{}` {}", shown(path), over.refusal());
            let hint = "choose another file, or move this one away";
            return Err(Mistake::new(what, hint).into());
        }
        _ => {}
    }
    Ok(())
}

/// Like [`check`], for a file that is written only at the end: also refuses paths that are not
/// writable.
pub(crate) fn check_ahead(path: &Path, over: Overwrite) -> anyhow::Result<()> {
    check(path, over)?;
    let goal = final_target(path);
    folder(goal.parent().unwrap_or(Path::new("")))
}

/// Creates a missing folder, and refuses one in which no file can be created.
pub(crate) fn folder(folder: &Path) -> anyhow::Result<()> {
    let folder = or_here(folder);
    possible(folder)?;
    let hint = "choose a folder that you can write to";
    if fs::metadata(folder).is_ok_and(|data| !data.is_dir()) {
        let what = format!("`{}` is not a folder", shown(folder));
        return Err(Mistake::new(what, hint).into());
    }
    let try_it = || {
        fs::create_dir_all(folder)?;
        let name = folder.join(format!(".tapewright.{}.probe", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        match files::open_own(&mut options, &name) {
            Ok(_) => fs::remove_file(name),
            // Another process with the same id did the same, and could write.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    };
    try_it().map_err(|error| {
        let what = format!("cannot write to `{}`: {error}", shown(folder));
        Mistake::new(what, hint).into()
    })
}

/// Whether a path is written like that of a folder, which need not exist.
pub(crate) fn is_folder_name(path: &Path) -> bool {
    path.to_string_lossy().ends_with(is_separator)
}

/// Refuses a path that the system would take for something else than a file, or that leads through
/// another user's link.
pub(crate) fn possible(path: &Path) -> anyhow::Result<()> {
    if let Some(problem) = files::name_problem(path) {
        let what = report::safe(&format!("cannot write `{}`: {problem}", path.display()));
        return Err(Mistake::new(what, "use another name, such as `recording.json`").into());
    }
    links(path)
}

/// Refuses a path through a link that another user made in a folder that everyone can write to: it
/// may lead to any file of ours.
pub(crate) fn links(path: &Path) -> anyhow::Result<()> {
    let Some(link) = foreign_link(path) else {
        return Ok(());
    };
    let what = format!(
        "`{}` goes through the link `{}`, which belongs to another user",
        shown(path),
        shown(&link)
    );
    Err(Mistake::new(what, "use the path without the link").into())
}

/// The first link on the path that must not be followed.
fn foreign_link(path: &Path) -> Option<PathBuf> {
    let mut left: Vec<PathBuf> = pieces(path);
    let mut here = PathBuf::new();
    let mut followed = 0;
    while let Some(piece) = left.pop() {
        let folder = or_here(&here).to_owned();
        here.push(piece);
        let Ok(target) = fs::read_link(&here) else {
            continue;
        };
        let (link, folder_data) = (
            fs::symlink_metadata(&here).ok()?,
            fs::metadata(folder).ok()?,
        );
        if files::is_foreign_link(&link, &folder_data) {
            return Some(here);
        }
        followed += 1;
        if followed > LINKS {
            return None;
        }
        here.pop();
        if target.is_absolute() {
            here = PathBuf::new();
        }
        left.extend(pieces(&target));
    }
    None
}

fn or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    }
}

/// The components of a path, the last first.
fn pieces(path: &Path) -> Vec<PathBuf> {
    let piece = |one: Component<'_>| PathBuf::from(one.as_os_str());
    path.components().rev().map(piece).collect()
}

fn may_replace(path: &Path, over: Overwrite) -> bool {
    match over {
        Overwrite::Any => true,
        Overwrite::Log => start(path).is_ok_and(|start| is_log(&start)),
        Overwrite::Nothing => false,
        Overwrite::Capture => kind_of(path) == Some(FileKind::Capture),
        Overwrite::Cassette => kind_of(path) == Some(FileKind::Cassette),
        Overwrite::Recording => kind_of(path).is_some(),
        Overwrite::Report => !is_yaml(path) && kind_of(path).is_none(),
    }
}

/// Refuses an output that is one of the files to read, also through links.
pub(crate) fn not_among<'p>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'p Path>,
) -> anyhow::Result<()> {
    if !inputs.into_iter().any(|input| same_file(input, output)) {
        return Ok(());
    }
    let what = format!("the output `{}` is the input itself", shown(output));
    Err(Mistake::new(what, "write to another file").into())
}

fn start(path: &Path) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path)?.take(START).read_to_end(&mut start)?;
    Ok(start)
}

/// The kind of a recording, by how it begins; `None` if it is none.
fn kind_of(path: &Path) -> Option<FileKind> {
    kind_of_start(&start(path).ok()?)
}

/// The kind of a recording: by the name of its first member, and for documents by `exchanges`
/// shortly after it.
fn kind_of_start(start: &[u8]) -> Option<FileKind> {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let text = text.trim_ascii_start();
    // Captures of several servers are a list.
    let text = text.strip_prefix(b"[").unwrap_or(text).trim_ascii_start();
    let members = text.strip_prefix(b"{").map(<[u8]>::trim_ascii_start)?;
    let begins = |name: &[u8]| members.starts_with(name);
    let has = |name: &[u8]| members.windows(name.len()).any(|one| one == name);
    if begins(b"\"tape\"") {
        Some(FileKind::Tape)
    } else if !has(b"\"exchanges\"") {
        None
    } else if begins(b"\"server_label\"") {
        Some(FileKind::Capture)
    } else if begins(b"\"version\"") {
        Some(FileKind::Cassette)
    } else if begins(b"\"exchanges\"") && has(b"\"server_label\"") {
        Some(FileKind::Capture)
    } else {
        begins(b"\"exchanges\"").then_some(FileKind::Cassette)
    }
}

/// Whether a file begins with a line of a log: with its time, as text or as JSON.
fn is_log(start: &[u8]) -> bool {
    let line = start
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let text = line.strip_prefix(b"{\"time\":\"").unwrap_or(line);
    let mut words = text.split(|byte| matches!(byte, b' ' | b'"'));
    let time = words.next().and_then(|time| std::str::from_utf8(time).ok());
    let is_time = time.is_some_and(|time| time.parse::<jiff::Timestamp>().is_ok());
    is_time && line.windows(LOGGED.len()).any(|one| one == LOGGED)
}

/// Part of every line of a log.
const LOGGED: &[u8] = b"tapewright::";

fn shown(path: &Path) -> String {
    report::safe(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_are_known_by_how_they_begin() {
        for (text, kind) in [
            ("{\"tape\":\"2.0\"}\n", FileKind::Tape),
            (
                "{\n  \"version\": \"1\",\n  \"exchanges\": []\n}",
                FileKind::Cassette,
            ),
            (
                "\u{feff} {\"server_label\":\"x\",\"exchanges\":[",
                FileKind::Capture,
            ),
            (
                "[ {\"server_label\":\"x\",\"exchanges\":[",
                FileKind::Capture,
            ),
            (
                "{\"exchanges\":[],\"server_label\":\"x\"}",
                FileKind::Capture,
            ),
            ("{\"exchanges\":[],\"version\":\"1\"}", FileKind::Cassette),
        ] {
            assert_eq!(kind_of_start(text.as_bytes()), Some(kind), "{text}");
        }
        for text in [
            "import sys\n",
            "{\"name\":\"x\",\"version\":\"1.0.0\",\"exchanges\":[]}",
            "{\"version\":\"1\"}",
            "[]",
            "servers:\n",
            "#!/usr/bin/env tapewright\n{\"tape\":1}",
        ] {
            assert_eq!(kind_of_start(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn logs_are_known_by_their_first_line() {
        for text in [
            "2026-11-24T03:15:32.000001Z INFO  tapewright::command started pid=1\nx\n",
            "{\"time\":\"2026-11-24T03:15:32.000001Z\",\"level\":\"INFO\",\"target\":\"tapewright::http\"}",
        ] {
            assert!(is_log(text.as_bytes()), "{text}");
        }
        for text in [
            "2026-11-24T03:15:32Z INFO nginx started\n2026 tapewright::",
            "{\"tape\":\"2.0\",\"by\":\"tapewright::x\"}\n",
            "import sys\n",
            "\u{fffd}",
        ] {
            assert!(!is_log(text.as_bytes()), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_of_others_where_everybody_writes_are_refused() {
        use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};
        let folder = tempfile::tempdir().unwrap();
        let mode = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode));
        let (file, link) = (folder.path().join("link.json"), folder.path().join("link"));
        symlink("victim.json", &file).unwrap();
        symlink("/tmp", &link).unwrap();
        for one in [&file, &link] {
            // Only root can create a link that belongs to another user.
            if lchown(one, Some(54_321), None).is_err() {
                return;
            }
        }
        let inside = link.join("x.json");
        for open in [0o1777, 0o777, 0o1700] {
            mode(open).unwrap();
            assert_eq!(foreign_link(&file).as_ref(), Some(&file), "{open:o}");
            assert_eq!(foreign_link(&inside).as_ref(), Some(&link), "{open:o}");
            assert!(check(&file, Overwrite::Any).is_err() && links(&inside).is_err());
        }
        mode(0o755).unwrap();
        assert_eq!(foreign_link(&file), None);
        assert_eq!(foreign_link(&inside), None);
    }

    #[cfg(unix)]
    #[test]
    fn links_of_ours_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        fs::create_dir(&real).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("real", &link).unwrap();
        assert_eq!(foreign_link(&link.join("x.json")), None);
        // A cycle of links must not loop forever.
        std::os::unix::fs::symlink("ring", folder.path().join("ring")).unwrap();
        assert_eq!(foreign_link(&folder.path().join("ring/x.json")), None);
    }
}
