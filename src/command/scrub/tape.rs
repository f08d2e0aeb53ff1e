//! Scrubs a tape.
//!
//! A secret may occur in front of the name that identifies it, so a tape is read twice: first to
//! learn its secrets and its placeholders, then to replace them. The first reading writes already.
//! Usually the second one would write the same: this is certain once it has written the same up to
//! the last line that taught anything, and has the same state there. Then it ends.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use tapewright_schemas::redact::{Redactor, Rules};
use tapewright_schemas::scrub::{LineReader, Lines, TapeScrubber};

use super::ahead::{self, Part, Source};
use super::draft::{Draft, Taught};
use super::{Found, Place};
use crate::report::progress::Work;

/// Scrubs one file, or with `check` only reports its secrets.
pub(super) fn scrub(
    path: &Path,
    file: File,
    rules: &Arc<Rules>,
    check: bool,
) -> anyhow::Result<Found> {
    let metadata = file.metadata()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let source = Source::new(file);
    let mut tape = Tape {
        source: &source,
        // It is read twice.
        work: Work::new(metadata.len().saturating_mul(2), name.into_owned()),
        rules,
    };
    let mut draft = (!check).then(|| Draft::new(path, &source));
    let First {
        found,
        redactor,
        taught,
    } = tape.first(draft.as_mut())?;
    if !found.any {
        return Ok(found);
    }
    let Some(draft) = draft else {
        if taught.is_certain(&redactor) {
            return Ok(found);
        }
        // There may be millions of places.
        drop(found);
        return tape.places(redactor);
    };
    let mut again = draft.again(&taught, &redactor, true)?;
    let mut reading = Reading::new(redactor, false);
    if !again.is_certain() {
        tape.each(
            |_| (),
            |lines, length| {
                reading.lines(lines);
                let redactor = reading.scrubber.redactor();
                Ok(again.take(reading.text(lines), redactor, length)?)
            },
        )?;
    }
    let (new, differs) = again.finish();
    let found = if differs { reading.found() } else { found };
    if found.any {
        // Windows replaces no file that is open.
        drop(source);
        new.commit(Some(metadata.permissions()))?;
    }
    Ok(found)
}

/// A tape that is being scrubbed.
struct Tape<'t> {
    source: &'t Source,
    work: Work,
    rules: &'t Arc<Rules>,
}

/// The result of the first reading.
struct First {
    found: Found,
    // For the second reading.
    redactor: Redactor,
    taught: Taught,
}

impl Tape<'_> {
    /// Calls `read` in another thread and `take` here for all lines, until `take` has enough, which
    /// also gets the length of the tape up to there.
    fn each(
        &mut self,
        mut read: impl FnMut(&Lines) + Send,
        mut take: impl FnMut(&Lines, u64) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        self.source.seek(0)?;
        let mut reader = LineReader::new(self.source);
        let mut length = 0;
        ahead::each(
            |lines: &mut Lines| {
                let more = reader.read(lines)?;
                read(lines);
                Ok(more)
            },
            |lines| {
                self.work.read(lines.length());
                length += lines.length() as u64;
                take(lines, length)
            },
        )
    }

    /// Reads a tape for the first time, and gives its new text to `draft`, or else notes where its
    /// secrets are.
    fn first(&mut self, mut draft: Option<&mut Draft<'_>>) -> anyhow::Result<First> {
        let mut reading = Reading::new(Redactor::new(Arc::clone(self.rules)), draft.is_none());
        let mut redactor = Redactor::new(Arc::clone(self.rules));
        let mut taught = Taught::new(&redactor);
        self.each(
            |lines| redactor.adopt(lines.text()),
            |lines, length| {
                reading.lines(lines);
                // After it has forgotten a secret, a second reading cannot be compared.
                if let Some(draft) = draft.as_mut().filter(|_| taught.standing.is_some()) {
                    draft.keep(reading.text(lines), !reading.changed)?;
                }
                taught.read(reading.scrubber.redactor(), length);
                Ok(false)
            },
        )?;
        redactor.learn_from(reading.scrubber.redactor());
        Ok(First {
            found: reading.found(),
            redactor,
            taught,
        })
    }

    /// Reads a tape for the second time, and notes where its secrets are.
    fn places(&mut self, redactor: Redactor) -> anyhow::Result<Found> {
        let mut reading = Reading::new(redactor, true);
        self.each(
            |_| (),
            |lines, _| {
                reading.lines(lines);
                Ok(false)
            },
        )?;
        Ok(reading.found())
    }
}

impl Part for Lines {
    fn length(&self) -> usize {
        self.text().len()
    }
}

/// One reading of a tape.
struct Reading {
    scrubber: TapeScrubber,
    found: Found,
    // The number of lines before the last ones.
    count: u64,
    // Where secrets are is wanted.
    check: bool,
    // The last lines, if they have changed.
    new: Vec<u8>,
    changed: bool,
}

impl Reading {
    fn new(redactor: Redactor, check: bool) -> Self {
        Self {
            scrubber: TapeScrubber::new(redactor),
            found: Found::default(),
            count: 0,
            check,
            new: Vec::new(),
            changed: false,
        }
    }

    /// Scrubs the next lines.
    fn lines(&mut self, lines: &Lines) {
        self.new.clear();
        let (found, count, check) = (&mut self.found, self.count, self.check);
        self.changed = self
            .scrubber
            .lines(lines, &mut self.new, &mut |index, counts| {
                found.any = true;
                if check {
                    found.in_line(count + index as u64 + 1, counts);
                }
            });
        self.count += lines.count() as u64;
    }

    /// The new text of the last lines.
    fn text<'l>(&'l self, lines: &'l Lines) -> &'l [u8] {
        if self.changed {
            &self.new
        } else {
            lines.text()
        }
    }

    fn found(mut self) -> Found {
        if self.found.any {
            let counts = self.scrubber.redactor().counts();
            self.found.counts.clone_from(counts);
        }
        self.found
    }
}

impl Found {
    /// Notes what was replaced in a line, given how often each kind has been replaced so far.
    fn in_line(&mut self, number: u64, counts: &BTreeMap<String, u64>) {
        let risen = counts
            .iter()
            .filter(|(kind, count)| self.counts.get(*kind) != Some(count));
        let before = self.places.len();
        let places = risen.map(|(kind, _)| (Place::Line(number), kind.clone()));
        self.places.extend(places);
        if self.places.len() == before {
            self.places.push((Place::Line(number), "secret".to_owned()));
        }
        self.counts.clone_from(counts);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tapewright_schemas::redact::Settings;

    use super::*;

    fn rules() -> Arc<Rules> {
        Arc::new(Rules::new(&Settings::default()).unwrap())
    }

    fn message(text: &str) -> String {
        format!("{{\"seq\":1,\"at_us\":1,\"dir\":\"to_server\",\"message\":{text}}}\n")
    }

    /// A tape, scrubbed by two whole readings.
    fn twice(tape: &str) -> String {
        let mut first = TapeScrubber::new(Redactor::new(rules()));
        let mut second = Redactor::new(rules());
        for line in tape.lines() {
            second.adopt(line.as_bytes());
            first.line(line.as_bytes());
        }
        second.learn_from(first.redactor());
        let mut second = TapeScrubber::new(second);
        let lines = tape.split_inclusive('\n').map(|line| {
            let (content, feed) = line
                .strip_suffix('\n')
                .map_or((line, ""), |line| (line, "\n"));
            String::from_utf8(second.line(content.as_bytes()).into_owned()).unwrap() + feed
        });
        lines.collect()
    }

    fn scrubbed(tape: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tape.jsonl");
        fs::write(&path, tape).unwrap();
        let file = File::open(&path).unwrap();
        let found = scrub(&path, file, &rules(), false).unwrap();
        let clean = fs::read_to_string(&path).unwrap();
        assert_eq!(found.any(), clean != tape);
        clean
    }

    #[test]
    fn one_reading_gives_what_two_give() {
        let many: String = (0..300)
            .map(|at| message(&format!("{{\"password\":\"s3cr3t-v4lue-{at:04}x\"}}")))
            .collect();
        let parts = [
            "{\"tape\":\"2.0\"}\n".to_owned(),
            message(r#"{"method":"tools/list"}"#),
            message(r#"{"text":"it is Tr0ub4dor&3x here, and s3cr3t-v4lue-0002x"}"#),
            message(r#"{"password":"Tr0ub4dor&3x"}"#),
            message(r#"{"text":"ghp_abcdefghijklmnopqrstuvwxyz0123456789"}"#),
            message(r#"{"text":"<REDACTED:password#7> again"}"#),
            many,
            message(r#"{"text":"s3cr3t-v4lue-0002x, s3cr3t-v4lue-0299x"}"#),
            "not JSON: password=h4ndle-With-c4re".to_owned(),
            // Longer than what is read at once.
            message(&format!(r#"{{"text":"{}"}}"#, "x".repeat(300_000))),
        ];
        for from in 0..parts.len() {
            for left_out in [0, 3, 6, 9] {
                let mut tape = parts.clone();
                tape.rotate_left(from);
                tape[left_out].clear();
                let tape = tape.concat();
                assert_eq!(scrubbed(&tape), twice(&tape), "{from} {left_out}");
            }
        }
    }
}
