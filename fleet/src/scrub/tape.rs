//! Scrubs one tape of a store, range by range.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;

use object_store::PutMode;
use tapewright_schemas::redact::Redactor;
use tapewright_schemas::scrub::TapeScrubber;

use super::{Scrub, ScrubError};
use crate::chain::Chain;
use crate::clock;
use crate::entry::{self, About, Entry, Scrubbed};
use crate::hash;
use crate::names::{EntryName, Kind, ObjectName};
use crate::rows::{self, Deriver};
use crate::segment::{self, LEVEL};
use crate::ship::put_rows;
use crate::store::{Created, Store, StoreError};

/// The longest range to scrub, in bytes: it is held in memory.
const LIMIT: u64 = 1 << 30;

/// The scrubbing of a tape.
pub(super) struct TapeScrub<'a> {
    store: &'a Store,
    what: &'a Scrub,
    entries: &'a [EntryName],
    chain: &'a Chain,
    scrubber: TapeScrubber,
    /// Redacts texts of entries, which are not lines of the tape.
    texts: Redactor,
    deriver: Option<Deriver>,
    /// How many entries were superseded.
    pub(super) superseded: u64,
}

impl<'a> TapeScrub<'a> {
    pub(super) fn new(
        store: &'a Store,
        what: &'a Scrub,
        entries: &'a [EntryName],
        chain: &'a Chain,
    ) -> Self {
        let redactor = || Redactor::new(Arc::clone(&what.rules));
        Self {
            store,
            what,
            entries,
            chain,
            scrubber: TapeScrubber::new(redactor()),
            texts: redactor(),
            deriver: None,
            superseded: 0,
        }
    }

    /// How many secrets of each kind were replaced.
    pub(super) fn replaced(&self) -> &BTreeMap<String, u64> {
        self.scrubber.redactor().counts()
    }

    /// Reads the tape, and scrubs it if it has secrets.
    pub(super) async fn run(&mut self) -> Result<(), ScrubError> {
        let is_clean = self.rehearse().await?;
        self.finish_superseding().await?;
        if is_clean {
            return Ok(());
        }
        for (at, entry) in self.chain.entries.iter().enumerate() {
            let name = self.entries.get(at).ok_or(ScrubError::Raced)?;
            self.range(name, entry).await?;
        }
        Ok(())
    }

    /// Learns the secrets and the placeholders on the tape. Returns whether there is nothing to
    /// remove.
    async fn rehearse(&mut self) -> Result<bool, ScrubError> {
        let redactor = || Redactor::new(Arc::clone(&self.what.rules));
        let (mut first, mut second) = (TapeScrubber::new(redactor()), redactor());
        let mut is_clean = true;
        for entry in &self.chain.entries {
            let lines = self.lines(entry).await?;
            for line in lines.split_inclusive(|byte| *byte == b'\n') {
                second.adopt(line);
                let content = line.strip_suffix(b"\n").unwrap_or(line);
                is_clean &= *first.line(content) == *content;
            }
            is_clean &= self.texts(entry).is_none();
        }
        second.learn_from(first.redactor());
        self.texts.learn_from(first.redactor());
        for entry in &self.chain.entries {
            is_clean &= self.texts(entry).is_none();
        }
        self.scrubber = TapeScrubber::new(second);
        Ok(is_clean)
    }

    /// The lines of a range.
    async fn lines(&self, entry: &Entry) -> Result<Vec<u8>, ScrubError> {
        let (length, _) = entry.held();
        if length > LIMIT {
            let why = format!("the range at {} is too long to be scrubbed", entry.start);
            return Err(ScrubError::Damaged(why));
        }
        let mut lines = Vec::new();
        let mut sink = |bytes: &[u8]| {
            lines.extend_from_slice(bytes);
            Ok(())
        };
        segment::unpack(self.store, entry, &mut sink).await?;
        Ok(lines)
    }

    /// The texts that an entry has from its tape, if they have secrets.
    fn texts(&mut self, entry: &Entry) -> Option<(About, String)> {
        let mut is_changed = false;
        let mut clean = |text: &str| {
            let new = self.texts.text(text.as_bytes());
            let new = String::from_utf8_lossy(&new).into_owned();
            is_changed |= new != text;
            new
        };
        let about = About {
            created: entry.about.created.clone(),
            label: clean(&entry.about.label),
            transport: entry.about.transport.clone(),
            session: entry.about.session,
            continues: clean(&entry.about.continues),
            part_of: clean(&entry.about.part_of),
        };
        let file = clean(&entry.file);
        is_changed.then_some((about, file))
    }

    async fn range(&mut self, name: &EntryName, entry: &Entry) -> Result<(), ScrubError> {
        let old = self.lines(entry).await?;
        let mut new = Vec::with_capacity(old.len());
        for line in old.split_inclusive(|byte| *byte == b'\n') {
            let content = line.strip_suffix(b"\n").unwrap_or(line);
            new.extend_from_slice(&self.scrubber.line(content));
            new.extend_from_slice(line.get(content.len()..).unwrap_or_default());
        }
        let mut made = entry.clone();
        crate::BY.clone_into(&mut made.by);
        entry::VERSION.clone_into(&mut made.manifest);
        if let Some((about, file)) = self.texts(entry) {
            (made.about, made.file) = (about, file);
        }
        let object = ObjectName::fresh(name);
        let rows = self.rows(&made, &new, &object);
        let is_same = new == old && made.about == entry.about && made.file == entry.file;
        if is_same && is_same_rows(&rows, &entry.rows) {
            return Ok(());
        }
        self.superseded += 1;
        if self.what.is_dry {
            return Ok(());
        }
        self.put(&mut made, &object, rows, &new).await?;
        self.supersede(name, &made).await
    }

    /// The rows of the scrubbed range; empty if the old range could not be read.
    fn rows(&mut self, made: &Entry, lines: &[u8], object: &ObjectName) -> rows::Rows {
        if made.rows.none_because.is_some() {
            return rows::Rows::default();
        }
        let deriver = self.deriver.get_or_insert_with(|| {
            Deriver::new(rows::Tape {
                name: object.of.tape.clone(),
                about: made.about.clone(),
            })
        });
        let rows = deriver.derive_lines(lines, made.end, made.ended.is_some());
        rows.unwrap_or_default()
    }

    /// Writes the objects of the new entry.
    async fn put(
        &self,
        made: &mut Entry,
        object: &ObjectName,
        rows: rows::Rows,
        lines: &[u8],
    ) -> Result<(), ScrubError> {
        if made.segment.is_some() {
            let packed = pack(lines).map_err(|error| ScrubError::Damaged(error.to_string()))?;
            made.segment = Some(entry::Segment {
                name: object.of_kind(Kind::Segment).path(),
                bytes: packed.len() as u64,
                sha256: hash::of(&packed),
            });
            made.scrubbed = Some(Scrubbed {
                bytes: lines.len() as u64,
                sha256: hash::of(lines),
                at: clock::text(self.what.now),
            });
            // If the rest of the range is known, a short secret can be found from the hash by
            // trying all values.
            made.sha256 = String::new();
            let segment = object.path();
            self.store.put(&segment, packed, PutMode::Overwrite).await?;
        }
        if made.rows.none_because.is_none() {
            made.rows = put_rows(self.store, object, rows).await?;
        }
        Ok(())
    }

    /// Creates the new entry, and overwrites the superseded ones.
    async fn supersede(&self, name: &EntryName, made: &Entry) -> Result<(), ScrubError> {
        // The tape may have been swept.
        if self.store.entry(name).await?.swept.is_some() {
            return Err(ScrubError::Raced);
        }
        match self.store.create(&name.next(), made).await? {
            Created::Ours => {}
            Created::Theirs(_) => return Err(ScrubError::Raced),
        }
        for version in 0..=name.version {
            let old = EntryName {
                version,
                ..name.clone()
            };
            self.store.replace(&old, made).await?;
        }
        Ok(())
    }

    /// Overwrites superseded entries that a stopped scrub has left.
    async fn finish_superseding(&self) -> Result<(), ScrubError> {
        if self.what.is_dry || self.entries.iter().all(|name| name.version == 0) {
            return Ok(());
        }
        for (name, entry) in self.entries.iter().zip(&self.chain.entries) {
            for version in 0..name.version {
                let old = EntryName {
                    version,
                    ..name.clone()
                };
                if !self.is(&old, entry).await? {
                    self.store.replace(&old, entry).await?;
                }
            }
        }
        Ok(())
    }

    /// Whether the entry with a name is this one.
    async fn is(&self, name: &EntryName, entry: &Entry) -> Result<bool, StoreError> {
        let read = self.store.read(&name.path(), entry::LIMIT).await;
        Ok(read.is_ok_and(|bytes| bytes == entry.write()))
    }
}

fn pack(lines: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), LEVEL)?;
    encoder.write_all(lines)?;
    encoder.finish()
}

/// Whether rows are those of an entry. The same rows have the same bytes.
fn is_same_rows(made: &rows::Rows, named: &entry::Rows) -> bool {
    if named.none_because.is_some() {
        return true;
    }
    let is_same = |table: &Option<rows::Table>, file: &Option<entry::RowFile>| {
        let made = table.as_ref().map(|table| hash::of(&table.bytes));
        made.as_ref() == file.as_ref().map(|file| &file.sha256)
    };
    is_same(&made.exchanges, &named.exchanges)
        && is_same(&made.findings, &named.findings)
        && is_same(&made.model_calls, &named.model_calls)
        && is_same(&made.tools, &named.tools)
}
