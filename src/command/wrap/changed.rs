//! A change of a client's file: shows it, or makes it.

use std::fs;
use std::io::Write as _;
use std::ops::Range;

use anyhow::Context as _;
use tapewright_clients::{Client, Edit, Note, Scope, apply, unified};
use tapewright_schemas::order::Order as _;

use crate::files::NewFile;
use crate::report::{self, Mistake, wrap as words};

use super::files::{self, ClientFile};
use super::secrets::Masked;
use super::store::Store;

/// A change of a client's file.
pub(super) struct Changed {
    file: ClientFile,
    stores: Vec<Store>,
    edits: Vec<Edit>,
    hidden: Vec<Range<usize>>,
    shown: Masked,
}

/// What the user of a client must know after these changes.
pub(super) fn notes(client: &Client, changed: &[Changed]) -> String {
    let is_project = changed.iter().any(|one| one.file.scope == Scope::Project);
    let concerns = |note: &&Note| is_project || !matches!(note, Note::TrustedProject);
    let notes: Vec<Note> = client.notes.iter().filter(concerns).copied().collect();
    words::notes(&notes, client.name)
}

impl Changed {
    /// A change; the edits are in order.
    pub(super) fn new(
        file: ClientFile,
        store: Store,
        edits: Vec<Edit>,
        hidden: Vec<Range<usize>>,
        shown: Masked,
    ) -> Self {
        Self {
            file,
            stores: vec![store],
            edits,
            hidden,
            shown,
        }
    }

    /// Combines the changes of each file: one file may have servers at several places, and is
    /// replaced once.
    pub(super) fn combined(all: Vec<Self>) -> Vec<Self> {
        let mut combined: Vec<Self> = Vec::new();
        for one in all {
            let is_same = |other: &&mut Self| {
                other.file.path == one.file.path && other.file.text == one.file.text
            };
            match combined.iter_mut().find(is_same) {
                Some(same) => same.add(one),
                None => combined.push(one),
            }
        }
        combined
    }

    fn add(&mut self, other: Self) {
        self.stores.extend(other.stores);
        self.edits.extend(other.edits);
        self.edits.order_by_key(|edit| edit.range.start);
        self.shown.extend(other.shown);
    }

    /// Whether the file itself changes, and not only what is stored for it.
    pub(super) fn has_edits(&self) -> bool {
        !self.edits.is_empty()
    }

    /// The change as a diff, without secrets.
    pub(super) fn diff(&self) -> String {
        if !self.has_edits() {
            return String::new();
        }
        let name = self.file.path.display().to_string();
        let diff = unified(&name, &self.file.text, &self.edits, &self.hidden);
        let hidden = self.shown.hide(&diff);
        let lines: Vec<String> = hidden.lines().map(safe_line).collect();
        lines.join("\n") + "\n"
    }

    /// Saves what is needed to undo the change, then changes the file in one step.
    pub(super) fn carry_out(&self) -> anyhow::Result<()> {
        for store in &self.stores {
            store.back_up(&self.file.text)?;
            // Saving too much does no harm; saving too little would.
            if !store.is_empty() {
                store.save()?;
            }
        }
        if self.has_edits() {
            self.replace()?;
        }
        for store in &self.stores {
            if store.is_empty() {
                store.remove();
            } else {
                store.save()?;
            }
        }
        Ok(())
    }

    fn replace(&self) -> anyhow::Result<()> {
        let path = &self.file.path;
        let permissions = fs::metadata(path)
            .context("the file was removed")?
            .permissions();
        let mut new = NewFile::shared(path)?;
        let text = apply(&self.file.text, &self.edits);
        new.writer().write_all(text.as_bytes())?;
        if files::read(path)? != self.file.text {
            let what = format!("`{}` was changed in the meantime", self.file.shown());
            return Err(Mistake::new(what, "quit the client, and try again").into());
        }
        new.commit(Some(permissions))
    }
}

/// A line of a diff; tabs are allowed.
fn safe_line(line: &str) -> String {
    let parts: Vec<String> = line.split('\t').map(report::safe).collect();
    parts.join("\t")
}
