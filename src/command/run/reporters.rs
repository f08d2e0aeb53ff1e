//! Where reports go: one to standard output, others into files.

use std::io::Write as _;
use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum as _;

use crate::command::record::target;
use crate::files::NewFile;
use crate::report::suite::{Reporter, View};
use crate::report::{self, Mistake};

/// A reporter, and the file that it writes.
#[derive(Clone, Debug)]
pub(crate) struct ReporterFile {
    reporter: Reporter,
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
        let reporter = Reporter::from_str(name, true).map_err(|_| {
            let known = Reporter::value_variants().iter();
            let known: Vec<String> = known
                .filter_map(|one| Some(one.to_possible_value()?.get_name().to_owned()))
                .collect();
            format!("the reporters are {}", known.join(", "))
        })?;
        Ok(Self { reporter, file })
    }
}

/// Refuses what can never be written, before anything runs.
pub(super) fn check(reporters: &[ReporterFile]) -> anyhow::Result<()> {
    let mut printed = 0;
    for one in reporters {
        match &one.file {
            Some(file) => target::check(file)?,
            None => printed += 1,
        }
    }
    if printed > 1 {
        return Err(Mistake::new(
            "two reports cannot both go to standard output",
            "write one of them into a file: `--reporter junit=report.xml`",
        )
        .into());
    }
    Ok(())
}

/// Writes every report. Without a reporter for standard output people get theirs there.
pub(super) fn write(reporters: &[ReporterFile], views: &[View]) -> anyhow::Result<()> {
    for one in reporters {
        let Some(file) = &one.file else { continue };
        let text = one.reporter.text(views)?;
        let mut file = NewFile::create(file)?;
        file.writer().write_all(text.as_bytes())?;
        file.commit(None)?;
    }
    let printed = reporters.iter().find(|one| one.file.is_none());
    let reporter = printed.map_or(Reporter::Pretty, |one| one.reporter);
    report::out(&reporter.text(views)?)
}
