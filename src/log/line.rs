//! One line of the log, as text or as JSON.

use std::fmt;
use std::fmt::Write as _;

use clap::ValueEnum;
use serde_json::{Map, Value};
use tapewright_proxy::clock::Clock;
use tracing::field::{Field, Visit};
use tracing::{Level, Metadata};

use tapewright_schemas::slices::Part as _;

use crate::report::{safe, safe_json};

/// The longest line, in bytes: a pipe takes no more in one piece, so that lines of other writers
/// never end up in the middle of one.
pub(super) const LONGEST: usize = 4_096;
/// The longest text of a field, in characters, and the length it is cut to if a line with such
/// texts would be too long.
const LONGEST_TEXT: usize = 256;
const SHORT_TEXT: usize = 32;
/// How many fields an event may have.
const MOST_FIELDS: usize = 16;

/// The format of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A line of text for each event
    Text,
    /// A JSON object for each event; see `tapewright schema log-line`
    Json,
}

/// Makes lines from events.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer {
    pub(super) format: Format,
    pub(super) clock: Clock,
}

/// The fields of an event, in their order.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(&'static str, Value)>);

/// What every line has.
struct Head {
    time: String,
    level: &'static str,
    target: &'static str,
    event: &'static str,
}

impl Writer {
    /// The line of an event.
    pub(super) fn line(self, metadata: &Metadata<'static>, fields: &Fields) -> Box<[u8]> {
        let head = Head {
            time: self.time(),
            level: level(*metadata.level()),
            target: metadata.target(),
            event: metadata.name(),
        };
        self.write(&head, fields)
    }

    /// The line that reports how many lines were lost.
    pub(super) fn lost(self, lines: u64) -> Box<[u8]> {
        let head = Head {
            time: self.time(),
            level: level(Level::WARN),
            target: "tapewright::log",
            event: "lines_lost",
        };
        self.write(&head, &Fields(vec![("lines", lines.into())]))
    }

    fn write(self, head: &Head, fields: &Fields) -> Box<[u8]> {
        let write = |longest: usize| match self.format {
            Format::Json => json(head, fields, longest),
            Format::Text => text(head, fields, longest),
        };
        let mut line = write(LONGEST_TEXT);
        if line.len() >= LONGEST {
            line = write(SHORT_TEXT);
        }
        line.push('\n');
        line.into_bytes().into()
    }

    fn time(self) -> String {
        let now = self.clock.created + self.clock.elapsed();
        // The clock may be before the year -9999 or after 9999.
        let now = jiff::Timestamp::try_from(now).unwrap_or_default();
        format!("{now:.6}")
    }
}

fn json(head: &Head, fields: &Fields, longest: usize) -> String {
    let mut line = Map::new();
    for (name, value) in [
        ("time", head.time.as_str()),
        ("level", head.level),
        ("target", head.target),
        ("event", head.event),
    ] {
        line.insert(name.to_owned(), value.into());
    }
    for (name, value) in &fields.0 {
        let value = match value {
            Value::String(text) => shortened(text, longest).into(),
            other => other.clone(),
        };
        line.insert((*name).to_owned(), value);
    }
    safe_json(&Value::Object(line).to_string()).into_owned()
}

fn text(head: &Head, fields: &Fields, longest: usize) -> String {
    let mut line = format!(
        "{} {:<5} {} {}",
        head.time, head.level, head.target, head.event
    );
    for (name, value) in &fields.0 {
        // Writing to a string does not fail.
        write!(line, " {name}=").ok();
        match value {
            Value::String(text) => line.push_str(&word(&safe(&shortened(text, longest)))),
            other => {
                write!(line, "{other}").ok();
            }
        }
    }
    line
}

/// A text, quoted if needed to separate it from what follows.
fn word(text: &str) -> String {
    let plain = |char: char| !char.is_whitespace() && !matches!(char, '"' | '=');
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('"', "\\\""))
}

fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", text.part(..end)),
        None => text.to_owned(),
    }
}

fn level(level: Level) -> &'static str {
    level.as_str()
}

impl Fields {
    fn add(&mut self, field: &Field, value: impl Into<Value>) {
        if self.0.len() < MOST_FIELDS {
            self.0.push((field.name(), value.into()));
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: Format, fields: Vec<(&'static str, Value)>) -> String {
        let clock = Clock::start();
        let head = Head {
            time: "2026-11-24T03:15:32.000000Z".to_owned(),
            level: "WARN",
            target: "tapewright::http",
            event: "refused",
        };
        let line = Writer { format, clock }.write(&head, &Fields(fields));
        String::from_utf8(line.into_vec()).unwrap()
    }

    #[test]
    fn a_line_is_plain_in_both_formats() {
        let fields = || {
            vec![
                ("why", "a b".into()),
                ("status", 403.into()),
                ("x", "".into()),
            ]
        };
        assert_eq!(
            written(Format::Text, fields()),
            "2026-11-24T03:15:32.000000Z WARN  tapewright::http refused why=\"a b\" status=403 x=\"\"\n"
        );
        let line: Value = serde_json::from_str(&written(Format::Json, fields())).unwrap();
        assert_eq!(line["why"], "a b");
        assert_eq!(line["event"], "refused");
    }

    #[test]
    fn nobody_forges_a_line_or_reaches_the_terminal() {
        let hostile = "x\n2026 ERROR \u{1b}[31m\u{202e}\u{9b}\" status=200 ##[add-mask]";
        for format in [Format::Text, Format::Json] {
            let line = written(format, vec![("why", hostile.into())]);
            assert_eq!(line.matches('\n').count(), 1, "{line}");
            assert!(!line.contains("##["), "{line}");
            assert!(
                !line
                    .trim_end()
                    .contains(|char: char| char.is_control() || char == '\u{202e}'),
                "{line}"
            );
        }
        let line = written(Format::Text, vec![("why", hostile.into())]);
        assert!(line.contains("\\\" status=200"), "{line}");
    }

    #[test]
    fn no_line_is_longer_than_a_pipe_takes_in_one_piece() {
        let long = "\u{1f512}\u{1b}".repeat(10_000);
        for format in [Format::Text, Format::Json] {
            let fields = (0..MOST_FIELDS).map(|_| ("name", long.as_str().into()));
            let line = written(format, fields.collect());
            assert!(line.len() <= LONGEST, "{}", line.len());
        }
    }
}
