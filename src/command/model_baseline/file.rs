//! Reads and writes baseline files.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use tapewright_baselines::{Baseline, MAX_BYTES, Problem, ReadError};
use tapewright_schemas::redact::{Redactor, Rules};

use crate::files::{NewFile, folder, output, unreadable, unreadable_or_near};
use crate::report::{self, Mistake};

/// The bytes of a file, up to the size limit.
pub(super) fn bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    let fail = |error: std::io::Error| {
        let hint = "write one with `tapewright model-baseline capture`";
        unreadable_or_near(path, &error, hint, folder::has_name)
    };
    let file = File::open(path).map_err(fail)?;
    let mut text = Vec::new();
    // One byte more than allowed, to detect files that are too long.
    let limit = MAX_BYTES as u64 + 1;
    file.take(limit).read_to_end(&mut text).map_err(fail)?;
    Ok(text)
}

/// Reads a baseline.
pub(super) fn read(path: &Path) -> anyhow::Result<Baseline> {
    Baseline::read(&bytes(path)?).map_err(|error| refused(path, &error))
}

/// The error for a file that is not a baseline.
pub(super) fn refused(path: &Path, error: &ReadError) -> anyhow::Error {
    let hint = match error.problem {
        Problem::Version { .. } => "capture both with the same version of tapewright",
        Problem::SameId { .. } => "each exchange must have an ID of its own",
        _ => "see `tapewright schema model-baseline`",
    };
    unreadable(path, &error.to_string(), hint)
}

/// The text of a baseline file: without secrets, and canonical.
pub(super) fn text(baseline: &Baseline, rules: &Arc<Rules>) -> anyhow::Result<String> {
    let text = baseline.write();
    let mut redactor = Redactor::new(Arc::clone(rules));
    let clean = redactor.json(text.as_bytes());
    let clean = clean.map_err(|_| anyhow::anyhow!("cannot redact the capture"))?;
    // Redaction does not produce canonical text.
    let clean = Baseline::read(&clean)?;
    Ok(clean.write())
}

/// Writes a baseline in one step, since others may read it.
pub(super) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut file = NewFile::shared(path)?;
    file.writer().write_all(text.as_bytes())?;
    let there = fs::metadata(path).map(|data| data.permissions());
    file.commit(
        there
            .ok()
            .or_else(tapewright_proxy::system::files::readable_by_all),
    )
}

/// The existing baseline to replace, if there is one. Refuses to replace any other file.
pub(super) fn replaced(path: &Path) -> anyhow::Result<Option<Baseline>> {
    output::check_ahead(path, output::Overwrite::Any)?;
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Ok(data) if data.len() == 0 => return Ok(None),
        _ => {}
    }
    let known = Baseline::read(&bytes(path)?);
    known.map(Some).map_err(|error| {
        let path = report::safe(&path.display().to_string());
        let what = format!("`{path}` already exists, and is not a baseline: {error}");
        let hint = "choose another file, or move this one away";
        Mistake::new(what, hint).into()
    })
}
