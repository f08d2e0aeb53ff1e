//! Scrubbing an agent cassette.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use tapewright_models::agent_cassette::AgentCassette;
use tapewright_models::hide_keys;
use tapewright_schemas::redact::{Redactor, Rules};

use super::{Found, Place};
use crate::files::NewFile;

/// The longest file to read, in bytes.
const LONGEST: u64 = 64 << 20;
/// The identifying member must begin within this many bytes.
const HEAD: u64 = 4096;
const MARK: &[u8] = b"\"schema_version\"";

/// Whether a file is an agent cassette, judging by its beginning; an unreadable file counts as one,
/// so that its reader reports the reason.
pub(super) fn is_one(path: &Path) -> bool {
    begins_like_one(path).unwrap_or(true)
}

fn begins_like_one(path: &Path) -> std::io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    Ok(head.windows(MARK.len()).any(|bytes| bytes == MARK))
}

/// Scrubs an agent cassette, or with `check` only reports its secrets; `None` if it is not one.
pub(super) fn scrub(path: &Path, rules: &Arc<Rules>, check: bool) -> anyhow::Result<Option<Found>> {
    if !begins_like_one(path)? {
        return Ok(None);
    }
    let mut text = Vec::new();
    File::open(path)?.take(LONGEST).read_to_end(&mut text)?;
    if AgentCassette::read(&text).is_err() {
        return Ok(None);
    }
    let mut redactor = Redactor::new(Arc::clone(rules));
    let Ok(clean) = redactor.json(&text) else {
        return Ok(None);
    };
    let clean = hide_keys(&String::from_utf8_lossy(&clean));
    let mut found = Found {
        counts: redactor.counts().clone(),
        ..Found::default()
    };
    if clean.as_bytes() == text {
        return Ok(Some(found));
    }
    let mut kinds: Vec<String> = found.counts.keys().cloned().collect();
    if kinds.is_empty() {
        kinds.push("secret".to_owned());
    }
    for kind in kinds {
        found.place(check, || (Place::File, kind));
    }
    if !check {
        let permissions = fs::metadata(path)?.permissions();
        let mut file = NewFile::create(path)?;
        file.writer().write_all(clean.as_bytes())?;
        file.commit(Some(permissions))?;
    }
    Ok(Some(found))
}
