//! `tapewright migrate`: rewrites suites and cassettes for a later revision.

mod found;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use tapewright_corpus::migrate::Plan;
use tapewright_corpus::migration::TARGETS;

use super::format::FormatArguments;
use crate::exit::Exit;
use crate::files::{NewFile, is_yaml, unreadable, unreadable_or_near};
use crate::report::migrate::{Changed, Summary};
use crate::report::{self, Mistake};

/// Rewrite suites and cassettes for a later revision
///
/// Changes the error code of a missing resource from -32002 to -32602, in recorded
/// answers to `resources/read` and in expectations. Every other byte stays the
/// same. Without `--write`, the changes are shown as a diff. Uses of removed and
/// deprecated methods are listed.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Suites and cassettes, or folders of them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The revision to migrate to
    #[arg(
        long = "target",
        alias = "to",
        value_name = "REVISION",
        default_value = "2026-07-28"
    )]
    to: String,
    /// Write the changes to the files
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    format: FormatArguments,
}

const EXAMPLES: &str = "\
Examples:
  tapewright migrate suites/
  tapewright migrate suite.yaml session.json --write
  tapewright migrate --json suites/ | jq '.notes[]'";

/// Rewrites the files, or shows the changes.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    target(&arguments.to, "--target")?;
    let mut summary = Summary::default();
    for (path, named) in found::files(&arguments.paths)? {
        arguments.one(&path, named, &mut summary)?;
    }
    report::err(&summary.text(arguments.write));
    Ok(Exit::Pass)
}

/// A revision that can be migrated to, as its date.
pub(crate) fn target<'t>(text: &'t str, option: &str) -> anyhow::Result<&'t str> {
    let date = text.strip_prefix('v').unwrap_or(text);
    if TARGETS.contains(&date) {
        return Ok(date);
    }
    let what = format!("cannot migrate to `{option} {}`", report::safe(text));
    Err(Mistake::new(what, format!("expected {}", TARGETS.join(" or "))).into())
}

impl Arguments {
    /// One file. In a folder, files that are neither suites nor cassettes are skipped.
    fn one(&self, path: &Path, named: bool, summary: &mut Summary) -> anyhow::Result<()> {
        let hint = "give a suite in YAML, or a cassette in JSON";
        let text = fs::read(path).map_err(|error| {
            unreadable_or_near(path, &error, hint, |one| {
                is_yaml(one) || found::is_json(one)
            })
        })?;
        let plan = if is_yaml(path) {
            std::str::from_utf8(&text).ok().and_then(Plan::of_suite)
        } else {
            Plan::of_cassette(&text)
        };
        let Some(plan) = plan else {
            if named {
                return Err(unreadable(path, "not a suite or cassette", hint));
            }
            if is_yaml(path) {
                let path = report::safe(&path.display().to_string());
                report::note(&format!(
                    "skipped `{path}`, which is not valid YAML; see `tapewright validate`"
                ));
            }
            return Ok(());
        };
        summary.looked_at += 1;
        let changed = Changed {
            path,
            text: &text,
            plan: &plan,
        };
        report::out(&if self.format.is_json() {
            changed.json(self.write)
        } else {
            changed.text()
        })?;
        if plan.is_empty() {
            return Ok(());
        }
        summary.files += 1;
        summary.codes += plan.edits().len();
        if self.write {
            let permissions = fs::metadata(path).ok().map(|data| data.permissions());
            let mut file = NewFile::shared(path)?;
            file.writer().write_all(&plan.apply(&text))?;
            file.commit(permissions)?;
        }
        Ok(())
    }
}
