//! The files of recorded judgements, next to the suite.

use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tapewright_judges::{Call, Key, Record};
use tapewright_schemas::redact::{Redactor, Rules};

use crate::files::NewFile;
use crate::suite::plan::Kind;

/// The longest file to read, in bytes.
const LONGEST: u64 = 64 << 20;

/// The file name of a test: its kind and its name; with a digest, if the name has characters that
/// file names cannot have.
pub(super) fn name(kind: Kind, test: &str) -> String {
    let is_kept =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let slug: String = test
        .chars()
        .take(NAME_CHARS)
        .map(|letter| if is_kept(letter) { letter } else { '_' })
        .collect();
    let kind = kind.name();
    if slug == test {
        format!("{kind}__{slug}.json")
    } else {
        format!("{kind}__{slug}-{:08x}.json", digest(test))
    }
}

const NAME_CHARS: usize = 80;

/// FNV-1a of 32 bits.
fn digest(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// The recorded judgements of a test; empty if there is no file. The error says why it cannot be
/// read.
pub(super) fn read(path: &Path) -> Result<Record, String> {
    let failed = |why: String| format!("cannot read the judgements `{}`: {why}", path.display());
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Record::default()),
        Err(error) => return Err(failed(error.to_string())),
    };
    let mut text = Vec::new();
    let read = file.take(LONGEST + 1).read_to_end(&mut text);
    read.map_err(|error| failed(error.to_string()))?;
    if text.len() as u64 > LONGEST {
        return Err(failed("it is too long".to_owned()));
    }
    Record::read(&text).map_err(|error| failed(error.to_string()))
}

/// Writes the judgements of a test.
pub(super) fn write(path: &Path, record: &Record, rules: &Arc<Rules>) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let text = hidden(&record.write(), rules);
    let mut file = NewFile::shared(path)?;
    file.writer().write_all(text.as_bytes())?;
    // They are committed, and read by others.
    file.commit(tapewright_proxy::system::files::readable_by_all())
}

/// The recorded key of a call: without secrets.
pub(super) fn key(call: &Call, rules: &Arc<Rules>) -> Key {
    let key = Key::of(call);
    let shown = hidden(&key.to_value().to_string(), rules);
    let shown = serde_json::from_str::<Value>(&shown).ok();
    shown
        .and_then(|value| Key::read(&value).ok())
        .unwrap_or(key)
}

/// A document without secrets. Text that is not JSON is not written at all.
fn hidden(text: &str, rules: &Arc<Rules>) -> String {
    let mut redactor = Redactor::new(Arc::clone(rules));
    let clean = redactor.json(text.as_bytes());
    clean.map_or_else(
        |_| "{}".to_owned(),
        |text| String::from_utf8_lossy(&text).into_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_told_apart() {
        assert_eq!(name(Kind::Tool, "echo"), "tool__echo.json");
        let one = name(Kind::Eval, "a b");
        let other = name(Kind::Eval, "a/b");
        assert!(
            one.starts_with("eval__a_b-") && one != other,
            "{one} {other}"
        );
        let long = "x".repeat(500);
        assert!(name(Kind::Agent, &long).len() < 120);
    }
}
