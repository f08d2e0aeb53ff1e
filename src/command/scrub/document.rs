//! Scrubs a cassette or a capture, a few exchanges at a time if it is formatted as ours are.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Seek as _, Write};
use std::path::Path;
use std::sync::Arc;

use tapewright_schemas::recording::Document;
use tapewright_schemas::redact::{Redactor, Rules};
use tapewright_schemas::scrub::stream::{self, StreamError};
use tapewright_schemas::scrub::{self, FoundSecret};

use super::draft::{Again, Draft};
use super::{BUFFER, Found, Place};
use crate::files::{NewFile, spool, unreadable};
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
    let mut redactor = Redactor::new(Arc::clone(rules));
    // It is read once for checking, and up to twice in each of two passes.
    let length = file.metadata().map_err(io)?.len();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let work = RefCell::new(Work::new(length.saturating_mul(5), name.into_owned()));
    // A secret in front of its name is found by the second reading.
    let mut first = Redactor::new(Arc::clone(rules));
    let mut draft = Draft::new(path, &file);
    let mut keep = |text: &[u8], is_same| {
        if check {
            return Ok(());
        }
        draft.keep(text, is_same)
    };
    let text = Counted::new(&file, &work);
    let checked = stream::check(text, &mut redactor, &mut first, &mut keep);
    let checked = draft.checked(checked)?;
    let document = Text {
        file: &file,
        work: &work,
        beside: !checked.is_plain,
    };
    let is_clean = if checked.is_plain {
        checked.is_clean
    } else {
        first = Redactor::new(Arc::clone(rules));
        (&file).rewind()?;
        !document.both(&mut first, &mut io::sink(), None)?
    };
    if is_clean {
        return Ok(Found::default());
    }
    redactor.learn_from(&first);
    (&file).rewind()?;
    if check {
        return document.places(&mut redactor, rules);
    }
    match draft.finish(&checked) {
        Some(new) => document.confirm(Again::new(new, &checked)?, &first, &mut redactor),
        None => document.rewrite(path, &mut redactor),
    }
}

/// The text of a document, and how much of it was read.
struct Text<'t> {
    file: &'t File,
    work: &'t RefCell<Work>,
    // Whether there is anything next to its messages.
    beside: bool,
}

impl Text<'_> {
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

    /// Replaces the file by its new text.
    fn rewrite(&self, path: &Path, redactor: &mut Redactor) -> anyhow::Result<Found> {
        let mut new = NewFile::create(path)?;
        let mut out = BufWriter::with_capacity(BUFFER, new.writer());
        let changed = self.both(redactor, &mut out, None)?;
        out.flush()?;
        drop(out);
        if changed {
            return self.commit(new, redactor);
        }
        Ok(Found {
            counts: redactor.counts().clone(),
            ..Found::default()
        })
    }

    /// Gives the new text the name of the file.
    fn commit(&self, new: NewFile, redactor: &Redactor) -> anyhow::Result<Found> {
        new.commit(Some(self.file.metadata()?.permissions()))?;
        Ok(Found {
            any: true,
            counts: redactor.counts().clone(),
            ..Found::default()
        })
    }

    /// Replaces the file by the text that the first reading has written, or by that of a second
    /// reading where it differs.
    fn confirm(
        &self,
        mut again: Again<'_>,
        first: &Redactor,
        redactor: &mut Redactor,
    ) -> anyhow::Result<Found> {
        let text = Counted::new(self.file, self.work);
        stream::within_until(redactor, text, &mut |text, redactor, length| {
            again.take(text, redactor, length)
        })?;
        let (new, differs) = again.finish();
        self.commit(new, if differs { redactor } else { first })
    }

    /// Reads the parts next to messages, if any, then everything. Returns whether anything changed.
    fn both(
        &self,
        redactor: &mut Redactor,
        out: &mut dyn Write,
        mut place: Option<&mut dyn FnMut(FoundSecret)>,
    ) -> anyhow::Result<bool> {
        let mut write = |text: &[u8], _| out.write_all(text);
        if !self.beside {
            let text = Counted::new(self.file, self.work);
            return Ok(stream::within(redactor, text, &mut write, place)?);
        }
        let mut between = Between {
            file: self.file,
            same: 0,
            spool: None,
        };
        let mut keep = |text: &[u8], same| between.keep(text, same);
        let text = Counted::new(self.file, self.work);
        let mut tell = |found| {
            if let Some(place) = &mut place {
                place(found);
            }
        };
        let beside = stream::beside(redactor, text, &mut keep, &mut tell)?;
        let spool = between.spool.map(BufWriter::into_inner).transpose();
        let spool = spool.map_err(io::IntoInnerError::into_error)?;
        let mut text = spool.as_ref().unwrap_or(self.file);
        text.rewind()?;
        let text = Counted::new(text, self.work);
        Ok(stream::within(redactor, text, &mut write, place)? || beside)
    }
}

/// The text between the two readings: the file as long as nothing changes, a spool from then on.
struct Between<'f> {
    file: &'f File,
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
        let mut file = self.file;
        let here = file.stream_position()?;
        file.rewind()?;
        io::copy(&mut file.take(self.same), &mut spool)?;
        file.seek(io::SeekFrom::Start(here))?;
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
        return Err(unreadable(path, &error.to_string(), error.hint()));
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
        stream::check(text.as_bytes(), &mut second, &mut first, &mut |_, _| Ok(())).unwrap();
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
