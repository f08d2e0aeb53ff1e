//! The paths of a recording.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tapewright_proxy::record::Target;
use tapewright_proxy::system::folders;

use crate::files::output::{self, Overwrite};
use crate::report::Mistake;

/// The target of `-o`, or the state folder without it.
pub(crate) fn of(
    output: Option<&Path>,
    label: &str,
    created: SystemTime,
) -> anyhow::Result<Target> {
    let Some(output) = output else {
        return Ok(Target::tape_only(&home()?.join(name(label, created))));
    };
    let is_folder = output::is_folder_name(output) || output.is_dir();
    if is_folder {
        // Without its slash: a path of a file with a slash does not exist.
        let plain: PathBuf = output.components().collect();
        if plain.exists() && !plain.is_dir() {
            let what = format!("`{}` is not a folder", output.display());
            return Err(Mistake::new(what, "use a folder, such as `recordings/`").into());
        }
        output::folder(output)?;
        return Ok(Target::folder(output));
    }
    output::check_ahead(output, Overwrite::Recording)?;
    if output.to_string_lossy().ends_with(".tape.jsonl") {
        return Ok(Target::tape_only(output));
    }
    Ok(Target::cassette(output))
}

/// Wall time in RFC 3339, to the millisecond.
pub(crate) fn timestamp(time: SystemTime) -> String {
    moment(time).map_or_else(String::new, |time| format!("{time:.3}"))
}

fn moment(time: SystemTime) -> Option<jiff::Timestamp> {
    jiff::Timestamp::try_from(time).ok()
}

/// `20261121T040932Z-filesystem-4711.tape.jsonl`: sorts by time, and unique.
fn name(label: &str, created: SystemTime) -> String {
    format!("{}.tape.jsonl", stem(label, created))
}

/// Like `name`, but without the ending.
pub(super) fn stem(label: &str, created: SystemTime) -> String {
    let time = moment(created).map_or_else(String::new, |time| {
        time.strftime("%Y%m%dT%H%M%SZ").to_string()
    });
    format!("{time}-{}-{}", plain(label), std::process::id())
}

/// A label that can be part of a file name.
pub(crate) fn plain(label: &str) -> String {
    let plain = |char: char| {
        if char.is_ascii_alphanumeric() || "-_.".contains(char) {
            char
        } else {
            '_'
        }
    };
    label.chars().take(60).map(plain).collect()
}

/// `TAPEWRIGHT_HOME`, or our folder in the user's state folder.
pub(crate) fn home() -> anyhow::Result<PathBuf> {
    let named = std::env::var_os("TAPEWRIGHT_HOME").filter(|value| !value.is_empty());
    named
        .map(PathBuf::from)
        .or_else(|| Some(folders::state()?.join("tapewright")))
        .ok_or_else(|| {
            let what = "no folder for recordings: set `TAPEWRIGHT_HOME`, or name a file with `-o`";
            Mistake::new(what, "choose a file with `-o FILE`").into()
        })
}
