//! Exports every recording of a folder to another format, each to its own file.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Arguments, Format, html};
use crate::exit::Exit;
use crate::files::output;
use crate::files::{Recording, folder};
use crate::report::figures::plural;
use crate::report::{self, Mistake};

/// Writes the recordings of a folder; an agent's recording as one page.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let named = &arguments.tape;
    if let Format::Html = arguments.format
        && !folder::contained(named)?.parts.is_empty()
    {
        return html::of_folder(named, arguments.output.as_deref());
    }
    let mut recordings = folder::of(named)?;
    if let Format::Har = arguments.format {
        recordings = over_http(named, recordings)?;
    }
    let goal = arguments.goal()?;
    let ending = arguments.format.ending();
    let outputs = recordings.iter().map(|path| {
        let name = format!("{}{ending}", folder::part(path));
        goal.join(name)
    });
    let outputs: Vec<PathBuf> = outputs.collect();
    for (path, output) in recordings.iter().zip(&outputs) {
        arguments.check(&Recording::open(path)?, Some(output))?;
    }
    output::folder(goal)?;
    for (path, output) in recordings.iter().zip(&outputs) {
        arguments.write_file(Recording::open_slowly(path)?, output)?;
    }
    let shown = report::safe(&goal.display().to_string());
    let count = outputs.len();
    let files = plural(count as u64, "file");
    report::note(&format!("wrote {count} {files} to `{shown}`"));
    Ok(Exit::Pass)
}

/// The recordings over HTTP, the only ones that an HTTP archive can be made of.
fn over_http(named: &Path, recordings: Vec<PathBuf>) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in recordings {
        if Recording::open(&path)?.header().transport == "http" {
            found.push(path);
        } else {
            let shown = report::safe(&path.display().to_string());
            report::note(&format!("skipped `{shown}`: no HTTP exchanges"));
        }
    }
    if found.is_empty() {
        let shown = report::safe(&named.display().to_string());
        let what = format!("no recording over HTTP in `{shown}`");
        let hint = "export stdio sessions with `--as html` or `--as otlp`";
        return Err(Mistake::new(what, hint).into());
    }
    Ok(found)
}

impl Arguments {
    /// The folder to write to.
    fn goal(&self) -> anyhow::Result<&Path> {
        let hint = "give a folder with `-o FOLDER/`, or one of the recordings in it";
        let named = report::safe(&self.tape.display().to_string());
        let Some(goal) = self.output.as_deref() else {
            let what = format!("`{named}` is a folder, and its files cannot go to stdout");
            return Err(Mistake::new(what, hint).into());
        };
        // A name without a slash is a folder if it exists as one.
        if goal.is_dir() || !fs::exists(goal)? && output::is_folder_name(goal) {
            return Ok(goal);
        }
        let shown = report::safe(&goal.display().to_string());
        let what = format!("`{named}` is a folder, and `{shown}` is a file");
        Err(Mistake::new(what, hint).into())
    }
}

impl Format {
    /// The ending of such file names.
    fn ending(self) -> &'static str {
        match self {
            Self::Cassette => ".json",
            Self::Capture => ".capture.json",
            Self::Tape => ".tape.jsonl",
            Self::Html => ".html",
            Self::Har => ".har",
            Self::Otlp => ".otlp.jsonl",
            Self::Suite => ".yaml",
            Self::AgentCassette => ".agent.json",
        }
    }
}
