//! A recording as an HTTP archive (HAR 1.2), which browsers and their tools open.
//!
//! Each HTTP exchange is an entry, with its recorded heads, times and bodies, and a stream has its
//! events in the form that browsers export.

mod entry;
mod fold;
mod parts;

use std::io::{self, Write};

use jiff::{SignedDuration, Timestamp};
use tapewright_schemas::event::Offset;

pub(crate) use self::entry::Entry;
use self::entry::Pair;
pub(crate) use self::fold::Exchanges;

/// Converts times on a tape to wall time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(pub(crate) Timestamp);

impl Clock {
    /// A time in RFC 3339.
    fn text(self, at: Offset) -> String {
        let time = self.0.saturating_add(SignedDuration::from_micros(
            i64::try_from(at.0).unwrap_or(i64::MAX),
        ));
        format!("{:.6}", time.unwrap_or(self.0))
    }

    /// A time in seconds since 1970.
    #[expect(
        clippy::cast_precision_loss,
        reason = "microseconds of this century are exact in 53 bits"
    )]
    fn seconds(self, at: Offset) -> f64 {
        (self.0.as_microsecond() as f64 + at.0 as f64) / 1e6
    }
}

/// Writes an archive entry by entry; writes nothing before the first.
#[derive(Debug)]
pub(crate) struct Archive<W: Write> {
    out: W,
    comment: String,
    entries: u64,
}

impl<W: Write> Archive<W> {
    /// An archive with a comment for the whole.
    pub(crate) fn new(out: W, comment: &str) -> Self {
        Self {
            out,
            comment: comment.to_owned(),
            entries: 0,
        }
    }

    /// Whether it has no entry, so that nothing was written.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Adds an entry.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub(crate) fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        if self.is_empty() {
            self.begin()?;
        } else {
            self.out.write_all(b",\n")?;
        }
        self.entries += 1;
        serde_json::to_writer(&mut self.out, entry)?;
        Ok(())
    }

    /// Ends the archive.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub(crate) fn end(mut self) -> io::Result<()> {
        self.out.write_all(b"\n]}}\n")?;
        self.out.flush()
    }

    fn begin(&mut self) -> io::Result<()> {
        let creator = serde_json::json!({
            "name": "tapewright",
            "version": env!("CARGO_PKG_VERSION"),
        });
        let comment = serde_json::Value::from(self.comment.as_str());
        writeln!(
            self.out,
            r#"{{"log":{{"version":"1.2","creator":{creator},"pages":[],"comment":{comment},"entries":["#
        )
    }
}

/// The names and values of a query, unchanged from the URL.
fn pairs_of_query(url: &str) -> Vec<Pair> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        Pair {
            name: name.to_owned(),
            value: value.to_owned(),
        }
    };
    query
        .split('&')
        .filter(|part| !part.is_empty())
        .map(pair)
        .collect()
}
