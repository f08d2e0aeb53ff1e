//! The destinations of suite reports: one on a stream, others in files.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::ValueEnum as _;

use crate::files::NewFile;
use crate::files::output::{self, Overwrite};
use crate::report::Mistake;
use crate::report::formats::Format;
use crate::report::suite::{self, View};

/// A reporter, and the file that it writes.
#[derive(Clone, Debug)]
pub(crate) struct ReporterFile {
    format: Format,
    file: Option<PathBuf>,
}

impl FromStr for ReporterFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, file) = match text.split_once('=') {
            Some((name, file)) => (name, Some(PathBuf::from(file))),
            None => (text, None),
        };
        let name = if name == "md" { "markdown" } else { name };
        let format = Format::from_str(name, true).map_err(|_| {
            let known = Format::value_variants().iter();
            let known: Vec<String> = known
                .filter_map(|one| Some(one.to_possible_value()?.get_name().to_owned()))
                .collect();
            format!("expected one of {}", known.join(", "))
        })?;
        Ok(Self { format, file })
    }
}

impl ReporterFile {
    /// JSON, to a stream.
    pub(crate) fn json() -> Self {
        Self {
            format: Format::Json,
            file: None,
        }
    }

    /// The format of the report.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Whether it goes to a stream.
    pub(crate) fn is_printed(&self) -> bool {
        self.file.is_none()
    }
}

/// Refuses what can never be written, or would replace one of the inputs, before anything runs.
pub(crate) fn check(
    reporters: &[ReporterFile],
    output: Option<&Path>,
    inputs: &[&Path],
) -> anyhow::Result<()> {
    let mut printed = 0;
    let mut files: Vec<&Path> = Vec::new();
    for one in reporters {
        match &one.file {
            Some(file) => files.push(file),
            None => printed += 1,
        }
    }
    for (number, file) in files.iter().copied().chain(output).enumerate() {
        if files.iter().take(number).any(|other| *other == file) {
            let what = format!("two reports with the same file `{}`", file.display());
            return Err(Mistake::new(what, "give each its own file").into());
        }
        output::not_among(file, inputs.iter().copied())?;
        output::check_ahead(file, Overwrite::Report)?;
    }
    if printed > 1 {
        return Err(Mistake::new(
            "only one report can be printed",
            "write the others to files: `--format junit=report.xml`",
        )
        .into());
    }
    Ok(())
}

/// Writes a file with this text.
pub(crate) fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut file = NewFile::create(path)?;
    file.writer().write_all(text.as_bytes())?;
    file.commit(None)
}

/// Whether the printed report is for programs.
pub(crate) fn is_for_programs(reporters: &[ReporterFile]) -> bool {
    let mut printed = reporters.iter().filter(|one| one.file.is_none());
    printed.any(|one| one.format != Format::Pretty)
}

/// Whether the printed report is JSON.
pub(crate) fn is_json(reporters: &[ReporterFile]) -> bool {
    let mut printed = reporters.iter().filter(|one| one.file.is_none());
    printed.any(|one| one.format == Format::Json)
}

/// Writes every report that goes to a file. Returns the text of the one to print. `text` makes the
/// reports.
pub(crate) fn write_each(
    reporters: &[ReporterFile],
    text: impl Fn(Format) -> anyhow::Result<String>,
) -> anyhow::Result<String> {
    for one in reporters {
        let Some(file) = &one.file else { continue };
        write_file(file, &text(one.format)?)?;
    }
    let printed = reporters.iter().find(|one| one.file.is_none());
    text(printed.map_or(Format::Pretty, |one| one.format))
}

/// Writes every report that goes to a file. Returns the text of the one to print. Without a
/// reporter to print, that is the text for people, in colour if `on_stdout` and it is a terminal.
pub(crate) fn write(
    reporters: &[ReporterFile],
    views: &[View],
    on_stdout: bool,
) -> anyhow::Result<String> {
    for one in reporters {
        let Some(file) = &one.file else { continue };
        write_file(file, &suite::text(views, one.format)?)?;
    }
    let printed = reporters.iter().find(|one| one.file.is_none());
    let format = printed.map_or(Format::Pretty, |one| one.format);
    if on_stdout {
        suite::printed(views, format)
    } else {
        suite::text(views, format)
    }
}
