//! What `show` says: a conversation line by line.

mod json;
mod line;
mod lines;

use std::io::{self, IsTerminal as _, Write};

use tapewright_schemas::conversation::ExchangeRow;
use tapewright_schemas::event::Offset;
use tapewright_schemas::listing::{Body, Counts, Entry, Note, Told};
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::tape::Ending;

use super::body::{self, Look};
use super::figures::{duration, plural, size};
use super::terminal::has_colours;
use super::{in_place, safe};

/// How a conversation is shown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// As JSON, one line for each.
    pub(crate) json: bool,
    /// With what was said.
    pub(crate) full: bool,
    /// Every one of several files is named.
    pub(crate) named: bool,
}

/// Writes a conversation line by line.
#[derive(Debug)]
pub(crate) struct Shown<W: Write> {
    out: io::BufWriter<W>,
    style: Style,
    look: Look,
    lines: u64,
    file: String,
    /// Whether the session of a line is told.
    sessions: bool,
    first: Option<u32>,
}

/// What is said of a recording once all of it was shown.
#[derive(Debug)]
pub(crate) struct Closing<'c> {
    pub(crate) kind: FileKind,
    pub(crate) timed: bool,
    pub(crate) counts: Counts,
    pub(crate) ending: &'c Ending,
    /// The process that still writes it.
    pub(crate) written_by: Option<u32>,
    /// A filter left something out.
    pub(crate) filtered: bool,
    /// A filter asks for times.
    pub(crate) wants_times: bool,
}

/// So many lines are written at once, for whoever looks at the beginning.
const AT_ONCE: u64 = 200;

/// One line without colours, and with its session.
pub(crate) fn plain(entry: &Entry) -> String {
    match entry {
        Entry::Exchange { row, .. } => exchange(row),
        Entry::Beside(note) => lines::note(note, Some(note.session), false),
    }
}

/// The line of an exchange, in the same way.
pub(crate) fn exchange(row: &ExchangeRow) -> String {
    line::exchange(row, Some(row.session), false)
}

impl<W: Write> Shown<W> {
    /// Nothing yet; `sessions` says whether there are several.
    pub(crate) fn new(out: W, style: Style) -> Self {
        let look = Look {
            colour: has_colours(),
            folded: io::stdout().is_terminal(),
            indent: 4,
        };
        Self {
            out: io::BufWriter::with_capacity(64 << 10, out),
            style,
            look,
            lines: 0,
            file: String::new(),
            sessions: false,
            first: None,
        }
    }

    /// Another recording begins; `http` where it holds several sessions.
    pub(crate) fn begin(&mut self, file: &str, http: bool) -> io::Result<()> {
        file.clone_into(&mut self.file);
        (self.sessions, self.first) = (http, None);
        if self.style.named && !self.style.json {
            let gap = if self.lines > 0 { "\n" } else { "" };
            writeln!(self.out, "{gap}{}", safe(file))?;
            self.lines += 1;
        }
        Ok(())
    }

    /// One line.
    pub(crate) fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        if self.style.json {
            let file = self.style.named.then_some(self.file.as_str());
            let line = json::line(entry, file, self.style.full)?;
            writeln!(self.out, "{line}")?;
        } else {
            self.text(entry)?;
        }
        self.lines += 1;
        if self.lines < AT_ONCE {
            self.out.flush()?;
        }
        Ok(())
    }

    fn text(&mut self, entry: &Entry) -> io::Result<()> {
        let session = match entry {
            Entry::Exchange { row, .. } => row.session,
            Entry::Beside(note) => note.session,
        };
        self.sessions |= *self.first.get_or_insert(session) != session;
        let session = self.sessions.then_some(session);
        match entry {
            Entry::Exchange {
                row,
                request,
                answer,
            } => {
                let line = line::exchange(row, session, self.look.colour);
                writeln!(self.out, "{line}")?;
                if self.style.full {
                    self.said("request", request)?;
                    self.said("answer", answer)?;
                }
            }
            Entry::Beside(note) => self.beside(note, session)?,
        }
        Ok(())
    }

    fn beside(&mut self, note: &Note, session: Option<u32>) -> io::Result<()> {
        let line = lines::note(note, session, self.look.colour);
        writeln!(self.out, "{line}")?;
        if let Told::Message(body) = &note.told
            && self.style.full
        {
            self.said("message", body)?;
        }
        Ok(())
    }

    fn said(&mut self, what: &str, body: &Body) -> io::Result<()> {
        match body {
            Body::Unwanted => Ok(()),
            Body::NoRoom => writeln!(
                self.out,
                "    {what}: too much was open at once to keep it; ask for it alone with `--id`"
            ),
            Body::Text(text) => {
                let text = body::text(text, self.look);
                write!(self.out, "{text}")
            }
        }
    }

    /// Whether programs read it.
    pub(crate) fn is_for_programs(&self) -> bool {
        self.style.json
    }

    /// A recording ends.
    pub(crate) fn end(&mut self, closing: &Closing<'_>) -> io::Result<()> {
        if !self.style.json {
            let gap = if closing.counts.shown + closing.counts.beside > 0 {
                "\n"
            } else {
                ""
            };
            writeln!(self.out, "{gap}{}", closing.text())?;
        }
        self.out.flush()
    }
}

impl Closing<'_> {
    /// Whether something is missing, or may be.
    pub(crate) fn is_incomplete(&self) -> bool {
        let cut = matches!(self.ending, Ending::CutShort { .. });
        cut || self.counts.gaps.iter().any(|one| *one > 0)
    }

    /// How much there was, and what is not known.
    pub(crate) fn text(&self) -> String {
        let Counts {
            exchanges,
            shown,
            beside,
            ..
        } = self.counts;
        let mut all = vec![format!("{exchanges} {}", plural(exchanges, "exchange"))];
        if self.filtered {
            let beside = match beside {
                0 => String::new(),
                count => format!(" and {count} other {}", plural(count, "line")),
            };
            all.push(format!("{shown}{beside} shown"));
        }
        all.extend(self.troubles());
        let mut text = all.join(", ");
        for one in self.unknown() {
            text.push_str("; ");
            text.push_str(&one);
        }
        text
    }

    fn troubles(&self) -> Vec<String> {
        let Counts {
            unanswered,
            cancelled,
            clipped,
            gaps,
            ..
        } = self.counts;
        let mut all = Vec::new();
        let never = unanswered.saturating_sub(cancelled);
        if never > 0 {
            all.push(format!("{never} never answered"));
        }
        if cancelled > 0 {
            all.push(format!("{cancelled} cancelled"));
        }
        if clipped > 0 {
            all.push(format!("{clipped} {} clipped", plural(clipped, "message")));
        }
        let [count, events, bytes] = gaps;
        if count > 0 {
            let (word, what) = (plural(count, "gap"), plural(events, "event"));
            let bytes = size(bytes);
            all.push(format!(
                "{count} {word}: {events} {what} and {bytes} are missing"
            ));
        }
        all
    }

    fn unknown(&self) -> Vec<String> {
        let mut all = Vec::new();
        match (self.written_by, self.ending) {
            (Some(process), _) => all.push(format!(
                "process {process} still writes this tape: this is what is there so far"
            )),
            (None, Ending::CutShort { last_seq, .. }) => {
                let at = duration(Offset(self.counts.last.0).millis());
                all.push(format!(
                    "the tape breaks off after event {last_seq} at {at}"
                ));
            }
            (None, Ending::Footer(footer)) => {
                let detail = footer.detail.as_deref();
                all.extend(
                    footer
                        .why
                        .map(|why| format!("incomplete: {}", in_place::lost(why, detail))),
                );
            }
            _ => {}
        }
        let lacks = match self.kind {
            FileKind::Tape => None,
            FileKind::Cassette if self.timed => Some("standard error, faults or findings"),
            FileKind::Cassette => Some("times, standard error, faults or findings"),
            FileKind::Capture => Some("times, standard error, HTTP heads, faults or findings"),
        };
        all.extend(lacks.map(|lacks| format!("a {} holds no {lacks}", self.kind.name())));
        if self.wants_times && !self.timed {
            all.push("`slow:` finds nothing without times".to_owned());
        }
        all
    }
}
