//! A recording as one HTML file: the page, and what it shows as data.
//!
//! The file opens from a disk and asks nothing of a network. Its policy allows the one script
//! and the one style that stand in it, by their hashes, and nothing else. What a peer said stands
//! in a script element of data, in which no `<` is left, and the page makes text nodes of it.

mod policy;

use std::io::{self, Write};

use serde::Serialize;
use tapewright_schemas::listing::{Body, Entry, Told};
use tapewright_schemas::tape::Header;

/// The page, with places for its parts.
const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// The filter is a file of its own, since it is tested by itself.
const SCRIPT: &str = concat!(
    include_str!("filter.js"),
    "\n",
    include_str!("shown.js"),
    "\n",
    include_str!("page.js")
);

/// Writes a page.
#[derive(Debug)]
pub(crate) struct Page<W: Write> {
    out: io::BufWriter<W>,
    entries: u64,
}

/// What the page says of the file.
#[derive(Debug, Serialize)]
struct Head<'h> {
    file: &'h str,
    kind: &'h str,
    label: &'h str,
    recorded_at: &'h str,
}

/// How the recording ends.
#[derive(Debug, Serialize)]
pub(crate) struct End {
    /// How much there was, and what is not known.
    pub(crate) text: String,
    /// Whether something is missing.
    pub(crate) incomplete: bool,
}

impl<W: Write> Page<W> {
    /// Begins a page about a file.
    pub(crate) fn begin(out: W, file: &str, kind: &str, header: &Header) -> io::Result<Self> {
        let mut page = Self {
            out: io::BufWriter::with_capacity(64 << 10, out),
            entries: 0,
        };
        page.part(PAGE.split("{{data}}").next().unwrap_or_default())?;
        let head = Head {
            file,
            kind,
            label: &header.label,
            recorded_at: &header.created,
        };
        page.out.write_all(b"{\"head\":")?;
        page.json(&serde_json::to_string(&head)?)?;
        page.out.write_all(b",\"entries\":[")?;
        Ok(page)
    }

    /// Adds a line; `part` names its tape, where there are several.
    pub(crate) fn entry(&mut self, entry: &Entry, part: Option<&str>) -> io::Result<()> {
        if self.entries > 0 {
            self.out.write_all(b",\n")?;
        }
        self.entries += 1;
        let (mut text, said) = match entry {
            Entry::Exchange {
                row,
                request,
                answer,
            } => {
                let said = vec![("request", said(request)), ("answer", said(answer))];
                let text = serde_json::to_string(row)?;
                (format!("{{\"kind\":\"exchange\",{}", rest(&text)), said)
            }
            Entry::Model {
                row,
                request,
                answer,
            } => {
                let said = vec![("request", said(request)), ("answer", said(answer))];
                (serde_json::to_string(row)?, said)
            }
            Entry::Beside(note) => {
                let said = match &note.told {
                    Told::Message(body) => vec![("message", said(body))],
                    _ => Vec::new(),
                };
                (serde_json::to_string(&note.beside())?, said)
            }
        };
        // The brace that ends it.
        text.pop();
        if let Some(part) = part {
            text.extend([",\"part\":", &serde_json::to_string(part)?]);
        }
        for (name, value) in said {
            if let Some(value) = value {
                text.extend([",\"", name, "\":", &serde_json::to_string(&value)?]);
            }
        }
        text.push('}');
        self.json(&text)
    }

    /// Ends the page.
    pub(crate) fn end(mut self, end: &End) -> io::Result<()> {
        self.out.write_all(b"],\"end\":")?;
        self.json(&serde_json::to_string(end)?)?;
        self.out.write_all(b"}")?;
        self.part(PAGE.split("{{data}}").nth(1).unwrap_or_default())?;
        self.out.flush()
    }

    /// Data: nothing in it ends the element that it stands in, or begins a comment.
    fn json(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.replace('<', "\\u003c").as_bytes())
    }

    /// A part of the page, with what belongs into its places.
    fn part(&mut self, text: &str) -> io::Result<()> {
        let text = text
            .replace("{{policy}}", &policy::text())
            .replace("{{style}}", STYLE)
            .replace("{{script}}", SCRIPT);
        self.out.write_all(text.as_bytes())
    }
}

/// The members of an object, and its end.
fn rest(object: &str) -> &str {
    object.strip_prefix('{').unwrap_or(object)
}

/// What was said, as text: its numbers and white space are those of the recording.
fn said(body: &Body) -> Option<String> {
    match body {
        Body::Unwanted => None,
        Body::NoRoom => Some("too much was open at once to keep it".to_owned()),
        Body::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
    }
}
