//! Scrubs a tape.
//!
//! A secret may occur in front of the name that identifies it, so a tape is read twice: first to
//! learn its secrets and its placeholders, then to replace them. The first reading writes already.
//! Usually the second one would write the same: this is certain once it has written the same up to
//! the last line that taught anything, and has the same state there. Then it ends.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use tapewright_schemas::redact::{Redactor, Rules, Standing};
use tapewright_schemas::scrub::TapeScrubber;

use super::{BUFFER, Found, Place};
use crate::files::NewFile;
use crate::report::progress::Work;

/// Scrubs one file, which is open at its start, or with `check` only reports its secrets.
pub(super) fn scrub(
    path: &Path,
    file: BufReader<File>,
    rules: &Arc<Rules>,
    check: bool,
) -> anyhow::Result<Found> {
    let metadata = file.get_ref().metadata()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut tape = Tape {
        lines: Lines {
            file,
            line: Vec::new(),
            next: 0,
            // It is read twice.
            work: Work::new(metadata.len().saturating_mul(2), name.into_owned()),
        },
        rules,
        check,
    };
    if check {
        return tape.scrub_at_once(&mut io::sink());
    }
    let mut new = NewFile::create(path)?;
    let found = if new.is_regular() {
        tape.scrub(new.writer())?
    } else {
        tape.scrub_at_once(new.writer())?
    };
    if found.any() {
        new.commit(Some(metadata.permissions()))?;
    }
    Ok(found)
}

/// A tape that is being scrubbed.
struct Tape<'r> {
    lines: Lines,
    rules: &'r Arc<Rules>,
    check: bool,
}

/// The lines of a tape.
struct Lines {
    file: BufReader<File>,
    // The current one, with its line feed.
    line: Vec<u8>,
    // Where the next one begins.
    next: u64,
    work: Work,
}

impl Lines {
    /// Reads the next line; returns whether there is one.
    fn read(&mut self) -> io::Result<bool> {
        self.line.clear();
        let length = self.file.read_until(b'\n', &mut self.line)?;
        self.next += length as u64;
        self.work.read(length);
        Ok(length > 0)
    }

    /// The current line without and with its line feed.
    fn content(&self) -> (&[u8], &[u8]) {
        match self.line.split_last() {
            Some((b'\n', content)) => (content, b"\n"),
            _ => (&self.line, b""),
        }
    }

    fn rewind(&mut self) -> io::Result<()> {
        self.next = 0;
        self.file.rewind()
    }

    /// Copies everything before the current line.
    fn copy_before(&mut self, out: &mut impl Write) -> io::Result<()> {
        let before = self.next - self.line.len() as u64;
        self.file.rewind()?;
        io::copy(&mut (&mut self.file).take(before), out)?;
        self.file.seek(SeekFrom::Start(self.next))?;
        Ok(())
    }
}

/// One reading of a tape.
struct Reading {
    scrubber: TapeScrubber,
    found: Found,
    number: u64,
    check: bool,
}

impl Reading {
    fn new(redactor: Redactor, check: bool) -> Self {
        Self {
            scrubber: TapeScrubber::new(redactor),
            found: Found::default(),
            number: 0,
            check,
        }
    }

    /// Scrubs the next line, without its line feed.
    fn line<'l>(&mut self, content: &'l [u8]) -> Cow<'l, [u8]> {
        self.number += 1;
        match self.scrubber.line(content) {
            Cow::Owned(clean) if clean != content => {
                self.replaced();
                Cow::Owned(clean)
            }
            _ => Cow::Borrowed(content),
        }
    }

    /// Notes what was replaced in the last line.
    fn replaced(&mut self) {
        let Self { found, number, .. } = self;
        let mut is_known = false;
        for (kind, count) in self.scrubber.redactor().counts() {
            if found.counts.get(kind) == Some(count) {
                continue;
            }
            is_known = true;
            match found.counts.get_mut(kind) {
                Some(known) => *known = *count,
                None => drop(found.counts.insert(kind.clone(), *count)),
            }
            found.place(self.check, || (Place::Line(*number), kind.clone()));
        }
        if !is_known {
            found.place(self.check, || (Place::Line(*number), "secret".to_owned()));
        }
    }

    fn standing(&self) -> Option<Standing> {
        self.scrubber.redactor().standing()
    }
}

/// The result of the first reading.
struct First {
    found: Found,
    // For the second reading.
    redactor: Redactor,
    taught: Taught,
}

/// The length of a tape up to the last line that taught a secret, and the state there; without a
/// state, the text of the first reading is not complete.
struct Taught {
    length: u64,
    standing: Option<Standing>,
}

impl Tape<'_> {
    /// Scrubs into something that cannot be read again.
    fn scrub_at_once(&mut self, out: &mut impl Write) -> anyhow::Result<Found> {
        let first = self.first(&mut io::sink())?;
        if !first.found.any() {
            return Ok(first.found);
        }
        self.lines.rewind()?;
        self.rest(Reading::new(first.redactor, self.check), out)
    }

    /// Scrubs into an empty file.
    fn scrub(&mut self, new: &mut File) -> anyhow::Result<Found> {
        let mut out = BufWriter::with_capacity(BUFFER, &mut *new);
        let First {
            found,
            redactor,
            taught,
        } = self.first(&mut out)?;
        out.flush()?;
        drop(out);
        if !found.any() {
            return Ok(found);
        }
        let mut again = Reading::new(redactor, self.check);
        self.lines.rewind()?;
        let Some((same, next)) = self.compare(&taught, &mut again, new)? else {
            return Ok(found);
        };
        new.set_len(same)?;
        new.seek(SeekFrom::Start(same))?;
        new.write_all(&next)?;
        self.rest(again, new)
    }

    /// Reads a tape for the first time, and writes its new text to `out` if there is anything to
    /// replace.
    fn first(&mut self, out: &mut impl Write) -> io::Result<First> {
        let lines = &mut self.lines;
        let mut reading = Reading::new(Redactor::new(Arc::clone(self.rules)), false);
        let mut redactor = Redactor::new(Arc::clone(self.rules));
        let mut taught = Taught {
            length: 0,
            standing: reading.standing(),
        };
        let mut learned = 0;
        while lines.read()? {
            let (content, feed) = lines.content();
            redactor.adopt(content);
            let was_clean = !reading.found.any();
            let clean = reading.line(content);
            if taught.standing.is_none() {
                // It has forgotten a secret, and a second reading cannot be compared.
            } else if was_clean && reading.found.any() {
                let clean = [&*clean, feed].concat();
                lines.copy_before(out)?;
                out.write_all(&clean)?;
            } else if !was_clean {
                out.write_all(&clean)?;
                out.write_all(feed)?;
            }
            let now = reading.scrubber.redactor().learned();
            if std::mem::replace(&mut learned, now) != now {
                taught.length = lines.next;
                taught.standing = reading.standing();
            }
        }
        redactor.learn_from(reading.scrubber.redactor());
        Ok(First {
            found: reading.found,
            redactor,
            taught,
        })
    }

    /// Reads a tape for the second time until it is certain that it gives what the first reading
    /// has written: then there is `None`. Otherwise the length that is the same, and what follows.
    fn compare(
        &mut self,
        taught: &Taught,
        again: &mut Reading,
        written: &mut File,
    ) -> io::Result<Option<(u64, Vec<u8>)>> {
        if taught.standing.is_none() {
            return Ok(Some((0, Vec::new())));
        }
        written.rewind()?;
        let mut written = BufReader::with_capacity(BUFFER, written);
        let (mut old, mut new) = (Vec::new(), Vec::new());
        let mut same = 0;
        while self.lines.next < taught.length && self.lines.read()? {
            let (content, feed) = self.lines.content();
            new.clear();
            new.extend_from_slice(&again.line(content));
            new.extend_from_slice(feed);
            old.resize(new.len(), 0);
            if written.read_exact(&mut old).is_err() || old != new {
                return Ok(Some((same, new)));
            }
            same += new.len() as u64;
        }
        let is_same = again.standing() == taught.standing;
        Ok((!is_same).then(|| (same, Vec::new())))
    }

    /// Writes what is left of the second reading.
    fn rest(&mut self, mut reading: Reading, out: &mut impl Write) -> anyhow::Result<Found> {
        let mut out = BufWriter::with_capacity(BUFFER, out);
        while self.lines.read()? {
            let (content, feed) = self.lines.content();
            out.write_all(&reading.line(content))?;
            out.write_all(feed)?;
        }
        out.flush()?;
        Ok(reading.found)
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
        let file = BufReader::new(File::open(&path).unwrap());
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
        ];
        for from in 0..parts.len() {
            for left_out in 0..parts.len() {
                let mut tape = parts.clone();
                tape.rotate_left(from);
                tape[left_out].clear();
                let tape = tape.concat();
                assert_eq!(scrubbed(&tape), twice(&tape), "{from} {left_out}");
            }
        }
    }
}
