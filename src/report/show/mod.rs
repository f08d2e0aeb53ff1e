//! The output of `show`: a conversation line by line.

mod closing;
mod json;
mod line;
mod lines;
mod model;

use std::io::{self, IsTerminal as _, Write};

use tapewright_schemas::conversation::ExchangeRow;
use tapewright_schemas::listing::{Body, Entry, Note, NoteContent};

use super::body::{self, Look};
use super::safe;
use super::terminal::has_colours;

pub(crate) use self::closing::{Closing, Part};
use self::line::Margin;
pub(crate) use self::line::{RED, YELLOW, moment, outcome, receiver};
pub(crate) use self::lines::said;
pub(crate) use self::model::told as model_told;

/// How to show a conversation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// As lines of JSON.
    pub(crate) json: bool,
    /// With message contents.
    pub(crate) full: bool,
    /// With the name of each file.
    pub(crate) named: bool,
}

/// Writes a conversation line by line.
#[derive(Debug)]
pub(crate) struct Printer<W: Write> {
    out: io::BufWriter<W>,
    style: Style,
    look: Look,
    lines: u64,
    /// The tapes of the recording; otherwise only the one that is shown.
    tapes: Vec<Tape>,
    /// The tape of the next line.
    turn: usize,
    /// The width of their names.
    width: usize,
}

/// One tape.
#[derive(Debug, Default)]
struct Tape {
    name: String,
    file: String,
    /// Whether lines show their session.
    sessions: bool,
    first: Option<u32>,
}

/// How many lines are written at once, so that the first ones appear early.
const AT_ONCE: u64 = 200;

/// One line without colours, with its session.
pub(crate) fn plain(entry: &Entry) -> String {
    match entry {
        Entry::Exchange { row, .. } => exchange(row),
        Entry::Model { row, .. } => model::call(row, &Margin::default()),
        Entry::Beside(note) => lines::note(note, &Margin::of_session(note.session)),
    }
}

/// The line of an exchange, in the same form.
pub(crate) fn exchange(row: &ExchangeRow) -> String {
    line::exchange(row, &Margin::of_session(row.session))
}

impl<W: Write> Printer<W> {
    /// Starts without a recording.
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
            tapes: Vec::new(),
            turn: 0,
            width: 0,
        }
    }

    /// Begins another recording; with `http`, it may have several sessions.
    pub(crate) fn begin(&mut self, file: &str, http: bool) -> io::Result<()> {
        let tapes = vec![(String::new(), file.to_owned(), http)];
        self.begin_whole(file, tapes)
    }

    /// Begins a recording with several tapes: the name of each, its file, and whether it has
    /// several sessions.
    pub(crate) fn begin_whole(
        &mut self,
        named: &str,
        tapes: Vec<(String, String, bool)>,
    ) -> io::Result<()> {
        let tapes = tapes.into_iter().map(|(name, file, sessions)| Tape {
            name,
            file,
            sessions,
            first: None,
        });
        self.tapes = tapes.collect();
        self.turn = 0;
        let widths = self
            .tapes
            .iter()
            .map(|tape| safe(&tape.name).chars().count());
        self.width = widths.max().unwrap_or_default().min(line::PART_CHARS);
        if self.style.named && !self.style.json {
            let gap = if self.lines > 0 { "\n" } else { "" };
            writeln!(self.out, "{gap}{}", safe(named))?;
            self.lines += 1;
        }
        Ok(())
    }

    /// Sets the tape of the next line.
    pub(crate) fn turn_to(&mut self, tape: usize) {
        self.turn = tape;
    }

    /// One line.
    pub(crate) fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        if self.style.json {
            let tape = self.tapes.get(self.turn);
            let tape = tape.filter(|_| self.style.named);
            let place = tape.map(|tape| (tape.name.as_str(), tape.file.as_str()));
            let line = json::line(entry, place, self.style.full)?;
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
        let margin = self.margin(entry);
        let line = match entry {
            Entry::Exchange { row, .. } => line::exchange(row, &margin),
            Entry::Model { row, .. } => model::call(row, &margin),
            Entry::Beside(note) => lines::note(note, &margin),
        };
        writeln!(self.out, "{line}")?;
        if !self.style.full {
            return Ok(());
        }
        match entry {
            Entry::Exchange {
                request, answer, ..
            }
            | Entry::Model {
                request, answer, ..
            } => {
                self.said("request", request)?;
                self.said("answer", answer)
            }
            Entry::Beside(note) => self.message(note),
        }
    }

    /// The context of a line.
    fn margin(&mut self, entry: &Entry) -> Margin {
        let mut margin = Margin {
            part: String::new(),
            session: None,
            colour: self.look.colour,
        };
        let Some(tape) = self.tapes.get_mut(self.turn) else {
            return margin;
        };
        if self.width > 0 {
            let name = line::short(&safe(&tape.name), line::PART_CHARS);
            margin.part = format!("{name:<width$}  ", width = self.width);
        }
        let session = match entry {
            Entry::Exchange { row, .. } => row.session,
            // No session: agents call models without one.
            Entry::Model { .. } => return margin,
            Entry::Beside(note) => note.session,
        };
        tape.sessions |= *tape.first.get_or_insert(session) != session;
        margin.session = tape.sessions.then_some(session);
        margin
    }

    fn message(&mut self, note: &Note) -> io::Result<()> {
        match &note.told {
            NoteContent::Message(body) => self.said("message", body),
            _ => Ok(()),
        }
    }

    fn said(&mut self, what: &str, body: &Body) -> io::Result<()> {
        match body {
            Body::Unwanted => Ok(()),
            Body::NoRoom => writeln!(
                self.out,
                "    {what}: too many open exchanges; show this one with `--id`"
            ),
            Body::Text(text) => {
                let text = body::text(text, self.look);
                write!(self.out, "{text}")
            }
        }
    }

    /// Whether the output is for programs.
    pub(crate) fn is_for_programs(&self) -> bool {
        self.style.json
    }

    /// Ends a recording.
    pub(crate) fn end(&mut self, closing: &Closing<'_>) -> io::Result<()> {
        if !self.style.json {
            let gap =
                if closing.counts.shown + closing.counts.models_shown + closing.counts.beside > 0 {
                    "\n"
                } else {
                    ""
                };
            writeln!(self.out, "{gap}{}", closing.text())?;
        }
        self.out.flush()
    }
}
