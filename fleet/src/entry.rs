//! Entries of the manifest: which bytes of a tape are in which segment, and how the tape ended.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tapewright_schemas::tape::Header;

use crate::names::{EntryName, Kind, ObjectName, TapeName};
use crate::summary::Summary;

/// The version of entries that this build writes.
pub const VERSION: &str = "1.1";
/// The longest entry to read, in bytes.
pub const LIMIT: u64 = 128 << 10;
/// The longest text from a tape's header, in characters.
const TEXT_LIMIT: usize = 200;

/// One entry. Its name is an [`EntryName`], which a store accepts only once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Version of the format, `major.minor`.
    pub manifest: String,
    /// Program and version that wrote it.
    pub by: String,
    /// The name of the file on the gateway, for people.
    pub file: String,
    /// The recorded session or sessions.
    pub about: About,
    /// Where its range of the tape begins, in bytes.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
    /// Facts about its contents.
    pub content: Content,
    /// SHA-256 of that range; empty if it was scrubbed.
    pub sha256: String,
    /// The result of `scrub`, if it changed the range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrubbed: Option<Scrubbed>,
    /// Its segment in the store; `None` for an empty range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<Segment>,
    /// The rows that were made of it.
    #[serde(default, skip_serializing_if = "Rows::is_empty")]
    pub rows: Rows,
    /// The totals of all entries of the tape up to this one; `None` if an earlier one has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Total>,
    /// When it was shipped, RFC 3339 in UTC.
    pub shipped: String,
    /// How the tape ended, in its last entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// When `sweep` removed the tape. Only this entry is left then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swept: Option<String>,
}

/// The facts in the header of a tape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Wall time of offset zero.
    pub created: String,
    /// Name of the server.
    pub label: String,
    /// `stdio`, or `http`.
    pub transport: String,
    /// The only session on the tape, if each session has its own tape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u32>,
    /// Name of the tape that it continues.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub continues: String,
    /// The recording of an agent that it is part of.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part_of: String,
}

impl About {
    /// From a header.
    #[must_use]
    pub fn of(header: &Header) -> Self {
        let short = |text: &str| text.chars().take(TEXT_LIMIT).collect();
        Self {
            created: short(&header.created),
            label: short(&header.label),
            transport: short(&header.transport),
            session: header.session,
            continues: short(&header.continues),
            part_of: short(&header.part_of),
        }
    }
}

/// Facts about the contents of a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// How many lines.
    pub lines: u64,
    /// How many of them are events.
    pub events: u64,
    /// The number of the first event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seq: Option<u64>,
    /// The number of the last event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seq: Option<u64>,
    /// When the first event happened, in microseconds since the tape began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_us: Option<u64>,
    /// When the last event happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_us: Option<u64>,
}

/// A range after secrets were removed from it, as it is in its segment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scrubbed {
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
    /// When it was scrubbed, RFC 3339 in UTC.
    pub at: String,
}

/// An object with a range of a tape, compressed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
}

/// The files of rows of one range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows {
    /// Rows of exchanges that were settled within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<RowFile>,
    /// Rows of findings among its lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<RowFile>,
    /// Rows of model calls that ended within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<RowFile>,
    /// Rows of definitions of tools that were listed within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<RowFile>,
    /// Why there are no rows, if the lines cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub none_because: Option<String>,
    /// Their summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
}

impl Rows {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The files that there are, with their kinds.
    pub fn files(&self) -> impl Iterator<Item = (Kind, &RowFile)> {
        let all = [
            (Kind::Exchanges, &self.exchanges),
            (Kind::Findings, &self.findings),
            (Kind::ModelCalls, &self.model_calls),
            (Kind::Tools, &self.tools),
        ];
        all.into_iter()
            .filter_map(|(kind, file)| Some((kind, file.as_ref()?)))
    }
}

/// A file of rows, with the facts that readers need to skip it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowFile {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
    /// How many rows it has.
    pub rows: u64,
    /// When its first row began, in microseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_us: Option<i64>,
    /// When its last row began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_us: Option<i64>,
    /// The tools of its rows, unless there are too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<BTreeSet<String>>,
}

/// The totals of a tape's entries, from its first one on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Total {
    /// How many entries.
    pub entries: u64,
    /// How many events.
    pub events: u64,
    /// How many segments.
    pub segments: u64,
    /// The size of the segments.
    pub stored_bytes: u64,
    /// How many rows of exchanges.
    pub exchanges: u64,
    /// How many rows of findings.
    pub findings: u64,
    /// How many rows of model calls.
    #[serde(default)]
    pub model_calls: u64,
}

impl Total {
    /// The totals with one more entry.
    #[must_use]
    pub fn and(self, entry: &Entry) -> Self {
        let rows = |file: &Option<RowFile>| file.as_ref().map_or(0, |file| file.rows);
        let segment = entry.segment.as_ref();
        Self {
            entries: self.entries.saturating_add(1),
            events: self.events.saturating_add(entry.content.events),
            segments: self.segments.saturating_add(u64::from(segment.is_some())),
            stored_bytes: self
                .stored_bytes
                .saturating_add(segment.map_or(0, |segment| segment.bytes)),
            exchanges: self.exchanges.saturating_add(rows(&entry.rows.exchanges)),
            findings: self.findings.saturating_add(rows(&entry.rows.findings)),
            model_calls: self
                .model_calls
                .saturating_add(rows(&entry.rows.model_calls)),
        }
    }
}

/// How a tape ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The way it ended.
    pub how: How,
    /// Length of an unfinished last line. It is not an event and is not shipped.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub torn_bytes: u64,
    /// How many bytes were deleted on the gateway before they were shipped.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_bytes: u64,
    /// How many events that was.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_events: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The ways a tape can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// With its footer.
    Footer,
    /// Its recorder was stopped before it wrote the footer.
    CutShort,
    /// Its file was deleted before it was completely shipped, because the buffer was full.
    Dropped,
    /// `sweep` closed it after a long time without new entries.
    Abandoned,
}

/// Why an entry cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// It is not an entry.
    #[error("not an entry: {0}")]
    NotAnEntry(String),
    /// A later major version wrote it.
    #[error("its format {0} is newer than the {VERSION} that this build understands")]
    TooNew(String),
    /// Its range is not that of its name, or is not valid.
    #[error("its range does not belong to its name")]
    Range,
    /// It names a segment of another entry.
    #[error("it names a segment that is not its own")]
    Foreign,
}

impl Entry {
    /// Parses the entry with a name.
    pub fn read(name: &EntryName, bytes: &[u8]) -> Result<Self, EntryError> {
        let entry: Self = serde_json::from_slice(bytes)
            .map_err(|error| EntryError::NotAnEntry(error.to_string()))?;
        let major = |version: &str| version.split('.').next().map(str::to_owned);
        if major(&entry.manifest) != major(VERSION) {
            return Err(EntryError::TooNew(entry.manifest));
        }
        let is_range = entry.start == name.start && entry.end >= entry.start;
        if !is_range || (entry.end > entry.start) != entry.segment.is_some() {
            return Err(EntryError::Range);
        }
        // An entry with an empty range that does not end the tape would be followed by itself.
        if entry.end == entry.start && entry.ended.is_none() {
            return Err(EntryError::Range);
        }
        let is_own = |(kind, path): (Kind, &str)| {
            ObjectName::read(path).is_ok_and(|one| one.kind == kind && one.of.is_of_same(name))
        };
        if !entry.objects().all(is_own) {
            return Err(EntryError::Foreign);
        }
        Ok(entry)
    }

    /// Every object of the entry.
    pub fn objects(&self) -> impl Iterator<Item = (Kind, &str)> {
        let segment = self.segment.iter();
        let segment = segment.map(|one| (Kind::Segment, one.name.as_str()));
        segment.chain(
            self.rows
                .files()
                .map(|(kind, file)| (kind, file.name.as_str())),
        )
    }

    /// The entry as it is stored.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        // A struct of strings and numbers can always be serialized.
        let mut text = serde_json::to_vec(self).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// Length and SHA-256 of its segment's decompressed contents.
    #[must_use]
    pub fn held(&self) -> (u64, &str) {
        match &self.scrubbed {
            Some(scrubbed) => (scrubbed.bytes, &scrubbed.sha256),
            None => (self.end - self.start, &self.sha256),
        }
    }

    /// Its original name, for a tape.
    #[must_use]
    pub fn name(&self, tape: &TapeName) -> EntryName {
        EntryName::first(tape, self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name() -> EntryName {
        let path = "manifests/a/20261126T031500Z-0123456789abcdef0123/00000000000000000000.json";
        EntryName::read(path).unwrap()
    }

    fn entry(name: &EntryName) -> Entry {
        Entry {
            manifest: VERSION.to_owned(),
            end: 10,
            segment: Some(Segment {
                name: ObjectName::fresh(name).path(),
                ..Segment::default()
            }),
            ..Entry::default()
        }
    }

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let entry = entry(&name());
        assert_eq!(Entry::read(&name(), &entry.write()), Ok(entry));
    }

    #[test]
    fn what_does_not_belong_to_its_name_is_refused() {
        let name = name();
        let good = entry(&name);
        let other = EntryName {
            start: 5,
            ..name.clone()
        };
        let refused = |change: &dyn Fn(&mut Entry)| {
            let mut entry = good.clone();
            change(&mut entry);
            Entry::read(&name, &entry.write()).unwrap_err()
        };
        assert_eq!(Entry::read(&other, &good.write()), Err(EntryError::Range));
        assert_eq!(refused(&|one| one.end = 0), EntryError::Range);
        assert_eq!(refused(&|one| one.segment = None), EntryError::Range);
        let empty = |one: &mut Entry| (one.end, one.segment) = (0, None);
        assert_eq!(refused(&empty), EntryError::Range);
        let newer = |one: &mut Entry| one.manifest = "2.0".to_owned();
        assert_eq!(refused(&newer), EntryError::TooNew("2.0".to_owned()));
        for foreign in ["../../etc/passwd", "", &ObjectName::fresh(&other).path()] {
            let steal = |one: &mut Entry| one.segment.as_mut().unwrap().name = foreign.to_owned();
            assert_eq!(refused(&steal), EntryError::Foreign, "{foreign}");
        }
        let noise = Entry::read(&name, b"[]");
        assert!(matches!(noise, Err(EntryError::NotAnEntry(_))));
    }
}
