//! A recording as one HTML file: the page, and its contents as data.
//!
//! The file opens from a disk and makes no requests. Its policy only allows its own script and
//! style, by their hashes. The text of peers is in a script element of data, in which every `<` is
//! escaped, and the page turns it into text nodes.

mod files;
mod live;
mod modules;
mod policy;
mod row;

use std::io::{self, Write};

use serde::Serialize;
use tapewright_schemas::listing::Entry;
use tapewright_schemas::tape::Header;

pub(crate) use self::live::{assets, live_policy};
pub(crate) use self::row::{of as row, without_words};

/// The page, with placeholders for the parts that differ between files and served pages.
const PAGE: &str = "page.html";
const STYLE: &str = "page.css";
/// The size limit of a block of rows, which the page parses at once, and the limit of its rows.
const PIECE_BYTES: usize = 128 << 10;
const PIECE_ROWS: usize = 500;

/// Writes a page.
#[derive(Debug)]
pub(crate) struct Page<W: Write> {
    out: io::BufWriter<W>,
    // The size of the current block of rows.
    rows: usize,
    bytes: usize,
}

/// The facts about the file.
#[derive(Debug, Serialize)]
struct Head<'h> {
    file: &'h str,
    kind: &'h str,
    label: &'h str,
    recorded_at: &'h str,
}

/// How the recording ends, and when.
#[derive(Debug, Serialize)]
struct Last<'e> {
    #[serde(flatten)]
    end: &'e End,
    last_ms: f64,
}

/// How the recording ends.
#[derive(Debug, Serialize)]
pub(crate) struct End {
    /// The counts, and what is unknown.
    pub(crate) text: String,
    /// Whether something is missing.
    pub(crate) incomplete: bool,
}

impl<W: Write> Page<W> {
    /// Begins a page about a file.
    pub(crate) fn begin(out: W, file: &str, kind: &str, header: &Header) -> io::Result<Self> {
        let mut page = Self {
            out: io::BufWriter::with_capacity(64 << 10, out),
            rows: 0,
            bytes: 0,
        };
        let script = modules::script();
        let style = files::text(STYLE);
        let policy = policy::text(script, style);
        let begin = files::text(PAGE)
            .split("{{tail}}")
            .next()
            .unwrap_or_default();
        let begin = begin.replace(
            "{{head}}",
            &format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<style>{style}</style>"),
        );
        page.out.write_all(begin.as_bytes())?;
        let head = Head {
            file,
            kind,
            label: &header.label,
            recorded_at: &header.created,
        };
        page.data("id=\"head\"", &serde_json::to_string(&head)?)?;
        Ok(page)
    }

    /// Adds a line; `part` names its tape, if there are several.
    pub(crate) fn entry(&mut self, entry: &Entry, part: Option<&str>) -> io::Result<()> {
        self.row(&row::of(entry, part)?)
    }

    /// Adds a row to the current block, or to a new one.
    fn row(&mut self, text: &str) -> io::Result<()> {
        let is_full = self.bytes + text.len() > PIECE_BYTES || self.rows >= PIECE_ROWS;
        if self.rows > 0 && is_full {
            self.end_piece()?;
        }
        let between = match self.rows {
            0 => "<script type=\"application/json\" class=\"rows\">[",
            _ => ",\n",
        };
        self.out.write_all(between.as_bytes())?;
        self.rows += 1;
        self.bytes += text.len();
        self.json(text)
    }

    fn end_piece(&mut self) -> io::Result<()> {
        if self.rows > 0 {
            self.out.write_all(b"]</script>\n")?;
        }
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }

    /// Ends the page; `last_ms` is the time from the first event to the last.
    pub(crate) fn end(mut self, end: &End, last_ms: f64) -> io::Result<()> {
        self.end_piece()?;
        let end = Last { end, last_ms };
        self.data("id=\"end\"", &serde_json::to_string(&end)?)?;
        let script = modules::script();
        write!(self.out, "<script>{script}</script>")?;
        let end = files::text(PAGE)
            .split("{{tail}}")
            .nth(1)
            .unwrap_or_default();
        self.out.write_all(end.as_bytes())?;
        self.out.flush()
    }

    /// An element of data.
    fn data(&mut self, of: &str, text: &str) -> io::Result<()> {
        write!(self.out, "<script type=\"application/json\" {of}>")?;
        self.json(text)?;
        self.out.write_all(b"</script>\n")
    }

    /// Writes data, escaped so that it cannot end its element or begin a comment.
    fn json(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.replace('<', "\\u003c").as_bytes())
    }
}
