//! Scrubs a cassette or a capture, a few exchanges at a time if it is formatted as ours are.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use tapewright_schemas::recording::Document;
use tapewright_schemas::redact::{Redactor, Rules};
use tapewright_schemas::scrub::stream::{self, Checker, NewText, Run, Runs, StreamError};
use tapewright_schemas::scrub::{self, FoundSecret};

use super::ahead::{self, Part, Source};
use super::draft::{Again, Draft, Taught};
use super::{BUFFER, Found, Place};
use crate::files::{NewFile, no_recording, spool, unreadable};
use crate::report::progress::{Counted, Work};

/// Scrubs one file, or with `check` only reports its secrets.
pub(super) fn scrub(path: &Path, rules: &Arc<Rules>, check: bool) -> anyhow::Result<Found> {
    match streamed(path, rules, check) {
        Ok(found) => Ok(found),
        Err(error) if matches!(error.downcast_ref(), Some(StreamError::Whole)) => {
            whole(path, rules, check)
        }
        Err(error) => match error.downcast::<StreamError>() {
            Ok(error) => Err(unreadable(path, &error.to_string(), HINT)),
            Err(error) => Err(error),
        },
    }
}

fn streamed(path: &Path, rules: &Arc<Rules>, check: bool) -> anyhow::Result<Found> {
    let io = |error: io::Error| unreadable(path, &error.to_string(), HINT);
    let file = File::open(path).map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let source = Source::new(file);
    let mut text = Text {
        source: &source,
        // It is read once for checking, and up to twice in each of two passes.
        work: RefCell::new(Work::new(metadata.len().saturating_mul(5), name.into())),
        beside: false,
    };
    let mut draft = (!check).then(|| Draft::new(path, &source));
    let checked = text.check(rules, draft.as_mut())?;
    let Checked {
        is_plain,
        is_clean,
        taught,
        mut first,
        mut redactor,
    } = checked;
    text.beside = !is_plain;
    let is_clean = if is_plain {
        is_clean
    } else {
        first = Redactor::new(Arc::clone(rules));
        !text.both(&mut first, &mut io::sink(), None)?
    };
    if is_clean {
        return Ok(Found::default());
    }
    redactor.learn_from(&first);
    let Some(draft) = draft else {
        return text.places(&mut redactor, rules);
    };
    let mut again = draft.again(&taught, &redactor, is_plain)?;
    let changed = if again.is_certain() {
        true
    } else if is_plain {
        text.confirm(&mut redactor, &mut again)?
    } else {
        text.rewrite(&mut redactor, &mut again)?
    };
    let (new, differs) = again.finish();
    let counts = if differs { &redactor } else { &first }.counts().clone();
    if changed {
        // Windows replaces no file that is open.
        drop(source);
        new.commit(Some(metadata.permissions()))?;
    }
    Ok(Found {
        any: changed,
        counts,
        ..Found::default()
    })
}

/// The text of a document, and how much of it was read.
struct Text<'t> {
    source: &'t Source,
    work: RefCell<Work>,
    // Whether there is anything next to its messages.
    beside: bool,
}

/// The result of the first reading.
struct Checked {
    // It consists of messages only.
    is_plain: bool,
    // It contains no secrets, if it is plain.
    is_clean: bool,
    taught: Taught,
    first: Redactor,
    // For the second reading.
    redactor: Redactor,
}

impl Part for Run {
    fn length(&self) -> usize {
        self.text().len()
    }
}

impl Text<'_> {
    /// Calls `check` in another thread and `take` here for all of it, until `take` has enough, which
    /// also gets the length up to there.
    fn each(
        &self,
        mut check: impl FnMut(&Run) -> Result<(), StreamError> + Send,
        mut take: impl FnMut(&Run, u64) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        self.source.seek(0)?;
        let mut runs = Runs::new(self.source);
        let mut length = 0;
        ahead::each(
            |run: &mut Run| {
                let more = runs.read(run)?;
                if more {
                    check(run)?;
                }
                Ok(more)
            },
            |run| {
                self.work.borrow_mut().read(run.length());
                length += run.length() as u64;
                take(run, length)
            },
        )
    }

    /// Validates it. In the same reading it is scrubbed and given to `draft`, as long as it consists
    /// of messages only.
    fn check(
        &self,
        rules: &Arc<Rules>,
        mut draft: Option<&mut Draft<'_>>,
    ) -> anyhow::Result<Checked> {
        let mut redactor = Redactor::new(Arc::clone(rules));
        // A secret in front of its name is found by the second reading.
        let mut first = Redactor::new(Arc::clone(rules));
        let mut taught = Taught::new(&first);
        let (mut is_plain, mut is_clean) = (true, true);
        let mut checker = Checker::default();
        self.each(
            |run| {
                redactor.adopt(run.text());
                checker.check(run)
            },
            |run, length| {
                is_plain &= run.is_plain();
                if !is_plain {
                    return Ok(false);
                }
                let new = run.scrubbed(&mut first)?;
                is_clean &= new.is_none();
                // After it has forgotten a secret, a second reading cannot be compared.
                if let Some(draft) = draft.as_mut().filter(|_| taught.standing.is_some()) {
                    let text = new.as_ref().map_or(run.text(), NewText::text);
                    draft.keep(text, new.is_none())?;
                }
                taught.read(&first, length);
                Ok(false)
            },
        )?;
        checker.finish()?;
        Ok(Checked {
            is_plain,
            is_clean,
            taught,
            first,
            redactor,
        })
    }

    /// Finds the secrets.
    fn places(&self, redactor: &mut Redactor, rules: &Arc<Rules>) -> anyhow::Result<Found> {
        let mut found = Found::default();
        // A member's name may be a secret, and is part of the place.
        let mut names = Redactor::new(Arc::clone(rules));
        let mut place = |place: FoundSecret| found.place(true, || shown(&mut names, place));
        let changed = self.both(redactor, &mut io::sink(), Some(&mut place))?;
        found.counts.clone_from(redactor.counts());
        if changed && !found.any {
            for kind in redactor.counts().keys() {
                found.place(true, || (Place::Pointer(String::new()), kind.clone()));
            }
        }
        Ok(found)
    }

    /// Reads it for the second time, if it consists of messages only. Returns whether anything
    /// changed.
    fn confirm(&self, redactor: &mut Redactor, again: &mut Again<'_>) -> anyhow::Result<bool> {
        let mut changed = false;
        self.each(
            |_| Ok(()),
            |run, length| {
                let new = run.scrubbed(redactor)?;
                changed |= new.is_some();
                let text = new.as_ref().map_or(run.text(), NewText::text);
                let is_enough = again.take(text, redactor, length)?;
                // What follows changes as it did in the first reading.
                changed |= is_enough;
                Ok(is_enough)
            },
        )?;
        Ok(changed)
    }

    /// Writes its new text. Returns whether anything changed.
    fn rewrite(&self, redactor: &mut Redactor, again: &mut Again<'_>) -> anyhow::Result<bool> {
        let mut out = BufWriter::with_capacity(BUFFER, again.writer());
        let changed = self.both(redactor, &mut out, None)?;
        out.flush()?;
        Ok(changed)
    }

    /// Reads the parts next to messages, if any, then everything. Returns whether anything changed.
    fn both(
        &self,
        redactor: &mut Redactor,
        out: &mut dyn Write,
        mut place: Option<&mut dyn FnMut(FoundSecret)>,
    ) -> anyhow::Result<bool> {
        let mut write = |text: &[u8], _| out.write_all(text);
        self.source.seek(0)?;
        let text = Counted::new(self.source, &self.work);
        if !self.beside {
            return Ok(stream::within(redactor, text, &mut write, place)?);
        }
        let mut between = Between {
            source: self.source,
            same: 0,
            spool: None,
        };
        let mut keep = |text: &[u8], same| between.keep(text, same);
        let mut tell = |found| {
            if let Some(place) = &mut place {
                place(found);
            }
        };
        let beside = stream::beside(redactor, text, &mut keep, &mut tell)?;
        let spool = between.spool.map(BufWriter::into_inner).transpose();
        let spool = spool.map_err(io::IntoInnerError::into_error)?;
        let spool = spool.map(Source::new);
        let text = spool.as_ref().unwrap_or(self.source);
        text.seek(0)?;
        let text = Counted::new(text, &self.work);
        Ok(stream::within(redactor, text, &mut write, place)? || beside)
    }
}

/// The text between the two readings: the file as long as nothing changes, a spool from then on.
struct Between<'f> {
    source: &'f Source,
    // The length of the unchanged beginning.
    same: u64,
    spool: Option<BufWriter<File>>,
}

impl Between<'_> {
    fn keep(&mut self, text: &[u8], same: bool) -> io::Result<()> {
        if self.spool.is_none() && same {
            self.same += text.len() as u64;
            return Ok(());
        }
        if self.spool.is_none() {
            self.spool = Some(self.begin()?);
        }
        self.spool
            .as_mut()
            .map_or(Ok(()), |spool| spool.write_all(text))
    }

    /// A spool that begins with the unchanged part.
    fn begin(&self) -> io::Result<BufWriter<File>> {
        let mut spool = BufWriter::with_capacity(BUFFER, spool().map_err(io::Error::other)?);
        self.source.copy_front(self.same, &mut spool)?;
        Ok(spool)
    }
}

/// A place for display. A member's name may be a secret.
fn shown(names: &mut Redactor, place: FoundSecret) -> (Place, String) {
    let pointer = names.text(place.pointer.as_bytes());
    let pointer = String::from_utf8_lossy(&pointer).into_owned();
    (Place::Pointer(pointer), place.kind)
}

fn whole(path: &Path, rules: &Arc<Rules>, check: bool) -> anyhow::Result<Found> {
    let io = |error: io::Error| unreadable(path, &error.to_string(), HINT);
    let text = fs::read(path).map_err(io)?;
    if let Err(error) = Document::read(text.clone()) {
        return Err(no_recording(path, &error));
    }
    let mut redactor = Redactor::new(Arc::clone(rules));
    redactor.adopt(&text);
    // A secret in front of its name is found by the second reading.
    let mut first = Redactor::new(Arc::clone(rules));
    if scrub::document(&mut first, &text).is_ok() {
        redactor.learn_from(&first);
    }
    let (scrubbed, places) = scrub::document(&mut redactor, &text).map_err(|error| {
        let hint = "write it without a byte order mark";
        unreadable(path, &error.to_string(), hint)
    })?;
    let mut names = Redactor::new(Arc::clone(rules));
    let mut found = Found {
        counts: redactor.counts().clone(),
        ..Found::default()
    };
    for place in places {
        found.place(check, || shown(&mut names, place));
    }
    if !check && *scrubbed != *text {
        let permissions = fs::metadata(path).map_err(io)?.permissions();
        let mut new = NewFile::create(path)?;
        new.writer().write_all(&scrubbed)?;
        new.commit(Some(permissions))?;
    }
    Ok(found)
}

const HINT: &str = "give a tape, cassette or capture";

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tapewright_schemas::redact::Settings;

    use super::*;

    /// A document by two whole readings, and how often each kind was replaced.
    fn twice(text: &str, rules: &Arc<Rules>) -> (Vec<u8>, BTreeMap<String, u64>) {
        let redactor = || Redactor::new(Arc::clone(rules));
        let (mut first, mut second, mut new) = (redactor(), redactor(), Vec::new());
        second.adopt(text.as_bytes());
        stream::within(&mut first, text.as_bytes(), &mut |_, _| Ok(()), None).unwrap();
        second.learn_from(&first);
        let mut write = |text: &[u8], _| new.write_all(text);
        stream::within(&mut second, text.as_bytes(), &mut write, None).unwrap();
        let counts = second.counts().clone();
        (new, counts)
    }

    #[test]
    fn one_reading_gives_what_two_give() {
        let exchange = |text: &str| {
            format!(
                r#"{{"request":{{"id":1,"method":"x","params":{text}}},"response":{{"id":1}}}}"#
            )
        };
        // Longer than what is read at once.
        let long = exchange(&format!("{:?}", "x".repeat(300_000)));
        let many: Vec<_> = (0..300)
            .map(|at| exchange(&format!(r#"{{"password":"s3cr3t-v4lue-{at:04}x"}}"#)))
            .collect();
        let parts = [
            exchange(r#"{"text":"it is Tr0ub4dor&3x here, and s3cr3t-v4lue-0002x"}"#),
            long.clone(),
            exchange(r#"{"password":"Tr0ub4dor&3x"}"#),
            exchange(r#"{"text":"ghp_abcdefghijklmnopqrstuvwxyz0123456789"}"#),
            long,
            exchange(r#"{"text":"<REDACTED:password#7> again"}"#),
            many.join(","),
        ];
        let rules = Arc::new(Rules::new(&Settings::default()).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        for from in 0..parts.len() {
            for left_out in [0, 2, 5, 6] {
                let mut parts = parts.clone().map(Some);
                parts[left_out] = None;
                parts.rotate_left(from);
                let list: Vec<_> = parts.into_iter().flatten().collect();
                let text = format!(r#"{{"version":"1","exchanges":[{}]}}"#, list.join(",\n"));
                fs::write(&path, &text).unwrap();
                let found = scrub(&path, &rules, false).unwrap();
                let (wanted, counts) = twice(&text, &rules);
                assert_eq!(found.counts, counts);
                assert!(fs::read(&path).unwrap() == wanted, "{from} {left_out}");
            }
        }
    }
}
