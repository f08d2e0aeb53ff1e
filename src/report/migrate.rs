//! The report of `migrate`.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use tapewright_corpus::migrate::Plan;

use tapewright_schemas::slices::Part as _;

use super::safe;

/// One file, and its changes.
pub(crate) struct Changed<'c> {
    pub(crate) path: &'c Path,
    pub(crate) text: &'c [u8],
    pub(crate) plan: &'c Plan,
}

/// How many files were checked and changed.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) looked_at: usize,
    pub(crate) files: usize,
    pub(crate) codes: usize,
}

/// How many bytes of a line are shown on each side of a change.
const AROUND: usize = 80;

impl Changed<'_> {
    /// The diff, followed by the notes with their places.
    pub(crate) fn text(&self) -> String {
        let path = safe(&self.path.display().to_string());
        let mut out = String::new();
        if !self.plan.is_empty() {
            _ = writeln!(out, "--- {path}\n+++ {path}");
        }
        for (start, end) in self.plan.edits() {
            let (line, before) = self.line_of(*start);
            let front = self.text.part(before..*start);
            let rest = self.text.part(*end..);
            let rest = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let (front, rest) = (last(front), first(rest));
            let old = self.text.part(*start..*end);
            let old = String::from_utf8_lossy(old);
            _ = writeln!(out, "@@ line {line} @@");
            _ = writeln!(out, "-{front}{}{rest}", safe(&old));
            _ = writeln!(out, "+{front}{}{rest}", Plan::replacement());
        }
        for note in &self.plan.notes {
            let (line, _) = self.line_of(note.at);
            _ = writeln!(out, "{path}:{line}: {}", safe(&note.what));
        }
        out
    }

    /// One line of JSON, as described by the schema `migrate`.
    pub(crate) fn json(&self, written: bool) -> String {
        let edits = self.plan.edits().iter().map(|(start, end)| {
            let old = String::from_utf8_lossy(self.text.part(*start..*end));
            json!({ "line": self.line_of(*start).0, "from": old, "to": Plan::replacement() })
        });
        let notes = self.plan.notes.iter();
        let notes = notes.map(|note| json!({ "line": self.line_of(note.at).0, "text": note.what }));
        let line = json!({
            "file": self.path.display().to_string(),
            "changed": written && !self.plan.is_empty(),
            "edits": edits.collect::<Value>(),
            "notes": notes.collect::<Value>(),
        });
        format!("{line}\n")
    }

    /// The line with a byte, counted from 1, and where it begins.
    fn line_of(&self, at: usize) -> (usize, usize) {
        let before = self.text.part(..at);
        let line = before.split(|byte| *byte == b'\n').count();
        let begins = before.iter().rposition(|byte| *byte == b'\n');
        (line, begins.map_or(0, |feed| feed + 1))
    }
}

/// The end of the text in front of a change.
fn last(text: &[u8]) -> String {
    let start = text.len().saturating_sub(AROUND);
    let shown = String::from_utf8_lossy(text.part(start..));
    let shown = safe(&shown);
    if start == 0 {
        shown
    } else {
        format!("…{shown}")
    }
}

/// The beginning of the text behind it.
fn first(text: &[u8]) -> String {
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let end = text.len().min(AROUND);
    let shown = String::from_utf8_lossy(text.part(..end));
    let shown = safe(&shown);
    if end == text.len() {
        shown
    } else {
        format!("{shown}…")
    }
}

impl Summary {
    /// The last line.
    pub(crate) fn text(&self, written: bool) -> String {
        let files = |count: usize| {
            if count == 1 {
                "1 file".to_owned()
            } else {
                format!("{count} files")
            }
        };
        let codes = if self.codes == 1 {
            "1 code".to_owned()
        } else {
            format!("{} codes", self.codes)
        };
        let looked = files(self.looked_at);
        match (self.codes, written) {
            (0, _) => format!("tapewright: {looked} looked at, nothing to change\n"),
            (_, true) => format!(
                "tapewright: {looked} looked at, {codes} changed in {}\n",
                files(self.files)
            ),
            (_, false) => format!(
                "tapewright: {looked} looked at, {codes} to change in {}; `--write` changes them\n",
                files(self.files)
            ),
        }
    }
}
