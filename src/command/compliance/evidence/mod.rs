//! Cuts findings out of their recording: writes for each the smallest file that still shows it.

mod evidence_file;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tapewright_compliance::finding::{Finding, Status};
use tapewright_compliance::reduce::smallest;

use self::evidence_file::Source;
use super::Verdicts;
use crate::files::NewFile;
use crate::report::{self, Mistake};

/// How many smaller files are tried for a finding.
const TRIES: usize = 2_000;

/// Writes the evidence of every finding into a folder.
pub(super) fn write(folder: &Path, verdicts: &mut Verdicts) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| {
        let shown = report::safe(&folder.display().to_string());
        let what = format!("cannot create the folder `{shown}`");
        Mistake::new(what, "choose a folder that you can write to")
    })?;
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    let mut source: Option<Source> = None;
    for server in &mut verdicts.servers {
        for outcome in &server.outcomes {
            for (index, finding) in outcome.findings.iter().enumerate() {
                if finding.status != Status::Fail {
                    continue;
                }
                if source
                    .as_ref()
                    .is_none_or(|source| source.path != server.path)
                {
                    source = Some(Source::read(&server.path)?);
                }
                let Some(cut) = source.as_ref().and_then(|source| cut(source, finding)) else {
                    continue;
                };
                let stem = format!("{}-{}", plain(&server.label), finding.code);
                let number = numbers.entry(stem.clone()).or_default();
                *number += 1;
                let path = folder.join(format!("{stem}-{number}{}", cut.ending));
                let mut file = NewFile::create(&path)?;
                file.writer().write_all(&cut.text)?;
                file.commit(None)?;
                server.cut_out.insert((finding.code, index), path);
            }
        }
    }
    Ok(())
}

/// A file that shows a finding.
struct Cut {
    text: Vec<u8>,
    ending: &'static str,
}

/// The smallest file that shows a finding: a cassette if one can show it, otherwise a capture or a
/// tape, like the source.
fn cut(source: &Source, finding: &Finding) -> Option<Cut> {
    for evidence_file in source.evidence_files() {
        let all = evidence_file.parts();
        let shows = |parts: &[usize]| {
            let text = evidence_file.text(parts);
            text.is_some_and(|text| evidence_file.shows(text, finding, &source.known))
        };
        // The events that prove it and the beginning of the session are usually enough.
        let likely = evidence_file.likely(finding);
        let start = if likely.len() < all.len() && shows(&likely) {
            likely
        } else if shows(&all) {
            all
        } else {
            continue;
        };
        let parts = smallest(start, TRIES, shows);
        let text = evidence_file.text(&parts)?;
        let ending = evidence_file.ending();
        return Some(Cut { text, ending });
    }
    None
}

/// A label as part of a file's name.
fn plain(label: &str) -> String {
    let letter = |char: char| {
        let fits = char.is_ascii_alphanumeric() || matches!(char, '.' | '-' | '_');
        if fits { char } else { '-' }
    };
    let name: String = label.chars().map(letter).take(NAME_CHARS).collect();
    let name = name.trim_matches(['.', '-']).to_owned();
    if name.is_empty() {
        "server".to_owned()
    } else {
        name
    }
}

const NAME_CHARS: usize = 60;

/// The files that were written, in order.
pub(super) fn files(verdicts: &Verdicts) -> impl Iterator<Item = &PathBuf> {
    let servers = verdicts.servers.iter();
    servers.flat_map(|server| server.cut_out.values())
}

#[cfg(test)]
mod tests;
