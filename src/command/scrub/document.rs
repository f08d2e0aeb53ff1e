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
    let permissions = file.metadata().map_err(io)?.permissions();
    let mut redactor = Redactor::new(Arc::clone(rules));
    // It is read once for checking, and up to twice in each of two passes.
    let length = file.metadata().map_err(io)?.len();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let work = RefCell::new(Work::new(length.saturating_mul(5), name.into_owned()));
    // A secret in front of its name is found by the second reading.
    let mut first = Redactor::new(Arc::clone(rules));
    let checked = stream::check(Counted::new(&file, &work), &mut redactor, &mut first)?;
    let mut found = Found::default();
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
        return Ok(found);
    }
    redactor.learn_from(&first);
    (&file).rewind()?;
    let changed = if check {
        // A member's name may be a secret, and is part of the place.
        let mut names = Redactor::new(Arc::clone(rules));
        let mut place = |place: FoundSecret| found.place(check, || shown(&mut names, place));
        document.both(&mut redactor, &mut io::sink(), Some(&mut place))?
    } else {
        let mut new = NewFile::create(path)?;
        let mut out = BufWriter::with_capacity(BUFFER, new.writer());
        let changed = document.both(&mut redactor, &mut out, None)?;
        found.any |= changed;
        out.flush()?;
        drop(out);
        if changed {
            new.commit(Some(permissions))?;
        }
        changed
    };
    found.counts.clone_from(redactor.counts());
    if changed && !found.any {
        for kind in redactor.counts().keys() {
            found.place(check, || (Place::Pointer(String::new()), kind.clone()));
        }
    }
    Ok(found)
}

/// The text of a document, and how much of it was read.
struct Text<'t> {
    file: &'t File,
    work: &'t RefCell<Work>,
    // Whether there is anything next to its messages.
    beside: bool,
}

impl Text<'_> {
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
